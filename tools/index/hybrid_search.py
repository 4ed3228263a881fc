"""Search as every index of ours does it, wherever its passages lie: two rankings fused, sections spread, the best picked."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index.fusion import Pick, fuse, mmr, spread
from ramify.tools.index.passage_store import Filter, choices_of
from ramify.tools.index.search_words import names

_DEPTH = 100
"""How far down each ranking is read before fusion, at least."""
_TINY = 1e-9
_MOST = 10**9
"""Passages that can be asked for: more than any index holds."""


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
Steered = Callable[[str, Matrix, dict[Any, float]], list[Any]]


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
        if max(self.k, self.fetch_k or 0) > _MOST:
            raise UsageError(f"cannot search for k={self.k!r}, fetch_k={self.fetch_k!r} passages", f"take numbers of at most {_MOST:,}")
        for name, wanted in (self.filter or {}).items():
            choices_of(name, wanted)
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


class Ordered(Hashable, Protocol):
    """What names a passage among those searched; ties go to the lesser."""

    def __lt__(self, other: Any, /) -> bool:
        """Tell the lesser."""
        ...


K = TypeVar("K", bound=Ordered)


class Searched(Protocol[K]):
    """Passages that can be searched: their two rankings, and what is known of each."""

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> Sequence[Sequence[K]]:
        """Return the n nearest passages of each vector, nearest first, among those that pass the filter."""
        ...

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> Sequence[Mapping[K, float]]:
        """Return the n best passages of each query by BM25, greater is better, among those that pass the filter."""
        ...

    def vectors(self, keys: Sequence[K]) -> Matrix:
        """Return unit vectors, shape (keys, dimension)."""
        ...

    def sections(self, keys: Sequence[K]) -> Iterable[tuple[str, str]]:
        """Return the document of each passage and the headings above it, "" where there are none."""
        ...

    def passages(self, keys: Sequence[K]) -> Iterable[Document | None]:
        """Return the passages; None for one that is there no more."""
        ...


def find(held: Searched[K], queries: Sequence[str], vectors: Matrix, how: How, steer: Steered | None = None) -> list[list[Hit]]:
    """Search for all queries at once; vectors: theirs, shape (queries, dimension); `steer` has a say in the order."""
    how = how.checked()
    wanted = how.fetch_k or how.k
    depth = max(_DEPTH, wanted) if how.hybrid or steer else wanted
    blank: Sequence[Any] = [()] * len(queries)
    near = held.nearest(vectors, depth, how.filter) if how.dense else blank
    worded = held.by_words(queries, depth, how.filter) if how.hybrid else blank
    hits = []
    for query, vector, nearest, words in zip(queries, vectors, near, worded, strict=True):
        found = _fused(held, vector, nearest, words, how)
        order = list(found) if steer is None else steer(query, vector, found)
        hits.append(_hits(held, vector, _spread(held, query, order, how.per_section)[:wanted], how))
    return hits


def _fused(held: Searched[K], vector: Matrix, nearest: Sequence[K], words: Mapping[K, float], how: How) -> dict[K, float]:
    """Give what either ranking found, the best first, with what it is worth."""
    if not how.hybrid:
        return _as_shares(nearest, (held.vectors(nearest) @ vector).tolist() if len(nearest) else [])
    if not how.dense:
        ordered = sorted(sorted(words), key=lambda key: -words[key])
        return _as_shares(ordered, [words[key] for key in ordered])
    candidates = sorted({*nearest, *words})
    if not candidates:
        return {}
    bm25 = np.array([words.get(key, 0.0) for key in candidates])
    return {candidates[place]: value for place, value in fuse(held.vectors(candidates) @ vector, bm25)}


def _as_shares(keys: Sequence[K], scores: list[float]) -> dict[K, float]:
    """Give each passage its score as a share of the best, at least 0; their order stays."""
    best = max(max(scores, default=0.0), _TINY)
    return {key: max(score, 0.0) / best for key, score in zip(keys, scores, strict=True)}


def _spread(held: Searched[K], query: str, order: Sequence[K], limit: int | None) -> Sequence[K]:
    """Put passages beyond the first few of a section after those of others; one whose heading the question names is no limit."""
    if limit is None:
        return order
    sections = [document if heading and not names(query, heading) else None for document, heading in held.sections(order)]
    return [order[place] for place in spread(sections, limit)]


def _hits(held: Searched[K], vector: Matrix, candidates: Sequence[K], how: How) -> list[Hit]:
    if not candidates:
        return []
    vectors = held.vectors(candidates)
    cosines = vectors @ vector
    if how.mmr is None:
        picks = [Pick(place, float(cosines[place])) for place in range(min(how.k, len(candidates)))]
    else:
        picks = mmr(cosines, vectors, how.k, how.mmr)
    passages = held.passages([candidates[place] for place, _ in picks])
    return [Hit(passage, float(cosines[pick.place]), pick.value) for passage, pick in zip(passages, picks, strict=True) if passage]
