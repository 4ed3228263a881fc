"""Sections on what to choose and what to look at: quality against cost, and the worst trees."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ramify.evaluation.degraded_answers import HOWS
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
    Table,
    Words,
    measure_table,
    words,
)
from ramify.evaluation.report.writers import line_html, line_name
from ramify.evaluation.results import ResultLine, Run
from ramify.evaluation.results.measures import CALLS, EM, F1, PRIOR, SECONDS, TOKENS, Measure
from ramify.nodes.tree.phrases import figure
from ramify.tools.english import is_unknown
from ramify.tools.quoting import brief

QUALITIES, COSTS = (EM, F1), (CALLS, TOKENS, SECONDS)
FRONT = Column("front", "the costs at which no cheaper one has as good a value: F1 against calls, tokens, seconds", words=True)
WORST = 10
"""Trees that are shown."""
HALF = WORST // 2
"""Of them, those kept for lost answers."""
YES_NO = {"yes", "no"}
"""Golds that a branch may have as its answer without it being a candidate for the whole question's."""


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
        yield _with_front(
            measure_table(f"{dataset}: quality and cost", groups, (*QUALITIES, *COSTS), note=note, lines=LineFilter(dataset).jq), groups
        )


def _with_front(table: Table, groups: Sequence[LineGroup]) -> Table:
    """Add to a table on which fronts each group is."""
    fronts = {cost.title: _front(groups, cost) for cost in COSTS}
    told = [", ".join(title for title, front in fronts.items() if one.name in front) or NOTHING for one in groups]
    rows = [[*row, Cell(text)] for row, text in zip(table.rows, told, strict=True)]
    return replace(table, columns=[*table.columns, FRONT], rows=rows)


def _front(groups: Sequence[LineGroup], cost: Measure) -> list[str]:
    from ramify.evaluation.report._plots import frontier

    told = {one.name: (cost.of(one.lines), F1.of(one.lines)) for one in groups}
    return frontier({name: (spent.value, f1.value) for name, (spent, f1) in told.items() if spent and f1})


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
        title = f"{place}. {brief(line.row['question'], 160)} {_name(line)}: {why}"
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
