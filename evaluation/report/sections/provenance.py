"""What was run, on what, with what, how to run it again; and what failed."""

from collections import Counter
from typing import Any

from ramify.evaluation.report.blocks import Block, Cell, Column, Points, Section, Table, Where, Words
from ramify.evaluation.report.run import Line, Run

READING = (
    "Shares are in percent. Under each mean is its 95 % interval (bootstrap over the questions). A question that failed scores nothing and "
    "stays in every mean of answers and of retrieval; it is listed below. Best values of a column are bold, which says nothing about "
    "significance."
)
LISTED = 100
"""Failures that a table lists; the question browser and the command beside it show them all."""


def what_was_run(run: Run) -> Section:
    """Tell what was run."""
    blocks: list[Block] = [Words(warning, "warning") for warning in run.warnings]
    blocks += [
        Points(_facts(run)),
        Words("To run it again:"),
        Words(_command(run), "command"),
        _datasets(run),
        Points(_caveats(run)),
        Words(READING),
    ]
    return Section("run", "What was run", blocks)


def _facts(run: Run) -> list[tuple[str, str]]:
    told = run.manifest
    machine = told.get("machine") or {}
    parts = [
        machine.get("processor"),
        f"{machine.get('cores')} cores",
        f"{machine.get('memory_gb')} GB",
        machine.get("gpu") or "no GPU",
        machine.get("system"),
    ]
    facts = [
        ("Model", told.get("model")),
        ("Embedding", told.get("embedding")),
        ("Searched under", ", ".join(told.get("label") or ()) or None),
        ("Strategies", ", ".join(map(str, told["strategies"]))),
        ("Kinds of index", ", ".join(map(str, told.get("index_kinds") or ())) or None),
        ("Machine", " · ".join(str(part) for part in parts if part)),
        (
            "Versions",
            ", ".join(
                [
                    f"Python {told.get('python')}",
                    *(f"{name} {version}" for name, version in (told.get("versions") or {}).items() if version),
                ]
            ),
        ),
        ("Begun", told.get("created")),
        ("Seed", told.get("seed")),
        ("At once", told.get("concurrency")),
        ("Limit", told.get("limit")),
        ("Questions for sweeps and ablations", told.get("sample")),
        ("Settings changed", told.get("base") or None),
        ("Lines", f"{len(run.lines):,}, of which {sum(line.failed for line in run.lines):,} failed"),
        *([("Where metadata are degraded", f"{len(run.degraded):,} lines")] if run.degraded else []),
    ]
    return [(name, _told(value)) for name, value in facts if value is not None]


def _told(value: Any) -> str:
    return ", ".join(f"{key}={one}" for key, one in value.items()) if isinstance(value, dict) else str(value)


def _command(run: Run) -> str:
    """Give the command that made the run, as the manifest has it, or as it can be told from the rest of it."""
    if told := run.manifest.get("command"):
        return str(told)
    paths = " ".join(str(one.get("path") or one.get("name")) for one in run.manifest["datasets"])
    return (
        f"ramify eval {paths} --strategy {','.join(run.manifest['strategies'])} --model {run.manifest.get('model')} --out {run.folder.name}"
    )


def _datasets(run: Run) -> Table:
    rows = []
    for name in run.datasets:
        told = run.described(name)
        asked = {line.row["id"] for line in run.lines if line.row["dataset"] == name}
        types = ", ".join(f"{kind or 'no type'} {count}" for kind, count in sorted((told.get("types") or {}).items()))
        counts = [Cell(str(told.get("questions", "")), where=Where(name)), Cell(str(len(asked)), where=Where(name))]
        rows.append([Cell(name, where=Where(name), head=True), *counts, Cell(types), Cell(str(told.get("sha256", "not recorded")))])
    columns = [
        Column("data set"),
        Column("questions"),
        Column("answered"),
        Column("types", words=True),
        Column("sha256", "of the questions and the corpus", words=True),
    ]
    return Table("Data sets", columns, rows)


def _caveats(run: Run) -> list[tuple[str, str]]:
    return [(name, str(caveat)) for name in run.datasets for caveat in run.described(name).get("caveats") or ()]


def failures(run: Run) -> Section:
    """List what failed."""
    failed = [line for line in run.lines if line.failed]
    if not failed:
        return Section("failures", "Failures", [Words("No question failed.")])
    blocks: list[Block] = [_kinds(failed), _list(failed)]
    return Section("failures", "Failures", blocks)


def _kinds(failed: list[Line]) -> Table:
    counts = Counter((*line.group, str(line.row["error"]).partition(":")[0][:60]) for line in failed)
    rows = []
    for (dataset, strategy, variant, kind), count in sorted(counts.items()):
        where = Where(dataset, strategy, variant, outcome="failed")
        rows.append([Cell(dataset, head=True), Cell(strategy), Cell(variant), Cell(kind), Cell(str(count), where=where)])
    columns = [*(Column(title, words=True) for title in ("data set", "strategy", "variant", "error")), Column("questions")]
    return Table("Counted", columns, rows, lines="jq -c 'select(.error != null)' results.jsonl")


def _list(failed: list[Line]) -> Table:
    rows = []
    for line in failed[:LISTED]:
        dataset, strategy, variant = line.group
        name = Cell(f"line {line.number}", where=Where(dataset, strategy, variant, outcome="failed"), head=True)
        rows.append([name, Cell(" ".join(line.group).strip()), Cell(line.row["id"]), Cell(str(line.row["error"])[:300])])
    more = len(failed) - LISTED
    note = f"{more:,} more: the command prints them all." if more > 0 else ""
    columns = [Column(title, words=True) for title in ("results.jsonl", "run", "question", "error")]
    return Table("Listed", columns, rows, note, lines="jq -c 'select(.error != null)' results.jsonl")
