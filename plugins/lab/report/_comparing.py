"""Comparison of two runs, and of several runs side by side on their common questions."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ramify.lab._variants import KIND_OPTION, PLAIN_KIND, is_kind_variant
from ramify.lab.report._answers import calibration_section, dataset_section, glance_section
from ramify.lab.report._blocks import (
    Block,
    Cell,
    Comparison,
    LineFilter,
    ReportSection,
    Table,
    TextBlock,
    make_sections,
    paired_table,
    text_columns,
)
from ramify.lab.report._preferences import preferences_section, variant_label
from ramify.lab.report._run import costs_section, failures_section, worst_trees_section
from ramify.lab.report._writers import render_markdown, render_run_page
from ramify.lab.results import GroupKey, ResultLine, Run, read_run
from ramify.lab.results.measures import ComparedRuns, LinePairs, read_run_pair
from ramify.lab.task import RESULTS, Row
from ramify.tools.errors import UsageError

TITLE = "Two runs compared"
COMPARED_FIELDS = ("model", "embedding", "label", "index_kinds", "seed", "base", "limit", "sample", "ramify", "versions", "machine")
MAX_LISTED_WINS = 20
"""Maximum number of listed questions that only one run answers correctly."""


def compare_runs(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Return the comparison of two runs as Markdown, with a judge's verdicts; UsageError if they cannot be compared."""
    return render_markdown(TITLE, _comparison_sections(read_run_pair(run_a, run_b), verdicts))


def compare_runs_page(run_a: Path, run_b: Path, verdicts: Sequence[Row] | None = None) -> str:
    """Return the comparison of two runs as an HTML page, with every question side by side."""
    runs = read_run_pair(run_a, run_b)
    a, b = runs.a, runs.b
    lines = []
    for line, name, run in [*((line, "A", a) for line in a.lines), *((line, "B", b) for line in b.lines)]:
        side_fields = {"strategy": f"{name}: {line.row['strategy']}", "key": f"{name}|{line.row['key']}"}
        lines.append(ResultLine(line.number, {**line.row, **side_fields}, str(run.folder / RESULTS)))
    names = list(dict.fromkeys(line.row["strategy"] for line in lines))
    return render_run_page(Run(a.folder, {**a.manifest, "strategies": names}, tuple(lines)), TITLE, _comparison_sections(runs, verdicts))


def _comparison_sections(runs: ComparedRuns, verdicts: Sequence[Row] | None) -> list[ReportSection]:
    scored = {groups: gold_pairs for groups, pairs in runs.pairs.items() if (gold_pairs := [pair for pair in pairs if pair[0].has_gold])}
    return make_sections(
        ("runs", "The runs", _runs_section(runs.a, runs.b)),
        ("differences", "The differences", _differences_section(scored)),
        ("preferences", "Answers compared", preferences_section(runs.pairs, verdicts)),
        ("wins", "Questions that only one answers correctly", _wins_section(scored)),
    )


def _runs_section(a: Run, b: Run) -> Iterator[Block]:
    """Report both runs, and the differences of their manifests."""
    yield from (TextBlock(f"{name}: {warning}", "warning") for name, run in (("A", a), ("B", b)) for warning in run.warnings)
    yield TextBlock(f"A is {a.folder}, B is {b.folder}; the differences are A less B, on the questions both were asked.")
    values = [(name, format_manifest_value(a.manifest.get(name)), format_manifest_value(b.manifest.get(name))) for name in COMPARED_FIELDS]
    rows = [[Cell(name, head=True), Cell(one), Cell(other)] for name, one, other in values if one != other]
    same = TextBlock("They were made with the same model, settings, versions and machine.")
    yield Table("What differs", text_columns("", "A", "B"), rows) if rows else same


def format_manifest_value(value: Any) -> str:
    """Return a value of a manifest as text."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ", ".join(f"{key} {item}" for key, item in value.items()) if isinstance(value, dict) else "" if value is None else str(value)


def _differences_section(pairs: Mapping[tuple[GroupKey, GroupKey], LinePairs]) -> Iterator[Block]:
    comparisons = []
    for (one, other), line_pairs in pairs.items():
        where = LineFilter(one[0], f"A: {one[1]}", one[2], compared_with=(f"B: {other[1]}", other[2]))
        comparisons.append(Comparison((one[0], _pair_label(one, other)), line_pairs, where))
    if comparisons:
        yield paired_table("A less B", comparisons, ("data set", "strategy"), "B", "In points, on the questions both were asked.")


def _wins_section(pairs: Mapping[tuple[GroupKey, GroupKey], LinePairs]) -> Iterator[Block]:
    """Report the questions that only one of the two answered correctly."""
    one_wins = False
    for groups, line_pairs in pairs.items():
        for name, better, worse in (("A", 0, 1), ("B", 1, 0)):
            if won := [pair for pair in line_pairs if pair[better].right > pair[worse].right]:
                one_wins = True
                title = f"{_pair_label(*groups)} on {groups[0][0]}: only {name} is right ({len(won):,})"
                more = f"{len(won) - MAX_LISTED_WINS:,} more." if len(won) > MAX_LISTED_WINS else ""
                yield Table(title, text_columns("question", "gold", "A", "B"), [*map(_answer_cells, won[:MAX_LISTED_WINS])], more)
    if pairs and not one_wins:
        yield TextBlock("Both answer the same questions correctly.")


def _answer_cells(pair: tuple[ResultLine, ResultLine]) -> list[Cell]:
    row = pair[0].row
    answers = [Cell(str(line.row.get("error") or line.row.get("answer") or "–")[:200], f"line {line.number}") for line in pair]
    return [Cell(str(row.get("question") or ""), head=True), Cell(str(row.get("gold") or "")), *answers]


def _pair_label(one: GroupKey, other: GroupKey) -> str:
    return variant_label(one) if variant_label(one) == variant_label(other) else f"{variant_label(one)} / {variant_label(other)}"


REPORTED_FIELDS = ("model", "embedding", "index_kinds", "label", "group_by", "profile", "seed", "limit", "ramify", "machine")
"""Manifest fields reported for each run; the first NAMING_FIELD_COUNT of them identify it."""
NAMING_FIELD_COUNT = 6
"""Number of fields that identify a run: what was measured, not when or where."""


def read_side_by_side(folders: Sequence[Path]) -> tuple[Run, list[ReportSection]]:
    """Return several runs merged into one, and the sections that compare them; UsageError without common questions."""
    runs = [read_run(folder) for folder in folders]
    names = name_runs(runs)
    merged = _merge_shared(runs, names)
    files = [str(run.folder / RESULTS) for run in runs]
    return merged, make_sections(
        ("runs", "The runs", _described_section(runs, names, merged)),
        ("glance", "At a glance", _with_lines_command(glance_section(merged), files)),
        ("costs", "Quality against cost", _with_lines_command(costs_section(merged), files)),
        *(
            (f"set-{place}", name, _with_lines_command(dataset_section(merged, name), files, name))
            for place, name in enumerate(merged.datasets, 1)
        ),
        ("calibration", "Calibration, and risk against coverage", _with_lines_command(calibration_section(merged), files)),
        ("worst", "Ten worst trees", worst_trees_section(merged)),
        ("failures", "Failures", _with_lines_command(failures_section(merged), files)),
    )


def name_runs(runs: Sequence[Run]) -> list[str]:
    """Return a name for each run: the facts in which it differs from the others, or else its folder."""
    facts = [_run_facts(run) for run in runs]
    varying = [
        name
        for name in dict.fromkeys(name for run_facts in facts for name in run_facts)
        if len({run_facts.get(name) for run_facts in facts}) > 1
    ]
    names = [", ".join(run_facts[name] for name in varying if run_facts.get(name)) for run_facts in facts]
    return [
        name if name and names.count(name) == 1 else ", ".join(filter(None, (name, str(run.folder))))
        for name, run in zip(names, runs, strict=True)
    ]


def _run_facts(run: Run) -> dict[str, str]:
    """Return the facts that identify a run: model, encoder, kind of index, profile and changed settings."""
    facts = {name: format_manifest_value(run.manifest.get(name)) for name in REPORTED_FIELDS[:NAMING_FIELD_COUNT]}
    facts["index_kinds"] = str((run.manifest.get("index_kinds") or [PLAIN_KIND])[0])
    if facts["profile"]:  # identified by content, because its file may have been overwritten
        facts["profile"] = f"profile {facts['profile'][:8]}"
    base = run.manifest.get("base") or {}
    settings = sorted((name, value) for name, value in base.items() if name != "profile") if isinstance(base, dict) else []
    return facts | {f"{name} set": f"{name}={format_manifest_value(value)}" for name, value in settings}


def _merge_shared(runs: Sequence[Run], names: Sequence[str]) -> Run:
    """Return one run with the unchanged strategies of all runs, on the common questions of each data set."""
    datasets = list(dict.fromkeys(name for run in runs for name in run.datasets))
    shared = {dataset: _shared_questions(dataset, [run for run in runs if dataset in run.datasets]) for dataset in datasets}
    lines: list[ResultLine] = []
    strategies: list[str] = []
    for run, name in zip(runs, names, strict=True):
        for key, group_lines in run.groups.items():
            if key[2] and not is_kind_variant(key[2]):
                continue
            kind = key[2].removeprefix(f"{KIND_OPTION}=")
            strategy = f"{', '.join(filter(None, (key[1], kind)))} · {name}"
            strategies.append(strategy)
            fields = {"strategy": strategy, "variant": ""}
            file = str(run.folder / RESULTS)
            lines += [ResultLine(line.number, {**line.row, **fields}, file) for line in group_lines if line.row["id"] in shared[key[0]]]
    entries = {dataset: [run.dataset_entry(dataset) for run in runs if run.dataset_entry(dataset)] for dataset in datasets}
    described = [{**group_lines[0], "path": dataset} for dataset, group_lines in entries.items() if group_lines]
    manifest = {**runs[0].manifest, "strategies": list(dict.fromkeys(strategies)), "datasets": described, "variants": []}
    return Run(runs[0].folder, manifest, tuple(lines))


def _shared_questions(dataset: str, runs: Sequence[Run]) -> set[str]:
    """Return the ids of a data set's questions common to all runs; UsageError if there are none, or the data differ."""
    digests = {str(run.dataset_entry(dataset).get("sha256")): run for run in runs}
    if len(digests) > 1:
        one, other = list(digests.values())[:2]
        what = f"{str(one.folder)!r} and {str(other.folder)!r} have different data under the name {dataset!r}"
        raise UsageError(what, "run both on the same questions and documents")
    shared = set.intersection(*({line.row["id"] for line in run.lines if line.row["dataset"] == dataset} for run in runs))
    if not shared:
        raise UsageError(f"the runs have no question of {dataset!r} in common", "run them on the same questions, or name others")
    return shared


def _described_section(runs: Sequence[Run], names: Sequence[str], merged: Run) -> Iterator[Block]:
    """Report the facts of each run, and how many questions are compared."""
    yield from (TextBlock(f"{name}: {warning}", "warning") for name, run in zip(names, runs, strict=True) for warning in run.warnings)
    facts = [
        {"folder": str(run.folder), **{name: format_manifest_value(run.manifest.get(name)) for name in REPORTED_FIELDS}, **_run_facts(run)}
        for run in runs
    ]
    fact_names = dict.fromkeys(name for run_facts in facts for name in run_facts)
    rows = [
        [Cell(name, head=True), *(Cell(run_facts.get(name, "")) for run_facts in facts)]
        for name in fact_names
        if any(run_facts.get(name) for run_facts in facts)
    ]
    yield Table("What was run", text_columns("", *names), rows)
    for dataset in merged.datasets:
        all_ids = {line.row["id"] for run in runs for line in run.lines if line.row["dataset"] == dataset}
        shared = {line.row["id"] for line in merged.lines if line.row["dataset"] == dataset}
        if len(shared) < len(all_ids):
            yield TextBlock(
                f"{dataset}: of {len(all_ids):,} questions, the {len(shared):,} that all runs were asked are compared.", "warning"
            )
    yield TextBlock("Strategies at their own settings, on each kind of index; sweeps and ablations are in the report of each run.")


def _with_lines_command(blocks: Iterable[Block], files: Sequence[str], dataset: str | None = None) -> Iterator[Block]:
    """Yield the blocks with commands that print the lines of all runs."""
    chosen = "." if dataset is None else f"select(.dataset == {json.dumps(dataset)})"
    command = shlex.join(("jq", "-c", chosen, *files))
    yield from (replace(block, lines=command) if isinstance(block, Table) and block.lines else block for block in blocks)
