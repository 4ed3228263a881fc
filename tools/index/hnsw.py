"""The HNSW graph over unit vectors, searched by inner product."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index.progress import Progress

if TYPE_CHECKING:
    import faiss

_NEIGHBOURS = 32
_EF_CONSTRUCTION = 80
_EF_SEARCH = 128
_SCANNED = 20_000
"""Up to here all vectors are compared: about as fast as the graph, and it misses nothing among near-duplicates, where a graph does."""

Positions = NDArray[np.int64]
"""Places in the graph: the passages in order of id, counted from 0."""


class Graph:
    """Search vectors by position."""

    def __init__(self, index: "faiss.IndexHNSWFlat") -> None:
        import faiss

        self._index = index
        self._flat = faiss.downcast_index(index.storage)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(self, queries: Matrix, n: int) -> list[Positions]:
        """Return the n nearest positions of each query, nearest first; only a large corpus is searched along the graph."""
        import faiss

        if len(self) <= _SCANNED:
            return _found(self._flat, queries, min(n, len(self)), None)
        parameters = faiss.SearchParametersHNSW()  # type: ignore[attr-defined]  # missing from the stubs of faiss
        parameters.efSearch = max(_EF_SEARCH, 2 * n)
        return _found(self._index, queries, n, parameters)

    def exact(self, queries: Matrix, n: int, among: Positions) -> list[Positions]:
        """Return the n nearest of the positions given, for each query, nearest first; every one of them is looked at."""
        import faiss

        selector = faiss.IDSelectorBatch(np.asarray(among, dtype=np.int64))
        parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # missing from the stubs of faiss
        return _found(self._flat, queries, min(n, len(among)), parameters)

    def vectors(self, positions: Sequence[int] | Positions) -> Matrix:
        """Return vectors, shape (positions, dimension)."""
        return np.asarray(self._index.reconstruct_batch(np.asarray(positions, dtype=np.int64)), dtype=np.float32)


def _found(index: "faiss.Index", queries: Matrix, n: int, parameters: "faiss.SearchParameters | None") -> list[Positions]:
    """Search, settle ties by position, and drop the places faiss could not fill."""
    if not n or not len(queries):
        return [np.empty(0, dtype=np.int64) for _ in queries]
    similarities, positions = index.search(queries, n, params=parameters)
    ordered = (row[np.lexsort((row, -values))] for row, values in zip(positions, similarities, strict=True))
    return [row[row >= 0] for row in ordered]


def build_graph(blocks: Iterable[Matrix], dimension: int, path: Path, total: int, progress: Progress) -> None:
    """Link vectors into a graph and write it; one thread and one order, so that the same vectors give the same graph."""
    import faiss

    index = faiss.IndexHNSWFlat(dimension, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = _EF_CONSTRUCTION
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        for block in blocks:
            index.add(block)
            progress(int(index.ntotal), total, "vectors")
    finally:
        faiss.omp_set_num_threads(threads)
    faiss.write_index(index, str(path))


def read_graph(content: bytes) -> Graph:
    """Read a graph from a file's content; raises `RuntimeError`, as faiss does, where it is none."""
    import faiss

    index = faiss.deserialize_index(np.frombuffer(content, dtype=np.uint8))
    if not isinstance(index, faiss.IndexHNSWFlat):
        raise RuntimeError(f"not a graph but {type(index).__name__}")
    return Graph(index)
