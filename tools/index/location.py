"""Where an index lies: in a folder of this machine, or in a store that is named by an address such as milvus:URI/collection."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.index.build import Built, Wanted
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.folder import Folder
from ramify.tools.index.folder_state import no_index
from ramify.tools.index.hybrid_search import Hit, How, Steer
from ramify.tools.index.manifest import Manifest
from ramify.tools.typed import usable

STORES = ("milvus",)
"""What an address can begin with, before a colon."""


class Held(Protocol):
    """What an index holds, as it was when it was opened."""

    @property
    def manifest(self) -> Manifest:
        """Return what is remembered of it."""
        ...

    def __len__(self) -> int:
        """Count the passages that are searched."""
        ...

    def search(self, queries: Sequence[str], vectors: Matrix, how: How, steer: Steer | None = None) -> list[list[Hit]]:
        """Search for all queries at once; vectors: theirs, shape (queries, dimension); `steer` has a say in the order."""
        ...

    def ids(self) -> list[str]:
        """List the ids of the passages that are searched, in order."""
        ...

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""
        ...


class Home(Protocol):
    """A place for an index: it is built, opened and changed there."""

    @property
    def where(self) -> str:
        """Name the place as the command line takes it."""
        ...

    def manifest(self) -> Manifest | None:
        """Read what is remembered of the index, None where there is none."""
        ...

    def open(self) -> Held:
        """Open the index; IndexingError where there is none, or it is not whole."""
        ...

    def fingerprint(self) -> bytes:
        """Return what changes when the index does."""
        ...

    def build(self, paths: Sequence[str | Path], wanted: Wanted) -> Built:
        """Bring the index up to date with what lies under the paths."""
        ...

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""
        ...

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""
        ...


def is_address(where: str | Path) -> bool:
    """Tell whether an index is named by the address of a store, and not by its folder."""
    return isinstance(where, str) and where.partition(":")[0] in STORES and ":" in where


def home_of(where: str | Path) -> Home:
    """Find the place that a name means; UsageError for an address or a path that is none."""
    if not is_address(where):
        return Folder(usable(where))
    from ramify.tools.milvus.location import Collection  # one of the places: known here by name alone

    return Collection.at(str(where))


def check_there(where: str | Path) -> None:
    """Raise IndexingError where no index lies: better early than in the middle of a run."""
    home = home_of(where)
    if isinstance(home, Folder):
        if home.manifest() is None:
            raise no_index(home.path)
        return
    home.open()
