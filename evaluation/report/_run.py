"""Sections on a run: what was run, quality against cost, the worst trees, the form of replies, and failures."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ramify.evaluation.degraded import HOWS
from ramify.evaluation.metrics import exact_match
from ramify.evaluation.report._blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    DrawnLine,
    LineFilter,
    LineGroup,
    Plot,
    Points,
    Table,
    Words,
    measure_table,
    words,
)
from ramify.evaluation.report.writers import line_html, line_name
from ramify.evaluation.results import ResultLine, Run
from ramify.evaluation.results.measures import CALLS, EM, F1, PRIOR, SECONDS, TOKENS, percent, reply_counts
from ramify.nodes.settings import is_embedded
from ramify.nodes.tree.phrases import figure
from ramify.tools.english import is_unknown
from ramify.tools.quoting import truncate_line

READING = (
    "Shares are in percent. Under each mean is its 95 % interval (bootstrap over the questions). A question that failed scores nothing and "
    "stays in every mean of answers and of retrieval; it is listed below. Best values of a column are bold, which says nothing about "
    "significance."
)
LISTED = 100
"""Failures that a table lists; the question browser and the command beside it show them all."""
FORMS = ("valid", "repaired", "malformed")
REPLIES = (
    *words("prompt"),
    Column("at once", "replies that had the form asked for"),
    Column("after repair", "replies that had it when asked for again, with what was wrong"),
    Column("malformed", "replies that did not have it even then"),
    Column("valid in the end", "share of those that had it at once or after repair"),
)
QUALITIES, COSTS = (EM, F1), (CALLS, TOKENS, SECONDS)
FRONT = Column("front", "the costs at which no cheaper one has as good a value: F1 against calls, tokens, seconds", words=True)
WORST = 10
"""Trees that are shown."""
HALF = WORST // 2
"""Of them, those kept for lost answers."""
YES_NO = {"yes", "no"}
"""Golds that a branch may have as its answer without it being a candidate for the whole question's."""


def what_was_run(run: Run) -> Iterator[Block]:
    """Report what was run."""
    told = run.manifest
    yield from (Words(warning, "warning") for warning in run.warnings)
    yield Points(_facts(run))
    yield Words("To repeat the run:")
    paths = " ".join(str(one.get("path") or one.get("name")) for one in told["datasets"])
    command = f"ramify eval {paths} --strategy {','.join(told['strategies'])} --model {told.get('model')} --out {run.folder.name}"
    yield Words(str(told.get("command") or command), "command")
    yield _datasets(run)
    yield caveats(run)
    yield Words(READING)


def caveats(run: Run) -> Points:
    """Return the limitations of the data sets."""
    return Points([(name, str(caveat)) for name in run.datasets for caveat in run.described(name).get("caveats") or ()])


def _facts(run: Run) -> list[tuple[str, str]]:
    told = run.manifest
    machine = told.get("machine") or {}
    sizes = (f"{machine.get('cores')} cores", f"{machine.get('memory_gb')} GB")
    parts = (machine.get("processor"), *sizes, machine.get("gpu") or "no GPU", machine.get("system"))
    versions = [f"{name} {version}" for name, version in (told.get("versions") or {}).items() if version]
    facts = {
        "Model": told.get("model"),
        "Embedding": told.get("embedding"),
        "Searched under": ", ".join(told.get("label") or ()) or None,
        "Strategies": ", ".join(map(str, told["strategies"])),
        "Kinds of index": ", ".join(map(str, told.get("index_kinds") or ())) or None,
        "Machine": " · ".join(str(part) for part in parts if part),
        "Versions": ", ".join([f"Python {told.get('python')}", *versions]),
        "Started": told.get("created"),
        "Seed": told.get("seed"),
        "Concurrency": told.get("concurrency"),
        "Limit": told.get("limit"),
        "Questions for sweeps and ablations": told.get("sample"),
        "Settings changed": ", ".join(f"{key}={one}" for key, one in (told.get("base") or {}).items()) or None,
        "Lines": f"{len(run.lines):,}, of which {sum(line.failed for line in run.lines):,} failed",
        "Where metadata are degraded": f"{len(run.degraded):,} lines" if run.degraded else None,
    }
    return [(name, str(value)) for name, value in facts.items() if value is not None]


def _datasets(run: Run) -> Table:
    rows = []
    for name in run.datasets:
        told, where = run.described(name), LineFilter(name)
        asked = {line.row["id"] for line in run.lines if line.row["dataset"] == name}
        types = ", ".join(f"{kind or 'no type'} {count}" for kind, count in sorted((told.get("types") or {}).items()))
        linked = [Cell(str(told.get("questions", "")), where=where), Cell(str(len(asked)), where=where)]
        rows.append([Cell(name, where=where, head=True), *linked, Cell(types), Cell(str(told.get("sha256", "not recorded")))])
    columns = [*map(Column, ("data set", "questions", "answered")), *words("types")]
    return Table("Data sets", [*columns, Column("sha256", "of the questions and the corpus", words=True)], rows)


def failures(run: Run) -> Iterator[Block]:
    """Report the failures, counted and listed."""
    failed = [line for line in run.lines if line.failed]
    if not failed:
        yield Words("No question failed.")
        return
    counts = Counter((*line.group, str(line.row["error"]).partition(":")[0][:60]) for line in failed)
    counted = []
    for (dataset, *told), count in sorted(counts.items()):
        where = LineFilter(dataset, told[0], told[1], outcome="failed")
        counted.append([Cell(dataset, head=True), *map(Cell, told), Cell(str(count), where=where)])
    listed = []
    for line in failed[:LISTED]:
        name = Cell(f"line {line.number}", where=LineFilter(*line.group, outcome="failed"), head=True)
        listed.append([name, *map(Cell, (" ".join(line.group).strip(), line.row["id"], str(line.row["error"])[:300]))])
    note = f"{len(failed) - LISTED:,} more: the command prints them all." if len(failed) > LISTED else ""
    lines = LineFilter(outcome="failed").jq
    yield Table("Counted", [*words("data set", "strategy", "variant", "error"), Column("questions")], counted, lines=lines)
    yield Table("Listed", words("results.jsonl", "run", "question", "error"), listed, note, lines)


def replies(run: Run) -> Iterator[Block]:
    """Report the form of replies by prompt, if a language model was asked: the embedded model's are always valid."""
    counts = reply_counts(line.row for line in run.lines if not is_embedded(line.row.get("model")))
    rows = []
    for prompt in sorted({prompt for prompt, _ in counts}):
        figures = [counts[prompt, form] for form in FORMS]
        share = sum(figures[:2]) / max(1, sum(figures))
        rows.append([Cell(prompt, head=True), *(Cell(f"{figure:,}") for figure in figures), Cell(percent(share))])
    if rows:
        yield Table("Replies by prompt", REPLIES, rows)


def costs(run: Run) -> Iterator[Block]:
    """Report quality against cost of every variant that can be chosen, on the questions that all were asked, where there are several."""
    for place, dataset in enumerate(run.scored, 1):
        asked = {key: lines for key, lines in run.answered.items() if key[0] == dataset and key[2].partition("=")[0] not in HOWS}
        if len(asked) < 2:
            continue
        shared = set.intersection(*({line.row["id"] for line in lines} for lines in asked.values()))
        groups = [LineGroup.of(key, [line for line in lines if line.row["id"] in shared]) for key, lines in asked.items()]
        if not shared:
            yield Words(f"{dataset}: no question was asked of all variants.")
            continue
        caption = (
            "The dashed line joins those that no cheaper one equals; in that panel, the others are grey. Vertical lines: 95 % intervals."
        )
        yield Plot.drawn(f"{dataset}. {caption}", "pareto", {one.name: one.lines for one in groups}, QUALITIES, COSTS, f"pareto-{place}")
        note = f"On the {len(shared):,} questions that all of them were asked."
        table = measure_table(f"{dataset}: quality and cost", groups, (*QUALITIES, *COSTS), note=note, lines=LineFilter(dataset).jq)
        rows = [[*row, cell] for row, cell in zip(table.rows, _fronts(groups), strict=True)]
        yield replace(table, columns=[*table.columns, FRONT], rows=rows)


def _fronts(groups: Sequence[LineGroup]) -> list[Cell]:
    """Return for each group the titles of the costs at which no cheaper one has as good an F1."""
    fronts = {}
    for cost in COSTS:
        told = {one.name: (cost.of(one.lines), F1.of(one.lines)) for one in groups}
        fronts[cost.title] = frontier({name: (spent.value, f1.value) for name, (spent, f1) in told.items() if spent and f1})
    return [Cell(", ".join(title for title, front in fronts.items() if one.name in front) or NOTHING) for one in groups]


def frontier(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names of the points of (cost, quality) that no cheaper or equally cheap one equals, the cheapest first."""
    kept: list[str] = []
    for name, (_, quality) in sorted(points.items(), key=lambda one: (one[1][0], -one[1][1])):
        if not kept or quality > points[kept[-1]][1]:
            kept.append(name)
    return kept


def worst(run: Run) -> Iterator[Block]:
    """Report ten trees to look at: the most confident wrong answers, then right candidates that did not become the answer."""
    lines = [line for dataset in run.scored for found in run.unchanged(dataset).values() for line in found]
    lines = [line for line in lines if line.scored and not (line.failed or line.right or line.row["strategy"].startswith(PRIOR))]
    wrong = sorted((line for line in lines if line.outcome == "wrong" and line.row.get("confidence") is not None), key=_confidence)
    lost = sorted(((line, told) for line in lines if (told := _candidate(line))), key=lambda one: _confidence(one[0]))
    shown = [(line, "confidently wrong") for line in wrong[: WORST - min(HALF, len(lost))]]
    known = {(line.file, line.number) for line, _ in shown}
    shown += [(line, told) for line, told in lost if (line.file, line.number) not in known][: WORST - len(shown)]
    if not shown:
        return
    rows = []
    for line, why in shown:
        where = LineFilter(*line.group, line=str(line_name(line)))
        sure = line.row.get("confidence")
        answers = map(Cell, (str(line.row.get("gold")), str(line.row.get("answer")), NOTHING if sure is None else figure(sure), why))
        rows.append([Cell(f"line {line_name(line)}", where=where, head=True), Cell(_name(line)), Cell(line.row["question"]), *answers])
    columns = words("results.jsonl", "run", "question", "gold", "answer")
    yield Table("Wrong and lost answers", [*columns, Column("confidence"), *words("why")], rows, "Lost: a branch had the right answer.")
    for place, (line, why) in enumerate(shown, 1):
        title = f"{place}. {truncate_line(line.row['question'], 160)} {_name(line)}: {why}"
        yield DrawnLine(title, line_html(f"worst-{place}", line))


def _confidence(line: ResultLine) -> tuple[float, str, str]:
    return -(line.row.get("confidence") or 0.0), json.dumps(line.group), str(line.row["id"])


def _name(line: ResultLine) -> str:
    return " ".join(line.group[1:]).strip()


def _candidate(line: ResultLine) -> str:
    """Return where in the tree of a wrong answer the right one is; empty if it is nowhere."""
    golds = [str(gold) for gold in (line.row.get("gold"), *(line.row.get("aliases") or ())) if gold]
    if not golds or is_unknown(golds[0]) or golds[0].casefold() in YES_NO:
        return ""
    for branch in line.row.get("tree") or ():
        if isinstance(branch, dict) and branch.get("answer") and exact_match(str(branch["answer"]), golds):
            return f"lost at {branch.get('path')} ({branch.get('status')})"
    return ""
