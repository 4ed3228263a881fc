"""Two runs on the same questions: what differs between them, by how much, and where each one wins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ramify.evaluation.report.blocks import Block, Cell, Section, Table, Where, Words, words
from ramify.evaluation.report.markdown import markdown
from ramify.evaluation.report.page import page
from ramify.evaluation.report.paired import Contest, Pairs, common, paired_table
from ramify.evaluation.report.preferences import Group, side
from ramify.evaluation.report.preferences import section as preferences
from ramify.evaluation.results.run import Line, Run, read_run
from ramify.evaluation.rows import Row
from ramify.tools.errors import UsageError

TITLE = "Two runs compared"
DESCRIBED = ("model", "embedding", "label", "index_kinds", "seed", "base", "limit", "sample", "ramify", "versions", "machine")
PRIOR = "closed-book"
SHOWN = 20
"""Questions that are listed of those one run wins."""


@dataclass(frozen=True)
class Compared:
    """Two runs, and the lines of both on the same questions."""

    a: Run
    b: Run
    pairs: Mapping[tuple[Group, Group], Pairs]

    @property
    def answers(self) -> list[tuple[Row, Row]]:
        """List the pairs of answers."""
        found = (pair for pairs in self.pairs.values() for pair in pairs)
        return [(a.row, b.row) for a, b in found if not (a.failed or b.failed or a.searched or b.searched)]


def compare(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Compare two runs in Markdown, with a judge's verdicts on their answers; UsageError where they cannot be compared."""
    return markdown(TITLE, _sections(read_runs(run_a, run_b), verdicts))


def compare_page(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Compare two runs as one page, with every question of both side by side."""
    runs = read_runs(run_a, run_b)
    a, b = runs.a, runs.b
    lines = []
    for line, name in [*((line, "A") for line in a.lines), *((line, "B") for line in b.lines)]:
        named = {"strategy": f"{name}: {line.row['strategy']}", "key": f"{name}|{line.row['key']}"}
        lines.append(Line(line.number, {**line.row, **named}))
    names = list(dict.fromkeys(line.row["strategy"] for line in lines))
    return page(Run(a.folder, {**a.manifest, "strategies": names}, tuple(lines)), TITLE, _sections(runs, verdicts))


def read_runs(run_a: Path, run_b: Path) -> Compared:
    """Read two runs; UsageError where they cannot be compared."""
    a, b = read_run(run_a), read_run(run_b)
    shared = [dataset for dataset in a.datasets if dataset in b.datasets]
    if not shared:
        what = f"{str(run_a)!r} is on {', '.join(a.datasets)}, and {str(run_b)!r} on {', '.join(b.datasets)}"
        raise UsageError(what, "compare runs on the same data")
    for dataset in shared:
        if (one := a.described(dataset).get("sha256")) != (other := b.described(dataset).get("sha256")):
            what = f"the two runs have other data under the name {dataset!r} (sha256 {str(one)[:12]} and {str(other)[:12]})"
            raise UsageError(what, "run both on the same questions and documents")
    pairs = {groups: common(a.groups[groups[0]], b.groups[groups[1]]) for groups in _matched(a, b)}
    pairs = {groups: found for groups, found in pairs.items() if found}
    if not pairs:
        raise UsageError(
            "the two runs have no question in common that the same strategy answered", "run the same strategy on the same questions"
        )
    return Compared(a, b, pairs)


def _matched(a: Run, b: Run) -> Iterator[tuple[Group, Group]]:
    """Match the same strategy and variant; where a run has but one of them beside the prior, it is matched whatever it is."""
    sides = [{group for group in run.answered if group[1] != PRIOR} or set(run.answered) for run in (a, b)]
    same = [(group, group) for group in a.answered if group in b.answered]
    if sides[0] & sides[1] or any(len({group[1:] for group in side}) != 1 for side in sides):
        yield from same
        return
    yield from ((one, other) for one in a.answered for other in b.answered if one in sides[0] and other in sides[1] and one[0] == other[0])


def _sections(runs: Compared, verdicts: Sequence[Row] | None) -> list[Section]:
    a, b = runs.a, runs.b
    warnings: list[Block] = [Words(f"{name}: {warning}", "warning") for name, run in (("A", a), ("B", b)) for warning in run.warnings]
    what = Words(f"A is {a.folder}, B is {b.folder}; the differences are A less B, on the questions both were asked.")
    parts = [Section("runs", "The runs", [*warnings, what, _differing(a, b)]), preferences(runs.pairs, verdicts)]
    scored = {groups: found for groups, pairs in runs.pairs.items() if (found := [pair for pair in pairs if pair[0].scored])}
    if scored:
        won: list[Block] = [table for groups, found in scored.items() for table in _won(groups, found)]
        parts.insert(1, Section("differences", "The differences", [_differences(scored)]))
        parts.append(Section("wins", "Where one wins", won or [Words("Both answer the same questions rightly.")]))
    return [part for part in parts if part]


def _differing(a: Run, b: Run) -> Block:
    """Tell what the manifests say differently."""
    told = [(name, _told(a.manifest.get(name)), _told(b.manifest.get(name))) for name in DESCRIBED]
    rows = [[Cell(name, head=True), Cell(one), Cell(other)] for name, one, other in told if one != other]
    same = Words("They were made with the same model, settings, versions and machine.")
    return Table("What differs", words("", "A", "B"), rows) if rows else same


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else "" if value is None else str(value)


def _differences(pairs: Mapping[tuple[Group, Group], Pairs]) -> Table:
    contests = []
    for (one, other), found in pairs.items():
        where = Where(one[0], f"A: {one[1]}", one[2], beside=(f"B: {other[1]}", other[2]))
        contests.append(Contest([Cell(one[0]), Cell(_name(one, other), where=where, head=True)], found, where))
    return paired_table("A less B", contests, ("data set", "strategy"), "B", "In points, on the questions both were asked.")


def _won(groups: tuple[Group, Group], pairs: Pairs) -> Iterator[Table]:
    """List the questions that only one of the two answered rightly."""
    wins = {"A": [pair for pair in pairs if pair[0].right > pair[1].right], "B": [pair for pair in pairs if pair[1].right > pair[0].right]}
    for name, won in wins.items():
        rows = []
        for a, b in won[:SHOWN]:
            asked = [Cell(str(a.row.get("question") or ""), head=True), Cell(str(a.row.get("gold") or ""))]
            said = [(line, str(line.row.get("error") or line.row.get("answer") or "–")[:200]) for line in (a, b)]
            rows.append([*asked, *(Cell(text, f"line {line.number}") for line, text in said)])
        more = f"{len(won) - SHOWN:,} more." if len(won) > SHOWN else ""
        if won:
            title = f"{_name(*groups)} on {groups[0][0]}: only {name} is right ({len(won):,})"
            yield Table(title, words("question", "gold", "A", "B"), rows, more)


def _name(one: Group, other: Group) -> str:
    return side(one) if side(one) == side(other) else f"{side(one)} / {side(other)}"
