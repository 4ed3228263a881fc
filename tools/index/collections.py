"""Several indexes searched as one: their names, which of them a question goes to, and how what they find is put into one order."""

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
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import Index
from ramify.tools.index.index_store import is_address
from ramify.tools.quoting import collapse_whitespace

Member = Index | VectorStore | BaseRetriever | str | Path
"""What is searched: an index, its place, or a LangChain vector store or retriever."""

MARGIN = 0.1
"""A collection is searched where it fits a question by at most this less than the one that fits best."""
_ENCODER = "minilm"
"""Compares questions with descriptions, whatever the collections are embedded with: figures of different encoders cannot be compared."""
_TITLES, _BEST = 64, 8
"""Titles of a collection that are looked at, and how many of them, the nearest to a question, count."""
_PROPOSED, _TITLE = 12, 100
"""Titles that stand for a description where none is given, and characters of a title."""
_RANK = 60
"""What reciprocal ranks are damped by (Cormack, Clarke and Büttcher 2009)."""


@dataclass(frozen=True)
class Collections:
    """Several indexes, stores or retrievers with the names that their passages bear, in the order they were given."""

    names: tuple[str, ...]
    members: tuple[Member, ...]

    @classmethod
    def of(cls, given: Sequence[Member]) -> "Collections":
        """Name what was given; UsageError where something is given twice."""
        places = [_place(one) for one in given]
        for number, place in enumerate(places):
            if place in places[:number]:
                raise UsageError(f"the index {'/'.join(place[:-1])!r} is given twice", "give it once")
        return cls(tuple(_names(places)), tuple(given))


def _place(one: Member) -> tuple[str, ...]:
    """Return the parts of a folder's path or an address, else a class and the object's number; the number is empty for a place."""
    if isinstance(one, Index) and not one.temporary:
        one = one.where
    if isinstance(one, str) and is_address(one):
        return *filter(None, re.split("[/:]+", one)), ""
    if isinstance(one, (str, Path)):
        return *(("demo",) if one == "demo" else Path(one).absolute().parts), ""
    return type(one).__name__, str(id(one))


def _names(places: Sequence[tuple[str, ...]]) -> list[str]:
    """Name places by their last part, those that share it by as many as tell them apart, and objects of a class by numbers."""
    parts = [place[:-1] for place in places]
    names = [own[-1] for own in parts]
    for depth in range(2, max(map(len, parts)) + 1):
        names = ["/".join(own[-depth:]) if names.count(name) > 1 else name for own, name in zip(parts, names, strict=True)]
    return [name if names.count(name) == 1 else f"{name} {1 + names[:at].count(name)}" for at, name in enumerate(names)]


@dataclass(frozen=True)
class Profile:
    """What a collection is about, as vectors of the encoder that all are compared by."""

    description: Matrix
    titles: Matrix

    def fits(self, queries: Matrix) -> Matrix:
        """Return how well questions fit: the mean of the cosine to the description and that to the nearest titles."""
        nearest = np.sort(queries @ self.titles.T, axis=1)[:, -_BEST:].mean(axis=1)
        found: Matrix = (queries @ self.description + nearest) / 2
        return found


_PROFILES: "WeakKeyDictionary[Index, Profile]" = WeakKeyDictionary()


def titles_of(index: Index) -> list[str]:
    """List titles of an index, of passages taken evenly from all; where one has none its heading or first words stand for it."""
    ids = index.ids()
    sampled = index.get_by_ids(ids[:: max(1, len(ids) // _TITLES)][:_TITLES])
    return [*dict.fromkeys(filter(None, map(_title, sampled)))]


def _title(document: Document) -> str:
    told = document.metadata.get("title") or document.metadata.get("heading") or document.page_content
    return collapse_whitespace(str(told))[:_TITLE]


def description_of(index: Index, titles: Sequence[str]) -> str:
    """Return the description that an index was given, else one proposed from titles."""
    return index.manifest.description or "; ".join(titles[:_PROPOSED])


def load_profiles(several: Collections) -> float:
    """Work out what each index is about; return the seconds it took, 0 where all was known; blocking."""
    began = time.perf_counter()
    there = all(one in _PROFILES for one in several.members if isinstance(one, Index))
    _profiles(several)
    return 0.0 if there else time.perf_counter() - began


def _profiles(several: Collections) -> list[Profile | None]:
    return [_profile(name, one) if isinstance(one, Index) else None for name, one in zip(several.names, several.members, strict=True)]


def _profile(name: str, index: Index) -> Profile | None:
    """Return what an index is about, worked out once for each object; None where it is empty."""
    if index not in _PROFILES:
        titles = titles_of(index)
        if not titles:
            return None
        told = f"{name}: {description_of(index, titles)}"
        described, *titled = load_encoder(_ENCODER).encode_documents([told, *titles])
        _PROFILES[index] = Profile(described, np.stack(titled))
    return _PROFILES[index]


def choose(several: Collections, queries: Sequence[str]) -> list[list[int]]:
    """Return for each question the collections to search, by place, the one that fits best first; blocking.

    These are all within MARGIN of the best fit, so all where none stands out. A store or retriever of another make does not list what it
    holds, and is always searched.
    """
    profiles = _profiles(several)
    known = [place for place, one in enumerate(profiles) if one is not None]
    if not known or not queries:
        return [[*range(len(profiles))] for _ in queries]
    vectors = load_encoder(_ENCODER).encode_queries(queries)
    fits = np.stack([one.fits(vectors) for one in profiles if one is not None], axis=1)
    others = [place for place, one in enumerate(several.members) if not isinstance(one, Index)]
    return [[*(known[at] for at in np.argsort(-row, kind="stable") if row[at] >= row.max() - MARGIN), *others] for row in fits]


def fuse_ranks(found: Mapping[str, Sequence[Hit]], k: int) -> list[Hit]:
    """Return the k best hits of several collections by the sum of 1 / (60 + rank); a text that several hold is one hit.

    found: by the collection's name, the one that fits best first, which ties go to. A hit keeps its score, its value is the sum, and its
    passage's id begins with the collection's name.
    """
    same: dict[str, list[Hit]] = {}
    values: dict[str, float] = {}
    labelled = [[_labelled(name, hit) for hit in hits] for name, hits in found.items()]
    for rank, hits in enumerate(zip_longest(*labelled), start=1):
        for hit in filter(None, hits):
            text = collapse_whitespace(hit.document.page_content)
            same.setdefault(text, []).append(hit)
            values[text] = values.get(text, 0.0) + 1 / (_RANK + rank)
    best = sorted(values, key=lambda text: -values[text])[:k]
    return [_one_of(same[text])._replace(value=values[text]) for text in best]


def _labelled(name: str, hit: Hit) -> Hit:
    document = hit.document.model_copy(update={"id": f"{name}:{hit.document.id}"})
    return hit._replace(document=document, collection=name)


def _one_of(hits: Sequence[Hit]) -> Hit:
    """Return one of several hits with the same text, always the same one of them; its passage says where else the text lies."""
    first, *others = sorted(hits, key=lambda hit: str(hit.document.id))
    if not others:
        return first
    held = first.document.metadata
    also = [{**other.document.metadata, "source": _source(other), "collection": other.collection} for other in others]
    listed = held.get("also")
    metadata = {**held, "also": [*(listed if isinstance(listed, list) else []), *also]}
    return first._replace(document=first.document.model_copy(update={"metadata": metadata}))


def _source(hit: Hit) -> str:
    return str(hit.document.metadata.get("source", hit.document.id))
