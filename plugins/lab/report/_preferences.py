"""Comparison of answers by a judge and by countable proxies, for two runs and for GraphRAG's conditions; GraphRAG's levels and graphs."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ramify.kinds.knowledge.index import PAPER_CORPORA, PAPER_SHARES
from ramify.lab.judging import VERDICTS_FILE, reader_text
from ramify.lab.metrics import bootstrap_interval, holm_correction, paired_test
from ramify.lab.papers.graph import CONDITION_HELP, GRAPHS_FILE, MAP_CONDITION, WIN_RATE_CLAIMS
from ramify.lab.papers.paper import JudgedCondition, Paper
from ramify.lab.prompts.prefer import CRITERIA
from ramify.lab.report._blocks import (
    EMPTY_CELL,
    Block,
    BulletList,
    Cell,
    Column,
    LineFilter,
    LineGroup,
    Plot,
    Table,
    TextBlock,
    estimate_cell,
    measure_table,
    text_columns,
)
from ramify.lab.results import GroupKey, Run
from ramify.lab.results.measures import (
    MODEL_CALLS,
    PROMPT_TOKENS,
    SIGNIFICANCE_LEVEL,
    LinePairs,
    Measure,
    format_number,
    format_p,
    mean_estimator,
    pair_lines,
)
from ramify.lab.task import Row
from ramify.tools.english import fold, sentences

_CITATION_MARK = re.compile(r"\[\d+\]")
_VERDICT_VALUES = {"A": 1.0, "B": 0.0, "tie": 0.5}
JUDGING_NOTE = (
    "Each pair of answers was judged {repeats}, A and B first by turns. A's share is its wins and half the ties, averaged over "
    "a question's verdicts, then over questions; p is of a paired sign-flip permutation test, after Holm's correction for the {tests} "
    "criteria. ▲ A is preferred, ▼ B is, at p < {significant}."
)
PROXIES_NOTE = (
    "Proxies, counted without a judge: they say how much an answer rests on (communities read are those whose reports were), not "
    "whether it is good. p is of a paired sign-flip "
    "permutation test, after Holm's correction."
)


def preferences_section(pairs: Mapping[tuple[GroupKey, GroupKey], LinePairs], verdicts: Sequence[Row] | None) -> Iterator[Block]:
    """Report the judge's verdicts and, for open questions, countable proxies."""
    for groups, group_pairs in pairs.items():
        sides = tuple(map(variant_label, groups))
        name = f"{groups[0][0]}: {' and '.join(sides)}"
        if verdicts is not None:
            yield from _verdict_blocks(name, [row for row in verdicts if (row["dataset"], row["a"], row["b"]) == (groups[0][0], *sides)])
        if unscored := [pair for pair in group_pairs if not any(line.has_gold for line in pair)]:
            yield from _proxy_table(name, unscored)


def variant_label(group: GroupKey) -> str:
    """Return a strategy with its variant."""
    return " ".join(filter(None, group[1:]))


def _verdict_blocks(name: str, verdicts: Sequence[Row]) -> Iterator[Block]:
    """Report the judge's preferences, averaged per question."""
    valid = [row for row in verdicts if row["error"] is None]
    if not valid:
        why = f": {verdicts[0]['error']}" if verdicts else ""
        yield TextBlock(f"{name}: none of {len(verdicts)} requested verdicts succeeded{why}", "warning")
        return
    if failed := len(verdicts) - len(valid):
        message = f"{failed:,} of {len(verdicts):,} verdicts failed and are not counted; the same command requests them again"
        yield TextBlock(f"{name}: {message}", "warning")
    shares = win_shares(valid)
    adjusted = holm_correction([paired_test(of, [1 - share for share in of]) for of in shares.values()])
    rows = []
    for (criterion, of), p in zip(shares.items(), adjusted, strict=True):
        won = [f"{100 * sum(row[criterion] == side for row in valid) / len(valid):.0f} %" for side in _VERDICT_VALUES]
        rows.append(_comparison_row(criterion, len(of), won, _share_cell(of, p, " %"), p))
    times = max(row["repeat"] for row in verdicts) + 1
    how = JUDGING_NOTE.format(repeats="once" if times == 1 else f"{times} times", tests=len(CRITERIA), significant=SIGNIFICANCE_LEVEL)
    share_of = Column("A's share", "wins and half the ties, with its 95 % interval")
    columns = _comparison_columns("criterion", ("A wins", "B wins", "ties"), share_of)
    yield Table(f"{name}, judged by {valid[0]['judge']}", columns, rows, f"{how} {_position_note(valid)}")


def _share_cell(shares: Sequence[float], p: float, unit: str = "", where: LineFilter | None = None) -> Cell:
    """Return the cell of a mean share of verdicts, marked where one side is preferred."""
    share, (low, high) = float(np.mean(shares)), bootstrap_interval(shares)
    sign = "" if p >= SIGNIFICANCE_LEVEL else " ▲" if share > 0.5 else " ▼"
    return Cell(f"{100 * share:.0f}{unit}{sign}", f"{100 * low:.0f} to {100 * high:.0f}", where)


def win_shares(verdicts: Sequence[Row]) -> dict[str, list[float]]:
    """Return A's share of each question by criterion: the mean of its verdicts, of which a tie is half."""
    ids = sorted({row["id"] for row in verdicts})
    return {
        criterion: [float(np.mean([_VERDICT_VALUES[row[criterion]] for row in verdicts if row["id"] == id])) for id in ids]
        for criterion in CRITERIA
    }


def _comparison_columns(lead: str, counts: Sequence[str], difference: Column) -> list[Column]:
    return [*text_columns(lead), Column("n", "questions"), *map(Column, counts), difference, Column("p", "after Holm's correction")]


def _comparison_row(lead: str, count: int, counts: Sequence[str], difference: Cell, p: float) -> list[Cell]:
    return [Cell(lead, head=True), Cell(str(count)), *map(Cell, counts), difference, Cell(format_p(p))]


def _position_note(verdicts: Sequence[Row]) -> str:
    """Return a note on how often the judge preferred the first answer (50 % without position bias)."""
    sided = [(row[criterion], row["first"]) for row in verdicts for criterion in CRITERIA if row[criterion] != "tie"]
    if not sided:
        return "It preferred neither anywhere."
    return f"Of its verdicts for one side, {100 * sum(won == first for won, first in sided) / len(sided):.0f} % were for what stood first."


def _proxy_table(name: str, pairs: LinePairs) -> Iterator[Block]:
    """Report counts of the evidence of answers, without a judge."""
    counts = [(count_evidence(a.row), count_evidence(b.row)) for a, b in pairs if not (a.failed or b.failed)]
    titles = [title for title in (counts[0][0] if counts else ()) if any(a[title] or b[title] for a, b in counts)]
    if not titles:
        return
    sides = {title: ([a[title] for a, _ in counts], [b[title] for _, b in counts]) for title in titles}
    adjusted = holm_correction([paired_test(first, second) for first, second in sides.values()])
    rows = []
    for (title, both), p in zip(sides.items(), adjusted, strict=True):
        less = [a - b for a, b in zip(*both, strict=True)]
        low, high = bootstrap_interval(less)
        difference = Cell(f"{np.mean(less):+.1f}", f"{low:+.1f} to {high:+.1f}")
        rows.append(_comparison_row(title, len(less), [f"{np.mean(side):.1f}" for side in both], difference, p))
    yield Table(f"{name}: proxies", _comparison_columns("counted", "AB", Column("A less B", "with its 95 % interval")), rows, PROXIES_NOTE)


def count_evidence(row: Row) -> dict[str, int]:
    """Return counts of the evidence of an answer."""
    cited = [citation for citation in row.get("citations") or () if citation.get("cited", True)]
    evidence = {id for branch in row.get("tree") or () for id in branch.get("evidence") or ()}
    text = _CITATION_MARK.sub("", reader_text(row))
    return {
        "passages cited": len({citation["id"] for citation in cited}),
        "documents cited": len({citation["source"] for citation in cited}),
        "communities read": sum(id.startswith("community ") for id in evidence),
        "distinct sentences": len({fold(sentence) for line in text.splitlines() for sentence in sentences(line)} - {""}),
    }


def list_answer_pairs(paper: Paper, run: Run) -> list[tuple[Row, Row]]:
    """Return the pairs of rows that a judge compares: all pairs of conditions on every common question."""
    answer_pairs = []
    for dataset in run.datasets:
        for one, other in combinations(_run_conditions(paper, run, dataset).values(), 2):
            pairs = pair_lines(run.answered[dataset, *one], run.answered[dataset, *other])
            answer_pairs += [(a.row, b.row) for a, b in pairs if not (a.failed or b.failed)]
    return answer_pairs


def _run_conditions(paper: Paper, run: Run, dataset: str) -> dict[str, JudgedCondition]:
    return {name: condition for name, condition in paper.conditions.items() if (dataset, *condition) in run.answered}


class WinRate(NamedTuple):
    """The share of verdicts that the first of two conditions won, by question, and its corrected p."""

    shares: Sequence[float]
    p: float

    @property
    def inverted(self) -> "WinRate":
        """Return the win rate of the second condition."""
        return WinRate([1 - share for share in self.shares], self.p)


WinRates = Mapping[tuple[str, str, str], WinRate]
"""Win rates by criterion, condition and the other condition."""


def win_rates_section(paper: Paper, run: Run, verdicts: Sequence[Row] | None) -> Iterator[Block]:
    """Report the win rates of all pairs of conditions, one table per criterion, and the paper's next to ours."""
    if not paper.conditions:
        return
    yield BulletList(CONDITION_HELP)
    if verdicts is None:
        yield TextBlock("No judge was asked, so there are no win rates: name a language model with --judge.", "warning")
    for dataset in run.datasets if verdicts is not None else ():
        conditions = _run_conditions(paper, run, dataset)
        rates = _compute_win_rates(conditions, dataset, [row for row in verdicts or () if row["dataset"] == dataset])
        yield from (_win_rate_table(dataset, criterion, conditions, rates) for criterion in CRITERIA)
        yield _claims_table(dataset, rates)
    if verdicts and (failed := sum(row["error"] is not None for row in verdicts)):
        yield TextBlock(f"{failed:,} of {len(verdicts):,} verdicts failed; the same command requests them again.", "warning")


def _compute_win_rates(conditions: Mapping[str, JudgedCondition], dataset: str, verdicts: Sequence[Row]) -> WinRates:
    """Return all win rates, with p of sign-flip tests after Holm's correction over all pairs and criteria."""
    valid_by_pair: dict[tuple[str, str], list[Row]] = {}
    for row in verdicts:
        if row["error"] is None:
            valid_by_pair.setdefault((row["a"], row["b"]), []).append(row)
    labels = {name: variant_label((dataset, *condition)) for name, condition in conditions.items()}
    shares = {
        (criterion, one, other): of
        for one, other in combinations(conditions, 2)
        if (valid := valid_by_pair.get((labels[one], labels[other])))
        for criterion, of in win_shares(valid).items()
    }
    adjusted = holm_correction([paired_test(of, [1 - share for share in of]) for of in shares.values()]) if shares else ()
    rates = {key: WinRate(of, p) for (key, of), p in zip(shares.items(), adjusted, strict=True)}
    return {**rates, **{(criterion, other, one): rate.inverted for (criterion, one, other), rate in rates.items()}}


def _win_rate_table(dataset: str, criterion: str, conditions: Mapping[str, JudgedCondition], rates: WinRates) -> Table:
    rows = []
    for one, condition in conditions.items():
        cells = [Cell(one, head=True)]
        for other, other_condition in conditions.items():
            rate = rates.get((criterion, one, other))
            where = LineFilter(dataset, *condition, compared_with=other_condition)
            cells.append(Cell(EMPTY_CELL) if rate is None else _share_cell(rate.shares, rate.p, where=where))
        rows.append(cells)
    note = (
        "Percent of verdicts that the row won over the column, ties half, averaged over the questions, with 95 % intervals. ▲ ▼: the row "
        f"is preferred, or the column, at p < {SIGNIFICANCE_LEVEL} of a sign-flip test after Holm's correction over all pairs and criteria."
    )
    program = f"select(.dataset == {json.dumps(dataset)}) | [.a, .b, .{criterion}]"
    columns = [*text_columns("of the row over"), *map(Column, conditions)]
    return Table(f"{dataset}: {criterion}", columns, rows, note, f"jq -c {shlex.quote(program)} {VERDICTS_FILE}")


def _claims_table(dataset: str, rates: WinRates) -> Table:
    """Return the table of the paper's win rates and ours."""
    rows = []
    for claim in WIN_RATE_CLAIMS:
        our_rates = [rate for condition in claim.over if (rate := rates.get((claim.criterion, condition, claim.other)))]
        ours = sorted(100 * float(np.mean(rate.shares)) for rate in our_rates)
        ours_text = EMPTY_CELL if not ours else f"{ours[0]:.0f}" if len(ours) == 1 else f"{ours[0]:.0f} to {ours[-1]:.0f}"
        over = claim.over[0] if len(claim.over) == 1 else "the others"
        rows.append(
            [Cell(f"{over} over {claim.other}", head=True), Cell(claim.criterion), *map(Cell, (claim.podcasts, claim.news, ours_text))]
        )
    columns = [*text_columns("conditions", "criterion"), *map(Column, ("podcasts, paper", "news, paper", "ours"))]
    return Table(f"{dataset}: win rates, percent", columns, rows, "“–”: not given, or no such level here.")


def _evidence_measure(title: str, meaning: str) -> Measure:
    return Measure(
        title, meaning, mean_estimator(lambda line: None if line.failed else float(count_evidence(line.row)[title])), format_number, 0
    )


CONDITION_MEASURES = (
    Measure(
        "answered",
        "questions to which something was said",
        mean_estimator(lambda line: float(not (line.failed or line.row.get("abstained")))),
    ),
    _evidence_measure("passages cited", "passages that an answer cites"),
    _evidence_measure("documents cited", "documents that an answer cites"),
    _evidence_measure("communities read", "communities whose reports an answer rests on"),
    _evidence_measure("distinct sentences", "different sentences of an answer"),
    MODEL_CALLS,
    PROMPT_TOKENS,
)


def proxies_section(paper: Paper, run: Run) -> Iterator[Block]:
    """Report evidence and cost of each condition's answers, counted without a judge."""
    for dataset in run.datasets if paper.conditions else ():
        conditions = _run_conditions(paper, run, dataset)
        groups = [LineGroup.of((dataset, *condition), run.answered[dataset, *condition], name) for name, condition in conditions.items()]
        note = "Means of a question. Proxies: they say how much an answer rests on, not whether it is good."
        yield measure_table(f"{dataset}: answers of the conditions", groups, CONDITION_MEASURES, "condition", note, LineFilter(dataset).jq)


def tokens_section(paper: Paper, run: Run, graphs: Sequence[Row]) -> Iterator[Block]:
    """Report the tokens of each level and the size of the graph next to the paper's, and the other builds of the graph."""
    for dataset in dict.fromkeys(graph["dataset"] for graph in graphs):
        built = [graph for graph in graphs if graph["dataset"] == dataset]
        yield _level_tokens_table(paper, run, built[0])
        yield _graph_size_table(built[0])
        if len(built) > 1:
            yield _builds_table(built)
            caption = f"{dataset}: references to names by rounds of gleaning, a line a size of units."
            yield Plot.draw(caption, "plot_gleanings", built, f"gleanings-{dataset}")
        else:
            yield TextBlock(f"{dataset}: rules read each passage once, whatever the size of units and the gleanings: one graph was built.")


def _level_tokens_table(paper: Paper, run: Run, graph: Row) -> Table:
    dataset, total = graph["dataset"], max(1, graph["tokens"])
    sizes = {f"C{level['level']}": (level["reports"], level["tokens"]) for level in graph["levels"]} | {
        MAP_CONDITION: (graph["passages"], graph["tokens"])
    }
    theirs = {f"C{level}": share for level, share in PAPER_SHARES.items()} | {MAP_CONDITION: "100 %"}
    rows = []
    for name, condition in paper.conditions.items():
        lines, where = run.answered.get((dataset, *condition), []), LineFilter(dataset, *condition)
        prompt_cell = estimate_cell(PROMPT_TOKENS, PROMPT_TOKENS.of(lines), where if lines else None)
        units, tokens = sizes.get(name, (None, None))
        texts = [EMPTY_CELL] * 3 if units is None or tokens is None else [f"{units:,}", f"{tokens:,}", f"{100 * tokens / total:.0f} %"]
        rows.append([Cell(name, head=True), *map(Cell, (*texts, theirs.get(name, EMPTY_CELL))), prompt_cell])
    columns = [
        *text_columns("condition"),
        Column("units", "reports of the level; of TS passages"),
        Column("tokens", "of these units"),
        Column("of TS", "their share of the tokens of all passages"),
        Column("of TS, paper", "as the source tells it: over 97 % fewer for C0, 26 to 33 % fewer for C3"),
        Column("prompt", "prompt tokens of a question, all calls together"),
    ]
    return Table(f"{dataset}: context units and tokens", columns, rows, "A level that is missing here has “–”.", _graphs_command(dataset))


def _graph_size_table(graph: Row) -> Table:
    own_cells = [Cell(f"{graph[name]:,}") for name in ("tokens", "passages", "names", "connections")]
    rows = [[Cell(f"{graph['dataset']}, here", head=True), *own_cells]]
    rows += [[Cell(f"{name}, paper", head=True), *map(Cell, figures)] for name, *figures in PAPER_CORPORA]
    columns = [*text_columns("corpus"), *map(Column, ("tokens", "units", "nodes", "edges"))]
    return Table(f"{graph['dataset']}: the graph", columns, rows, "Units are passages here.", _graphs_command(graph["dataset"]))


def _builds_table(built: Sequence[Row]) -> Table:
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
    return Table(f"{built[0]['dataset']}: size of units and gleanings", columns, rows, note, _graphs_command(built[0]["dataset"]))


def _graphs_command(dataset: str) -> str:
    return f"jq -c {shlex.quote(f'select(.dataset == {json.dumps(dataset)})')} {GRAPHS_FILE}"
