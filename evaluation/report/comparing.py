"""Two runs on the same questions: what differs between them, by how much, and where each one wins."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.evaluation.report.blocks import Block, Cell, Section, Table, Where, Words, words
from ramify.evaluation.report.markdown import markdown
from ramify.evaluation.report.page import page
from ramify.evaluation.report.paired import Contest, paired_table
from ramify.evaluation.report.preferences import section as preferences
from ramify.evaluation.report.preferences import side
from ramify.evaluation.results.paired import Pairs
from ramify.evaluation.results.run import Line, Run
from ramify.evaluation.results.two_runs import Compared, Group, read_runs
from ramify.evaluation.rows import Row

TITLE = "Two runs compared"
DESCRIBED = ("model", "embedding", "label", "index_kinds", "seed", "base", "limit", "sample", "ramify", "versions", "machine")
SHOWN = 20
"""Questions that are listed of those one run wins."""


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
