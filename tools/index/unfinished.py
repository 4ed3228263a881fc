"""An index whose vectors are still being computed: words find passages, and candidates without a vector are encoded for the question."""

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index.folder import is_being_written, working_copy
from ramify.tools.index.hybrid_search import Reranker, SearchOptions, search_source
from ramify.tools.index.manifest import MANIFEST, Manifest
from ramify.tools.index.passage_store import Filter, PassageStore, embedded_texts
from ramify.tools.passage import Passage

_VECTORS_SINCE = """SELECT row, vector, vectors.rowid FROM vectors CROSS JOIN passages USING (digest)
WHERE vectors.rowid > ? AND hidden IS NULL ORDER BY vectors.rowid, row"""
"""With CROSS JOIN, SQLite begins with the new vectors."""
BY_WORDS = "searched by words"
"""Beginning of the notice on an unfinished index."""
MAX_ENCODED = 32
"""Candidates of a query that are encoded for it, the best by words."""


class GrowingStore(PassageStore):
    """The passages that a build has stored, and the vectors that it has computed so far."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, growing=True)

    def count_encoded(self) -> tuple[int, int]:
        """Return the number of texts with a vector, and of all texts."""
        sql = """SELECT count(*), count(vectors.digest) FROM (SELECT DISTINCT digest FROM passages WHERE hidden IS NULL)
        LEFT JOIN vectors USING (digest)"""
        with self.connection() as connection:
            texts, encoded = connection.execute(sql).fetchone()
        return encoded, texts

    def vectors_since(self, number: int) -> list[tuple[int, bytes, int]]:
        """Return the row, the vector and the number of each vector that was stored after the one of a number, in the order of storing."""
        with self.connection() as connection:
            return connection.execute(_VECTORS_SINCE, [number]).fetchall()

    def embedded_texts(self, rows: Sequence[int]) -> list[str]:
        """Return the texts to embed of some rows, in their order."""
        with self.connection() as connection:
            return embedded_texts(connection, rows)


class UnfinishedSnapshot:
    """Passages that a build has stored, with the vectors that it has computed so far; thread-safe.

    Vectors computed for questions are kept by this object. They do not become part of the index: its batches are the same in every build.
    """

    def __init__(self, folder: Path, manifest: Manifest, encoder: Encoder | None = None) -> None:
        self.folder = folder
        self.manifest = manifest
        self.store = GrowingStore(working_copy(folder, None))
        self._encoder = encoder
        self._lock = threading.Lock()
        """Held while vectors are read or computed."""
        self._encoded: dict[int, Matrix] = {}
        """By row: vectors computed for questions."""
        self._stored = np.empty((0, manifest.dimension), dtype=np.float32)
        """The vectors of the build that were read so far, the row of each, and the place of each row."""
        self._rows = np.empty(0, dtype=np.int64)
        self._places: dict[int, int] = {}
        self._last = 0

    def with_encoder(self, encoder: Encoder) -> "UnfinishedSnapshot":
        """Return it with the encoder of its passages, which a search needs."""
        return UnfinishedSnapshot(self.folder, self.manifest, encoder)

    def __len__(self) -> int:
        return self.manifest.passages

    def ids(self) -> list[str]:
        """Return the sorted ids of the searchable passages."""
        return self.store.ids()

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order of `ids`."""
        return self.store.passages(self.store.rows_by_id(ids))

    def is_finished(self) -> bool:
        """Return whether the index has been finished since."""
        return (self.folder / MANIFEST).exists()

    def notice(self) -> str:
        """Return how much of the vectors is computed, and what to do where no process computes them; "" if the index is finished now."""
        encoded, texts = self.store.count_encoded()
        if self.is_finished():
            return ""
        share = f"{encoded / max(texts, 1):.0%}"
        if is_being_written(self.folder):
            return f"{BY_WORDS} while meanings are computed: {share}"
        return f"{BY_WORDS}, because the computation of meanings stopped at {share} — index the same documents again: it resumes"

    def search(
        self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None
    ) -> list[list[Passage]]:
        """Return the passages for each query, found by words and by the vectors that there are; vectors: of the queries.

        IndexingError if a build changes the passages meanwhile, or was killed while it wrote them.
        """
        try:
            self._read_stored()
            return search_source(self, queries, vectors, search._replace(hybrid=True), reranker)
        except (KeyError, sqlite3.OperationalError) as error:
            what = f"the documents in the index {str(self.folder)!r} are being changed, or a build of it was killed"
            raise IndexingError(what, "search again; if that fails, run `ramify index` again") from error

    def _read_stored(self) -> None:
        """Read the vectors that the build has stored since the last search."""
        with self._lock:
            if not (added := self.store.vectors_since(self._last)):
                return
            matrix = np.frombuffer(b"".join(vector for _, vector, _ in added), dtype="<f4").reshape(len(added), -1)
            self._places |= {row: len(self._rows) + number for number, (row, *_) in enumerate(added)}
            self._rows = np.append(self._rows, [row for row, *_ in added])
            self._stored = np.concatenate([self._stored, matrix])
            self._last = added[-1][2]

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[int]]:
        """Return at most n rows for each vector, nearest first, among those that have a vector and match the filter."""
        with self._lock:
            rows, stored = self._rows, self._stored
        if where:
            matching = np.isin(rows, self.store.rows_matching(where))
            rows, stored = rows[matching], stored[matching]
        return [rows[np.lexsort((rows, -own))[:n]].tolist() for own in vectors @ stored.T]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[int, float]]:
        """Return at most n rows for each query with their BM25: those that have a vector, and of the others the best."""
        among = self.store.rows_matching(where) if where else None
        found = []
        for query in queries:
            ranked = self.store.by_words(query, n, among)
            others = [row for row, _ in ranked if row not in self._places][:MAX_ENCODED]
            found.append({row: -rank for row, rank in ranked if row in self._places or row in others})
        return found

    def vectors(self, rows: Sequence[int]) -> Matrix:
        """Return the vectors of rows, shape (rows, dimension); those that the build has not computed yet are encoded."""
        with self._lock:
            if missing := [row for row in dict.fromkeys(rows) if row not in self._places and row not in self._encoded]:
                assert self._encoder is not None  # set by Index.open
                self._encoded.update(zip(missing, self._encoder.encode_documents(self.store.embedded_texts(missing)), strict=True))
            known = [self._stored[self._places[row]] if row in self._places else self._encoded[row] for row in rows]
        return np.stack(known) if known else np.empty((0, self.manifest.dimension), dtype=np.float32)

    def sections(self, rows: Sequence[int]) -> list[tuple[str, str]]:
        """Return the document id and the headings of each passage, "" if there are none."""
        return self.store.sections(rows)

    def passages(self, rows: Sequence[int]) -> list[Document]:
        """Return the passages."""
        return self.store.passages(rows)
