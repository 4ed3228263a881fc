"""Hybrid search: vector and word rankings fused, sections spread, the best picked, for an index in a folder or a store."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index.full_text import names
from ramify.tools.index.passage_store import Filter, choices_of


class Pick(NamedTuple):
    """A candidate picked: its place among the candidates and the value it was picked by."""

    place: int
    value: float


def fuse(cosines: Matrix, bm25: NDArray[np.float64]) -> list[Pick]:
    """Order candidates by the mean of cosine and BM25, each as a share of its best, which is their value.

    bm25: greater is better, 0 for a candidate that the words did not bring. Ties go to the better BM25, then to the earlier candidate. A
    convex combination of scores finds more than reciprocal ranks do (Bruch, Gai and Ingber 2023, arXiv 2210.11934).
    """
    dense, words = (np.maximum(scores, 0) / max(float(np.max(scores, initial=0.0)), _TINY) for scores in (cosines, bm25))
    return [Pick(int(place), float(dense[place] + words[place]) / 2) for place in np.lexsort((-words, -(dense + words)))]


def spread(sections: Sequence[Hashable | None], limit: int) -> list[int]:
    """Return the places in their order, but those beyond the first few of a section after all others; None is no section."""
    met: Counter[Hashable] = Counter()
    beyond: list[int] = []
    first: list[int] = []
    for place, section in enumerate(sections):
        met[section] += 1
        (beyond if section is not None and met[section] > limit else first).append(place)
    return first + beyond


def mmr(relevance: Matrix, vectors: Matrix, k: int, weight: float) -> list[Pick]:
    """Pick k candidates one by one, each with the greatest weight * relevance - (1 - weight) * similarity to the nearest already picked.

    relevance: cosine to the query, shape (candidates,); vectors: unit rows, shape (candidates, dimension). Ties go to the earlier
    candidate.
    """
    values = weight * relevance
    nearest = np.full(len(relevance), -np.inf, dtype=np.float32)
    open_places = np.ones(len(relevance), dtype=bool)
    picks: list[Pick] = []
    for _ in range(min(k, len(relevance))):
        current = values - (1 - weight) * nearest if picks else values
        place = int(np.argmax(np.where(open_places, current, -np.inf)))
        picks.append(Pick(place, float(current[place])))
        open_places[place] = False
        nearest = np.maximum(nearest, vectors @ vectors[place])
    return picks


_DEPTH = 100
"""How far down each ranking is read before fusion, at least."""
_TINY = 1e-9
_MOST = 10**9
"""Passages that can be asked for: more than any index holds."""


class Hit(NamedTuple):
    """A passage found. score: its cosine to the query, always. value: what it was picked by: its MMR value, without MMR the cosine.

    collection: the name of the index it is from, where several are searched as one, and value is the sum of its reciprocal ranks.
    """

    document: Document
    score: float
    value: float
    collection: str = ""


View = Literal["auto", "flat"]
"""How an index is looked at: by its own kind's way, or as the plain passages that every kind has."""
Scores = Mapping[int, float]
"""What was found for a query: positions, the best first, each with what it is worth, from 0 to 1."""
Reranker = Callable[[str, Matrix, Scores], list[int]]
"""Puts what was found for a query, given as text and vector, into another order; it may bring in more."""
AnyReranker = Callable[[str, Matrix, dict[Any, float]], list[Any]]


class SearchOptions(NamedTuple):
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

    def checked(self) -> "SearchOptions":
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


K = TypeVar("K", int, str)
"""What names a passage among those searched; ties go to the lesser."""


class Searched(Protocol[K]):
    """Passages that can be searched: their two rankings, and what is known of each."""

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> Sequence[Sequence[K]]:
        """Return the n nearest passages of each vector, nearest first, among those that pass the filter."""

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> Sequence[Mapping[K, float]]:
        """Return the n best passages of each query by BM25, greater is better, among those that pass the filter."""

    def vectors(self, keys: Sequence[K]) -> Matrix:
        """Return unit vectors, shape (keys, dimension)."""

    def sections(self, keys: Sequence[K]) -> Iterable[tuple[str, str]]:
        """Return the document of each passage and the headings above it, "" where there are none."""

    def passages(self, keys: Sequence[K]) -> Iterable[Document | None]:
        """Return the passages; None for one that is there no more."""


def find(
    held: Searched[K], queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: AnyReranker | None = None
) -> list[list[Hit]]:
    """Search for all queries at once; vectors: theirs, shape (queries, dimension); `reranker` has a say in the order."""
    search = search.checked()
    wanted = search.fetch_k or search.k
    depth = max(_DEPTH, wanted) if search.hybrid or reranker else wanted
    blank: Sequence[Any] = [()] * len(queries)
    near = held.nearest(vectors, depth, search.filter) if search.dense else blank
    worded = held.by_words(queries, depth, search.filter) if search.hybrid else blank
    hits = []
    for query, vector, nearest, words in zip(queries, vectors, near, worded, strict=True):
        found = _fused(held, vector, nearest, words, search)
        order = list(found) if reranker is None else reranker(query, vector, found)
        if search.per_section is not None:
            order = _spread(held, query, order, search.per_section)
        hits.append(_hits(held, vector, order[:wanted], search))
    return hits


def _fused(held: Searched[K], vector: Matrix, nearest: Sequence[K], words: Mapping[K, float], search: SearchOptions) -> dict[K, float]:
    """Return what either ranking found, the best first, with what it is worth."""
    if not search.hybrid:
        return _as_shares(nearest, (held.vectors(nearest) @ vector).tolist() if len(nearest) else [])
    if not search.dense:
        ordered = sorted(sorted(words), key=lambda key: -words[key])
        return _as_shares(ordered, [words[key] for key in ordered])
    candidates = sorted(set(nearest) | set(words))
    if not candidates:
        return {}
    bm25 = np.array([words.get(key, 0.0) for key in candidates])
    return {candidates[place]: value for place, value in fuse(held.vectors(candidates) @ vector, bm25)}


def _as_shares(keys: Sequence[K], scores: list[float]) -> dict[K, float]:
    """Return each passage with its score as a share of the best, at least 0; their order stays."""
    best = max(max(scores, default=0.0), _TINY)
    return {key: max(score, 0.0) / best for key, score in zip(keys, scores, strict=True)}


def _spread(held: Searched[K], query: str, order: Sequence[K], limit: int) -> list[K]:
    """Put passages beyond the first few of a section after those of others; one whose heading the question names is no limit."""
    sections = [document if heading and not names(query, heading) else None for document, heading in held.sections(order)]
    return [order[place] for place in spread(sections, limit)]


def _hits(held: Searched[K], vector: Matrix, candidates: Sequence[K], search: SearchOptions) -> list[Hit]:
    if not candidates:
        return []
    vectors = held.vectors(candidates)
    cosines = vectors @ vector
    if search.mmr is None:
        picks = [Pick(place, float(cosines[place])) for place in range(min(search.k, len(candidates)))]
    else:
        picks = mmr(cosines, vectors, search.k, search.mmr)
    passages = held.passages([candidates[place] for place, _ in picks])
    return [Hit(passage, float(cosines[pick.place]), pick.value) for passage, pick in zip(passages, picks, strict=True) if passage]
