"""Find the files under the paths that a user gives, and collect reports about them."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.properties import normalize_properties
from ramify.tools.errors import InputError
from ramify.tools.quoting import pluralize
from ramify.tools.user_input import expand_path

INDEX_FILE = "passages.sqlite"
_INDEX_FILE = re.compile(r"passages(\.\d+)?\.sqlite")
"""The passages of an index, of any version."""
"""A folder that contains this file is an index, not documents."""

_MAX_NAMED_FIELDS = 5
"""Skipped fields listed in a report."""

_MAX_REPEATED = 10
"""Latest reports among which a repetition is looked for."""

_PLURALS = {
    "description of a picture": "descriptions of pictures",
    "header or footer that no page shows": "headers or footers that no page shows",
    "line with no more than the number of a page": "lines with no more than the number of a page",
    "old copy of a moved passage": "old copies of moved passages",
    "placeholder of an empty field": "placeholders of empty fields",
}
"""Of what readers of several formats leave out, if they are irregular."""

Skipped = tuple[str, str]
"""What was skipped (a path, or `path#record`) and the reason."""


class File(NamedTuple):
    """A file to read: its path, the source for its documents, and the given path under which it was found."""

    path: Path
    source: str
    root: Path


OcrMode = Literal["auto", "always", "never"]
"""Whether text in pictures is read: `auto` on pages without text and in picture files, `always` also in large pictures on other pages."""


class Ocr(NamedTuple):
    """Whether text in pictures is read, and the languages it may be in, joined by + ("eng+deu"); "" for English, or what is installed."""

    mode: OcrMode = "auto"
    languages: str = ""


DEFAULT_OCR = Ocr()


class UnreadableError(Exception):
    """A file cannot be read by its reader; the message is the reason."""


MAX_MEMBERS = 10_000
"""Maximum number of files read within one file, at all depths."""
MAX_UNPACKED_BYTES = 1 << 32
"""Maximum size of all of them."""
MAX_DEPTH = 3
"""Maximum number of files around one: an archive within a mail within an archive."""


class Unpacking:
    """The limits and the progress of reading the files within one file.

    done: the number of files that were read before the worker died; they are passed over. announce: called with the number and source of
    each file before it is read.
    """

    def __init__(self, done: int = 0, announce: Callable[[int, str], object] = lambda number, source: None) -> None:
        self.depth = 0
        self._announce = announce
        self._done = done
        self._count = 0
        self._bytes = 0

    def begin(self, source: str) -> bool:
        """Begin a file; return False if it was read before."""
        self._count += 1
        if self._count <= self._done:
            return False
        self._announce(self._count, source)
        return True

    def check(self) -> None:
        """Raise UnreadableError if further files would be too many or too large."""
        if self._count > MAX_MEMBERS:
            raise UnreadableError(f"contains more than {MAX_MEMBERS:,} files; the others are not read: unpack it")
        if self._bytes > MAX_UNPACKED_BYTES:
            raise UnreadableError(f"contains more than {MAX_UNPACKED_BYTES >> 30} GB; the other files are not read: unpack it")

    def take(self, size: int) -> None:
        """Count unpacked bytes."""
        self._bytes += size
        self.check()


class ReadReport:
    """What a reader reports about a file besides its documents."""

    def __init__(self, ocr: Ocr = DEFAULT_OCR, unpacking: Unpacking | None = None) -> None:
        self.clean = True
        """Whether running heads, footers and page numbers are left out."""
        self.ocr = ocr
        """Whether text in pictures is read, and in which languages."""
        self.keep_alive: Callable[[], None] = lambda: None
        """Called by a reader after each long step; the time limit of a file then begins anew."""
        self.unpacking = unpacking or Unpacking()
        """The limits of reading files within the file."""
        self.read_member: Callable[[Path], Iterator[Document]] = lambda _: iter(())
        """Returns the documents of a file within the file."""
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []
        self._remarked: set[Skipped] = set()
        self.properties: dict[str, Any] = {}
        """The file's own metadata, which all its documents get."""
        self.left_out: dict[tuple[str, str, str], list[str]] = {}
        """Texts that the reader knowingly leaves out, by source and what they are (singular, plural)."""
        self.added: list[str] = []
        """Texts that the reader adds, such as numbers of list items, which the file does not contain as text."""

    @property
    def title(self) -> str:
        """Return the title in the file's metadata, "" if there is none."""
        return str(self.properties.get("title", ""))

    def state(self, source: str, given: Mapping[Any, Any]) -> None:
        """Store a file's metadata, and report fields that cannot be metadata."""
        self.properties, left_out = normalize_properties(given)
        if left_out:
            self.remark(
                source,
                f"not stored as metadata: {', '.join(left_out[:_MAX_NAMED_FIELDS])}{' …' if len(left_out) > _MAX_NAMED_FIELDS else ''}",
            )

    def leave_out(self, source: str, thing: str, texts: Iterable[str], things: str = "") -> None:
        """Note texts that are not read, as a `thing` each ("hidden row"); a file has one remark for each kind, with their number."""
        self.left_out.setdefault((source, thing, things or _PLURALS.get(thing, f"{thing}s")), []).extend(texts)

    def add(self, *texts: str) -> None:
        """Note texts that the reader writes itself, such as the number of a list item or a label."""
        self.added += texts

    def close(self) -> None:
        """Write the remarks on texts that were left out; called when a file has been read."""
        for (source, thing, things), texts in self.left_out.items():
            if texts:
                self.remark(source, f"left out: {pluralize(len(texts), thing, things)}")

    def merge(self, inner: "ReadReport") -> None:
        """Add what was reported about a file within the file."""
        self.skipped += inner.skipped
        for name, remark in inner.remarks:
            self.remark(name, remark)
        self.left_out |= inner.left_out
        self.added += inner.added

    def skip(self, name: str, reason: str) -> None:
        """Record what was skipped, with the reason."""
        if (name, reason) not in self.skipped[-_MAX_REPEATED:]:  # a worker that replaces another may repeat its last ones
            self.skipped.append((name, reason))

    def remark(self, name: str, remark: str) -> None:
        """Record a remark, once: the reader had to guess, or could not read everything."""
        if (name, remark) not in self._remarked:
            self._remarked.add((name, remark))
            self.remarks.append((name, remark))


def existing_path(path: str | Path) -> Path:
    """Return the path; InputError if it does not exist."""
    expanded = expand_path(path)
    if not os.path.exists(expanded):  # also False for a path that may not be accessed
        raise InputError(f"there is no file or folder {str(path)!r}", "check the path")
    if printable_name(full := os.path.realpath(expanded)) != full:
        raise InputError(f"the name {printable_name(full)!r} is not written in UTF-8", "rename it, or give the folder that it lies in")
    return expanded


def printable_name(name: str | Path) -> str:
    """Return a file name as valid text: bytes that are not UTF-8 are written as `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def list_files(paths: Sequence[Path], skipped: list[Skipped]) -> Iterator[File]:
    """Yield files and the files in folders, recursively, sorted by name, without hidden ones."""
    for root in paths:
        if not root.is_dir():
            yield File(root, root.name, root)
            continue
        for path in walk_folder(root, skipped):
            yield File(path, _relative_name(root, path), root)


def _relative_name(folder: Path, path: Path) -> str:
    return printable_name(path.relative_to(folder).as_posix())


def walk_folder(folder: Path, skipped: list[Skipped]) -> Iterator[Path]:
    """Yield the files in a folder, sorted by name; unreadable folders and links out of it or to nothing are appended to `skipped`."""
    real_folder = os.path.realpath(folder)
    waiting = [folder]
    while waiting:
        parent = waiting.pop()
        try:
            entries = sorted(os.scandir(parent), key=lambda entry: entry.name)
        except OSError as error:
            skipped.append((_relative_name(folder, parent), f"cannot be read: {error.strerror}"))
            continue
        if any(_INDEX_FILE.fullmatch(entry.name) for entry in entries):
            skipped.append((_relative_name(folder, parent), "an index, not documents"))
            continue
        shown = [entry for entry in entries if not entry.name.startswith(".")]
        waiting += [Path(entry.path) for entry in reversed(shown) if entry.is_dir(follow_symlinks=False)]
        for entry in shown:
            path = Path(entry.path)
            if entry.is_symlink() and (reason := _link_problem(path, real_folder)):
                skipped.append((_relative_name(folder, path), reason))
            elif not entry.is_dir(follow_symlinks=False):
                yield path


def _link_problem(link: Path, real_folder: str) -> str | None:
    """Return why a link is not followed, None if it leads to a file within the folder."""
    if not os.path.exists(link):
        return "a broken link"
    if os.path.isdir(link) or not Path(os.path.realpath(link)).is_relative_to(real_folder):
        return "a link to a folder or out of the folder given"
    return None
