"""A finished index as it was when it was opened, and the search in it."""

import json
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index.folder_state import missing_index
from ramify.tools.index.full_text import Postings
from ramify.tools.index.hnsw import Graph, Positions, read_graph
from ramify.tools.index.hybrid_search import Hit, Reranker, SearchOptions, find
from ramify.tools.index.manifest import MANIFEST, NEXT, PASSAGES, VECTORS, WORDS, Manifest, new_damage, read_manifest, repair_remedy
from ramify.tools.index.passage_store import Filter, PassageStore, Rows, choices_of

_PATIENCE_S = 2.0
_FILTERS = 16
"""So many filters are remembered with what passes them."""


@dataclass(frozen=True)
class Snapshot:
    """Passages and vectors of one manifest; immutable, so any thread may search."""

    manifest: Manifest
    store: PassageStore
    graph: Graph
    rows: Rows
    """The row in `store` of each position in `graph`."""
    postings: Postings | None = None
    """The words of a large index; those of others SQLite has."""
    _passing: OrderedDict[str, Positions] = field(default_factory=OrderedDict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _by_row(self) -> Positions:
        return np.argsort(self.rows)

    def positions(self, rows: Sequence[int] | Rows) -> Positions:
        """Return the positions in the graph of some rows."""
        return self._by_row[np.searchsorted(self.rows, rows, sorter=self._by_row)]

    def search(self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None) -> list[list[Hit]]:
        """Search for all queries at once; vectors: theirs, shape (queries, dimension); `reranker` has a say in the order."""
        if reranker is None or not search.filter:
            return find(self, queries, vectors, search, reranker)
        among = frozenset(self._allowed(search.filter).tolist())
        return find(self, queries, vectors, search, lambda *found: [position for position in reranker(*found) if position in among])

    def _allowed(self, where: Filter) -> Positions:
        """Return the positions that pass a filter; the latest filters are remembered, because each has every passage looked at."""
        key = json.dumps([[name, sorted(map(repr, choices_of(name, wanted)))] for name, wanted in sorted(where.items())])
        found = self._passing.get(key)
        if found is None:
            found = self._passing[key] = np.sort(self.positions(self.store.matching(where)))
            while len(self._passing) > _FILTERS:
                self._passing.popitem(last=False)
        return found

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[int]]:
        """Return the n nearest positions of each vector, nearest first, among those that pass the filter."""
        found = self.graph.exact(vectors, n, self._allowed(where)) if where else self.graph.search(vectors, n)
        if not self.graph.whole:  # quantised vectors are nearly in order: order by cosine, ties by position
            cosines = [self.vectors(positions.tolist()) @ vector for vector, positions in zip(vectors, found, strict=True)]
            found = [positions[np.lexsort((positions, -own))] for own, positions in zip(cosines, found, strict=True)]
        return [positions.tolist() for positions in found]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[int, float]]:
        """Return the n best positions of each query by BM25, greater is better, among those that pass the filter."""
        among = self._allowed(where) if where else None
        if self.postings is not None:
            return [self.postings.search(query, n, among) for query in queries]
        found = [self.store.by_words(query, n, None if among is None else self.rows[among]) for query in queries]
        positions = [self.positions([row for row, _ in ranked]).tolist() for ranked in found]
        return [
            {position: -rank for (_, rank), position in zip(ranked, places, strict=True)}
            for ranked, places in zip(found, positions, strict=True)
        ]

    def vectors(self, positions: Sequence[int]) -> Matrix:
        """Return vectors as they were encoded, shape (positions, dimension)."""
        if self.graph.whole:
            return self.graph.vectors(positions)
        return self.store.vectors(self._rows_at(positions), self.manifest.dimension)

    def sections(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the document of each passage and the headings above it, "" where there are none."""
        return self.store.sections(self._rows_at(positions))

    def passages(self, positions: Sequence[int]) -> list[Document]:
        """Return the passages."""
        return self.store.passages(self._rows_at(positions))

    def _rows_at(self, positions: Sequence[int]) -> list[int]:
        return [int(self.rows[position]) for position in positions]

    def ids(self) -> list[str]:
        """List the ids of the passages that are searched, in the order of their positions."""
        return self.store.ids()

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""
        return self.store.passages(self.store.rows_of(ids))


def open_snapshot(folder: Path) -> Snapshot:
    """Open an index; raises `IndexingError` where it is missing, half-written or damaged."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return _open(folder)
        except IndexingError:
            if time.monotonic() > deadline or not (folder / (NEXT + MANIFEST)).exists():
                raise
            time.sleep(0.05)  # a writer is putting its files in place this moment


def _open(folder: Path) -> Snapshot:
    manifest = read_manifest(folder / MANIFEST)
    if manifest is None:
        raise missing_index(folder)
    try:
        if not all((folder / name).is_file() for name in manifest.sha256):
            raise OSError("a file is missing")  # a pipe would be waited for
        store, graph = PassageStore(folder / PASSAGES), read_graph(folder / VECTORS)
        postings = Postings(folder) if manifest.sha256.keys() >= set(WORDS) else None
        found = new_damage(manifest, folder)  # after opening: what is whole now is what was opened
        if found:
            raise IndexingError(f"the index in {str(folder)!r} is damaged: {found}", repair_remedy(folder))
        snapshot = Snapshot(manifest, store, graph, store.rows(), postings)
    except (OSError, sqlite3.DatabaseError, RuntimeError, ValueError) as error:
        what = manifest.damage(folder) or f"it cannot be read: {error}"
        raise IndexingError(f"the index in {str(folder)!r} is damaged: {what}", repair_remedy(folder)) from error
    held, told = (len(snapshot.graph), graph.dimension), (manifest.passages, manifest.dimension)
    if held != told or len(snapshot.rows) != manifest.passages:
        what = f"{len(snapshot.rows)} passages, {held[0]} vectors of length {held[1]}, {told[0]} and {told[1]} in the manifest"
        raise IndexingError(f"the index in {str(folder)!r} does not fit together: {what}", repair_remedy(folder))
    return snapshot
