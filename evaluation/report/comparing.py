"""Two runs on the same questions: what differs between them, by how much, and where each one wins."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.evaluation.report.blocks import Block, Cell, Section, Table, Where, Words, sections_of, words
from ramify.evaluation.report.markdown import markdown
from ramify.evaluation.report.page import page
from ramify.evaluation.report.preferences import preferences, side
from ramify.evaluation.report.tables import Contest, paired_table
from ramify.evaluation.results.paired import Compared, Pairs, read_runs
from ramify.evaluation.results.run import Key, Line, Run
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
    scored = {groups: found for groups, pairs in runs.pairs.items() if (found := [pair for pair in pairs if pair[0].scored])}
    return sections_of(
        ("runs", "The runs", _runs(runs.a, runs.b)),
        ("differences", "The differences", _differences(scored)),
        ("preferences", "Answers beside one another", preferences(runs.pairs, verdicts)),
        ("wins", "Where one wins", _wins(scored)),
    )


def _runs(a: Run, b: Run) -> Iterator[Block]:
    """Tell which runs they are, and what their manifests say differently."""
    yield from (Words(f"{name}: {warning}", "warning") for name, run in (("A", a), ("B", b)) for warning in run.warnings)
    yield Words(f"A is {a.folder}, B is {b.folder}; the differences are A less B, on the questions both were asked.")
    told = [(name, _told(a.manifest.get(name)), _told(b.manifest.get(name))) for name in DESCRIBED]
    rows = [[Cell(name, head=True), Cell(one), Cell(other)] for name, one, other in told if one != other]
    same = Words("They were made with the same model, settings, versions and machine.")
    yield Table("What differs", words("", "A", "B"), rows) if rows else same


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else "" if value is None else str(value)


def _differences(pairs: Mapping[tuple[Key, Key], Pairs]) -> Iterator[Block]:
    contests = []
    for (one, other), found in pairs.items():
        where = Where(one[0], f"A: {one[1]}", one[2], beside=(f"B: {other[1]}", other[2]))
        contests.append(Contest((one[0], _name(one, other)), found, where))
    if contests:
        yield paired_table("A less B", contests, ("data set", "strategy"), "B", "In points, on the questions both were asked.")


def _wins(pairs: Mapping[tuple[Key, Key], Pairs]) -> Iterator[Block]:
    """List the questions that only one of the two answered rightly."""
    one_wins = False
    for groups, found in pairs.items():
        for name, better, worse in (("A", 0, 1), ("B", 1, 0)):
            if won := [pair for pair in found if pair[better].right > pair[worse].right]:
                one_wins = True
                title = f"{_name(*groups)} on {groups[0][0]}: only {name} is right ({len(won):,})"
                more = f"{len(won) - SHOWN:,} more." if len(won) > SHOWN else ""
                yield Table(title, words("question", "gold", "A", "B"), [*map(_said, won[:SHOWN])], more)
    if pairs and not one_wins:
        yield Words("Both answer the same questions rightly.")


def _said(pair: tuple[Line, Line]) -> list[Cell]:
    row = pair[0].row
    answers = [Cell(str(line.row.get("error") or line.row.get("answer") or "–")[:200], f"line {line.number}") for line in pair]
    return [Cell(str(row.get("question") or ""), head=True), Cell(str(row.get("gold") or "")), *answers]


def _name(one: Key, other: Key) -> str:
    return side(one) if side(one) == side(other) else f"{side(one)} / {side(other)}"
