"""Files to read: found under the paths a user gives, and what is told of one besides its documents."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.tools.documents.properties import properties
from ramify.tools.errors import InputError

INDEX_FILE = "passages.sqlite"
"""A folder that holds this is an index, not documents."""

_NAMED = 5
"""Fields that are named of those left out."""

Skipped = tuple[str, str]
"""What was left out (a path, or `path#record`) and why."""


class File(NamedTuple):
    """A file to read: where it lies, the source its documents name, and the path given under which it was found."""

    path: Path
    source: str
    root: Path


class UnreadableError(Exception):
    """A file holds nothing that its reader can read; says why."""


class Told:
    """What a reader says about a file besides its documents."""

    def __init__(self) -> None:
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []
        self.properties: dict[str, Any] = {}
        """What the file says of itself: metadata of all its documents."""

    @property
    def title(self) -> str:
        """Return the title that the file states, "" where it states none."""
        return str(self.properties.get("title", ""))

    def state(self, source: str, given: Mapping[Any, Any]) -> None:
        """Keep what a file says of itself, and name what of it cannot be metadata."""
        self.properties, left_out = properties(given)
        if left_out:
            self.remark(source, f"not kept as metadata: {', '.join(left_out[:_NAMED])}{' …' if len(left_out) > _NAMED else ''}")

    def skip(self, name: str, reason: str) -> None:
        """Name what was left out, and why."""
        self.skipped.append((name, reason))

    def remark(self, name: str, remark: str) -> None:
        """Say how something was read, where its reader had to guess or could not see everything."""
        self.remarks.append((name, remark))


def existing(path: str | Path) -> Path:
    """Return the path, or raise `InputError` where there is none."""
    found = Path(path).expanduser()
    if not found.exists():
        raise InputError(f"there is no file or folder {str(path)!r}", "check the path")
    return found


def files_under(paths: Sequence[Path], skipped: list[Skipped]) -> Iterator[File]:
    """List files and the files of folders, recursively, in order of name, without hidden ones."""
    for root in paths:
        if not root.is_dir():
            yield File(root, root.name, root)
            continue
        for path in files_in(root, skipped):
            yield File(path, path.relative_to(root).as_posix(), root)


def files_in(folder: Path, skipped: list[Skipped]) -> Iterator[Path]:
    """Walk a folder in order of name; links that lead out of it are named, not followed."""
    home = folder.resolve()
    for parent, folders, names in os.walk(folder):
        if INDEX_FILE in names:
            skipped.append((Path(parent).relative_to(folder).as_posix(), "an index, not documents"))
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*names, *(name for name in folders if Path(parent, name).is_symlink())]):
            path = Path(parent, name)
            if name.startswith("."):
                continue
            if path.is_symlink() and (path.is_dir() or not path.resolve().is_relative_to(home)):
                skipped.append((path.relative_to(folder).as_posix(), "a link to a folder or out of the folder given"))
            else:
                yield path
