"""Answers that no gold decides on: which a judge prefers (GraphRAG's win rates), and what can be counted of them without one."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ramify.evaluation.report.blocks import Block, Cell, Column, Section, Table, Words
from ramify.evaluation.report.paired import SIGNIFICANT, Pairs, shown_p
from ramify.evaluation.report.run import Line
from ramify.evaluation.rows import Row
from ramify.evaluation.statistics import bootstrap_interval, holm, paired_test
from ramify.prompts.prefer import CRITERIA
from ramify.tools.english import sentences
from ramify.tools.folded_text import fold

Group = tuple[str, str, str]
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


def section(pairs: Mapping[tuple[Group, Group], Pairs], verdicts: Sequence[Row] | None) -> Section | None:
    """Give the part on what a judge was asked about, and on open questions; none where there is neither."""
    blocks: list[Block] = []
    for groups, found in pairs.items():
        name = f"{groups[0][0]}: {' and '.join(map(side, groups))}"
        if verdicts is not None:
            between = (groups[0][0], *map(side, groups))
            blocks += _preferences(name, [row for row in verdicts if (row["dataset"], row["a"], row["b"]) == between])
        if unscored := [pair for pair in found if not any(line.scored for line in pair)]:
            blocks += _proxies(name, unscored)
    return Section("preferences", "Answers beside one another", blocks) if blocks else None


def side(group: Group) -> str:
    """Name a strategy with its variant."""
    return " ".join(filter(None, group[1:]))


def _preferences(name: str, verdicts: Sequence[Row]) -> list[Block]:
    """Show what the judge prefers."""
    valid = [row for row in verdicts if row["error"] is None]
    if not valid:
        why = f": {verdicts[0]['error']}" if verdicts else ""
        return [Words(f"{name}: no verdict came of {len(verdicts)} asked for{why}", "warning")]
    shares = {criterion: _shares(valid, criterion) for criterion in CRITERIA}
    adjusted = holm([paired_test(of, [1 - share for share in of]) for of in shares.values()])
    rows = [_judged(criterion, valid, shares[criterion], p) for criterion, p in zip(CRITERIA, adjusted, strict=True)]
    columns = [Column("criterion", words=True), Column("n", "questions"), *(Column(title) for title in ("A wins", "B wins", "ties"))]
    columns += [Column("A's share", "wins and half the ties, with its 95 % interval"), Column("p", "after Holm's correction")]
    how = HOW.format(repeats=_times(max(row["repeat"] for row in verdicts) + 1), tests=len(CRITERIA), significant=SIGNIFICANT)
    lost = len(verdicts) - len(valid)
    told = f"{name}: {lost:,} of {len(verdicts):,} verdicts did not come, and count for nothing; the same command asks for them again"
    table = Table(f"{name}, judged by {valid[0]['judge']}", columns, rows, f"{how} {_first(valid)}")
    return [*([Words(told, "warning")] if lost else []), table]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _shares(verdicts: Sequence[Row], criterion: str) -> list[float]:
    """Average A's share question by question."""
    found: dict[str, list[float]] = {}
    for row in verdicts:
        found.setdefault(row["id"], []).append(_WORTH[row[criterion]])
    return [float(np.mean(found[id])) for id in sorted(found)]


def _judged(criterion: str, verdicts: Sequence[Row], shares: list[float], p: float) -> list[Cell]:
    low, high = bootstrap_interval(shares)
    share = float(np.mean(shares))
    sign = "" if p >= SIGNIFICANT else " ▲" if share > 0.5 else " ▼"
    won = [sum(row[criterion] == side for row in verdicts) / len(verdicts) for side in ("A", "B", "tie")]
    cells = [Cell(f"{100 * one:.0f} %") for one in won]
    told = Cell(f"{100 * share:.0f} %{sign}", f"{100 * low:.0f} to {100 * high:.0f}")
    return [Cell(criterion, head=True), Cell(str(len(shares))), *cells, told, Cell(shown_p(p))]


def _first(verdicts: Sequence[Row]) -> str:
    """Say how often the judge preferred what it was shown first: by its place alone it should be half."""
    sided = [(row[criterion], row["first"]) for row in verdicts for criterion in CRITERIA if row[criterion] != "tie"]
    if not sided:
        return "It preferred neither anywhere."
    return f"Of its verdicts for one side, {100 * sum(won == first for won, first in sided) / len(sided):.0f} % were for what stood first."


def _proxies(name: str, pairs: Pairs) -> list[Block]:
    """Count what answers rest on."""
    told = [pair for pair in pairs if not (pair[0].failed or pair[1].failed)]
    counts = {title: ([value(a) for a, _ in told], [value(b) for _, b in told]) for title, value in _COUNTED.items()}
    shown = {title: sides for title, sides in counts.items() if any(sides[0]) or any(sides[1])}
    if not shown:
        return []
    adjusted = holm([paired_test(first, second) for first, second in shown.values()])
    columns = [Column("counted", words=True), Column("n", "questions"), Column("A"), Column("B")]
    columns += [Column("A less B", "with its 95 % interval"), Column("p", "after Holm's correction")]
    rows = [_counted(title, *sides, p) for (title, sides), p in zip(shown.items(), adjusted, strict=True)]
    return [Table(f"{name}: proxies", columns, rows, PROXIES)]


def _counted(title: str, first: Sequence[int], second: Sequence[int], p: float) -> list[Cell]:
    less = [a - b for a, b in zip(first, second, strict=True)]
    low, high = bootstrap_interval(less)
    means = [Cell(f"{np.mean(side):.1f}") for side in (first, second)]
    difference = Cell(f"{np.mean(less):+.1f}", f"{low:+.1f} to {high:+.1f}")
    return [Cell(title, head=True), Cell(str(len(less))), *means, difference, Cell(shown_p(p))]


def _count(of: Callable[[Row], Iterable[str]]) -> Callable[[Line], int]:
    return lambda line: len(set(of(line.row)))


def _cited(row: Row) -> list[Row]:
    return [one for one in row.get("citations") or () if one.get("cited", True)]


def _communities(row: Row) -> set[str]:
    return {id for branch in row.get("tree") or () for id in branch.get("evidence") or () if id.startswith("community ")}


def _sentences(row: Row) -> set[str]:
    text = _MARKS.sub("", f"{row.get('answer') or ''}\n{row.get('explanation') or ''}")
    return {fold(one) for line in text.splitlines() for one in sentences(line)} - {""}


_COUNTED: dict[str, Callable[[Line], int]] = {
    "passages cited": _count(lambda row: [one["id"] for one in _cited(row)]),
    "documents cited": _count(lambda row: [one["source"] for one in _cited(row)]),
    "communities read": _count(_communities),
    "distinct sentences": _count(_sentences),
}
