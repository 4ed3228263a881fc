"""Sections on what was run and how to repeat it, on failures, and on malformed replies."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ramify.evaluation.report.blocks import Block, Cell, Column, LineFilter, Points, Table, Words, words
from ramify.evaluation.results import Run
from ramify.evaluation.results.measures import percent
from ramify.evaluation.rows import Row

READING = (
    "Shares are in percent. Under each mean is its 95 % interval (bootstrap over the questions). A question that failed scores nothing and "
    "stays in every mean of answers and of retrieval; it is listed below. Best values of a column are bold, which says nothing about "
    "significance."
)
LISTED = 100
"""Failures that a table lists; the question browser and the command beside it show them all."""
FORMS = ("valid", "repaired", "malformed")
REPLIES = (
    *words("prompt"),
    Column("at once", "replies that had the form asked for"),
    Column("after repair", "replies that had it when asked for again, with what was wrong"),
    Column("malformed", "replies that did not have it even then"),
    Column("valid in the end", "share of those that had it at once or after repair"),
)
EMBEDDED = "extractive"


def what_was_run(run: Run) -> Iterator[Block]:
    """Report what was run."""
    yield from (Words(warning, "warning") for warning in run.warnings)
    yield Points(_facts(run))
    yield Words("To repeat the run:")
    yield Words(_command(run), "command")
    yield _datasets(run)
    yield Points([(name, str(caveat)) for name in run.datasets for caveat in run.described(name).get("caveats") or ()])
    yield Words(READING)


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
        "Started": told.get("created"),
        "Seed": told.get("seed"),
        "Concurrency": told.get("concurrency"),
        "Limit": told.get("limit"),
        "Questions for sweeps and ablations": told.get("sample"),
        "Settings changed": ", ".join(f"{key}={one}" for key, one in (told.get("base") or {}).items()) or None,
        "Lines": f"{len(run.lines):,}, of which {sum(line.failed for line in run.lines):,} failed",
        "Where metadata are degraded": f"{len(run.degraded):,} lines" if run.degraded else None,
    }
    return [(name, str(value)) for name, value in facts.items() if value is not None]


def _command(run: Run) -> str:
    """Return the command of the run, from the manifest or reconstructed."""
    paths = " ".join(str(one.get("path") or one.get("name")) for one in run.manifest["datasets"])
    made = f"--strategy {','.join(run.manifest['strategies'])} --model {run.manifest.get('model')} --out {run.folder.name}"
    return str(run.manifest.get("command") or f"ramify eval {paths} {made}")


def _datasets(run: Run) -> Table:
    rows = []
    for name in run.datasets:
        told, where = run.described(name), LineFilter(name)
        asked = {line.row["id"] for line in run.lines if line.row["dataset"] == name}
        types = ", ".join(f"{kind or 'no type'} {count}" for kind, count in sorted((told.get("types") or {}).items()))
        linked = [Cell(str(told.get("questions", "")), where=where), Cell(str(len(asked)), where=where)]
        rows.append([Cell(name, where=where, head=True), *linked, Cell(types), Cell(str(told.get("sha256", "not recorded")))])
    columns = [*map(Column, ("data set", "questions", "answered")), *words("types")]
    return Table("Data sets", [*columns, Column("sha256", "of the questions and the corpus", words=True)], rows)


def failures(run: Run) -> Iterator[Block]:
    """Report the failures, counted and listed."""
    failed = [line for line in run.lines if line.failed]
    if not failed:
        yield Words("No question failed.")
        return
    counts = Counter((*line.group, str(line.row["error"]).partition(":")[0][:60]) for line in failed)
    counted = []
    for (dataset, *told), count in sorted(counts.items()):
        where = LineFilter(dataset, told[0], told[1], outcome="failed")
        counted.append([Cell(dataset, head=True), *map(Cell, told), Cell(str(count), where=where)])
    listed = []
    for line in failed[:LISTED]:
        name = Cell(f"line {line.number}", where=LineFilter(*line.group, outcome="failed"), head=True)
        listed.append([name, *map(Cell, (" ".join(line.group).strip(), line.row["id"], str(line.row["error"])[:300]))])
    note = f"{len(failed) - LISTED:,} more: the command prints them all." if len(failed) > LISTED else ""
    lines = LineFilter(outcome="failed").jq
    yield Table("Counted", [*words("data set", "strategy", "variant", "error"), Column("questions")], counted, lines=lines)
    yield Table("Listed", words("results.jsonl", "run", "question", "error"), listed, note, lines)


def replies(run: Run) -> Iterator[Block]:
    """Report the form of replies by prompt, if a language model was asked: the embedded model's are always valid."""
    counts = counted(line.row for line in run.lines if line.row.get("model") != EMBEDDED)
    rows = []
    for prompt in sorted({prompt for prompt, _ in counts}):
        figures = [counts[prompt, form] for form in FORMS]
        share = sum(figures[:2]) / max(1, sum(figures))
        rows.append([Cell(prompt, head=True), *(Cell(f"{figure:,}") for figure in figures), Cell(percent(share))])
    if rows:
        yield Table("Replies by prompt", REPLIES, rows)


def counted(rows: Iterable[Row]) -> Counter[tuple[str, str]]:
    """Return the number of replies by prompt and form."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        told = (row.get("usage") or {}).get("replies") or {}
        counts.update({(prompt, form): number for prompt, forms in told.items() for form, number in forms.items()})
    return counts
