"""Sections on a run: its configuration, quality against cost, the worst trees, the format of replies, and failures."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ramify.lab._degraded import DEGRADATION_KINDS
from ramify.lab.metrics import exact_match, pareto_front
from ramify.lab.report._blocks import (
    EMPTY_CELL,
    Block,
    BulletList,
    Cell,
    Column,
    LineDetails,
    LineFilter,
    LineGroup,
    Plot,
    Table,
    TextBlock,
    measure_table,
    text_columns,
)
from ramify.lab.report._writers import line_label, render_line
from ramify.lab.results import ResultLine, Run
from ramify.lab.results.measures import (
    EM,
    F1,
    MODEL_CALLS,
    PRIOR_STRATEGY,
    TOTAL_TOKENS,
    WALL_SECONDS,
    count_replies,
    format_percent,
)
from ramify.nodes.settings import is_embedded
from ramify.nodes.tree.notes import confidence_figure
from ramify.tools.no_answer import is_unknown
from ramify.tools.quoting import truncate_line

READING_NOTE = (
    "Shares are in percent. Under each mean is its 95 % interval (bootstrap over the questions). A question that failed scores nothing and "
    "stays in every mean of answers and of retrieval; it is listed below. Best values of a column are bold, which says nothing about "
    "significance."
)
MAX_LISTED_FAILURES = 100
"""Maximum number of failures in the table; the question browser and its command show all."""
REPLY_FORMS = ("valid", "repaired", "malformed")
REPLY_COLUMNS = (
    *text_columns("prompt"),
    Column("at once", "replies that had the form asked for"),
    Column("after repair", "replies that had it when asked for again, with what was wrong"),
    Column("malformed", "replies that did not have it even then"),
    Column("valid in the end", "share of those that had it at once or after repair"),
)
PLOTTED_QUALITIES, PLOTTED_COSTS = (EM, F1), (MODEL_CALLS, TOTAL_TOKENS, WALL_SECONDS)
FRONT_COLUMN = Column("front", "the costs at which no cheaper one has as good a value: F1 against calls, tokens, seconds", is_text=True)
MAX_WORST_TREES = 10
"""Maximum number of trees shown."""
MIN_LOST_ANSWERS = MAX_WORST_TREES // 2
"""Number of them reserved for lost answers."""
YES_NO_ANSWERS = {"yes", "no"}
"""Golds that are too common as answers of branches to count as lost answers."""


def run_section(run: Run) -> Iterator[Block]:
    """Report the configuration of the run."""
    manifest = run.manifest
    yield from (TextBlock(warning, "warning") for warning in run.warnings)
    yield BulletList(_run_facts(run))
    yield TextBlock("To repeat the run:")
    paths = " ".join(str(entry.get("path") or entry.get("name")) for entry in manifest["datasets"])
    command = f"ramify eval {paths} --strategy {','.join(manifest['strategies'])} --model {manifest.get('model')} --out {run.folder.name}"
    yield TextBlock(str(manifest.get("command") or command), "command")
    yield _datasets_table(run)
    yield caveat_list(run)
    yield TextBlock(READING_NOTE)


def caveat_list(run: Run) -> BulletList:
    """Return the limitations of the data sets."""
    return BulletList([(name, str(caveat)) for name in run.datasets for caveat in run.dataset_entry(name).get("caveats") or ()])


def _run_facts(run: Run) -> list[tuple[str, str]]:
    manifest = run.manifest
    machine = manifest.get("machine") or {}
    sizes = (f"{machine.get('cores')} cores", f"{machine.get('memory_gb')} GB")
    parts = (machine.get("processor"), *sizes, machine.get("gpu") or "no GPU", machine.get("system"))
    versions = [f"{name} {version}" for name, version in (manifest.get("versions") or {}).items() if version]
    facts = {
        "Model": manifest.get("model"),
        "Embedding": manifest.get("embedding"),
        "Searched under": ", ".join(manifest.get("label") or ()) or None,
        "Strategies": ", ".join(map(str, manifest["strategies"])),
        "Kinds of index": ", ".join(map(str, manifest.get("index_kinds") or ())) or None,
        "Machine": " · ".join(str(part) for part in parts if part),
        "Versions": ", ".join([f"Python {manifest.get('python')}", *versions]),
        "Started": manifest.get("created"),
        "Seed": manifest.get("seed"),
        "Concurrency": manifest.get("concurrency"),
        "Limit": manifest.get("limit"),
        "Questions for sweeps and ablations": manifest.get("sample"),
        "Settings changed": ", ".join(f"{key}={value}" for key, value in (manifest.get("base") or {}).items()) or None,
        "Lines": f"{len(run.lines):,}, of which {sum(line.failed for line in run.lines):,} failed",
        "Where metadata are degraded": f"{len(run.degraded):,} lines" if run.degraded else None,
    }
    return [(name, str(value)) for name, value in facts.items() if value is not None]


def _datasets_table(run: Run) -> Table:
    rows = []
    for name in run.datasets:
        entry, where = run.dataset_entry(name), LineFilter(name)
        ids = {line.row["id"] for line in run.lines if line.row["dataset"] == name}
        types = ", ".join(f"{kind or 'no type'} {count}" for kind, count in sorted((entry.get("types") or {}).items()))
        count_cells = [Cell(str(entry.get("questions", "")), where=where), Cell(str(len(ids)), where=where)]
        rows.append([Cell(name, where=where, head=True), *count_cells, Cell(types), Cell(str(entry.get("sha256", "not recorded")))])
    columns = [*map(Column, ("data set", "questions", "answered")), *text_columns("types")]
    return Table("Data sets", [*columns, Column("sha256", "of the questions and the corpus", is_text=True)], rows)


def failures_section(run: Run) -> Iterator[Block]:
    """Report the failures, counted and listed."""
    failed = [line for line in run.lines if line.failed]
    if not failed:
        yield TextBlock("No question failed.")
        return
    counts = Counter((*line.group, str(line.row["error"]).partition(":")[0][:60]) for line in failed)
    counted = []
    for (dataset, *group), count in sorted(counts.items()):
        where = LineFilter(dataset, group[0], group[1], outcome="failed")
        counted.append([Cell(dataset, head=True), *map(Cell, group), Cell(str(count), where=where)])
    listed_rows = []
    for line in failed[:MAX_LISTED_FAILURES]:
        name = Cell(f"line {line.number}", where=LineFilter(*line.group, outcome="failed"), head=True)
        listed_rows.append([name, *map(Cell, (" ".join(line.group).strip(), line.row["id"], str(line.row["error"])[:300]))])
    note = f"{len(failed) - MAX_LISTED_FAILURES:,} more: the command prints them all." if len(failed) > MAX_LISTED_FAILURES else ""
    lines = LineFilter(outcome="failed").jq
    yield Table("Counted", [*text_columns("data set", "strategy", "variant", "error"), Column("questions")], counted, lines=lines)
    yield Table("Listed", text_columns("results.jsonl", "run", "question", "error"), listed_rows, note, lines)


def replies_section(run: Run) -> Iterator[Block]:
    """Report the format of replies by prompt for language models; those of the embedded model are always valid."""
    counts = count_replies(line.row for line in run.lines if not is_embedded(line.row.get("model")))
    rows = []
    for prompt in sorted({prompt for prompt, _ in counts}):
        figures = [counts[prompt, form] for form in REPLY_FORMS]
        share = sum(figures[:2]) / max(1, sum(figures))
        rows.append([Cell(prompt, head=True), *(Cell(f"{figure:,}") for figure in figures), Cell(format_percent(share))])
    if rows:
        yield Table("Replies by prompt", REPLY_COLUMNS, rows)


def costs_section(run: Run) -> Iterator[Block]:
    """Report quality against cost of all variants but degraded ones, on their common questions, if there are several."""
    for place, dataset in enumerate(run.datasets_with_gold, 1):
        lines_by_group = {
            key: lines for key, lines in run.answered.items() if key[0] == dataset and key[2].partition("=")[0] not in DEGRADATION_KINDS
        }
        if len(lines_by_group) < 2:
            continue
        shared = set.intersection(*({line.row["id"] for line in lines} for lines in lines_by_group.values()))
        groups = [LineGroup.of(key, [line for line in lines if line.row["id"] in shared]) for key, lines in lines_by_group.items()]
        if not shared:
            yield TextBlock(f"{dataset}: no question was asked of all variants.")
            continue
        caption = (
            "The dashed line joins those that no cheaper one equals; in that panel, the others are grey. Vertical lines: 95 % intervals."
        )
        yield Plot.draw(
            f"{dataset}. {caption}",
            "plot_pareto",
            {group.name: group.lines for group in groups},
            PLOTTED_QUALITIES,
            PLOTTED_COSTS,
            f"pareto-{place}",
        )
        note = f"On the {len(shared):,} questions that all of them were asked."
        table = measure_table(
            f"{dataset}: quality and cost", groups, (*PLOTTED_QUALITIES, *PLOTTED_COSTS), note=note, lines=LineFilter(dataset).jq
        )
        rows = [[*row, cell] for row, cell in zip(table.rows, _front_cells(groups), strict=True)]
        yield replace(table, columns=[*table.columns, FRONT_COLUMN], rows=rows)


def _front_cells(groups: Sequence[LineGroup]) -> list[Cell]:
    """Return for each group the titles of the costs for which it is on the Pareto front of F1."""
    fronts = {}
    for cost in PLOTTED_COSTS:
        estimates = {group.name: (cost.of(group.lines), F1.of(group.lines)) for group in groups}
        fronts[cost.title] = pareto_front({name: (spent.value, f1.value) for name, (spent, f1) in estimates.items() if spent and f1})
    return [Cell(", ".join(title for title, front in fronts.items() if group.name in front) or EMPTY_CELL) for group in groups]


def worst_trees_section(run: Run) -> Iterator[Block]:
    """Report ten trees: the most confident wrong answers, and lost answers, which were right in a branch."""
    lines = [line for dataset in run.datasets_with_gold for own_lines in run.unchanged_lines(dataset).values() for line in own_lines]
    lines = [line for line in lines if line.has_gold and not (line.failed or line.right or line.row["strategy"].startswith(PRIOR_STRATEGY))]
    wrong = sorted((line for line in lines if line.outcome == "wrong" and line.row.get("confidence") is not None), key=_confidence_sort_key)
    lost_answers = sorted(
        ((line, reason) for line in lines if (reason := _lost_candidate(line))), key=lambda pair: _confidence_sort_key(pair[0])
    )
    selected = [(line, "confidently wrong") for line in wrong[: MAX_WORST_TREES - min(MIN_LOST_ANSWERS, len(lost_answers))]]
    listed = {(line.file, line.number) for line, _ in selected}
    selected += [(line, reason) for line, reason in lost_answers if (line.file, line.number) not in listed][
        : MAX_WORST_TREES - len(selected)
    ]
    if not selected:
        return
    rows = []
    for line, why in selected:
        where = LineFilter(*line.group, line=str(line_label(line)))
        value = line.row.get("confidence")
        confidence = EMPTY_CELL if value is None else confidence_figure(value)
        answers = map(Cell, (str(line.row.get("gold")), str(line.row.get("answer")), confidence, why))
        rows.append(
            [Cell(f"line {line_label(line)}", where=where, head=True), Cell(_group_label(line)), Cell(line.row["question"]), *answers]
        )
    columns = text_columns("results.jsonl", "run", "question", "gold", "answer")
    yield Table(
        "Wrong and lost answers", [*columns, Column("confidence"), *text_columns("why")], rows, "Lost: a branch had the right answer."
    )
    for place, (line, why) in enumerate(selected, 1):
        title = f"{place}. {truncate_line(line.row['question'], 160)} {_group_label(line)}: {why}"
        yield LineDetails(title, render_line(f"worst-{place}", line))


def _confidence_sort_key(line: ResultLine) -> tuple[float, str, str]:
    return -(line.row.get("confidence") or 0.0), json.dumps(line.group), str(line.row["id"])


def _group_label(line: ResultLine) -> str:
    return " ".join(line.group[1:]).strip()


def _lost_candidate(line: ResultLine) -> str:
    """Return the branch of a wrong answer's tree that has the right answer; empty if there is none."""
    golds = [str(gold) for gold in (line.row.get("gold"), *(line.row.get("aliases") or ())) if gold]
    if not golds or is_unknown(golds[0]) or golds[0].casefold() in YES_NO_ANSWERS:
        return ""
    for branch in line.row.get("tree") or ():
        if isinstance(branch, dict) and branch.get("answer") and exact_match(str(branch["answer"]), golds):
            return f"lost at {branch.get('path')} ({branch.get('status')})"
    return ""
