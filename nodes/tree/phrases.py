"""Wording of branches in all displays of a tree."""

from ramify.nodes.tree import Branch, Passage, Tree
from ramify.nodes.tree.notes import MAX_CONFIDENCE, shorten_note
from ramify.nodes.tree.notes import confidence_figure as confidence_figure
from ramify.nodes.tree.notes import figure as figure
from ramify.tools.index.reports import parse_report_id
from ramify.tools.quoting import pluralize
from ramify.tools.text_location import heading_path, page_number, printed_page

ORIGINS = {
    "logprobs": "from log probabilities",
    "stated": "as the model states it",
    "reader": "from the embedded reader",
    "person": "as a person answered",
    "profile": "fitted by the profile",
}
"""Where a confidence comes from, in words for users."""
MAX_QUESTION_CHARS = 300
"""Characters of a question that are shown; the JSON has all of it."""


LOW_CONFIDENCE = 0.5
"""Below this confidence a reader is told to check the answer."""


def check_advice(confidence: float | None) -> str:
    """Return what to do about an answer of this confidence; empty if it is not low."""
    return "low: check this" if confidence is not None and confidence < LOW_CONFIDENCE else ""


def kind_of(branch: Branch) -> str:
    """Return what a branch asks, shortened: its question, the entity looked up, or the size of its batch."""
    if branch.kind == "batch":
        found = parse_report_id(branch.evidence[0]) if branch.evidence else None
        return pluralize(len(branch.evidence), *(found[0][:2] if found else ("passage",)))
    return shorten_question(f"about {branch.question}" if branch.kind == "entity" else branch.question)


def shorten_question(text: str) -> str:
    """Return a text cut to a maximum length."""
    return text if len(text) <= MAX_QUESTION_CHARS else text[: MAX_QUESTION_CHARS - 1].rstrip() + "…"


def measures(branch: Branch) -> list[tuple[str, float]]:
    """List the measurements of a branch: its answer's confidence, its fork's score. Unknown has none: it would read as sure."""
    is_shown = branch.confidence is not None and (branch.answer is None or branch.known)
    told = [("confidence", min(branch.confidence or 0.0, MAX_CONFIDENCE) if is_shown else None), ("judged", branch.score)]
    return [(name, value) for name, value in told if value is not None]


def legend(tree: Tree) -> dict[str, str]:
    """Return the meanings of the short words for notes that occur in a tree."""
    return {word: meaning for branch in tree.values() for word, meaning in shorten_note(branch.note).meanings.items()}


def heading(passage: Passage | None, source: str) -> str:
    """Return a passage's title, section and page, or its source."""
    if passage is None:
        return source
    parts = [passage.title, *heading_path(passage.title, str(passage.metadata.get("heading") or ""))]
    return (
        " · ".join(filter(None, [*parts, printed_page(passage.source, page_number(passage.metadata), passage.metadata.get("read_by"))]))
        or source
    )
