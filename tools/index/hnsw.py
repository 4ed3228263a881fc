"""The HNSW graph over unit vectors, whole or quantised, searched by inner product."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index.manifest import LARGE, WHOLE, Precision
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

    def __init__(self, index: "faiss.IndexHNSW") -> None:
        import faiss

        self._index = index
        self._flat = faiss.downcast_index(index.storage)
        self.whole = isinstance(index, faiss.IndexHNSWFlat)
        """Whether it has the vectors as they were encoded."""
        self.dimension = int(index.d)

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
        """Return vectors, shape (positions, dimension), as it has them."""
        return np.asarray(self._index.reconstruct_batch(np.asarray(positions, dtype=np.int64)), dtype=np.float32)


def _found(index: "faiss.Index", queries: Matrix, n: int, parameters: "faiss.SearchParameters | None") -> list[Positions]:
    """Search, settle ties by position, and drop the places faiss could not fill."""
    if not n or not len(queries):
        return [np.empty(0, dtype=np.int64) for _ in queries]
    similarities, positions = index.search(queries, n, params=parameters)
    ordered = (row[np.lexsort((row, -values))] for row, values in zip(positions, similarities, strict=True))
    return [row[row >= 0] for row in ordered]


def build_hnsw(
    blocks: Iterable[Matrix], dimension: int, path: Path, total: int, progress: Progress, precision: Precision, sample: Matrix
) -> None:
    """Link vectors into a graph and write it; one thread and one order, so that the same vectors give the same graph.

    sample: vectors that quantisation learns its range from, shape (vectors, dimension); of no use where they stay whole.
    """
    import faiss

    index = _empty(dimension, precision)
    index.hnsw.efConstruction = _EF_CONSTRUCTION
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        if not index.is_trained and len(sample):
            index.train(sample)
        for block in blocks:
            index.add(block)
            progress(int(index.ntotal), total, "vectors")
    finally:
        faiss.omp_set_num_threads(threads)
    with path.open("wb") as file:  # a disk that is full is an OSError then; faiss has a RuntimeError for everything
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))  # type: ignore[attr-defined]  # missing from the stubs


def _empty(dimension: int, precision: Precision) -> "faiss.IndexHNSW":
    import faiss

    if precision == WHOLE:
        return faiss.IndexHNSWFlat(dimension, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    kind = {"fp16": faiss.ScalarQuantizer.QT_fp16, "int8": faiss.ScalarQuantizer.QT_8bit}[precision]
    return faiss.IndexHNSWSQ(dimension, kind, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)  # type: ignore[arg-type]  # a wrong stub


def read_graph(path: Path) -> Graph:
    """Read a graph, a large one page by page as it is searched; raises `RuntimeError`, as faiss does, where it is none.

    A file that takes the place of this one does not change it; one that is overwritten where it lies would, so small ones are read whole.
    """
    import faiss

    mapped = faiss.IO_FLAG_MMAP_IFC if path.stat().st_size > LARGE else 0
    index = faiss.read_index(str(path), mapped) if mapped else faiss.deserialize_index(np.frombuffer(path.read_bytes(), dtype=np.uint8))
    if not isinstance(index, (faiss.IndexHNSWFlat, faiss.IndexHNSWSQ)):
        raise RuntimeError(f"not a graph but {type(index).__name__}")
    return Graph(index)
