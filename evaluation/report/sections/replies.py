"""The form of the replies: what a model wrote that could be read at once, when it was asked again, and not even then."""

from collections import Counter
from collections.abc import Iterable

from ramify.evaluation.report.blocks import Cell, Column, Section, Table
from ramify.evaluation.results.measures import percent
from ramify.evaluation.results.run import Run
from ramify.evaluation.rows import Row

FORMS = ("valid", "repaired", "malformed")
COLUMNS = (
    Column("prompt", words=True),
    Column("at once", "replies that had the form asked for"),
    Column("after repair", "replies that had it when asked for again, with what was wrong"),
    Column("malformed", "replies that did not have it even then"),
    Column("valid in the end", "share of those that had it at once or after repair"),
)
EMBEDDED = "extractive"


def replies(run: Run) -> Section | None:
    """Count the replies of language models by prompt; none where none was asked, since the embedded model always keeps to the form."""
    counts = counted(line.row for line in run.lines if line.row.get("model") != EMBEDDED)
    if not counts:
        return None
    rows = [_row(prompt, counts) for prompt in sorted({prompt for prompt, _ in counts})]
    return Section("replies", "Form of the replies", [Table("Replies by prompt", COLUMNS, rows)])


def counted(rows: Iterable[Row]) -> Counter[tuple[str, str]]:
    """Add up how many replies to each prompt had which form."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        told = (row.get("usage") or {}).get("replies") or {}
        counts.update({(prompt, form): number for prompt, forms in told.items() for form, number in forms.items()})
    return counts


def _row(prompt: str, counts: Counter[tuple[str, str]]) -> list[Cell]:
    figures = [counts[prompt, form] for form in FORMS]
    share = sum(figures[:2]) / max(1, sum(figures))
    return [Cell(prompt, head=True), *(Cell(f"{figure:,}") for figure in figures), Cell(percent(share))]
