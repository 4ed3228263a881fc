"""Load files and folders of them as LangChain `Document`s."""

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.errors import InputError
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.readers import READERS, Reader, UnreadableError, reader_of

Skipped = tuple[str, str]
"""What was left out (a path, or `path#record`) and why."""

_FORMATS = ", ".join(sorted(suffix.removeprefix(".") for suffix in READERS))
_FILE_ERRORS = (OSError, EOFError, zlib.error, gzip.BadGzipFile)


class Loading(Iterator[Document]):
    """Documents as they are read; `skipped` grows on the way and names what could not be read; `path` is the one of `paths` being read.

    Each document has an id (a record's own, else made from its source) and the metadata `source` (the path within the folder given, or
    the file's name; of a record with `#id` or `#number`), `title`, `page` of a PDF (from 1), `heading` of a section ("A > B"), and what a
    record carries.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.skipped: list[Skipped] = []
        self.paths = paths
        self.path = paths[0] if paths else Path()
        self._documents = self._read_all()

    def __next__(self) -> Document:
        return next(self._documents)

    def _read_all(self) -> Iterator[Document]:
        found = False
        for path in self.paths:
            self.path = path
            for document in self._read_path(path):
                found = True
                yield document
        if not found:
            raise nothing_readable(self.paths, self.skipped)

    def _read_path(self, path: Path) -> Iterator[Document]:
        if not path.is_dir():
            yield from self._read_file(path, path.name)
            return
        for file in files_in(path, self.skipped):
            yield from self._read_file(file, file.relative_to(path).as_posix())

    def _read_file(self, path: Path, source: str) -> Iterator[Document]:
        reader = reader_of(path)
        if reader is None or not path.is_file():
            reason = "not a regular file" if reader else f"no reader for {path.suffix or 'a name without ending'!r} (readable: {_FORMATS})"
            self._skip(source, reason)
            return
        try:
            yield from self._filled(reader, path, source)
        except UnreadableError as error:
            self._skip(source, str(error))
        except _FILE_ERRORS as error:
            self._skip(source, f"cannot be read: {getattr(error, 'strerror', None) or error}")

    def _filled(self, reader: Reader, path: Path, source: str) -> Iterator[Document]:
        """Read a file's documents that hold any text; a file without any is unreadable."""
        found = False
        for document in reader(path, source, self._skip):
            if document.page_content.strip():
                found = True
                yield document
        if not found:
            raise UnreadableError("empty" if path.stat().st_size == 0 else "no text in it")

    def _skip(self, name: str, reason: str) -> None:
        self.skipped.append((name, reason))


def load(*paths: str | Path) -> Loading:
    """Stream the documents of files and folders (recursively, in order of name, without hidden ones).

    Raises `InputError` at once where a path does not exist, and at the end where nothing was readable.
    """
    return Loading([existing(path) for path in paths])


def existing(path: str | Path) -> Path:
    """Return the path, or raise `InputError` where there is none."""
    found = Path(path).expanduser()
    if not found.exists():
        raise InputError(f"there is no file or folder {str(path)!r}", "check the path")
    return found


def nothing_readable(paths: Sequence[Path], skipped: Sequence[Skipped]) -> InputError:
    """Say that nothing could be read, and why the first things could not."""
    reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped[:3]) or "no files"
    places = ", ".join(repr(str(path)) for path in paths)
    return InputError(f"nothing readable in {places} ({reasons})", f"give files of these kinds: {_FORMATS}")


def files_in(folder: Path, skipped: list[Skipped]) -> Iterator[Path]:
    """Walk a folder in order of name; links that lead out of it are named, not followed."""
    home = folder.resolve()
    for parent, folders, names in os.walk(folder):
        if PASSAGES in names:
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
