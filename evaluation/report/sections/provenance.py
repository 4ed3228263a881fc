"""What was run, on what, with what, how to run it again; and what failed."""

from collections import Counter

from ramify.evaluation.report.blocks import Block, Cell, Column, Points, Section, Table, Where, Words, words
from ramify.evaluation.results.run import Run

READING = (
    "Shares are in percent. Under each mean is its 95 % interval (bootstrap over the questions). A question that failed scores nothing and "
    "stays in every mean of answers and of retrieval; it is listed below. Best values of a column are bold, which says nothing about "
    "significance."
)
LISTED = 100
"""Failures that a table lists; the question browser and the command beside it show them all."""


def what_was_run(run: Run) -> Section:
    """Tell what was run."""
    caveats = [(name, str(caveat)) for name in run.datasets for caveat in run.described(name).get("caveats") or ()]
    blocks: list[Block] = [Words(warning, "warning") for warning in run.warnings]
    blocks += [
        Points(_facts(run)),
        Words("To run it again:"),
        Words(_command(run), "command"),
        _datasets(run),
        Points(caveats),
        Words(READING),
    ]
    return Section("run", "What was run", blocks)


def _facts(run: Run) -> list[tuple[str, str]]:
    told = run.manifest
    machine = told.get("machine") or {}
    sizes = (f"{machine.get('cores')} cores", f"{machine.get('memory_gb')} GB")
    parts = (machine.get("processor"), *sizes, machine.get("gpu") or "no GPU", machine.get("system"))
    versions = [f"{name} {version}" for name, version in (told.get("versions") or {}).items() if version]
    facts = {
        "Model": told.get("model"),
        "Embedding": told.get("embedding"),
        "Searched under": ", ".join(told.get("label") or ()) or None,
        "Strategies": ", ".join(map(str, told["strategies"])),
        "Kinds of index": ", ".join(map(str, told.get("index_kinds") or ())) or None,
        "Machine": " · ".join(str(part) for part in parts if part),
        "Versions": ", ".join([f"Python {told.get('python')}", *versions]),
        "Begun": told.get("created"),
        "Seed": told.get("seed"),
        "At once": told.get("concurrency"),
        "Limit": told.get("limit"),
        "Questions for sweeps and ablations": told.get("sample"),
        "Settings changed": ", ".join(f"{key}={one}" for key, one in (told.get("base") or {}).items()) or None,
        "Lines": f"{len(run.lines):,}, of which {sum(line.failed for line in run.lines):,} failed",
        "Where metadata are degraded": f"{len(run.degraded):,} lines" if run.degraded else None,
    }
    return [(name, str(value)) for name, value in facts.items() if value is not None]


def _command(run: Run) -> str:
    """Give the command that made the run, as the manifest has it, or as it can be told from the rest of it."""
    paths = " ".join(str(one.get("path") or one.get("name")) for one in run.manifest["datasets"])
    made = f"--strategy {','.join(run.manifest['strategies'])} --model {run.manifest.get('model')} --out {run.folder.name}"
    return str(run.manifest.get("command") or f"ramify eval {paths} {made}")


def _datasets(run: Run) -> Table:
    rows = []
    for name in run.datasets:
        told, where = run.described(name), Where(name)
        asked = {line.row["id"] for line in run.lines if line.row["dataset"] == name}
        types = ", ".join(f"{kind or 'no type'} {count}" for kind, count in sorted((told.get("types") or {}).items()))
        counts = [Cell(str(told.get("questions", "")), where=where), Cell(str(len(asked)), where=where)]
        rows.append([Cell(name, where=where, head=True), *counts, Cell(types), Cell(str(told.get("sha256", "not recorded")))])
    heads = [Column("data set"), Column("questions"), Column("answered"), *words("types")]
    return Table("Data sets", [*heads, Column("sha256", "of the questions and the corpus", words=True)], rows)


def failures(run: Run) -> Section:
    """Count and list what failed."""
    failed = [line for line in run.lines if line.failed]
    if not failed:
        return Section("failures", "Failures", [Words("No question failed.")])
    lines = "jq -c 'select(.error != null)' results.jsonl"
    counts = Counter((*line.group, str(line.row["error"]).partition(":")[0][:60]) for line in failed)
    counted = []
    for (dataset, strategy, variant, kind), count in sorted(counts.items()):
        where = Where(dataset, strategy, variant, outcome="failed")
        counted.append([Cell(dataset, head=True), Cell(strategy), Cell(variant), Cell(kind), Cell(str(count), where=where)])
    heads = [*words("data set", "strategy", "variant", "error"), Column("questions")]
    listed = []
    for line in failed[:LISTED]:
        name = Cell(f"line {line.number}", where=Where(*line.group, outcome="failed"), head=True)
        listed.append([name, Cell(" ".join(line.group).strip()), Cell(line.row["id"]), Cell(str(line.row["error"])[:300])])
    note = f"{len(failed) - LISTED:,} more: the command prints them all." if len(failed) > LISTED else ""
    told = Table("Listed", words("results.jsonl", "run", "question", "error"), listed, note, lines)
    return Section("failures", "Failures", [Table("Counted", heads, counted, lines=lines), told])
