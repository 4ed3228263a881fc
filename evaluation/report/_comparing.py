"""Two runs compared, and several side by side: as one run, on the questions that all were asked."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ramify.evaluation.report._answers import at_a_glance, calibration, of_dataset
from ramify.evaluation.report._blocks import (
    Block,
    Cell,
    Comparison,
    LineFilter,
    ReportSection,
    Table,
    Words,
    paired_table,
    sections_of,
    words,
)
from ramify.evaluation.report._preferences import preferences, side
from ramify.evaluation.report._run import costs, failures, worst
from ramify.evaluation.report.writers import markdown, page
from ramify.evaluation.results import Key, ResultLine, Run, read_run
from ramify.evaluation.results.measures import Compared, Pairs, read_runs
from ramify.evaluation.task import RESULTS, Row
from ramify.evaluation.variants import OPTION, PLAIN, is_named
from ramify.tools.errors import UsageError

TITLE = "Two runs compared"
DESCRIBED = ("model", "embedding", "label", "index_kinds", "seed", "base", "limit", "sample", "ramify", "versions", "machine")
SHOWN = 20
"""Questions that are listed of those one run wins."""


def compare(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Return the comparison of two runs as Markdown, with a judge's verdicts; UsageError if they cannot be compared."""
    return markdown(TITLE, _sections(read_runs(run_a, run_b), verdicts))


def compare_page(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Return the comparison of two runs as an HTML page, with every question side by side."""
    runs = read_runs(run_a, run_b)
    a, b = runs.a, runs.b
    lines = []
    for line, name, run in [*((line, "A", a) for line in a.lines), *((line, "B", b) for line in b.lines)]:
        named = {"strategy": f"{name}: {line.row['strategy']}", "key": f"{name}|{line.row['key']}"}
        lines.append(ResultLine(line.number, {**line.row, **named}, str(run.folder / RESULTS)))
    names = list(dict.fromkeys(line.row["strategy"] for line in lines))
    return page(Run(a.folder, {**a.manifest, "strategies": names}, tuple(lines)), TITLE, _sections(runs, verdicts))


def _sections(runs: Compared, verdicts: Sequence[Row] | None) -> list[ReportSection]:
    scored = {groups: found for groups, pairs in runs.pairs.items() if (found := [pair for pair in pairs if pair[0].scored])}
    return sections_of(
        ("runs", "The runs", _runs(runs.a, runs.b)),
        ("differences", "The differences", _differences(scored)),
        ("preferences", "Answers compared", preferences(runs.pairs, verdicts)),
        ("wins", "Questions that only one answers correctly", _wins(scored)),
    )


def _runs(a: Run, b: Run) -> Iterator[Block]:
    """Report which runs they are, and how their manifests differ."""
    yield from (Words(f"{name}: {warning}", "warning") for name, run in (("A", a), ("B", b)) for warning in run.warnings)
    yield Words(f"A is {a.folder}, B is {b.folder}; the differences are A less B, on the questions both were asked.")
    told = [(name, manifest_text(a.manifest.get(name)), manifest_text(b.manifest.get(name))) for name in DESCRIBED]
    rows = [[Cell(name, head=True), Cell(one), Cell(other)] for name, one, other in told if one != other]
    same = Words("They were made with the same model, settings, versions and machine.")
    yield Table("What differs", words("", "A", "B"), rows) if rows else same


def manifest_text(value: Any) -> str:
    """Return a value of a manifest as a text."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else "" if value is None else str(value)


def _differences(pairs: Mapping[tuple[Key, Key], Pairs]) -> Iterator[Block]:
    contests = []
    for (one, other), found in pairs.items():
        where = LineFilter(one[0], f"A: {one[1]}", one[2], beside=(f"B: {other[1]}", other[2]))
        contests.append(Comparison((one[0], _name(one, other)), found, where))
    if contests:
        yield paired_table("A less B", contests, ("data set", "strategy"), "B", "In points, on the questions both were asked.")


def _wins(pairs: Mapping[tuple[Key, Key], Pairs]) -> Iterator[Block]:
    """Report the questions that only one of the two answered correctly."""
    one_wins = False
    for groups, found in pairs.items():
        for name, better, worse in (("A", 0, 1), ("B", 1, 0)):
            if won := [pair for pair in found if pair[better].right > pair[worse].right]:
                one_wins = True
                title = f"{_name(*groups)} on {groups[0][0]}: only {name} is right ({len(won):,})"
                more = f"{len(won) - SHOWN:,} more." if len(won) > SHOWN else ""
                yield Table(title, words("question", "gold", "A", "B"), [*map(_both_answers, won[:SHOWN])], more)
    if pairs and not one_wins:
        yield Words("Both answer the same questions correctly.")


def _both_answers(pair: tuple[ResultLine, ResultLine]) -> list[Cell]:
    row = pair[0].row
    answers = [Cell(str(line.row.get("error") or line.row.get("answer") or "–")[:200], f"line {line.number}") for line in pair]
    return [Cell(str(row.get("question") or ""), head=True), Cell(str(row.get("gold") or "")), *answers]


def _name(one: Key, other: Key) -> str:
    return side(one) if side(one) == side(other) else f"{side(one)} / {side(other)}"


TOLD = ("model", "embedding", "index_kinds", "label", "group_by", "profile", "seed", "limit", "ramify", "machine")
"""What is told of a run beside its settings; the first of them name it."""
NAMING = 6
"""How many of them name it: what was measured with, not when or where."""


def read_side_by_side(folders: Sequence[Path]) -> tuple[Run, list[ReportSection]]:
    """Return several runs as one, and the sections that compare them; UsageError if they have no questions in common."""
    runs = [read_run(folder) for folder in folders]
    names = names_of(runs)
    merged = _merged(runs, names)
    files = [str(run.folder / RESULTS) for run in runs]
    return merged, sections_of(
        ("runs", "The runs", _described(runs, names, merged)),
        ("glance", "At a glance", _traced(at_a_glance(merged), files)),
        ("costs", "Quality against cost", _traced(costs(merged), files)),
        *((f"set-{place}", name, _traced(of_dataset(merged, name), files, name)) for place, name in enumerate(merged.datasets, 1)),
        ("calibration", "Calibration, and risk against coverage", _traced(calibration(merged), files)),
        ("worst", "Ten worst trees", worst(merged)),
        ("failures", "Failures", _traced(failures(merged), files)),
    )


def names_of(runs: Sequence[Run]) -> list[str]:
    """Return a name for each run: what it was measured with and the others were not, or else its folder."""
    facts = [_facts(run) for run in runs]
    varying = [name for name in dict.fromkeys(name for told in facts for name in told) if len({told.get(name) for told in facts}) > 1]
    names = [", ".join(told[name] for name in varying if told.get(name)) for told in facts]
    return [
        name if name and names.count(name) == 1 else ", ".join(filter(None, (name, str(run.folder))))
        for name, run in zip(names, runs, strict=True)
    ]


def _facts(run: Run) -> dict[str, str]:
    """Return what a run was measured with: model, encoder, kind of index, profile and changed settings."""
    named = {name: manifest_text(run.manifest.get(name)) for name in TOLD[:NAMING]}
    named["index_kinds"] = str((run.manifest.get("index_kinds") or [PLAIN])[0])
    if named["profile"]:  # by its content: another calibration may have been written to the same file
        named["profile"] = f"profile {named['profile'][:8]}"
    base = run.manifest.get("base") or {}
    settings = sorted((name, value) for name, value in base.items() if name != "profile") if isinstance(base, dict) else []
    return named | {f"{name} set": f"{name}={manifest_text(value)}" for name, value in settings}


def _merged(runs: Sequence[Run], names: Sequence[str]) -> Run:
    """Return the unchanged strategies of all runs as one run, on the questions of each data set that all runs with it were asked."""
    datasets = list(dict.fromkeys(name for run in runs for name in run.datasets))
    shared = {dataset: _shared_questions(dataset, [run for run in runs if dataset in run.datasets]) for dataset in datasets}
    lines: list[ResultLine] = []
    strategies: list[str] = []
    for run, name in zip(runs, names, strict=True):
        for key, found in run.groups.items():
            if key[2] and not is_named(key[2]):
                continue
            kind = key[2].removeprefix(f"{OPTION}=")
            strategy = f"{', '.join(filter(None, (key[1], kind)))} · {name}"
            strategies.append(strategy)
            told = {"strategy": strategy, "variant": ""}
            file = str(run.folder / RESULTS)
            lines += [ResultLine(line.number, {**line.row, **told}, file) for line in found if line.row["id"] in shared[key[0]]]
    entries = {dataset: [run.described(dataset) for run in runs if run.described(dataset)] for dataset in datasets}
    described = [{**found[0], "path": dataset} for dataset, found in entries.items() if found]
    manifest = {**runs[0].manifest, "strategies": list(dict.fromkeys(strategies)), "datasets": described, "variants": []}
    return Run(runs[0].folder, manifest, tuple(lines))


def _shared_questions(dataset: str, runs: Sequence[Run]) -> set[str]:
    """Return the questions of a data set that all runs were asked; UsageError if there are none, or the data differ."""
    digests = {str(run.described(dataset).get("sha256")): run for run in runs}
    if len(digests) > 1:
        one, other = list(digests.values())[:2]
        what = f"{str(one.folder)!r} and {str(other.folder)!r} have other data under the name {dataset!r}"
        raise UsageError(what, "run both on the same questions and documents")
    shared = set.intersection(*({line.row["id"] for line in run.lines if line.row["dataset"] == dataset} for run in runs))
    if not shared:
        raise UsageError(f"the runs have no question of {dataset!r} in common", "run them on the same questions, or name others")
    return shared


def _described(runs: Sequence[Run], names: Sequence[str], merged: Run) -> Iterator[Block]:
    """Report what each run is, and how they differ."""
    yield from (Words(f"{name}: {warning}", "warning") for name, run in zip(names, runs, strict=True) for warning in run.warnings)
    facts = [{"folder": str(run.folder), **{name: manifest_text(run.manifest.get(name)) for name in TOLD}, **_facts(run)} for run in runs]
    listed = dict.fromkeys(name for told in facts for name in told)
    rows = [
        [Cell(name, head=True), *(Cell(told.get(name, "")) for told in facts)] for name in listed if any(told.get(name) for told in facts)
    ]
    yield Table("What was run", words("", *names), rows)
    for dataset in merged.datasets:
        asked = {line.row["id"] for run in runs for line in run.lines if line.row["dataset"] == dataset}
        shared = {line.row["id"] for line in merged.lines if line.row["dataset"] == dataset}
        if len(shared) < len(asked):
            yield Words(f"{dataset}: of {len(asked):,} questions, the {len(shared):,} that all runs were asked are compared.", "warning")
    yield Words("Strategies at their own settings, on each kind of index; sweeps and ablations are in the report of each run.")


def _traced(blocks: Iterable[Block], files: Sequence[str], dataset: str | None = None) -> Iterator[Block]:
    """Let the command of each table print the lines of all runs."""
    chosen = "." if dataset is None else f"select(.dataset == {json.dumps(dataset)})"
    command = shlex.join(("jq", "-c", chosen, *files))
    yield from (replace(block, lines=command) if isinstance(block, Table) and block.lines else block for block in blocks)
