"""Summaries of an index's build on the command line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from ramify.tools.quoting import pluralize
from ramify.tools.search.searcher import hidden_note

if TYPE_CHECKING:
    from ramify.tools.documents.files import Skipped
    from ramify.tools.index.build import Built

MAX_NAMED_FILES = 10
"""Maximum number of files listed with the reason."""
MAX_NAMED_TOGETHER = 3
"""Maximum number of files named that have the same remark."""


def build_summary(built: "Built") -> str:
    """Return a one-line summary of a build."""
    changes = {"added": built.added, "changed": built.changed, "unchanged": built.unchanged, "removed": built.removed}
    parts = [f"{count:,} {change}" for change, count in changes.items() if count]
    skipped = f", {pluralize(len(built.skipped), 'file')} skipped" if built.skipped else ""
    made_of = pluralize(built.files, "file") if built.files else pluralize(built.documents, "document")
    records = f"{built.documents:,} documents: " if built.files not in (0, built.documents) else ""
    documents = f"{made_of} ({records}{', '.join(parts)}){skipped}"
    precision = f" in {built.computed_in}" if built.computed_in else ""
    per_second = built.encoded / built.seconds if built.seconds else 0
    rate = f", {per_second:,.0f} passages/s{precision}, start included" if per_second >= 1 else ""
    passages = f"{pluralize(built.passages, 'passage')} ({built.encoded:,} encoded){hidden_note(built.hidden)}"
    return f"{documents}, {passages} in {built.seconds:.1f} s{rate}"


def skipped_lines(files: "Sequence[Skipped]", verbose: bool = False) -> Iterator[str]:
    """Yield lines on skipped files: unsupported formats by count, others by name; with `verbose`, one line per file."""
    from ramify.tools.documents.readers import NO_READER

    if verbose:
        yield from (f"skipped {name}: {reason}" for name, reason in files)
        return
    other_files = [(name, reason) for name, reason in files if not reason.startswith(NO_READER)]
    yield from (f"skipped {name}: {reason}" for name, reason in other_files[:MAX_NAMED_FILES])
    if len(other_files) > MAX_NAMED_FILES:
        yield f"skipped {len(other_files) - MAX_NAMED_FILES:,} more; --verbose lists all"
    unsupported = Counter(_suffix(PurePath(name)) for name, reason in files if reason.startswith(NO_READER))
    if unsupported:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(unsupported.items(), key=lambda item: (-item[1], item[0])))
        packages = dict.fromkeys(reason.partition(": ")[2] for _, reason in files if reason.startswith(NO_READER) and "package" in reason)
        yield f"skipped {kinds}: no reader for these{''.join(f'; {package}' for package in packages)}"


def remark_lines(remarks: "Sequence[Skipped]", verbose: bool = False, reread: int = 0) -> Iterator[str]:
    """Yield remarks on files that were read; unless `verbose`, the same remark on many files is one line."""
    if reread:
        yield f"{pluralize(reread, 'file')} read again: their reader has changed"
    files: dict[str, list[str]] = {}
    for name, remark in remarks:
        files.setdefault(remark, []).append(name)
    if verbose:
        yield from (f"{name}: {remark}" for name, remark in remarks)
        return
    for remark, names in list(files.items())[:MAX_NAMED_FILES]:
        yield f"{', '.join(names) if len(names) <= MAX_NAMED_TOGETHER else pluralize(len(names), 'file')}: {remark}"
    if len(files) > MAX_NAMED_FILES:
        yield f"{len(files) - MAX_NAMED_FILES:,} more remarks on files; --verbose lists all"


def _suffix(name: PurePath) -> str:
    inner = PurePath(name.stem).suffix if name.suffix.lower() == ".gz" else ""
    return f"{inner}{name.suffix}".lower() or "files without a suffix"
