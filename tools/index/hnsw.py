"""The vector index: inner-product search over full or quantised vectors, exhaustive for small indexes, an HNSW graph for large ones.

A passage keeps its slot in the vectors, and in the postings of a large index, while its text and label are unchanged. New passages are
appended, and deleted ones leave their slots empty, until too many are empty and all passages are renumbered. So a few changes only extend
the existing graph and postings.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.index.manifest import FULL_PRECISION, LARGE_FILE_BYTES, Precision
from ramify.tools.index.progress import Progress

if TYPE_CHECKING:
    import faiss

_NEIGHBOURS = 32
_EF_CONSTRUCTION = 80
_EF_SEARCH = 128
MAX_SCANNED = 20_000
"""Maximum number of vectors compared exhaustively: about as fast as the graph, and exact among near-duplicates."""


Positions = NDArray[np.int64]
"""Positions of searchable passages, sorted by id, from 0: int64, shape (n,)."""
Keys = NDArray[np.int64]
"""Keys of passages, equal for equal label and text: int64, shape (n,)."""
NO_POSITION = -1
_MAX_EMPTY_SHARE = 0.2
"""Maximum share of empty slots, which a search has to skip."""
_KEY_STEP = np.int64(0x1E3779B97F4A7C15)


def unique_keys(keys: Keys) -> Keys:
    """Return unique keys: repeated keys are changed, independently of their order."""
    order = np.argsort(keys, kind="stable")
    _, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
    again = np.arange(len(keys)) - np.repeat(first, counts)
    unique = keys.copy()
    unique[order] += again * _KEY_STEP
    return unique


class SlotMap:
    """The passage in each slot: its key, and its position or `NO_POSITION` if the slot is empty."""

    def __init__(self, keys: Keys, positions: Positions) -> None:
        self.keys = keys
        self.positions = positions

    @classmethod
    def in_order(cls, keys: Keys) -> "SlotMap":
        """Return slots in the order of positions."""
        return cls(keys, np.arange(len(keys)))

    @classmethod
    def read(cls, path: Path) -> "SlotMap":
        """Read a slots file; ValueError if it is invalid."""
        stored = np.load(path, allow_pickle=False)
        if stored.dtype != np.int64 or stored.ndim != 2 or len(stored) != 2:
            raise ValueError(f"{path.name} has {stored.dtype} of shape {stored.shape}")
        return cls(*stored)

    def write(self, path: Path) -> None:
        """Write a file."""
        with path.open("wb") as file:
            np.save(file, np.stack([self.keys, self.positions]))

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Whether each slot has a passage, shape (slots,)."""
        return np.not_equal(self.positions, NO_POSITION)

    @cached_property
    def slot_of(self) -> Positions:
        """The slot of each position, shape (positions,)."""
        filled = np.flatnonzero(self.filled)
        return filled[np.argsort(self.positions[filled])]

    def updated(self, keys: Keys) -> "SlotMap":
        """Return the slots for new keys by position: known keys keep their slots, new ones are appended."""
        own_indices, other_indices = self._shared(keys)
        new = np.setdiff1d(np.arange(len(keys)), other_indices)
        positions = np.full(len(self), NO_POSITION)
        positions[own_indices] = other_indices
        return SlotMap(np.concatenate([self.keys, keys[new]]), np.concatenate([positions, new]))

    def map_to(self, others: "SlotMap") -> Positions:
        """Return for each slot the slot of the same key in `others`, `NO_POSITION` where either is missing or empty."""
        moved = np.full(len(self), NO_POSITION)
        own_indices, other_indices = self._shared(others.keys)
        both = self.filled[own_indices] & others.filled[other_indices]
        moved[own_indices[both]] = other_indices[both]
        return moved

    def _shared(self, keys: Keys) -> tuple[Positions, Positions]:
        """Return the indices of common keys in both."""
        _, own_indices, other_indices = np.intersect1d(self.keys, keys, assume_unique=True, return_indices=True)
        return own_indices, other_indices

    def needs_renumbering(self) -> bool:
        """Return whether too many slots are empty, so that the passages should be renumbered."""
        return bool(len(self) - np.count_nonzero(self.filled) > _MAX_EMPTY_SHARE * len(self))


class VectorIndex:
    """Vectors by position, searched by inner product (cosine, as all rows are unit vectors)."""

    def __init__(self, index: "faiss.Index", slots: SlotMap) -> None:
        import faiss

        self._index = index
        self._has_graph = isinstance(index, faiss.IndexHNSW)
        self._flat = faiss.downcast_index(index.storage) if isinstance(index, faiss.IndexHNSW) else index
        self._slots = slots
        bits = np.packbits(slots.filled, bitorder="little")
        self._filled = None if slots.filled.all() else faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]  # a wrong stub
        self.is_full_precision = isinstance(self._flat, faiss.IndexFlat)
        """Whether vectors are stored in full precision."""
        self.dimension = int(index.d)

    def __len__(self) -> int:
        return len(self._slots.slot_of)

    def search(self, queries: Matrix, n: int) -> list[Positions]:
        """Return for each query an int64 array of at most n positions, nearest first.

        queries: unit rows of shape (queries, dimension). Up to `MAX_SCANNED` vectors are compared exhaustively; a larger index is searched
        approximately along the graph.
        """
        import faiss

        count = len(self._slots.slot_of)
        n = min(n, count)
        if not self._has_graph:
            return self._search_index(self._flat, queries, n, faiss.SearchParameters(sel=self._filled))  # type: ignore[call-arg]  # a wrong stub
        parameters = faiss.SearchParametersHNSW(sel=self._filled)  # type: ignore[attr-defined]  # missing from the stubs of faiss
        parameters.efSearch = max(_EF_SEARCH, 2 * n) * len(self._slots) // count  # compensates for empty slots
        return self._search_index(self._index, queries, n, parameters)

    def search_exact(self, queries: Matrix, n: int, among: Positions) -> list[Positions]:
        """Return for each query at most n of the positions `among`, nearest first, by exhaustive comparison."""
        import faiss

        selector = faiss.IDSelectorBatch(self._slots.slot_of[among])
        parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # missing from the stubs of faiss
        return self._search_index(self._flat, queries, min(n, len(among)), parameters)

    def vectors(self, positions: Sequence[int] | Positions) -> Matrix:
        """Return the stored vectors, shape (positions, dimension), dequantised if necessary."""
        slots = self._slots.slot_of[np.asarray(positions, dtype=np.int64)]
        return np.asarray(self._index.reconstruct_batch(slots), dtype=np.float32)

    def _search_index(self, index: "faiss.Index", queries: Matrix, n: int, parameters: "faiss.SearchParameters") -> list[Positions]:
        """Search a faiss index; ties are ordered by position, and unfilled results dropped."""
        if not n or not len(queries):
            return [np.empty(0, dtype=np.int64) for _ in queries]
        similarities, slots = index.search(queries, n, params=parameters)
        nearest = []
        for row, values in zip(slots, similarities, strict=True):
            positions = self._slots.positions[row[row >= 0]]
            nearest.append(positions[np.lexsort((positions, -values[row >= 0]))])
        return nearest


def uses_graph(count: int) -> bool:
    """Return whether `count` vectors are stored as an HNSW graph, which can be extended; fewer are rewritten."""
    return count > MAX_SCANNED


def write_vectors(
    blocks: Iterable[Matrix], path: Path, total: int, dimension: int, precision: Precision, sample: Callable[[], Matrix],
    progress: Progress, previous: Path | None = None,
) -> None:  # fmt: skip
    """Write a vector file, or extend a previous one; single-threaded, so the same vectors give the same file.

    blocks: of shape (n, dimension); total: number of vectors afterwards; sample: returns vectors of shape (n, dimension) to train the
    quantiser.
    """
    import faiss

    index = faiss.read_index(str(previous)) if previous else _new_index(dimension, precision, uses_graph(total))
    if isinstance(index, faiss.IndexHNSW):
        index.hnsw.efConstruction = _EF_CONSTRUCTION
        # The file lacks the state of the random generator: without this, each update would draw the same levels.
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
    with path.open("wb") as file:  # so that a full disk raises OSError, not faiss's RuntimeError
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))  # type: ignore[attr-defined]  # missing from the stubs


def _new_index(dimension: int, precision: Precision, linked: bool) -> "faiss.Index":
    import faiss

    if precision == FULL_PRECISION:
        metric = faiss.METRIC_INNER_PRODUCT
        return faiss.IndexHNSWFlat(dimension, _NEIGHBOURS, metric) if linked else faiss.IndexFlat(dimension, metric)
    kind = {"fp16": faiss.ScalarQuantizer.QT_fp16, "int8": faiss.ScalarQuantizer.QT_8bit}[precision]
    if linked:
        return faiss.IndexHNSWSQ(dimension, kind, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)  # type: ignore[arg-type]  # a wrong stub
    return faiss.IndexScalarQuantizer(dimension, kind, faiss.METRIC_INNER_PRODUCT)


def read_vector_index(path: Path, slots: SlotMap) -> VectorIndex:
    """Read a vector file, memory-mapped if it is large; RuntimeError, as in faiss, if it is invalid.

    Replacing the file does not affect an open index; overwriting it in place would, so small files are read whole.
    """
    import faiss

    mapped = faiss.IO_FLAG_MMAP_IFC if path.stat().st_size > LARGE_FILE_BYTES else 0
    index = faiss.read_index(str(path), mapped) if mapped else faiss.deserialize_index(np.frombuffer(path.read_bytes(), dtype=np.uint8))
    if not isinstance(index, (faiss.IndexHNSWFlat, faiss.IndexHNSWSQ, faiss.IndexFlat, faiss.IndexScalarQuantizer)):
        raise RuntimeError(f"unexpected index type {type(index).__name__}")
    if index.ntotal != len(slots):
        raise RuntimeError(f"{index.ntotal} vectors for {len(slots)} slots")
    return VectorIndex(index, slots)
