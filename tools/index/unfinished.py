"""An index whose vectors are still being computed: words find passages, and candidates without a vector are encoded for the question."""

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index.folder import is_being_written, working_copy
from ramify.tools.index.hybrid_search import Reranker, SearchOptions, search_source
from ramify.tools.index.manifest import Manifest
from ramify.tools.index.passage_store import Filter, PassageStore, embedded_texts
from ramify.tools.passage import Passage

_VECTORS = """SELECT row, vector FROM passages JOIN vectors USING (digest)
WHERE hidden IS NULL AND (:rows IS NULL OR row IN (SELECT value FROM json_each(:rows))) ORDER BY row"""
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

    def stored_vectors(self, rows: Sequence[int] | None = None) -> dict[int, Matrix]:
        """Return the vectors of those rows, by default of all searchable ones, that have one, in their order."""
        listed = None if rows is None else json.dumps(list(rows))
        with self.connection() as connection:
            found = connection.execute(_VECTORS, {"rows": listed})
            return {row: np.frombuffer(vector, dtype="<f4") for row, vector in found}

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
        self._encoded: dict[int, Matrix] = {}
        """By row: vectors computed for questions."""
        self._lock = threading.Lock()

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

    def notice(self) -> str:
        """Return how much of the vectors is computed, and what to do where no process computes them."""
        encoded, texts = self.store.count_encoded()
        share = f"{encoded / max(texts, 1):.0%}"
        if is_being_written(self.folder):
            return f"{BY_WORDS} while meanings are computed: {share}"
        return f"{BY_WORDS}, because the computation of meanings stopped at {share} — run `ramify index PATH… --out {self.folder}` again"

    def search(
        self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None
    ) -> list[list[Passage]]:
        """Return the passages for each query, found by words and by the vectors that there are; vectors: of the queries.

        IndexingError if a build changes the passages meanwhile.
        """
        try:
            return search_source(self, queries, vectors, search._replace(hybrid=True), reranker)
        except KeyError as error:
            what = f"the documents in the index {str(self.folder)!r} are being changed"
            raise IndexingError(what, "search again when they have been read") from error

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[int]]:
        """Return at most n rows for each vector, nearest first, among those that have a vector and match the filter."""
        stored = self.store.stored_vectors(self.store.rows_matching(where).tolist() if where else None)
        if not stored:
            return [[] for _ in vectors]
        rows, cosines = np.array([*stored]), vectors @ np.stack([*stored.values()]).T
        return [rows[np.lexsort((rows, -own))[:n]].tolist() for own in cosines]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[int, float]]:
        """Return at most n rows for each query with their BM25: those that have a vector, and of the others the best."""
        among = self.store.rows_matching(where) if where else None
        rankings = [self.store.by_words(query, n, among) for query in queries]
        stored = self.store.stored_vectors([row for ranked in rankings for row, _ in ranked])
        found = []
        for ranked in rankings:
            others = [row for row, _ in ranked if row not in stored][:MAX_ENCODED]
            found.append({row: -rank for row, rank in ranked if row in stored or row in others})
        return found

    def vectors(self, rows: Sequence[int]) -> Matrix:
        """Return the vectors of rows, shape (rows, dimension); those that the build has not computed yet are encoded."""
        stored = self.store.stored_vectors(rows)
        with self._lock:
            if missing := [row for row in dict.fromkeys(rows) if row not in stored and row not in self._encoded]:
                assert self._encoder is not None  # set by Index.open
                vectors = self._encoder.encode_documents(self.store.embedded_texts(missing))
                self._encoded.update(zip(missing, vectors, strict=True))
        known = {**self._encoded, **stored}
        return np.stack([known[row] for row in rows]) if rows else np.empty((0, self.manifest.dimension), dtype=np.float32)

    def sections(self, rows: Sequence[int]) -> list[tuple[str, str]]:
        """Return the document id and the headings of each passage, "" if there are none."""
        return self.store.sections(rows)

    def passages(self, rows: Sequence[int]) -> list[Document]:
        """Return the passages."""
        return self.store.passages(rows)
