"""Several indexes searched as one: their names, selecting indexes for a question, and fusing their results."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index.index import Index
from ramify.tools.index.index_store import is_store_address
from ramify.tools.passage import Passage
from ramify.tools.quoting import collapse_whitespace

Member = Index | VectorStore | BaseRetriever | str | Path
"""A searchable member: an index, its location, or a LangChain vector store or retriever."""

FIT_MARGIN = 0.1
"""A collection is searched if its fit is at most this much below the best fit (cosines)."""
_ENCODER = "minilm"
"""The encoder for comparing questions with descriptions; the same for all, as cosines of different encoders are not comparable."""
_SAMPLED_TITLES, _NEAREST_TITLES = 64, 8
"""Titles sampled from a collection, and the number of nearest ones averaged."""
_DESCRIPTION_TITLES, _MAX_TITLE_CHARS = 12, 100
"""Number of titles used as a description if none is given, and maximum characters of a title."""
_RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


@dataclass(frozen=True)
class CollectionSet:
    """Several indexes, stores or retrievers with unique names, in the order given."""

    names: tuple[str, ...]
    members: tuple[Member, ...]

    @classmethod
    def from_members(cls, given: Sequence[Member]) -> "CollectionSet":
        """Return the set with unique names; UsageError if a member is given twice."""
        places = [_location_parts(member) for member in given]
        for number, place in enumerate(places):
            if place in places[:number]:
                raise UsageError(f"the index {'/'.join(place[:-1])!r} is given twice", "give it once")
        return cls(tuple(_unique_names(places)), tuple(given))


def _location_parts(member: Member) -> tuple[str, ...]:
    """Return the parts of a path or address followed by "", else the class name and the object's id."""
    if isinstance(member, Index) and not member.temporary:
        member = member.where
    if isinstance(member, str) and is_store_address(member):
        return *filter(None, re.split("[/:]+", member)), ""
    if isinstance(member, (str, Path)):
        return *(("demo",) if member == "demo" else Path(member).absolute().parts), ""
    return type(member).__name__, str(id(member))


def _unique_names(places: Sequence[tuple[str, ...]]) -> list[str]:
    """Return names: the last part of a location, more parts if ambiguous, and numbers for objects of a class."""
    parts = [place[:-1] for place in places]
    names = [own[-1] for own in parts]
    for depth in range(2, max(map(len, parts)) + 1):
        names = ["/".join(own[-depth:]) if names.count(name) > 1 else name for own, name in zip(parts, names, strict=True)]
    return [name if names.count(name) == 1 else f"{name} {1 + names[:at].count(name)}" for at, name in enumerate(names)]


@dataclass(frozen=True)
class CollectionTopic:
    """The topic of a collection as unit vectors: description, shape (dimension,), and titles, shape (titles, dimension)."""

    description: Matrix
    titles: Matrix

    def fits(self, queries: Matrix) -> Matrix:
        """Return the fit of queries, shape (queries,): mean of the cosine to the description and the mean cosine to the nearest titles."""
        nearest = np.sort(queries @ self.titles.T, axis=1)[:, -_NEAREST_TITLES:].mean(axis=1)
        scores: Matrix = (queries @ self.description + nearest) / 2
        return scores


_TOPICS: "WeakKeyDictionary[Index, CollectionTopic]" = WeakKeyDictionary()


def sample_titles(index: Index) -> list[str]:
    """Return titles of evenly sampled passages; their heading or first words if they have none."""
    ids = index.ids()
    sampled = index.get_by_ids(ids[:: max(1, len(ids) // _SAMPLED_TITLES)][:_SAMPLED_TITLES])
    return [*dict.fromkeys(filter(None, map(_title, sampled)))]


def _title(document: Document) -> str:
    title = document.metadata.get("title") or document.metadata.get("heading") or document.page_content
    return collapse_whitespace(str(title))[:_MAX_TITLE_CHARS]


def description_or_titles(index: Index, titles: Sequence[str]) -> str:
    """Return the description of an index, else one made of titles."""
    return index.manifest.description or "; ".join(titles[:_DESCRIPTION_TITLES])


def load_topics(several: CollectionSet) -> float:
    """Compute the topics of all indexes; return the seconds taken, 0 if all were cached; blocking."""
    began = time.perf_counter()
    cached = all(member in _TOPICS for member in several.members if isinstance(member, Index))
    _topics(several)
    return 0.0 if cached else time.perf_counter() - began


def _topics(several: CollectionSet) -> list[CollectionTopic | None]:
    return [
        _topic(name, member) if isinstance(member, Index) else None for name, member in zip(several.names, several.members, strict=True)
    ]


def _topic(name: str, index: Index) -> CollectionTopic | None:
    """Return the cached topic of an index; None if the index is empty."""
    if index not in _TOPICS:
        titles = sample_titles(index)
        if not titles:
            return None
        description = f"{name}: {description_or_titles(index, titles)}"
        described, *titled = load_encoder(_ENCODER).encode_documents([description, *titles])
        _TOPICS[index] = CollectionTopic(described, np.stack(titled))
    return _TOPICS[index]


def select_collections(several: CollectionSet, queries: Sequence[str]) -> list[list[int]]:
    """Return for each question the indices of the collections to search, the best fit first; blocking.

    Selected are all within `FIT_MARGIN` of the best fit. Other stores and retrievers cannot list their content, and are always searched.
    """
    topics = _topics(several)
    known = [place for place, topic in enumerate(topics) if topic is not None]
    if not known or not queries:
        return [[*range(len(topics))] for _ in queries]
    vectors = load_encoder(_ENCODER).encode_queries(queries)
    fits = np.stack([topic.fits(vectors) for topic in topics if topic is not None], axis=1)
    others = [place for place, member in enumerate(several.members) if not isinstance(member, Index)]
    return [[*(known[at] for at in np.argsort(-row, kind="stable") if row[at] >= row.max() - FIT_MARGIN), *others] for row in fits]


def fuse_ranks(rankings: Mapping[str, Sequence[Passage]], k: int) -> list[Passage]:
    """Return the k best passages of several collections by the sum of 1 / (60 + rank); equal texts are merged.

    found: passages by the collection's name, the best fit first, which wins ties. A passage keeps its score, its value is the sum, and its
    id is prefixed with the collection's name.
    """
    same: dict[str, list[Passage]] = {}
    values: dict[str, float] = {}
    labelled = [[_label_passage(passage, name) for passage in passages] for name, passages in rankings.items()]
    for rank, passages in enumerate(zip_longest(*labelled), start=1):
        for passage in filter(None, passages):
            text = collapse_whitespace(passage.text)
            same.setdefault(text, []).append(passage)
            values[text] = values.get(text, 0.0) + 1 / (_RRF_K + rank)
    best = sorted(values, key=lambda text: -values[text])[:k]
    return [_merge_duplicates(same[text]).model_copy(update={"value": values[text]}) for text in best]


def _label_passage(passage: Passage, name: str) -> Passage:
    """Return a passage with the name of its collection in its id; also in its source, if that is only the id, not that of a file."""
    labelled = f"{name}:{passage.id}"
    own = passage.source != passage.id or "path" in passage.metadata
    return passage.model_copy(update={"id": labelled, "source": passage.source if own else labelled, "collection": name})


def _merge_duplicates(passages: Sequence[Passage]) -> Passage:
    """Return the passage with the smallest id; the locations of the others are added to its metadata as `also`."""
    first, *others = sorted(passages, key=lambda passage: passage.id)
    if not others:
        return first
    also = [{"source": other.source, **other.metadata, "collection": other.collection} for other in others]
    listed = first.metadata.get("also")
    metadata = {**first.metadata, "also": [*(listed if isinstance(listed, list) else []), *also]}
    return first.model_copy(update={"metadata": metadata})
