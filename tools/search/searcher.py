"""Asynchronous search in an index, its location, the demo, or a LangChain vector store or retriever."""

import asyncio
import hashlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from ramify.tools import plugins
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import IndexStore
from ramify.tools.index.hybrid_search import SearchOptions, View, select_mmr
from ramify.tools.index.index_store import FolderStore, check_exists, is_store_address, store_at
from ramify.tools.index.kind import Kind
from ramify.tools.index.manifest import MANIFEST
from ramify.tools.index.passage_store import Filter, with_id
from ramify.tools.new_files import cache_folder
from ramify.tools.passage import Passage
from ramify.tools.quoting import pluralize, truncate_line
from ramify.tools.search.collection_set import CollectionSet, Member, fuse_ranks, load_topics, select_collections
from ramify.tools.search.recording import note_search
from ramify.tools.user_input import expand_path

_SCORE_FIELDS = ("relevance_score", "score")


def _check_options(search: SearchOptions) -> SearchOptions:
    """Return validated options; UsageError for options that only Ramify's indexes have; `view` is ignored."""
    if search.options:
        raise UsageError(f"search.{next(iter(search.options))} is not supported by other vector stores and retrievers", "omit it")
    return search.validated()


async def _search_store(store: VectorStore, queries: Sequence[str], search: SearchOptions) -> list[list[Passage]]:
    """Search a LangChain vector store for candidates; cosines and MMR are computed here, with its embeddings.

    A store without `embeddings` must give relevance scores, which are used as cosines, without MMR. `hybrid` is ignored, `filter` is passed
    to the store.
    """
    search = _check_options(search)
    passed_on = {"filter": search.filter} if search.filter else {}
    if store.embeddings is None:
        return list(await asyncio.gather(*(_search_by_relevance(store, query, search.k, passed_on) for query in queries)))
    wanted = (search.fetch_k if search.mmr is not None else None) or search.k
    documents = await asyncio.gather(*(store.asimilarity_search(query, k=wanted, **passed_on) for query in queries))
    return await asyncio.to_thread(_rank_candidates, load_encoder(store.embeddings), queries, documents, search)


async def _search_by_relevance(store: VectorStore, query: str, k: int, passed_on: Mapping[str, Any]) -> list[Passage]:
    try:
        scored = await store.asimilarity_search_with_relevance_scores(query, k=k, **passed_on)
    except NotImplementedError as error:
        what = f"the store {type(store).__name__!r} has neither embeddings nor relevance scores"
        raise UsageError(what, "pass its `as_retriever()` as index") from error
    return [Passage.from_document(with_id(document), float(score), float(score)) for document, score in scored]


def _rank_candidates(
    encoder: Encoder, queries: Sequence[str], rankings: Sequence[Sequence[Document]], search: SearchOptions
) -> list[list[Passage]]:
    """Encode the candidates, as the store does not return vectors, and select the best for each query."""
    texts = list(dict.fromkeys(document.page_content for documents in rankings for document in documents))
    encoded = dict(zip(texts, encoder.encode_documents(texts), strict=True))
    return [
        _pick_passages(query, documents, encoded, search)
        for query, documents in zip(encoder.encode_queries(queries), rankings, strict=True)
    ]


def _pick_passages(query: Matrix, documents: Sequence[Document], encoded: Mapping[str, Matrix], search: SearchOptions) -> list[Passage]:
    if not documents:
        return []
    vectors = np.stack([encoded[document.page_content] for document in documents])
    cosines = vectors @ query
    first = [(place, float(cosine)) for place, cosine in enumerate(cosines[: search.k])]
    picks = first if search.mmr is None else select_mmr(cosines, vectors, search.k, search.mmr)
    return [Passage.from_document(with_id(documents[place]), float(cosines[place]), value) for place, value in picks]


async def _search_retriever(retriever: BaseRetriever, queries: Sequence[str], search: SearchOptions) -> list[list[Passage]]:
    """Return the first k passages of a retriever for each query, in its order.

    Scores are taken from the metadata (`relevance_score`, `score`), else 1 / rank. UsageError if different texts have the same id.
    """
    search = _check_options(search)
    if search.filter:
        what = f"the retriever {type(retriever).__name__!r} cannot filter"
        raise UsageError(what, "give an index, or a retriever with a filter of its own")
    rankings = await asyncio.gather(*(retriever.ainvoke(query) for query in queries))
    _check_ids(retriever, chain.from_iterable(rankings))
    return [[_ranked_passage(document, rank) for rank, document in enumerate(documents[: search.k], start=1)] for documents in rankings]


def _check_ids(retriever: BaseRetriever, documents: Iterable[Document]) -> None:
    """Raise UsageError if different texts have the same id, by which passages are distinguished."""
    texts: dict[str, str] = {}
    for document in documents:
        if document.id and texts.setdefault(document.id, document.page_content) != document.page_content:
            what = f"the retriever {type(retriever).__name__!r} gave different texts with the id {document.id!r}"
            raise UsageError(what, "give each document an id of its own, or none")


def _ranked_passage(document: Document, rank: int) -> Passage:
    scores = (document.metadata.get(field) for field in _SCORE_FIELDS)
    score = next((float(score) for score in scores if isinstance(score, (int, float))), 1 / rank)
    return Passage.from_document(with_id(document), score, score)


DEMO = "demo"
Searchable = Member | Sequence[Member] | CollectionSet
"""What can be searched; several as a list or tuple."""
_REASON_LABELS = {"twin": "repeated"}
"""Displayed reasons for hidden passages, where they differ from the stored ones."""

UNKNOWN_FIELDS = "no passage has the filter fields"
"""Beginning of the notice on unknown fields of a filter."""
_MAX_LISTED_FIELDS, _MAX_FIELD_CHARS = 20, 60
"""Maximum number of fields listed, and of characters of each."""

_open_indexes: dict[str, tuple[bytes, Index]] = {}
_demos: dict[Path, FolderStore] = {}
"""By cache folder: the index of the demo, once its checksums were verified."""
_opening = threading.Lock()
_background = ThreadPoolExecutor(1, thread_name_prefix="ramify-loading")


def check_index(index: Searchable) -> None:
    """Raise IndexingError if a location has no index, or one of another layout."""
    several = as_collections(index)
    for member in several.members if several else [index]:
        if isinstance(member, (str, Path)) and member != DEMO:
            check_exists(member)


def has_own_indexes(index: Searchable) -> bool:
    """Return whether what is searched is an index of Ramify, or several: they take filters, and their texts can be listed."""
    several = as_collections(index)
    return all(isinstance(member, (Index, str, Path)) for member in (several.members if several else [index]))


async def find_passages(
    index: Searchable, queries: Sequence[str], *, k: int = 5, fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True,
    filter: Filter | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
) -> list[list[Passage]]:  # fmt: skip
    """Return the best passages for each query; arguments as for `Index.search`.

    | index           | searched by                                                                                                     |
    |-----------------|-----------------------------------------------------------------------------------------------------------------|
    | `Index`         | its own search, in a thread                                                                                     |
    | a folder        | the `Index` in it, opened at the first search and again when it has changed                                     |
    | an address      | the index in a store, such as milvus:URI/collection                                                             |
    | "demo"          | the demo corpus, indexed at the first search                                                                    |
    | `VectorStore`   | its own similarity search with `filter`; cosines and MMR are computed here if it has `embeddings`               |
    | `BaseRetriever` | its own search, in its order; no `filter`; scores are taken from the metadata                                   |
    | several of them | each question in those that fit (`select_collections`); results are fused by rank (`fuse_ranks`)                |
    """
    how = SearchOptions(k, fetch_k, mmr, hybrid, filter, view=view, options=options)
    several = as_collections(index)
    found = await (_search_one(index, queries, how) if several is None else _search_collections(several, queries, how))
    again = {"k": k, "fetch_k": fetch_k, "mmr": mmr, "hybrid": hybrid, "filter": filter, "view": view, "options": options}
    note_search(queries, again, found)
    return found


async def _search_one(index: Any, queries: Sequence[str], search: SearchOptions) -> list[list[Passage]]:
    """Search a single index, store or retriever."""
    if isinstance(index, (str, Path)):
        index = await asyncio.to_thread(open_index, index)
    if isinstance(index, Index):  # first, because an Index is a VectorStore, too
        return await asyncio.to_thread(index.search, queries, **search._asdict())
    if isinstance(index, VectorStore):
        return await _search_store(index, queries, search)
    if isinstance(index, BaseRetriever):
        return await _search_retriever(index, queries, search)
    raise UsageError(f"cannot search in {type(index).__name__!r}", "give an index, its location, or a LangChain vector store or retriever")


def as_collections(index: Searchable) -> CollectionSet | None:
    """Return several indexes as a collection set, None for a single one; UsageError if one is given twice."""
    if isinstance(index, CollectionSet):
        return index
    return CollectionSet.from_members(index) if isinstance(index, (list, tuple)) else None


async def _search_collections(several: CollectionSet, queries: Sequence[str], search: SearchOptions) -> list[list[Passage]]:
    """Search the selected collections for each query concurrently, and fuse the results by rank."""
    several = await asyncio.to_thread(_open_all, several)
    chosen = await asyncio.to_thread(select_collections, several, queries)

    async def find(place: int) -> dict[int, list[Passage]]:
        asked = [number for number, places in enumerate(chosen) if place in places]
        passages = await _search_one(several.members[place], [queries[number] for number in asked], search) if asked else []
        return dict(zip(asked, passages, strict=True))

    rankings = await asyncio.gather(*map(find, range(len(several.members))))
    return [
        fuse_ranks({several.names[place]: rankings[place][number] for place in places}, search.k) for number, places in enumerate(chosen)
    ]


def _open_all(several: CollectionSet) -> CollectionSet:
    """Open all indexes, so that one that cannot be opened is always an error."""
    return replace(several, members=tuple(open_index(member) if isinstance(member, (str, Path)) else member for member in several.members))


def open_index(index: str | Path) -> Index:
    """Return the index of a folder, an address or "demo"; the same object until the index changes."""
    with _opening:  # concurrent callers wait instead of opening it, too
        store = _store(index)
        known = _open_indexes.get(store.where)
        fingerprint = store.fingerprint()
        if known is None or known[0] != fingerprint:
            known = _open_indexes[store.where] = (fingerprint, _open(store))
        return known[1]


def _open(store: IndexStore) -> Index:
    """Open an index by its kind."""
    manifest = store.manifest()
    if manifest is None or manifest.kind == "passages":
        return Index.open(store)
    kind: Kind = plugins.load("ramify.kinds", manifest.kind)
    return kind.open(store)


def warm(index: Searchable) -> tuple[Searchable, float]:
    """Open an index and load its encoder; return it and the seconds taken, 0 if all was loaded; blocking.

    Other vector stores and retrievers are returned unchanged.
    """
    if several := as_collections(index):
        members, waits = zip(*map(warm, several.members), strict=True)
        several = replace(several, members=members)
        return several, sum(waits) + load_topics(several)
    if not isinstance(index, (Index, str, Path)):
        return index, 0.0
    began = time.perf_counter()
    before = [known for _, known in list(_open_indexes.values())]
    opened = index if isinstance(index, Index) else open_index(index)
    if opened.embeddings.loaded and any(opened is known for known in (index, *before)):
        return opened, 0.0
    opened.embeddings.load()
    return opened, time.perf_counter() - began


def warm_soon(index: Searchable) -> None:
    """Start `warm` in the background; errors are ignored, as the search raises them, too."""
    _background.submit(warm, index)


def _store(index: str | Path) -> IndexStore:
    if index == DEMO:
        cache = cache_folder()
        if cache not in _demos or not (_demos[cache].path / MANIFEST).is_file():
            from ramify.tools.demo import demo_index

            _demos[cache] = FolderStore(demo_index().resolve())
        return _demos[cache]
    return store_at(index) if is_store_address(index) else FolderStore(expand_path(index).resolve())


def languages_of(index: Searchable) -> frozenset[str]:
    """Return the languages of an index, see `Index.languages`; empty for other stores; blocking."""
    if isinstance(index, CollectionSet):
        return frozenset().union(*map(languages_of, index.members))
    return index.languages if isinstance(index, Index) else frozenset()


def digest_of(index: Searchable) -> str:
    """Return the digest of one or several indexes, see `Index.digest`; empty for other stores; blocking."""
    several = as_collections(index)
    if several:
        each = sorted(map(digest_of, several.members))
        return hashlib.sha256(" ".join(each).encode()).hexdigest() if all(each) else ""
    if isinstance(index, (str, Path)):
        index = open_index(index)
    return index.digest if isinstance(index, Index) else ""


def index_summary(index: Searchable, opened: Searchable) -> str:
    """Return the name of an index as given, and its size; the class name for other stores and retrievers.

    found: the opened index.
    """
    if isinstance(opened, CollectionSet):
        given = (as_collections(index) or opened).members
        return f"{len(given)} collections: {'; '.join(map(index_summary, given, opened.members))}"
    if not isinstance(opened, Index):
        return type(opened).__name__
    if index == DEMO:
        return f"demo: {opened.manifest.documents} articles that ship with ramify"
    if isinstance(index, (str, Path)):
        where = store_at(index).where if is_store_address(index) else str(index)
    else:
        where = type(opened).__name__ if opened.temporary else opened.where
    manifest = opened.manifest
    made_of = pluralize(manifest.files, "file") if manifest.files else pluralize(manifest.documents, "document")
    return f"{where} ({made_of}, {pluralize(manifest.passages, 'passage')})"


def unfinished_notices(index: Searchable) -> list[str]:
    """Return for each index whose vectors are still being computed how much is; blocking."""
    several = as_collections(index)
    opened = [open_index(member) if isinstance(member, (str, Path)) else member for member in (several.members if several else [index])]
    return [notice for member in opened if isinstance(member, Index) and (notice := member.notice())]


def require_finished(index: Searchable) -> None:
    """Raise IndexingError if the vectors of an index are still being computed: what is measured would not be repeated; blocking."""
    if unfinished_notices(index):
        raise IndexingError("the index is not complete: its vectors are still being computed", "wait, or run `ramify index … --wait`")


def get_description(index: Searchable) -> str:
    """Return the description of an index; empty if it has none, and for other stores."""
    if isinstance(index, (str, Path)) and index != DEMO:
        manifest = _store(index).manifest()
        return manifest.description if manifest else ""
    return index.manifest.description if isinstance(index, Index) else ""


def hidden_note(hidden: dict[str, int]) -> str:
    """Return the number of hidden passages with reasons, as the end of a sentence."""
    return f", {sum(hidden.values()):,} left out of search ({hidden_reasons(hidden)})" if hidden else ""


def hidden_reasons(hidden: Mapping[str, int]) -> str:
    """Return the numbers of hidden passages by reason, as text; empty if there are none."""
    return ", ".join(f"{count:,} {_REASON_LABELS.get(reason, reason)}" for reason, count in hidden.items())


def unknown_filter_fields(index: Searchable, filter: Filter | None) -> str | None:
    """Return a notice on unknown fields of a filter with the known ones; None if all are known, or the fields cannot be listed."""
    if not filter:
        return None
    several = as_collections(index)
    listed = [_fields_of(member) for member in (several.members if several else [index])]
    known = None if None in listed else [*dict.fromkeys(field for fields in listed for field in fields or ())]
    if known is None or not (unknown := sorted({str(name) for name in filter} - {*known})):
        return None
    return f"{UNKNOWN_FIELDS} {_join_names([*map(repr, unknown)])}: there are {_join_names(known) or 'none'}"


def _fields_of(index: Searchable) -> list[str] | None:
    """Return the metadata fields of an index; None if they cannot be listed."""
    if not isinstance(index, (Index, str, Path)):
        return None
    return (open_index(index) if isinstance(index, (str, Path)) else index).fields()


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED_FIELDS:,} more" if len(names) > _MAX_LISTED_FIELDS else ""
    return ", ".join(truncate_line(name, _MAX_FIELD_CHARS) for name in names[:_MAX_LISTED_FIELDS]) + more
