"""Hybrid search for an index in a folder or a store: vector and word rankings are fused, limited per section, and selected."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.identifiers import Identifier, find_identifiers, names_identifier
from ramify.tools.index.full_text import mentions_heading
from ramify.tools.index.passage_store import Filter, filter_choices
from ramify.tools.passage import Passage


class Pick(NamedTuple):
    """A selected candidate: its index among the candidates, and the value it was selected by."""

    place: int
    value: float


def fuse_scores(cosines: Matrix, bm25: NDArray[np.float64]) -> list[Pick]:
    """Return candidates by the mean of cosine and BM25, each divided by its maximum; values are from 0 to 1.

    cosines, bm25: shape (candidates,); BM25 is 0 for candidates not found by words. Ties go to the higher BM25, then to the earlier
    candidate. A convex combination of scores has better recall than reciprocal ranks (Bruch, Gai and Ingber 2023, arXiv 2210.11934).
    """
    dense, words = (np.maximum(scores, 0) / max(float(np.max(scores, initial=0.0)), _EPSILON) for scores in (cosines, bm25))
    return [Pick(int(place), float(dense[place] + words[place]) / 2) for place in np.lexsort((-words, -(dense + words)))]


def limit_per_section(sections: Sequence[Hashable | None], limit: int) -> list[int]:
    """Return the indices in order, but those beyond the first `limit` of a section last; None counts as no section."""
    met: Counter[Hashable] = Counter()
    beyond: list[int] = []
    first: list[int] = []
    for place, section in enumerate(sections):
        met[section] += 1
        (beyond if section is not None and met[section] > limit else first).append(place)
    return first + beyond


def select_mmr(relevance: Matrix, vectors: Matrix, k: int, weight: float) -> list[Pick]:
    """Select k candidates by maximal marginal relevance (Carbonell and Goldstein 1998).

    Each maximizes weight * relevance - (1 - weight) * largest cosine to a selected one. relevance: cosine to the query, or the value of
    a fused search, shape (candidates,); vectors: unit rows, shape (candidates, dimension); weight: from 0 to 1. Ties go to the earlier
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


_MIN_RANKING_DEPTH = 100
"""Minimum length of each ranking before fusion."""
_EPSILON = 1e-9
MAX_K = 10**9
"""Maximum of k and fetch_k, larger than any index."""


View = Literal["auto", "flat"]
"""How an index is searched: "auto" as its kind, "flat" as plain passages."""
Scores = Mapping[int, float]
"""The results for a query: positions with values from 0 to 1, the best first."""
Reranker = Callable[[str, Matrix, Scores], list[int]]
"""Returns the reordered positions for a query's text, vector and results; may add positions."""
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

    def validated(self) -> "SearchOptions":
        """Return the options with `fetch_k` filled in; UsageError if a value is out of range."""
        if self.k < 1 or (self.fetch_k is not None and self.fetch_k < 1):
            raise UsageError(f"cannot search for k={self.k!r}, fetch_k={self.fetch_k!r} passages", "give numbers of at least 1")
        if max(self.k, self.fetch_k or 0) > MAX_K:
            raise UsageError(f"cannot search for k={self.k!r}, fetch_k={self.fetch_k!r} passages", f"give numbers of at most {MAX_K:,}")
        for name, wanted in (self.filter or {}).items():
            filter_choices(name, wanted)
        if self.mmr is not None and not 0 <= self.mmr <= 1:
            raise UsageError(f"mmr={self.mmr!r} is not a weight from 0 to 1", "give a number from 0 to 1, or None to rank without MMR")
        if self.per_section is not None and self.per_section < 1:
            raise UsageError(f"cannot take per_section={self.per_section!r} passages of a section", "give at least 1, or None for no limit")
        if self.view not in get_args(View):
            raise UsageError(f"there is no view {self.view!r}", f"choose one of {', '.join(get_args(View))}")
        if not (self.hybrid or self.dense):
            raise UsageError("cannot search without vectors and without words", "enable hybrid or dense")
        return self._replace(fetch_k=max(self.k, self.fetch_k or 4 * self.k))


K = TypeVar("K", int, str)
"""The key of a passage; ties go to the smaller key."""


class SearchSource(Protocol[K]):
    """A source of passages for hybrid search: two rankings, and access by key."""

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> Sequence[Sequence[K]]:
        """Return at most n passages for each vector, nearest first, among those that match the filter."""

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> Sequence[Mapping[K, float]]:
        """Return at most n passages for each query with their BM25 (higher is better), among those that match the filter."""

    def vectors(self, keys: Sequence[K]) -> Matrix:
        """Return unit vectors, shape (keys, dimension)."""

    def sections(self, keys: Sequence[K]) -> Iterable[tuple[str, str]]:
        """Return the document id and the headings of each passage, "" if there are none."""

    def passages(self, keys: Sequence[K]) -> Iterable[Document | None]:
        """Return the passages; None for one that was deleted."""


def search_source(
    source: SearchSource[K], queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: AnyReranker | None = None
) -> list[list[Passage]]:
    """Return the passages for each query; vectors: of the queries, shape (queries, dimension); reranker: reorders the results."""
    search = search.validated()
    wanted = search.fetch_k or search.k
    depth = max(_MIN_RANKING_DEPTH, wanted) if search.hybrid or reranker else wanted
    none_found: Sequence[Any] = [()] * len(queries)
    nearest_of = source.nearest(vectors, depth, search.filter) if search.dense else none_found
    by_words = source.by_words(queries, depth, search.filter) if search.hybrid else none_found
    hits = []
    for query, vector, nearest, words in zip(queries, vectors, nearest_of, by_words, strict=True):
        fused = _fuse_rankings(source, vector, nearest, words, search)
        order = list(fused) if reranker is None else reranker(query, vector, fused)
        if search.per_section is not None:
            order = _limit_sections(source, query, order, search.per_section)
        identifiers = find_identifiers(query)  # only the first half is found by them
        first = _naming(source, identifiers, order)[: (search.k + 1) // 2] if identifiers else []
        rest = [key for key in order[:wanted] if key not in first]
        # In the final order, whoever made it: a reranker, limits and identifiers change the order, not the values.
        relevance = sorted(fused.values(), reverse=True) if search.hybrid or reranker else []
        named = _hits(source, vector, first, relevance, search)
        others = search._replace(k=search.k - len(named))
        hits.append(named + (_hits(source, vector, rest, relevance[len(first) :], others) if others.k else []))
    return hits


def _naming(source: SearchSource[K], identifiers: Sequence[Identifier], order: Sequence[K]) -> list[K]:
    """Return the passages that name most of a question's identifiers, those under a heading that does first."""
    counts: dict[K, tuple[int, int]] = {}
    for key, passage in zip(order, source.passages(order), strict=True):
        if passage is not None:
            above = "\n".join(str(passage.metadata.get(field, "")) for field in ("source", "title", "heading"))
            named = [
                names_identifier(above, identifier) or names_identifier(passage.page_content, identifier) for identifier in identifiers
            ]
            counts[key] = sum(named), sum(names_identifier(above, identifier) for identifier in identifiers)
    most = max((count for count, _ in counts.values()), default=0)
    return sorted((key for key, (count, _) in counts.items() if count == most > 0), key=lambda key: -counts[key][1])


def _fuse_rankings(
    source: SearchSource[K], vector: Matrix, nearest: Sequence[K], words: Mapping[K, float], search: SearchOptions
) -> dict[K, float]:
    """Return the results of either ranking with values from 0 to 1, the best first."""
    if not search.hybrid:
        return _as_shares(nearest, (source.vectors(nearest) @ vector).tolist() if len(nearest) else [])
    if not search.dense:
        ordered = sorted(sorted(words), key=lambda key: -words[key])
        return _as_shares(ordered, [words[key] for key in ordered])
    candidates = sorted(set(nearest) | set(words))
    if not candidates:
        return {}
    bm25 = np.array([words.get(key, 0.0) for key in candidates])
    return {candidates[place]: value for place, value in fuse_scores(source.vectors(candidates) @ vector, bm25)}


def _as_shares(keys: Sequence[K], scores: list[float]) -> dict[K, float]:
    """Return scores divided by the best score, at least 0, in the same order."""
    best = max(max(scores, default=0.0), _EPSILON)
    return {key: max(score, 0.0) / best for key, score in zip(keys, scores, strict=True)}


def _limit_sections(source: SearchSource[K], query: str, order: Sequence[K], limit: int) -> list[K]:
    """Return passages beyond the limit of their section last; a section whose heading the question contains has no limit."""
    sections = [document if heading and not mentions_heading(query, heading) else None for document, heading in source.sections(order)]
    return [order[place] for place in limit_per_section(sections, limit)]


def _hits(
    source: SearchSource[K], vector: Matrix, candidates: Sequence[K], relevance: Sequence[float], search: SearchOptions
) -> list[Passage]:
    """Return the best k candidates, selected by MMR if it is on.

    relevance: values of the candidates in their order, which MMR reads in place of cosines, so that it keeps what fusion ranked high;
    candidates beyond it have the last value. If empty, MMR reads cosines.
    """
    if not candidates:
        return []
    vectors = source.vectors(candidates)
    cosines = vectors @ vector
    if search.mmr is None:
        picks = [Pick(place, float(cosines[place])) for place in range(min(search.k, len(candidates)))]
    elif relevance:
        padded = [*relevance, *[relevance[-1]] * len(candidates)][: len(candidates)]
        picks = select_mmr(np.array(padded, dtype=np.float32), vectors, search.k, search.mmr)
    else:
        picks = select_mmr(cosines, vectors, search.k, search.mmr)
    documents = source.passages([candidates[place] for place, _ in picks])
    return [
        Passage.from_document(document, float(cosines[place]), value)
        for document, (place, value) in zip(documents, picks, strict=True)
        if document is not None
    ]
