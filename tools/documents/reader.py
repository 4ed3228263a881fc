"""What a reader of a format is, and whom it tells about what it leaves out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import Skipped


class UnreadableError(Exception):
    """A file holds nothing that its reader can read; says why."""


class Told:
    """What a reader says about a file besides its documents."""

    def __init__(self) -> None:
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []

    def skip(self, name: str, reason: str) -> None:
        """Name what was left out, and why."""
        self.skipped.append((name, reason))

    def remark(self, name: str, remark: str) -> None:
        """Say how something was read, where its reader had to guess or could not see everything."""
        self.remarks.append((name, remark))


Read = Callable[[Path, str, Told], Iterator[Document]]
"""Called with the file, the source its documents name, and whom to tell what else there is to say."""


class Reader(NamedTuple):
    """How a format is read: by what function, with which modules of others, if it may be endless (streamed), is plain text, or records."""

    read: Read
    modules: tuple[str, ...] = ()
    streamed: bool = False
    plain: bool = False
    records: bool = False
