"""Whatever can be searched, searched in one way and named in a line: an index, its place, the demo, a LangChain store or retriever."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import Hit, How, View
from ramify.tools.index.langchain_stores import RetrieverSearch, Search, StoreSearch
from ramify.tools.index.location import Home, home_of, is_address
from ramify.tools.index.passage_store import Filter
from ramify.tools.quoting import brief
from ramify.tools.typed import usable

DEMO = "demo"
Searchable = Index | VectorStore | BaseRetriever | str | Path
_REASONS = {"twin": "repeated"}
"""Why a passage is not searched, where the reason is no word for a reader."""

LACKING = "no passage has the filter's"
"""How a notice begins that names fields of a filter which are not there."""
_FIELDS, _FIELD = 20, 60
"""Fields that it names, and characters of each."""

_opened: dict[str, tuple[bytes, Index]] = {}
_opening = threading.Lock()
_background = ThreadPoolExecutor(1, thread_name_prefix="ramify-loading")


def searcher(index: Searchable) -> Search:
    """Return how to search an index.

    | index           | searched by                                                                                                     |
    |-----------------|-----------------------------------------------------------------------------------------------------------------|
    | `Index`         | itself, in a thread of its own                                                                                  |
    | a folder        | the `Index` in it, opened at the first search and again when the index there is another                         |
    | an address      | the same, of the index in a store, such as milvus:URI/collection                                                |
    | "demo"          | the demo corpus, indexed at the first search                                                                    |
    | `VectorStore`   | its own similarity search, `filter` passed on; cosines and MMR are computed here where it has `embeddings`      |
    | `BaseRetriever` | itself; it can neither filter nor score, so passages keep its order, and a score it left in the metadata counts |
    """
    if isinstance(index, Index):
        return _in_index(lambda: index)
    if isinstance(index, VectorStore):
        return StoreSearch(index)
    if isinstance(index, BaseRetriever):
        return RetrieverSearch(index)
    if isinstance(index, (str, Path)):
        return _in_index(lambda: opened(index))
    raise UsageError(f"cannot search in {type(index).__name__!r}", "give an index, its place, or a LangChain vector store or retriever")


def opened(index: str | Path) -> Index:
    """Return the index of a folder or an address (or "demo"), the same object as long as the index there is the same."""
    with _opening:  # whoever comes second waits, instead of opening it too
        home = _home(index)
        known = _opened.get(home.where)
        found = home.fingerprint()
        if known is None or known[0] != found:
            known = _opened[home.where] = (found, _open(home))
        return known[1]


def _open(home: Home) -> Index:
    """Open an index by its kind."""
    manifest = home.manifest()
    if manifest is None or manifest.kind == "passages":
        return Index.open(home)
    if manifest.kind == "hierarchy":
        from ramify.tools.hierarchy.index import HierarchyIndex

        return HierarchyIndex.open(home)
    from ramify.tools.knowledge.index import GraphIndex  # these are kinds of index: known here by name alone

    return GraphIndex.open(home)


def warm(index: Searchable) -> tuple[Searchable, float]:
    """Open an index and load what the first search would wait for; give the seconds that took, 0 where all was there; blocking.

    A store or retriever of another make is left alone.
    """
    if not isinstance(index, (Index, str, Path)):
        return index, 0.0
    began = time.perf_counter()
    before = [known for _, known in list(_opened.values())]
    found = index if isinstance(index, Index) else opened(index)
    there = found.embeddings.loaded and any(found is known for known in (index, *before))
    found.embeddings.load()
    return found, 0.0 if there else time.perf_counter() - began


def warm_soon(index: Searchable) -> None:
    """Begin to load, in the background, what the first search would wait for; what goes wrong there goes wrong at the search, too."""
    _background.submit(warm, index)


def _home(index: str | Path) -> Home:
    if index == DEMO:
        from ramify.tools.demo import demo_index

        index = demo_index()
    return home_of(index if is_address(index) else usable(index).resolve())


def _in_index(index: Callable[[], Index]) -> Search:
    async def search(
        queries: Sequence[str], *, k: int = 5, fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True,
        filter: Filter | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
    ) -> list[list[Hit]]:  # fmt: skip
        how = How(k, fetch_k, mmr, hybrid, filter, view=view, options=options)
        return await asyncio.to_thread(lambda: index().search(queries, **how._asdict()))

    return search


def describe(index: Searchable, found: Searchable) -> str:
    """Name an index as it was given, and say how much it holds; a store or retriever of another make is known by its class.

    found: the same, opened.
    """
    if not isinstance(found, Index):
        return type(found).__name__
    if index == DEMO:
        return f"demo: {found.manifest.documents} articles that ship with ramify"
    if isinstance(index, (str, Path)):
        where = home_of(index).where if is_address(index) else str(index)
    else:
        where = type(found).__name__ if found.temporary else found.where
    return f"{where} ({_holdings(found)})"


def _holdings(index: Index) -> str:
    held = ((index.manifest.documents, "document"), (index.manifest.passages, "passage"))
    return ", ".join(f"{count:,} {thing if count == 1 else thing + 's'}" for count, thing in held)


def left_out(hidden: dict[str, int]) -> str:
    """Say how many passages are not searched, and why."""
    return f", {sum(hidden.values()):,} left out of search ({reasons(hidden)})" if hidden else ""


def reasons(hidden: Mapping[str, int]) -> str:
    """Say why passages are not searched, with how many each; empty where all are."""
    return ", ".join(f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in hidden.items())


def lacking(index: Searchable, filter: Filter | None) -> str | None:
    """Say which fields of a filter no passage has, and which there are; None where there is none such, or no index in a folder."""
    if not filter or not isinstance(index, (Index, str, Path)):
        return None
    there = (opened(index) if isinstance(index, (str, Path)) else index).fields()
    if there is None or not (absent := sorted({str(name) for name in filter} - {*there})):
        return None
    return f"{LACKING} {_listed([*map(repr, absent)])}: there are {_listed(there) or 'none'}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FIELDS:,} more" if len(names) > _FIELDS else ""
    return ", ".join(brief(name, _FIELD) for name in names[:_FIELDS]) + more


def advice(index: Searchable) -> str | None:
    """Say what would make a better index, None where nothing is known to."""
    if isinstance(index, (str, Path)):
        index = opened(index)
    return index.advice if isinstance(index, Index) else None
