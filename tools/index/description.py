"""Say in a line what is searched."""

from pathlib import Path

from ramify.tools.index.index import Index
from ramify.tools.index.location import home_of, is_address
from ramify.tools.index.searcher import DEMO, Searchable, opened

_REASONS = {"twin": "repeated"}
"""Why a passage is not searched, where the reason is no word for a reader."""


def describe(index: Searchable) -> str:
    """Name an index and say how much it holds; a store or retriever of another make is known by its class."""
    if index == DEMO:
        return f"demo: {opened(DEMO).manifest.documents} articles that ship with ramify"
    if isinstance(index, Index) and index.temporary:
        return f"{type(index).__name__} ({_holdings(index)})"
    if isinstance(index, Index):
        return f"{index.where} ({_holdings(index)})"
    return f"{_shown(index)} ({_holdings(opened(index))})" if isinstance(index, (str, Path)) else type(index).__name__


def advice(index: Searchable) -> str | None:
    """Say what would make a better index, None where nothing is known to."""
    if isinstance(index, (str, Path)):
        index = opened(index)
    return index.advice if isinstance(index, Index) else None


def left_out(hidden: dict[str, int]) -> str:
    """Say how many passages are not searched, and why."""
    reasons = ", ".join(f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in hidden.items())
    return f", {sum(hidden.values()):,} left out of search ({reasons})" if hidden else ""


def _shown(where: str | Path) -> str:
    return home_of(where).where if is_address(where) else str(where)


def _holdings(index: Index) -> str:
    held = ((index.manifest.documents, "document"), (index.manifest.passages, "passage"))
    return ", ".join(f"{count:,} {thing if count == 1 else thing + 's'}" for count, thing in held)
