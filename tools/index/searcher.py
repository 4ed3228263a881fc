"""One asynchronous search over an index, its location, the demo, or a LangChain vector store or retriever."""

import asyncio
import hashlib
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import IndexStore
from ramify.tools.index.collections import Collections, Member, choose, fuse_ranks, load_profiles
from ramify.tools.index.hybrid_search import Hit, Pick, SearchOptions, View
from ramify.tools.index.hybrid_search import mmr as pick_diverse
from ramify.tools.index.index_store import FolderStore, check_exists, is_address, store_at
from ramify.tools.index.manifest import MANIFEST
from ramify.tools.index.passage_store import Filter, identified
from ramify.tools.new_files import cache_folder
from ramify.tools.quoting import pluralize, truncate_line
from ramify.tools.user_input import expand_path

_SCORE_FIELDS = ("relevance_score", "score")


def _check_options(search: SearchOptions) -> SearchOptions:
    """Refuse what only an index of our own has a meaning for; a view means nothing here."""
    if search.options:
        raise UsageError(f"search.{next(iter(search.options))} means nothing to a store or retriever of another make", "leave it out")
    return search.checked()


async def _search_store(store: VectorStore, queries: Sequence[str], search: SearchOptions) -> list[list[Hit]]:
    """Search a vector store: it finds the candidates; cosines and MMR are computed here, with its own embeddings.

    A store without `embeddings` must give relevance scores; these then stand for the cosine, and there is no MMR. `hybrid` means nothing
    here, `filter` is passed on as it is.
    """
    search = _check_options(search)
    passed_on = {"filter": search.filter} if search.filter else {}
    if store.embeddings is None:
        return list(await asyncio.gather(*(_relevant(store, query, search.k, passed_on) for query in queries)))
    wanted = (search.fetch_k if search.mmr is not None else None) or search.k
    found = await asyncio.gather(*(store.asimilarity_search(query, k=wanted, **passed_on) for query in queries))
    return await asyncio.to_thread(_ranked, load_encoder(store.embeddings), queries, found, search)


async def _relevant(store: VectorStore, query: str, k: int, passed_on: Mapping[str, Any]) -> list[Hit]:
    try:
        found = await store.asimilarity_search_with_relevance_scores(query, k=k, **passed_on)
    except NotImplementedError as error:
        what = f"the store {type(store).__name__!r} has neither embeddings nor relevance scores"
        raise UsageError(what, "hand over its as_retriever()") from error
    return [Hit(identified(document), float(score), float(score)) for document, score in found]


def _ranked(encoder: Encoder, queries: Sequence[str], found: Sequence[Sequence[Document]], search: SearchOptions) -> list[list[Hit]]:
    """Encode the candidates, as the store does not hand its vectors out, and pick the best for each query."""
    texts = list(dict.fromkeys(document.page_content for documents in found for document in documents))
    encoded = dict(zip(texts, encoder.encode_documents(texts), strict=True))
    return [_picked(query, documents, encoded, search) for query, documents in zip(encoder.encode_queries(queries), found, strict=True)]


def _picked(query: Matrix, documents: Sequence[Document], encoded: Mapping[str, Matrix], search: SearchOptions) -> list[Hit]:
    if not documents:
        return []
    vectors = np.stack([encoded[document.page_content] for document in documents])
    cosines = vectors @ query
    places = [Pick(place, float(cosine)) for place, cosine in enumerate(cosines)]
    picks = places[: search.k] if search.mmr is None else pick_diverse(cosines, vectors, search.k, search.mmr)
    return [Hit(identified(documents[pick.place]), float(cosines[pick.place]), pick.value) for pick in picks]


async def _ask_retriever(retriever: BaseRetriever, queries: Sequence[str], search: SearchOptions) -> list[list[Hit]]:
    """Return the first k passages of a retriever for each query, in its order.

    A score it leaves in the metadata counts, otherwise 1 / rank stands for it.
    """
    search = _check_options(search)
    if search.filter:
        what = f"the retriever {type(retriever).__name__!r} cannot filter"
        raise UsageError(what, "give an index, or a retriever that filters by itself")
    found = await asyncio.gather(*(retriever.ainvoke(query) for query in queries))
    return [[_scored(document, rank) for rank, document in enumerate(documents[: search.k], start=1)] for documents in found]


def _scored(document: Document, rank: int) -> Hit:
    scores = (document.metadata.get(field) for field in _SCORE_FIELDS)
    score = next((float(score) for score in scores if isinstance(score, (int, float))), 1 / rank)
    return Hit(identified(document), score, score)


DEMO = "demo"
Searchable = Member | Sequence[Member] | Collections
"""What can be searched; several at once as a list or tuple."""
_REASONS = {"twin": "repeated"}
"""Why a passage is not searched, where the reason is no word for a reader."""

LACKING = "no passage has the filter's"
"""How a notice begins that names fields of a filter which are not there."""
_FIELDS, _FIELD = 20, 60
"""Fields that it names, and characters of each."""

_opened: dict[str, tuple[bytes, Index]] = {}
_demos: dict[Path, FolderStore] = {}
"""By cache folder: the index of the demo there, once it was compared with its checksums."""
_opening = threading.Lock()
_background = ThreadPoolExecutor(1, thread_name_prefix="ramify-loading")


def check_index(index: Searchable) -> None:
    """Raise IndexingError where the place of an index holds none, or one of another layout, before a run starts."""
    several = collections_of(index)
    for one in several.members if several else [index]:
        if isinstance(one, (str, Path)) and one != DEMO:
            check_exists(one)


async def find_passages(
    index: Searchable, queries: Sequence[str], *, k: int = 5, fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True,
    filter: Filter | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
) -> list[list[Hit]]:  # fmt: skip
    """Return the best passages for each query, all searched at once; what the arguments mean is said at `Index.search`.

    | index           | searched by                                                                                                     |
    |-----------------|-----------------------------------------------------------------------------------------------------------------|
    | `Index`         | itself, in a thread of its own                                                                                  |
    | a folder        | the `Index` in it, opened at the first search and again when the index there is another                         |
    | an address      | the same, of the index in a store, such as milvus:URI/collection                                                |
    | "demo"          | the demo corpus, indexed at the first search                                                                    |
    | `VectorStore`   | its own similarity search, `filter` passed on; cosines and MMR are computed here where it has `embeddings`      |
    | `BaseRetriever` | itself; it can neither filter nor score, so passages keep its order, and a score it left in the metadata counts |
    | several of them | each by the questions that fit it (`choose`); what they find is fused by rank (`fuse_ranks`)                    |
    """
    how = SearchOptions(k, fetch_k, mmr, hybrid, filter, view=view, options=options)
    several = collections_of(index)
    return await (_search_one(index, queries, how) if several is None else _search_collections(several, queries, how))


async def _search_one(index: Any, queries: Sequence[str], search: SearchOptions) -> list[list[Hit]]:
    """Search a single index, store or retriever."""
    if isinstance(index, (str, Path)):
        index = await asyncio.to_thread(opened, index)
    if isinstance(index, Index):  # first, because an Index is a VectorStore, too
        return await asyncio.to_thread(index.search, queries, **search._asdict())
    if isinstance(index, VectorStore):
        return await _search_store(index, queries, search)
    if isinstance(index, BaseRetriever):
        return await _ask_retriever(index, queries, search)
    raise UsageError(f"cannot search in {type(index).__name__!r}", "give an index, its place, or a LangChain vector store or retriever")


def collections_of(index: Searchable) -> Collections | None:
    """Return several indexes with their names, None for a single one; UsageError where one is given twice."""
    if isinstance(index, Collections):
        return index
    return Collections.of(index) if isinstance(index, (list, tuple)) else None


async def _search_collections(several: Collections, queries: Sequence[str], search: SearchOptions) -> list[list[Hit]]:
    """Search each collection for the queries that fit it, all at once, and fuse what a query finds in several."""
    several = await asyncio.to_thread(_opened_all, several)
    chosen = await asyncio.to_thread(choose, several, queries)

    async def find(place: int) -> dict[int, list[Hit]]:
        asked = [number for number, places in enumerate(chosen) if place in places]
        hits = await _search_one(several.members[place], [queries[number] for number in asked], search) if asked else []
        return dict(zip(asked, hits, strict=True))

    found = await asyncio.gather(*map(find, range(len(several.members))))
    return [fuse_ranks({several.names[place]: found[place][number] for place in places}, search.k) for number, places in enumerate(chosen)]


def _opened_all(several: Collections) -> Collections:
    """Open the indexes, also those that no question will go to: one that cannot be opened is an error whatever is asked."""
    return replace(several, members=tuple(opened(one) if isinstance(one, (str, Path)) else one for one in several.members))


def opened(index: str | Path) -> Index:
    """Return the index of a folder or an address (or "demo"), the same object as long as the index there is the same."""
    with _opening:  # whoever comes second waits, instead of opening it too
        store = _store(index)
        known = _opened.get(store.where)
        found = store.fingerprint()
        if known is None or known[0] != found:
            known = _opened[store.where] = (found, _open(store))
        return known[1]


def _open(store: IndexStore) -> Index:
    """Open an index by its kind."""
    manifest = store.manifest()
    if manifest is None or manifest.kind == "passages":
        return Index.open(store)
    if manifest.kind == "hierarchy":
        from ramify.tools.hierarchy.index import HierarchyIndex

        return HierarchyIndex.open(store)
    from ramify.tools.knowledge.index import GraphIndex  # these are kinds of index: known here by name alone

    return GraphIndex.open(store)


def warm(index: Searchable) -> tuple[Searchable, float]:
    """Open an index and load what the first search would wait for; give the seconds that took, 0 where all was there; blocking.

    A store or retriever of another make is left alone.
    """
    if several := collections_of(index):
        members, waits = zip(*map(warm, several.members), strict=True)
        several = replace(several, members=members)
        return several, sum(waits) + load_profiles(several)
    if not isinstance(index, (Index, str, Path)):
        return index, 0.0
    began = time.perf_counter()
    before = [known for _, known in list(_opened.values())]
    found = index if isinstance(index, Index) else opened(index)
    if found.embeddings.loaded and any(found is known for known in (index, *before)):
        return found, 0.0
    found.embeddings.load()
    return found, time.perf_counter() - began


def warm_soon(index: Searchable) -> None:
    """Begin to load, in the background, what the first search would wait for; what goes wrong there goes wrong at the search, too."""
    _background.submit(warm, index)


def _store(index: str | Path) -> IndexStore:
    if index == DEMO:
        cache = cache_folder()
        if cache not in _demos or not (_demos[cache].path / MANIFEST).is_file():
            from ramify.tools.demo import demo_index

            _demos[cache] = FolderStore(demo_index().resolve())
        return _demos[cache]
    return store_at(index) if is_address(index) else FolderStore(expand_path(index).resolve())


def languages_of(index: Searchable) -> frozenset[str]:
    """Return the languages that a good part of an index is in, judged by some of its passages; empty for other stores; blocking."""
    if isinstance(index, Collections):
        return frozenset().union(*map(languages_of, index.members))
    return index.languages if isinstance(index, Index) else frozenset()


def digest_of(index: Searchable) -> str:
    """Return the digest of what an index or several hold, see `Index.digest`; empty for other stores; blocking."""
    several = collections_of(index)
    if several:
        each = sorted(map(digest_of, several.members))
        return hashlib.sha256(" ".join(each).encode()).hexdigest() if all(each) else ""
    if isinstance(index, (str, Path)):
        index = opened(index)
    return index.digest if isinstance(index, Index) else ""


def describe(index: Searchable, found: Searchable) -> str:
    """Name an index as it was given, and say how much it holds; a store or retriever of another make is known by its class.

    found: the same, opened.
    """
    if isinstance(found, Collections):
        given = (collections_of(index) or found).members
        return f"{len(given)} collections: {'; '.join(map(describe, given, found.members))}"
    if not isinstance(found, Index):
        return type(found).__name__
    if index == DEMO:
        return f"demo: {found.manifest.documents} articles that ship with ramify"
    if isinstance(index, (str, Path)):
        where = store_at(index).where if is_address(index) else str(index)
    else:
        where = type(found).__name__ if found.temporary else found.where
    return f"{where} ({pluralize(found.manifest.documents, 'document')}, {pluralize(found.manifest.passages, 'passage')})"


def described_as(index: Searchable) -> str:
    """Return the description that an index was given; empty where it has none, is of another make, or there is none."""
    if isinstance(index, (str, Path)) and index != DEMO:
        manifest = _store(index).manifest()
        return manifest.description if manifest else ""
    return index.manifest.description if isinstance(index, Index) else ""


def hidden_note(hidden: dict[str, int]) -> str:
    """Return how many passages are not searched, and why."""
    return f", {sum(hidden.values()):,} left out of search ({reasons(hidden)})" if hidden else ""


def reasons(hidden: Mapping[str, int]) -> str:
    """Return why passages are not searched, with how many each; empty where all are."""
    return ", ".join(f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in hidden.items())


def unknown_filter_fields(index: Searchable, filter: Filter | None) -> str | None:
    """Return which fields of a filter no passage has, and which there are; None where there is none such, or no index in a folder."""
    if not filter:
        return None
    several = collections_of(index)
    listed = [_fields_of(one) for one in (several.members if several else [index])]
    there = None if None in listed else [*dict.fromkeys(field for fields in listed for field in fields or ())]
    if there is None or not (absent := sorted({str(name) for name in filter} - {*there})):
        return None
    return f"{LACKING} {_join_names([*map(repr, absent)])}: there are {_join_names(there) or 'none'}"


def _fields_of(index: Searchable) -> list[str] | None:
    """List the fields of metadata in an index; None where it lies in no folder, or is of another make."""
    if not isinstance(index, (Index, str, Path)):
        return None
    return (opened(index) if isinstance(index, (str, Path)) else index).fields()


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FIELDS:,} more" if len(names) > _FIELDS else ""
    return ", ".join(truncate_line(name, _FIELD) for name in names[:_FIELDS]) + more
