"""Load files and folders of them as LangChain `Document`s."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.documents.files import Skipped, existing, files_under
from ramify.tools.documents.read_files import FORMATS, read_files
from ramify.tools.errors import InputError


class Loading(Iterator[Document]):
    """Documents as they are read; on the way `skipped` grows, which names what was left out, and `remarks`: what was guessed or has gaps.

    Each document has an id (a record's own, else made from its source) and the metadata `source` (the path within the folder given, or
    the file's name; of a record with `#id` or `#number`), `title`, `heading` of a section ("A > B"), `page` (from 1) or, of a
    document that crosses pages, `pages` as `[offset, page]` where each begins, and what a record carries.
    """

    def __init__(self, paths: Sequence[Path], clean: bool = True) -> None:
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []
        self._paths = paths
        self._clean = clean
        self._documents = self._read_all()

    def __next__(self) -> Document:
        return next(self._documents)

    def _read_all(self) -> Iterator[Document]:
        found = False
        for read in read_files(files_under(self._paths, self.skipped), clean=self._clean):
            for document in read.documents:
                found = True
                yield document
            self.skipped += read.skipped
            self.remarks += read.remarks
        if not found:
            raise nothing_readable(self._paths, self.skipped)


def load(*paths: str | Path, clean: bool = True) -> Loading:
    """Stream the documents of files and folders (recursively, in order of name, without hidden ones).

    To have them `clean` is to have short ones of a file merged, and those that only list or license marked by a `role`.
    Raises `InputError` at once where a path does not exist, and at the end where nothing was readable.
    """
    return Loading([existing(path) for path in paths], clean)


def nothing_readable(paths: Sequence[Path], skipped: Sequence[Skipped]) -> InputError:
    """Say that nothing could be read, and why the first things could not."""
    reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped[:3]) or "no files"
    places = ", ".join(repr(str(path)) for path in paths)
    return InputError(f"nothing readable in {places} ({reasons})", f"give files of these kinds: {FORMATS}")
