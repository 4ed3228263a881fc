"""The vectors of an index, whole or quantised, searched by inner product: few are all compared, many are linked into an HNSW graph.

A passage keeps its slot among the vectors, and among the words of a large index, while its text and label stay as they are. New ones come
after all others, and what is gone leaves its slot empty until so many are that all are numbered anew: so a few changes are added to the
graph and the postings that are there.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
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
"""Passages that are searched, in order of id, counted from 0."""
Keys = NDArray[np.int64]
"""What passages are known by: two are alike where label and text are."""
GONE = -1
_MOST_GONE = 0.2
"""Part of the slots that may be empty: a search passes them, too."""
_FACTOR = np.int64(0x1E3779B97F4A7C15)


def distinct(keys: Keys) -> Keys:
    """Return keys of which no two are alike: a text that stands there again gets another, the same in any order."""
    order = np.argsort(keys, kind="stable")
    _, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
    again = np.arange(len(keys)) - np.repeat(first, counts)
    told = keys.copy()
    told[order] += again * _FACTOR
    return told


class Slots:
    """The passage in each slot: its key, and its position or `GONE`."""

    def __init__(self, keys: Keys, positions: Positions) -> None:
        self.keys = keys
        self.positions = positions

    @classmethod
    def numbered(cls, keys: Keys) -> "Slots":
        """Return slots in order of id."""
        return cls(keys, np.arange(len(keys)))

    @classmethod
    def read(cls, path: Path) -> "Slots":
        """Read a file; ValueError where it is none."""
        held = np.load(path, allow_pickle=False)
        if held.dtype != np.int64 or held.ndim != 2 or len(held) != 2:
            raise ValueError(f"{path.name} holds {held.dtype} of shape {held.shape}")
        return cls(*held)

    def write(self, path: Path) -> None:
        """Write a file."""
        with path.open("wb") as file:
            np.save(file, np.stack([self.keys, self.positions]))

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Whether there is a passage in each slot."""
        return np.not_equal(self.positions, GONE)

    @cached_property
    def of(self) -> Positions:
        """The slot of each position."""
        found = np.flatnonzero(self.filled)
        return found[np.argsort(self.positions[found])]

    def updated(self, keys: Keys) -> "Slots":
        """Return the slots of other passages, their keys given in order of id: those that are there stay where they are."""
        held, here = self._shared(keys)
        new = np.setdiff1d(np.arange(len(keys)), here)
        positions = np.full(len(self), GONE)
        positions[held] = here
        return Slots(np.concatenate([self.keys, keys[new]]), np.concatenate([positions, new]))

    def moved_to(self, others: "Slots") -> Positions:
        """Return for each slot that of the same passage among others, `GONE` where either has none."""
        moved = np.full(len(self), GONE)
        held, there = self._shared(others.keys)
        both = self.filled[held] & others.filled[there]
        moved[held[both]] = there[both]
        return moved

    def _shared(self, keys: Keys) -> tuple[Positions, Positions]:
        """Return where the keys are that both have, in either."""
        _, held, there = np.intersect1d(self.keys, keys, assume_unique=True, return_indices=True)
        return held, there

    def crowded(self) -> bool:
        """Return whether so many slots are empty that the passages are to be numbered anew."""
        return bool(len(self) - np.count_nonzero(self.filled) > _MOST_GONE * len(self))


class Graph:
    """Search vectors by position."""

    def __init__(self, index: "faiss.Index", slots: Slots) -> None:
        import faiss

        self._index = index
        self._linked = isinstance(index, faiss.IndexHNSW)
        self._flat = faiss.downcast_index(index.storage) if isinstance(index, faiss.IndexHNSW) else index
        self._slots = slots
        bits = np.packbits(slots.filled, bitorder="little")
        self._filled = None if slots.filled.all() else faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]  # a wrong stub
        self.whole = isinstance(self._flat, faiss.IndexFlat)
        """Whether it has the vectors as they were encoded."""
        self.dimension = int(index.d)

    def __len__(self) -> int:
        return len(self._slots.of)

    def search(self, queries: Matrix, n: int) -> list[Positions]:
        """Return the n nearest positions of each query, nearest first; only a large corpus is searched along the graph."""
        import faiss

        held = len(self._slots.of)
        n = min(n, held)
        if not self._linked:
            return self._found(self._flat, queries, n, faiss.SearchParameters(sel=self._filled))  # type: ignore[call-arg]  # a wrong stub
        parameters = faiss.SearchParametersHNSW(sel=self._filled)  # type: ignore[attr-defined]  # missing from the stubs of faiss
        parameters.efSearch = max(_EF_SEARCH, 2 * n) * len(self._slots) // held  # some slots that it passes are empty
        return self._found(self._index, queries, n, parameters)

    def exact(self, queries: Matrix, n: int, among: Positions) -> list[Positions]:
        """Return the n nearest of the positions given, for each query, nearest first; every one of them is looked at."""
        import faiss

        selector = faiss.IDSelectorBatch(self._slots.of[among])
        parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # missing from the stubs of faiss
        return self._found(self._flat, queries, min(n, len(among)), parameters)

    def vectors(self, positions: Sequence[int] | Positions) -> Matrix:
        """Return vectors, shape (positions, dimension), as it has them."""
        slots = self._slots.of[np.asarray(positions, dtype=np.int64)]
        return np.asarray(self._index.reconstruct_batch(slots), dtype=np.float32)

    def _found(self, index: "faiss.Index", queries: Matrix, n: int, parameters: "faiss.SearchParameters") -> list[Positions]:
        """Search, settle ties by position, and drop the places faiss could not fill."""
        if not n or not len(queries):
            return [np.empty(0, dtype=np.int64) for _ in queries]
        similarities, slots = index.search(queries, n, params=parameters)
        found = []
        for row, values in zip(slots, similarities, strict=True):
            positions = self._slots.positions[row[row >= 0]]
            found.append(positions[np.lexsort((positions, -values[row >= 0]))])
        return found


def are_linked(count: int) -> bool:
    """Return whether so many vectors are linked into a graph, to which more can be added; fewer are written anew in no time."""
    return count > _SCANNED


def write_vectors(
    blocks: Iterable[Matrix], path: Path, total: int, dimension: int, precision: Precision, sample: Callable[[], Matrix],
    progress: Progress, former: Path | None = None,
) -> None:  # fmt: skip
    """Write vectors, or those of a former file with these after them; one thread and one order, so that the same give the same file.

    total: how many there are then; sample: gives vectors that quantisation learns its range from, shape (vectors, dimension).
    """
    import faiss

    index = faiss.read_index(str(former)) if former else _empty(dimension, precision, are_linked(total))
    if isinstance(index, faiss.IndexHNSW):
        index.hnsw.efConstruction = _EF_CONSTRUCTION
        # A file does not have the state of what levels are drawn from: each update would draw the same ones.
        index.hnsw.rng = faiss.RandomGenerator(index.ntotal)  # type: ignore[attr-defined]  # missing from the stubs of faiss
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        if not index.is_trained and total:
            index.train(sample())
        for block in blocks:
            index.add(block)
            progress(int(index.ntotal), total, "vectors")
    finally:
        faiss.omp_set_num_threads(threads)
    with path.open("wb") as file:  # a disk that is full is an OSError then; faiss has a RuntimeError for everything
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))  # type: ignore[attr-defined]  # missing from the stubs


def _empty(dimension: int, precision: Precision, linked: bool) -> "faiss.Index":
    import faiss

    if precision == WHOLE:
        metric = faiss.METRIC_INNER_PRODUCT
        return faiss.IndexHNSWFlat(dimension, _NEIGHBOURS, metric) if linked else faiss.IndexFlat(dimension, metric)
    kind = {"fp16": faiss.ScalarQuantizer.QT_fp16, "int8": faiss.ScalarQuantizer.QT_8bit}[precision]
    if linked:
        return faiss.IndexHNSWSQ(dimension, kind, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)  # type: ignore[arg-type]  # a wrong stub
    return faiss.IndexScalarQuantizer(dimension, kind, faiss.METRIC_INNER_PRODUCT)


def read_graph(path: Path, slots: Slots) -> Graph:
    """Read vectors, those of a large file page by page as they are searched; raises `RuntimeError`, as faiss does, where there are none.

    A file that takes the place of this one does not change it; one that is overwritten where it lies would, so small ones are read whole.
    """
    import faiss

    mapped = faiss.IO_FLAG_MMAP_IFC if path.stat().st_size > LARGE else 0
    index = faiss.read_index(str(path), mapped) if mapped else faiss.deserialize_index(np.frombuffer(path.read_bytes(), dtype=np.uint8))
    if not isinstance(index, (faiss.IndexHNSWFlat, faiss.IndexHNSWSQ, faiss.IndexFlat, faiss.IndexScalarQuantizer)):
        raise RuntimeError(f"no vectors but {type(index).__name__}")
    if index.ntotal != len(slots):
        raise RuntimeError(f"{index.ntotal} vectors for {len(slots)} slots")
    return Graph(index, slots)
