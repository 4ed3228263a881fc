"""Several runs as one: the lines of each, named after what tells the runs apart, on the questions that all were asked."""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ramify.evaluation.report._answers import at_a_glance, calibration, of_dataset
from ramify.evaluation.report._blocks import Block, Cell, ReportSection, Table, Words, sections_of, words
from ramify.evaluation.report._comparing import manifest_text
from ramify.evaluation.report._trade_offs import costs, worst
from ramify.evaluation.report.writers import failures
from ramify.evaluation.results import ResultLine, Run, read_run
from ramify.evaluation.task import RESULTS
from ramify.evaluation.variants import OPTION, PLAIN, is_named
from ramify.tools.errors import UsageError

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
    named = {name: manifest_text(run.manifest.get(name)) for name in TOLD[:NAMING]} | {"index_kinds": _own_kind(run)}
    if named["profile"]:  # by its content: another calibration may have been written to the same file
        named["profile"] = f"profile {named['profile'][:8]}"
    base = run.manifest.get("base") or {}
    settings = sorted((name, value) for name, value in base.items() if name != "profile") if isinstance(base, dict) else []
    return named | {f"{name} set": f"{name}={manifest_text(value)}" for name, value in settings}


def _own_kind(run: Run) -> str:
    return str((run.manifest.get("index_kinds") or [PLAIN])[0])


def _merged(runs: Sequence[Run], names: Sequence[str]) -> Run:
    """Return the unchanged strategies of all runs as one run, on the questions of each data set that all runs with it were asked."""
    datasets = list(dict.fromkeys(name for run in runs for name in run.datasets))
    shared = {dataset: _shared(dataset, [run for run in runs if dataset in run.datasets]) for dataset in datasets}
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


def _shared(dataset: str, runs: Sequence[Run]) -> set[str]:
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
