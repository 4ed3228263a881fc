"""What tests look at: the documents of one file, and what was said of it."""

from pathlib import Path
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import File, Skipped
from ramify.tools.documents.load import read_files

FILES = Path(__file__).parents[2] / "files"


class Shown(NamedTuple):
    """The documents of a file, what was left out, what was remarked."""

    documents: list[Document]
    skipped: list[Skipped]
    remarks: list[Skipped]

    def under(self, heading: str) -> Document:
        """Return the one document under a heading."""
        (found,) = [document for document in self.documents if document.metadata.get("heading") == heading]
        return found


def shown(path: Path, clean: bool = False) -> Shown:
    """Read one file, as its reader gives it."""
    ((documents, read),) = ((list(read.documents), read) for read in read_files([File(path, path.name, path.parent)], clean=clean))
    return Shown(documents, read.skipped, read.remarks)
