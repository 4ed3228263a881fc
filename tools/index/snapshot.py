"""A finished index as it was when it was opened, and the search in it."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.absent import no_index
from ramify.tools.index.hnsw import Graph, Positions, read_graph
from ramify.tools.index.manifest import MANIFEST, NEXT, PASSAGES, VECTORS, Manifest, again, read_manifest
from ramify.tools.index.rank import Pick, fuse, mmr, spread
from ramify.tools.index.store import Filter, Rows, Store
from ramify.tools.index.words import names

_DEPTH = 100
"""How far down each ranking is read before fusion, at least."""

_PATIENCE_S = 2.0
_TINY = 1e-9


class Hit(NamedTuple):
    """A passage found. score: its cosine to the query, always. value: what it was picked by: its MMR value, without MMR the cosine."""

    document: Document
    score: float
    value: float


View = Literal["auto", "flat"]
"""How an index is looked at: by its own kind's way, or as the plain passages that every kind has."""
Found = Mapping[int, float]
"""What was found for a query: positions, the best first, each with what it is worth, from 0 to 1."""
Steer = Callable[[str, Matrix, Found], list[int]]
"""Puts what was found for a query, given as text and vector, into another order; it may bring in more."""


class How(NamedTuple):
    """How to search: see `Index.search`."""

    k: int = 5
    fetch_k: int | None = None
    mmr: float | None = None
    hybrid: bool = True
    filter: Filter | None = None
    dense: bool = True
    per_section: int | None = None
    view: View = "auto"
    options: Mapping[str, Any] | None = None

    def checked(self) -> "How":
        """Return itself with `fetch_k` filled in, or raise `UsageError` where a number is out of range."""
        if self.k < 1 or (self.fetch_k is not None and self.fetch_k < 1):
            raise UsageError(f"cannot search for k={self.k!r}, fetch_k={self.fetch_k!r} passages", "take numbers of at least 1")
        if self.mmr is not None and not 0 <= self.mmr <= 1:
            raise UsageError(f"mmr={self.mmr!r} is no weight", "take a number from 0 to 1, or None to rank without MMR")
        if self.per_section is not None and self.per_section < 1:
            raise UsageError(
                f"cannot take per_section={self.per_section!r} passages of a section", "take at least 1, or None for any number"
            )
        if self.view not in get_args(View):
            raise UsageError(f"there is no view {self.view!r}", f"choose one of {', '.join(get_args(View))}")
        if not (self.hybrid or self.dense):
            raise UsageError("cannot search without vectors and without words", "leave hybrid or dense on")
        return self._replace(fetch_k=max(self.k, self.fetch_k or 4 * self.k))


@dataclass(frozen=True)
class Snapshot:
    """Passages and vectors of one manifest; immutable, so any thread may search."""

    manifest: Manifest
    store: Store
    graph: Graph
    rows: Rows
    """The row in `store` of each position in `graph`."""

    @cached_property
    def _by_row(self) -> Positions:
        return np.argsort(self.rows)

    def positions(self, rows: Sequence[int] | Rows) -> Positions:
        """Return the positions in the graph of some rows."""
        return self._by_row[np.searchsorted(self.rows, rows, sorter=self._by_row)]

    def search(self, queries: Sequence[str], vectors: Matrix, how: How, steer: Steer | None = None) -> list[list[Hit]]:
        """Search for all queries at once; vectors: theirs, shape (queries, dimension); `steer` has a say in the order."""
        how = how.checked()
        depth = max(_DEPTH, how.fetch_k or 0) if how.hybrid or steer else how.fetch_k or 0
        allowed = np.sort(self.positions(self.store.matching(how.filter))) if how.filter else None
        nearest = self.graph.search(vectors, depth) if allowed is None else self.graph.exact(vectors, depth, allowed)
        rankings = [self._ranked(*one, depth, how, steer, allowed) for one in zip(queries, vectors, nearest, strict=True)]
        return [self._hits(vector, ranking[: how.fetch_k], how) for vector, ranking in zip(vectors, rankings, strict=True)]

    def _ranked(
        self, query: str, vector: Matrix, nearest: Positions, depth: int, how: How, steer: Steer | None, allowed: Positions | None
    ) -> list[int]:
        found = self._fused(query, vector, nearest, depth, how)
        order = list(found)
        if steer is not None:
            steered = steer(query, vector, found)
            among = None if allowed is None else frozenset(allowed.tolist())
            order = [position for position in steered if among is None or position in among]
        if how.per_section is None:
            return order
        sections = self._sections(query, order)
        return [order[place] for place in spread(sections, how.per_section)]

    def _fused(self, query: str, vector: Matrix, nearest: Positions, depth: int, how: How) -> Found:
        if not how.hybrid:
            return _as_shares(nearest.tolist(), (self.graph.vectors(nearest) @ vector).tolist())
        found = self.store.by_words(query, depth, how.filter)
        positions = self.positions([row for row, _ in found])
        by_words = {int(position): -rank for (_, rank), position in zip(found, positions, strict=True)}
        if not how.dense:
            ordered = sorted(by_words, key=lambda position: (-by_words[position], position))
            return _as_shares(ordered, [by_words[position] for position in ordered])
        candidates = sorted({int(position) for position in nearest} | by_words.keys())
        if not candidates:
            return {}
        bm25 = np.array([by_words.get(position, 0.0) for position in candidates])
        return {candidates[place]: value for place, value in fuse(self.graph.vectors(candidates) @ vector, bm25)}

    def _sections(self, query: str, order: Sequence[int]) -> list[str | None]:
        """Return the section of each passage; None where it is a document without headings, or one whose heading the question names."""
        rows = [int(self.rows[position]) for position in order]
        sections = self.store.sections(rows)
        return [document if heading and not names(query, heading) else None for document, heading in (sections[row] for row in rows)]

    def _hits(self, vector: Matrix, candidates: Sequence[int], how: How) -> list[Hit]:
        if not candidates:
            return []
        vectors = self.graph.vectors(candidates)
        cosines = vectors @ vector
        if how.mmr is None:
            picks = [Pick(place, float(cosines[place])) for place in range(min(how.k, len(candidates)))]
        else:
            picks = mmr(cosines, vectors, how.k, how.mmr)
        rows = [int(self.rows[candidates[place]]) for place, _ in picks]
        passages = self.store.passages(rows)
        return [Hit(passages[row], float(cosines[pick.place]), pick.value) for row, pick in zip(rows, picks, strict=True)]


def _as_shares(positions: list[int], scores: list[float]) -> Found:
    """Give each position its score as a share of the best, at least 0; their order stays."""
    best = max(max(scores, default=0.0), _TINY)
    return {position: max(score, 0.0) / best for position, score in zip(positions, scores, strict=True)}


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
        raise no_index(folder)
    try:
        store, vectors = Store(folder / PASSAGES), (folder / VECTORS).read_bytes()
        damage = manifest.damage(folder)  # after opening: what is whole now is what was opened
        if damage:
            raise IndexingError(f"the index in {str(folder)!r} is damaged: {damage}", again(folder))
        snapshot = Snapshot(manifest, store, read_graph(vectors), store.rows())
    except (OSError, sqlite3.DatabaseError, RuntimeError) as error:
        what = manifest.damage(folder) or f"it cannot be read: {error}"
        raise IndexingError(f"the index in {str(folder)!r} is damaged: {what}", again(folder)) from error
    if not len(snapshot.graph) == len(snapshot.rows) == manifest.passages:
        what = f"{len(snapshot.rows)} passages, {len(snapshot.graph)} vectors, {manifest.passages} in the manifest"
        raise IndexingError(f"the index in {str(folder)!r} does not fit together: {what}", again(folder))
    return snapshot
