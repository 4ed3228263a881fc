"""The tree of a line as the page's script draws it: notes are folded here, so that no second hand has to know them again."""

from collections.abc import Iterable
from typing import Any

from ramify.nodes.tree.notes import Folded, folded
from ramify.tools.quoting import one_line

KEPT = ("path", "question", "kind", "status", "answer", "confidence", "score", "evidence", "cited")


def drawn(branches: Iterable[Any]) -> dict[str, Any]:
    """Give the branches of a line, and what the words on them mean; only those that occur."""
    tree = [branch for branch in branches if isinstance(branch, dict)]
    notes = [folded(str(branch.get("note") or "")) for branch in tree]
    meanings = {word: meaning for note in notes for word, meaning in note.meanings.items()}
    told = [_branch(branch, note) for branch, note in zip(tree, notes, strict=True)]
    return {"tree": told, **({"legend": meanings} if meanings else {})}


def _branch(branch: dict[str, Any], note: Folded) -> dict[str, Any]:
    """Keep what the card of a branch shows; the whole note only where words stand for a part of it."""
    told = {name: branch[name] for name in KEPT if branch.get(name) not in (None, [])}
    told |= {"words": note.words, "noted": branch["note"]} if note.words else {}
    return told | ({"note": one_line(note.rest)} if note.rest else {})
