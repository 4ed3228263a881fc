"""What an index in Milvus holds, as it is searched: the two rankings come from the server, all else is done as in any index of ours."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index.hybrid_search import Hit, How, Steer, find
from ramify.tools.index.manifest import Manifest
from ramify.tools.index.passage_store import Filter
from ramify.tools.milvus.collections import Store


@dataclass(frozen=True)
class HeldInMilvus:
    """A corpus as it is at each search; another process may change it meanwhile."""

    store: Store
    manifest: Manifest

    def __len__(self) -> int:
        return self.manifest.passages

    def search(self, queries: Sequence[str], vectors: Matrix, how: How, steer: Steer | None = None) -> list[list[Hit]]:
        """Search for all queries at once; vectors: theirs, shape (queries, dimension); nothing steers it."""
        return find(_Round(self.store, self.manifest.dimension), queries, vectors, how)

    def ids(self) -> list[str]:
        """List the ids of the passages that are searched, in order."""
        return sorted(self.store.states())

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""
        found = _documents(self.store, ids)
        return [found[id] for id in ids if id in found]


@dataclass
class _Round:
    """One search, which remembers the vectors that came with its rankings."""

    store: Store
    dimension: int
    _vectors: dict[str, Matrix] = field(default_factory=dict)

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[str]]:
        """Return the n nearest passages of each vector, nearest first."""
        found = self.store.nearest(vectors, n, where)
        self._vectors.update(pair for near in found for pair in near)
        return [self._in_order(vector, [id for id, _ in near]) for vector, near in zip(vectors, found, strict=True)]

    def _in_order(self, vector: Matrix, ids: list[str]) -> list[str]:
        """Order by cosine, and ties by id."""
        cosines = self.vectors(ids) @ vector
        return [ids[place] for place in sorted(range(len(ids)), key=lambda place: (-cosines[place], ids[place]))]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[str, float]]:
        """Return the n best passages of each query by BM25, greater is better."""
        found = self.store.by_words(queries, n, where)
        self._vectors.update((id, vector) for hits in found for id, _, vector in hits)
        return [{id: score for id, score, _ in hits} for hits in found]

    def vectors(self, ids: Sequence[str]) -> Matrix:
        """Return unit vectors, shape (ids, dimension)."""
        return np.stack([self._vectors[id] for id in ids]) if ids else np.empty((0, self.dimension), dtype=np.float32)

    def sections(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Return the document of each passage and the headings above it."""
        rows = self.store.get(ids, ["document", "metadata"])
        return [(rows[id]["document"], str(rows[id]["metadata"].get("heading") or "")) if id in rows else ("", "") for id in ids]

    def passages(self, ids: Sequence[str]) -> list[Document | None]:
        """Return the passages; None for one that another process has removed this moment."""
        found = _documents(self.store, ids)
        return [found.get(id) for id in ids]


def _documents(store: Store, ids: Sequence[str]) -> dict[str, Document]:
    rows = store.get(ids, ["text", "metadata", "known"])
    return {id: Document(row["text"], id=id, metadata=row["metadata"] | row["known"]) for id, row in rows.items()}
