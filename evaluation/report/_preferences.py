"""Answers compared: a judge's preferences and countable proxies, of two runs and of GraphRAG's conditions; its levels and graphs."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ramify.evaluation.judging import JUDGED
from ramify.evaluation.metrics import bootstrap_interval, holm, paired_test
from ramify.evaluation.papers.graph import CLAIMS, GRAPHS, MAP, TOLD
from ramify.evaluation.papers.paper import Condition, Paper
from ramify.evaluation.report._blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    LineFilter,
    LineGroup,
    Plot,
    Points,
    Table,
    Words,
    figure,
    measure_table,
    words,
)
from ramify.evaluation.results import Key, Run
from ramify.evaluation.results.measures import CALLS, PROMPT, SIGNIFICANT, Measure, Pairs, common, mean_of, plain, shown_p
from ramify.evaluation.task import Row
from ramify.prompts.prefer import CRITERIA
from ramify.tools.english import fold, sentences
from ramify.tools.knowledge.index import PAPER_CORPORA, PAPER_SHARES

_MARKS = re.compile(r"\[\d+\]")
_WORTH = {"A": 1.0, "B": 0.0, "tie": 0.5}
HOW = (
    "Each pair of answers was judged {repeats}, A and B first by turns. A's share is its wins and half the ties, averaged over "
    "a question's verdicts, then over questions; p is of a paired sign-flip permutation test, after Holm's correction for the {tests} "
    "criteria. ▲ A is preferred, ▼ B is, at p < {significant}."
)
PROXIES = (
    "Proxies, counted without a judge: they say how much an answer rests on (communities read are those whose reports were), not "
    "whether it is good. p is of a paired sign-flip "
    "permutation test, after Holm's correction."
)


def preferences(pairs: Mapping[tuple[Key, Key], Pairs], verdicts: Sequence[Row] | None) -> Iterator[Block]:
    """Report the judge's verdicts and, for open questions, countable proxies."""
    for groups, found in pairs.items():
        sides = tuple(map(side, groups))
        name = f"{groups[0][0]}: {' and '.join(sides)}"
        if verdicts is not None:
            yield from _judged(name, [row for row in verdicts if (row["dataset"], row["a"], row["b"]) == (groups[0][0], *sides)])
        if unscored := [pair for pair in found if not any(line.scored for line in pair)]:
            yield from _proxies(name, unscored)


def side(group: Key) -> str:
    """Return a strategy with its variant."""
    return " ".join(filter(None, group[1:]))


def _judged(name: str, verdicts: Sequence[Row]) -> Iterator[Block]:
    """Report the judge's preferences; A's share is averaged per question."""
    valid = [row for row in verdicts if row["error"] is None]
    if not valid:
        why = f": {verdicts[0]['error']}" if verdicts else ""
        yield Words(f"{name}: no verdict came of {len(verdicts)} asked for{why}", "warning")
        return
    if lost := len(verdicts) - len(valid):
        told = f"{lost:,} of {len(verdicts):,} verdicts did not come, and count for nothing; the same command asks for them again"
        yield Words(f"{name}: {told}", "warning")
    shares = shares_of(valid)
    adjusted = holm([paired_test(of, [1 - share for share in of]) for of in shares.values()])
    rows = []
    for (criterion, of), p in zip(shares.items(), adjusted, strict=True):
        won = [f"{100 * sum(row[criterion] == side for row in valid) / len(valid):.0f} %" for side in _WORTH]
        rows.append(_row(criterion, len(of), won, _share(of, p, " %"), p))
    times = max(row["repeat"] for row in verdicts) + 1
    how = HOW.format(repeats="once" if times == 1 else f"{times} times", tests=len(CRITERIA), significant=SIGNIFICANT)
    share_of = Column("A's share", "wins and half the ties, with its 95 % interval")
    columns = _columns("criterion", ("A wins", "B wins", "ties"), share_of)
    yield Table(f"{name}, judged by {valid[0]['judge']}", columns, rows, f"{how} {_first(valid)}")


def _share(shares: Sequence[float], p: float, unit: str = "", where: LineFilter | None = None) -> Cell:
    """Return the cell of a mean share of verdicts, marked where one side is preferred."""
    share, (low, high) = float(np.mean(shares)), bootstrap_interval(shares)
    sign = "" if p >= SIGNIFICANT else " ▲" if share > 0.5 else " ▼"
    return Cell(f"{100 * share:.0f}{unit}{sign}", f"{100 * low:.0f} to {100 * high:.0f}", where)


def shares_of(verdicts: Sequence[Row]) -> dict[str, list[float]]:
    """Return A's share of each question by criterion: the mean of its verdicts, of which a tie is half."""
    ids = sorted({row["id"] for row in verdicts})
    return {one: [float(np.mean([_WORTH[row[one]] for row in verdicts if row["id"] == id])) for id in ids] for one in CRITERIA}


def _columns(lead: str, counts: Sequence[str], difference: Column) -> list[Column]:
    return [*words(lead), Column("n", "questions"), *map(Column, counts), difference, Column("p", "after Holm's correction")]


def _row(lead: str, count: int, counts: Sequence[str], difference: Cell, p: float) -> list[Cell]:
    return [Cell(lead, head=True), Cell(str(count)), *map(Cell, counts), difference, Cell(shown_p(p))]


def _first(verdicts: Sequence[Row]) -> str:
    """Return how often the judge preferred the first answer; without position bias it is half."""
    sided = [(row[criterion], row["first"]) for row in verdicts for criterion in CRITERIA if row[criterion] != "tie"]
    if not sided:
        return "It preferred neither anywhere."
    return f"Of its verdicts for one side, {100 * sum(won == first for won, first in sided) / len(sided):.0f} % were for what stood first."


def _proxies(name: str, pairs: Pairs) -> Iterator[Block]:
    """Report what can be counted of the evidence of answers, without a judge."""
    counts = [(rests_on(a.row), rests_on(b.row)) for a, b in pairs if not (a.failed or b.failed)]
    titles = [title for title in (counts[0][0] if counts else ()) if any(a[title] or b[title] for a, b in counts)]
    if not titles:
        return
    sides = {title: ([a[title] for a, _ in counts], [b[title] for _, b in counts]) for title in titles}
    adjusted = holm([paired_test(first, second) for first, second in sides.values()])
    rows = []
    for (title, both), p in zip(sides.items(), adjusted, strict=True):
        less = [a - b for a, b in zip(*both, strict=True)]
        low, high = bootstrap_interval(less)
        difference = Cell(f"{np.mean(less):+.1f}", f"{low:+.1f} to {high:+.1f}")
        rows.append(_row(title, len(less), [f"{np.mean(side):.1f}" for side in both], difference, p))
    yield Table(f"{name}: proxies", _columns("counted", "AB", Column("A less B", "with its 95 % interval")), rows, PROXIES)


def rests_on(row: Row) -> dict[str, int]:
    """Return counts of the evidence of an answer."""
    cited = [one for one in row.get("citations") or () if one.get("cited", True)]
    evidence = {id for branch in row.get("tree") or () for id in branch.get("evidence") or ()}
    text = _MARKS.sub("", f"{row.get('answer') or ''}\n{row.get('explanation') or ''}")
    return {
        "passages cited": len({one["id"] for one in cited}),
        "documents cited": len({one["source"] for one in cited}),
        "communities read": sum(id.startswith("community ") for id in evidence),
        "distinct sentences": len({fold(one) for line in text.splitlines() for one in sentences(line)} - {""}),
    }


def pairs_of(paper: Paper, run: Run) -> list[tuple[Row, Row]]:
    """Return the pairs of answers that a judge compares: each condition with each later one, on every question both answered."""
    found = []
    for dataset in run.datasets:
        for one, other in combinations(_there(paper, run, dataset).values(), 2):
            pairs = common(run.answered[dataset, *one], run.answered[dataset, *other])
            found += [(a.row, b.row) for a, b in pairs if not (a.failed or b.failed)]
    return found


def _there(paper: Paper, run: Run, dataset: str) -> dict[str, Condition]:
    return {name: condition for name, condition in paper.conditions.items() if (dataset, *condition) in run.answered}


class WinRate(NamedTuple):
    """The share of verdicts that the first of two conditions won, by question, and its corrected p."""

    shares: Sequence[float]
    p: float

    @property
    def turned(self) -> "WinRate":
        """Return that of the second."""
        return WinRate([1 - share for share in self.shares], self.p)


Rates = Mapping[tuple[str, str, str], WinRate]
"""Win rates by criterion, condition and the other condition."""


def win_rates(paper: Paper, run: Run, verdicts: Sequence[Row] | None) -> Iterator[Block]:
    """Report the win rates of all pairs of conditions, a table a criterion, and the paper's beside ours."""
    if not paper.conditions:
        return
    yield Points(TOLD)
    if verdicts is None:
        yield Words("No judge was asked, so there are no win rates: name a language model with --judge.", "warning")
    for dataset in run.datasets if verdicts is not None else ():
        there = _there(paper, run, dataset)
        rates = _rates(there, dataset, [row for row in verdicts or () if row["dataset"] == dataset])
        yield from (_matrix(dataset, criterion, there, rates) for criterion in CRITERIA)
        yield _claims(dataset, rates)
    if verdicts and (lost := sum(row["error"] is not None for row in verdicts)):
        yield Words(f"{lost:,} of {len(verdicts):,} verdicts did not come; the same command asks for them again.", "warning")


def _rates(there: Mapping[str, Condition], dataset: str, verdicts: Sequence[Row]) -> Rates:
    """Return all win rates, with p of sign-flip tests after Holm's correction over all pairs and criteria."""
    held: dict[tuple[str, str], list[Row]] = {}
    for row in verdicts:
        if row["error"] is None:
            held.setdefault((row["a"], row["b"]), []).append(row)
    named = {name: side((dataset, *condition)) for name, condition in there.items()}
    shares = {
        (criterion, one, other): of
        for one, other in combinations(there, 2)
        if (valid := held.get((named[one], named[other])))
        for criterion, of in shares_of(valid).items()
    }
    adjusted = holm([paired_test(of, [1 - share for share in of]) for of in shares.values()]) if shares else ()
    rates = {key: WinRate(of, p) for (key, of), p in zip(shares.items(), adjusted, strict=True)}
    return {**rates, **{(criterion, other, one): rate.turned for (criterion, one, other), rate in rates.items()}}


def _matrix(dataset: str, criterion: str, there: Mapping[str, Condition], rates: Rates) -> Table:
    rows = []
    for one, condition in there.items():
        cells = [Cell(one, head=True)]
        for other, beside in there.items():
            rate = rates.get((criterion, one, other))
            where = LineFilter(dataset, *condition, beside=beside)
            cells.append(Cell(NOTHING) if rate is None else _share(rate.shares, rate.p, where=where))
        rows.append(cells)
    note = (
        "Percent of verdicts that the row won over the column, ties half, averaged over the questions, with 95 % intervals. ▲ ▼: the row "
        f"is preferred, or the column, at p < {SIGNIFICANT} of a sign-flip test after Holm's correction over all pairs and criteria."
    )
    program = f"select(.dataset == {json.dumps(dataset)}) | [.a, .b, .{criterion}]"
    columns = [*words("of the row over"), *map(Column, there)]
    return Table(f"{dataset}: {criterion}", columns, rows, note, f"jq -c {shlex.quote(program)} {JUDGED}")


def _claims(dataset: str, rates: Rates) -> Table:
    """Return the win rates that the paper gives, beside ours."""
    rows = []
    for claim in CLAIMS:
        found = [rate for one in claim.over if (rate := rates.get((claim.criterion, one, claim.other)))]
        ours = sorted(100 * float(np.mean(rate.shares)) for rate in found)
        told = NOTHING if not ours else f"{ours[0]:.0f}" if len(ours) == 1 else f"{ours[0]:.0f} to {ours[-1]:.0f}"
        over = claim.over[0] if len(claim.over) == 1 else "the others"
        rows.append([Cell(f"{over} over {claim.other}", head=True), Cell(claim.criterion), *map(Cell, (claim.podcasts, claim.news, told))])
    columns = [*words("conditions", "criterion"), *map(Column, ("podcasts, paper", "news, paper", "ours"))]
    return Table(f"{dataset}: win rates, percent", columns, rows, "“–”: not given, or no such level here.")


def _counted(title: str, meaning: str) -> Measure:
    return Measure(title, meaning, mean_of(lambda line: None if line.failed else float(rests_on(line.row)[title])), plain, 0)


CONDITION_MEASURES = (
    Measure(
        "answered", "questions to which something was said", mean_of(lambda line: float(not (line.failed or line.row.get("abstained"))))
    ),
    _counted("passages cited", "passages that an answer cites"),
    _counted("documents cited", "documents that an answer cites"),
    _counted("communities read", "communities whose reports an answer rests on"),
    _counted("distinct sentences", "different sentences of an answer"),
    CALLS,
    PROMPT,
)


def proxies(paper: Paper, run: Run) -> Iterator[Block]:
    """Report what each condition's answers rest on and cost, counted without a judge."""
    for dataset in run.datasets if paper.conditions else ():
        there = _there(paper, run, dataset)
        groups = [LineGroup.of((dataset, *one), run.answered[dataset, *one], name) for name, one in there.items()]
        note = "Means of a question. Proxies: they say how much an answer rests on, not whether it is good."
        yield measure_table(f"{dataset}: answers of the conditions", groups, CONDITION_MEASURES, "condition", note, LineFilter(dataset).jq)


def token_tables(paper: Paper, run: Run, graphs: Sequence[Row]) -> Iterator[Block]:
    """Report reports and tokens of each level beside the paper's, the size of the graph, and other ways to build it."""
    for dataset in dict.fromkeys(graph["dataset"] for graph in graphs):
        built = [graph for graph in graphs if graph["dataset"] == dataset]
        yield _tokens(paper, run, built[0])
        yield _corpus(built[0])
        if len(built) > 1:
            yield _builds(built)
            caption = f"{dataset}: references to names by rounds of gleaning, a line a size of units."
            yield Plot.drawn(caption, "gleanings", built, f"gleanings-{dataset}")
        else:
            yield Words(f"{dataset}: rules read each passage once, whatever the size of units and the gleanings: one graph was built.")


def _tokens(paper: Paper, run: Run, graph: Row) -> Table:
    dataset, whole = graph["dataset"], max(1, graph["tokens"])
    sizes = {f"C{one['level']}": (one["reports"], one["tokens"]) for one in graph["levels"]} | {MAP: (graph["passages"], graph["tokens"])}
    theirs = {f"C{level}": share for level, share in PAPER_SHARES.items()} | {MAP: "100 %"}
    rows = []
    for name, condition in paper.conditions.items():
        lines, where = run.answered.get((dataset, *condition), []), LineFilter(dataset, *condition)
        asked = figure(PROMPT, PROMPT.of(lines), where if lines else None)
        units, tokens = sizes.get(name, (None, None))
        told = [NOTHING] * 3 if units is None or tokens is None else [f"{units:,}", f"{tokens:,}", f"{100 * tokens / whole:.0f} %"]
        rows.append([Cell(name, head=True), *map(Cell, (*told, theirs.get(name, NOTHING))), asked])
    columns = [
        *words("condition"),
        Column("units", "reports of the level; of TS passages"),
        Column("tokens", "of these units"),
        Column("of TS", "their share of the tokens of all passages"),
        Column("of TS, paper", "as the source tells it: over 97 % fewer for C0, 26 to 33 % fewer for C3"),
        Column("prompt", "prompt tokens of a question, all calls together"),
    ]
    return Table(f"{dataset}: context units and tokens", columns, rows, "A level that is missing here has “–”.", _jq(dataset))


def _corpus(graph: Row) -> Table:
    own = [Cell(f"{graph[name]:,}") for name in ("tokens", "passages", "names", "connections")]
    rows = [[Cell(f"{graph['dataset']}, here", head=True), *own]]
    rows += [[Cell(f"{name}, paper", head=True), *map(Cell, told)] for name, *told in PAPER_CORPORA]
    columns = [*words("corpus"), *map(Column, ("tokens", "units", "nodes", "edges"))]
    return Table(f"{graph['dataset']}: the graph", columns, rows, "Units are passages here.", _jq(graph["dataset"]))


def _builds(built: Sequence[Row]) -> Table:
    rows = []
    for graph in built:
        build = graph["build"]
        counts = [Cell(f"{graph[name]:,}") for name in ("references", "names", "connections", "communities")]
        rows.append([Cell(f"{build['unit_tokens']:,}", head=True), Cell(str(build["gleanings"])), *counts])
    columns = [
        Column("unit tokens"),
        Column("gleanings"),
        Column("references", "names with each passage that they stand in"),
        *map(Column, ("names", "connections", "communities")),
    ]
    note = "The paper has this as a figure, whose values the source does not give: one round at 600 finds almost twice as many as at 2,400."
    return Table(f"{built[0]['dataset']}: size of units and gleanings", columns, rows, note, _jq(built[0]["dataset"]))


def _jq(dataset: str) -> str:
    return f"jq -c {shlex.quote(f'select(.dataset == {json.dumps(dataset)})')} {GRAPHS}"
