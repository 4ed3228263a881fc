"""Answers that no gold decides on: which a judge prefers (GraphRAG's win rates), and what can be counted of them without one."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ramify.evaluation.metrics.statistics import bootstrap_interval, holm, paired_test
from ramify.evaluation.report.blocks import Block, Cell, Column, Table, Words, words
from ramify.evaluation.results.paired import SIGNIFICANT, Pairs, shown_p
from ramify.evaluation.results.run import Key
from ramify.evaluation.rows import Row
from ramify.prompts.prefer import CRITERIA
from ramify.tools.english import sentences
from ramify.tools.folded_text import fold

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
    """Tell what a judge was asked about, and of open questions what can be counted; nothing where there is neither."""
    for groups, found in pairs.items():
        sides = tuple(map(side, groups))
        name = f"{groups[0][0]}: {' and '.join(sides)}"
        if verdicts is not None:
            yield from _judged(name, [row for row in verdicts if (row["dataset"], row["a"], row["b"]) == (groups[0][0], *sides)])
        if unscored := [pair for pair in found if not any(line.scored for line in pair)]:
            yield from _proxies(name, unscored)


def side(group: Key) -> str:
    """Name a strategy with its variant."""
    return " ".join(filter(None, group[1:]))


def _judged(name: str, verdicts: Sequence[Row]) -> Iterator[Block]:
    """Show what the judge prefers; A's share is averaged question by question."""
    valid = [row for row in verdicts if row["error"] is None]
    if not valid:
        why = f": {verdicts[0]['error']}" if verdicts else ""
        yield Words(f"{name}: no verdict came of {len(verdicts)} asked for{why}", "warning")
        return
    if lost := len(verdicts) - len(valid):
        told = f"{lost:,} of {len(verdicts):,} verdicts did not come, and count for nothing; the same command asks for them again"
        yield Words(f"{name}: {told}", "warning")
    ids = sorted({row["id"] for row in valid})
    shares = {one: [float(np.mean([_WORTH[row[one]] for row in valid if row["id"] == id])) for id in ids] for one in CRITERIA}
    adjusted = holm([paired_test(of, [1 - share for share in of]) for of in shares.values()])
    rows = []
    for (criterion, of), p in zip(shares.items(), adjusted, strict=True):
        share, (low, high) = float(np.mean(of)), bootstrap_interval(of)
        sign = "" if p >= SIGNIFICANT else " ▲" if share > 0.5 else " ▼"
        won = [f"{100 * sum(row[criterion] == side for row in valid) / len(valid):.0f} %" for side in _WORTH]
        rows.append(_row(criterion, len(of), won, Cell(f"{100 * share:.0f} %{sign}", f"{100 * low:.0f} to {100 * high:.0f}"), p))
    times = max(row["repeat"] for row in verdicts) + 1
    how = HOW.format(repeats="once" if times == 1 else f"{times} times", tests=len(CRITERIA), significant=SIGNIFICANT)
    share_of = Column("A's share", "wins and half the ties, with its 95 % interval")
    columns = _columns("criterion", ("A wins", "B wins", "ties"), share_of)
    yield Table(f"{name}, judged by {valid[0]['judge']}", columns, rows, f"{how} {_first(valid)}")


def _columns(lead: str, counts: Sequence[str], difference: Column) -> list[Column]:
    return [*words(lead), Column("n", "questions"), *map(Column, counts), difference, Column("p", "after Holm's correction")]


def _row(lead: str, count: int, counts: Sequence[str], difference: Cell, p: float) -> list[Cell]:
    return [Cell(lead, head=True), Cell(str(count)), *map(Cell, counts), difference, Cell(shown_p(p))]


def _first(verdicts: Sequence[Row]) -> str:
    """Say how often the judge preferred what it was shown first: by its place alone it should be half."""
    sided = [(row[criterion], row["first"]) for row in verdicts for criterion in CRITERIA if row[criterion] != "tie"]
    if not sided:
        return "It preferred neither anywhere."
    return f"Of its verdicts for one side, {100 * sum(won == first for won, first in sided) / len(sided):.0f} % were for what stood first."


def _proxies(name: str, pairs: Pairs) -> Iterator[Block]:
    """Show what can be counted of what answers rest on, without a judge."""
    counts = [(_rests_on(a.row), _rests_on(b.row)) for a, b in pairs if not (a.failed or b.failed)]
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


def _rests_on(row: Row) -> dict[str, int]:
    """Count what an answer rests on."""
    cited = [one for one in row.get("citations") or () if one.get("cited", True)]
    evidence = {id for branch in row.get("tree") or () for id in branch.get("evidence") or ()}
    text = _MARKS.sub("", f"{row.get('answer') or ''}\n{row.get('explanation') or ''}")
    return {
        "passages cited": len({one["id"] for one in cited}),
        "documents cited": len({one["source"] for one in cited}),
        "communities read": sum(id.startswith("community ") for id in evidence),
        "distinct sentences": len({fold(one) for line in text.splitlines() for one in sentences(line)} - {""}),
    }
