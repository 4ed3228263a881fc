"""Say what was left out of an index: files without a reader by their kind, the others by name."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ramify.tools.documents.files import Skipped
from ramify.tools.documents.readers import NO_READER

NAMED = 10
"""Files that are named, with the reason, before the rest is only counted."""


def left_out(skipped: Sequence[Skipped], verbose: bool = False) -> Iterator[str]:
    """Give the lines that say it; with `verbose`, one for each."""
    unread = [name for name, reason in skipped if reason.startswith(NO_READER)]
    others = [(name, reason) for name, reason in skipped if not reason.startswith(NO_READER)]
    if verbose:
        yield from (f"skipped {name}: {reason}" for name, reason in skipped)
        return
    yield from (f"skipped {name}: {reason}" for name, reason in others[:NAMED])
    if rest := len(others) - NAMED if len(others) > NAMED else 0:
        yield f"skipped {rest:,} more; --verbose names them all"
    if unread:
        yield f"skipped {_by_kind(unread)}: no reader for these"


def remarked(remarks: Sequence[Skipped], verbose: bool = False) -> Iterator[str]:
    """Give the lines that say what is to be known of files that were read."""
    named = remarks if verbose else remarks[:NAMED]
    yield from (f"{name}: {remark}" for name, remark in named)
    if rest := len(remarks) - len(named):
        yield f"{rest:,} more remarks on files that were read; --verbose shows them all"


def _by_kind(names: Sequence[str]) -> str:
    kinds = Counter(_kind(PurePath(name)) for name in names)
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items(), key=lambda one: (-one[1], one[0])))


def _kind(name: PurePath) -> str:
    inner = PurePath(name.stem).suffix if name.suffix.lower() == ".gz" else ""
    return f"{inner}{name.suffix}".lower() or "without ending"
