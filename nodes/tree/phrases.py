"""How what stands on a branch is put for a reader, the same wherever a tree is shown."""

import math

from ramify.nodes.tree import Branch, Passage, Tree
from ramify.nodes.tree.notes import folded
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
"""Where a confidence is known from."""
LONGEST = 300
"""Characters of a question that are shown; the JSON has all of it."""


def figure(value: float) -> str:
    """Write a confidence or a score; never more sure than it is: 0.999 is not 1.00, and 0.947 is not above a threshold of 0.95."""
    return f"{math.floor(value * 100 + 1e-9) / 100:.2f}"


def kind_of(branch: Branch) -> str:
    """Say what a branch asks: a question as it is, an entity as what is looked up, cut where they are very long; of a batch, of what."""
    if branch.kind == "batch":
        found = parse_report_id(branch.evidence[0]) if branch.evidence else None
        return pluralize(len(branch.evidence), *(found[0][:2] if found else ("passage",)))
    return brief(f"about {branch.question}" if branch.kind == "entity" else branch.question)


def brief(text: str) -> str:
    """Cut a text that would fill the screen."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def measures(branch: Branch) -> list[tuple[str, float]]:
    """List what was measured on a branch: how sure its answer is, how its fork was judged."""
    told = [("confidence", branch.confidence), ("judged", branch.score)]
    return [(name, value) for name, value in told if value is not None]


def legend(tree: Tree) -> dict[str, str]:
    """Say what the words mean that stand on branches for what is noted often; only those that occur."""
    return {word: meaning for branch in tree.values() for word, meaning in folded(branch.note).meanings.items()}


def heading(passage: Passage | None, source: str) -> str:
    """Name a passage: its title, page and section where it has them, and its source."""
    if passage is None:
        return source
    parts = [passage.title, *heading_path(passage.title, str(passage.metadata.get("heading") or ""))]
    return " · ".join(filter(None, [*parts, printed_page(passage.source, page_number(passage.metadata))])) or source
