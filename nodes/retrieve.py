"""retrieve: search the index for every open branch, one batch a level (ToR-RAG §3)."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ramify.nodes.settings import IterativeSettings, Settings
from ramify.nodes.state import State, Usage
from ramify.nodes.step import Update, whole
from ramify.nodes.tree import Branch, Passage, children
from ramify.nodes.tree.notes import NOTHING
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.searcher import advice, describe, lacking, searcher, warm
from ramify.tools.relevance import NONE, load, reranked, width


@whole(takes=("open",), gives=("found", "failed"))
async def retrieve(state: State, settings: Settings) -> Update:
    """Search the passages for every open branch, and rerank what was found."""
    return await _search(state, settings, lambda branch: settings.k, settings.mmr, settings.rerank)


@whole(takes=("open",), gives=("found", "failed"), name="retrieve")
async def retrieve_widely(state: State, settings: IterativeSettings) -> Update:
    """Search widely: `top_k` for the primary query, half of it for every other; the filter will sort them."""
    first = next((child.path for child in children(state["tree"], "0")), None)
    return await _search(state, settings, lambda b: settings.top_k if b.path == first else settings.top_k // 2, mmr=None)


async def _search(state: State, settings: Settings, wanted: Callable[[Branch], int], mmr: float | None, rerank: str = NONE) -> Update:
    branches = [branch for branch in state["tree"].values() if branch.status == "open"]
    if not branches:
        return {}
    waited = await asyncio.to_thread(lambda: load(rerank) + warm(settings.index))
    queries = list(dict.fromkeys(branch.question for branch in branches))
    search = searcher(settings.index)
    most = max(map(wanted, branches))
    wide = width(rerank, most, settings.rerank_k)
    how: dict[str, Any] = {"fetch_k": settings.fetch_k, "mmr": mmr, "hybrid": settings.hybrid, "filter": settings.filter}
    found = await search(queries, k=wide, **how, view=settings.view, options=settings.search)
    best = await asyncio.to_thread(lambda: [reranked(*one, rerank, most) for one in zip(queries, found, strict=True)])
    hits = dict(zip(queries, best, strict=True))
    look = advice if any(found) else lambda index: lacking(index, settings.filter)
    told = await asyncio.to_thread(look, settings.index)  # what would make a better index, or filter, said once
    notices = state.get("notices", [])
    taken = {branch.path: hits[branch.question][: wanted(branch)] for branch in branches}
    return {
        "tree": {branch.path: _hang(branch, taken[branch.path]) for branch in branches},
        "passages": {hit.document.id: passage_of(hit) for group in taken.values() for hit in group},
        "usage": Usage(retrievals=len(queries)),
        "index": await asyncio.to_thread(describe, settings.index),
        **later(state, waited),
        **({"notices": [*notices, told]} if told and told not in notices else {}),
    }


def later(state: State, waited: float) -> Update:
    """Put off the end of the seconds by those that went into loading."""
    return {"started": state.get("started", 0.0) + waited, "loading_s": state.get("loading_s", 0.0) + waited} if waited else {}


def _hang(branch: Branch, hits: Sequence[Hit]) -> Branch:
    if not hits:
        return branch.to("failed", note=NOTHING)
    return branch.to("found", evidence=tuple(str(hit.document.id) for hit in hits))


def passage_of(hit: Hit) -> Passage:
    """Turn a search hit into the passage that the state carries."""
    document = hit.document
    rest = {key: value for key, value in document.metadata.items() if key != "source"}
    return Passage(
        id=str(document.id),
        text=document.page_content,
        source=str(document.metadata.get("source", document.id)),
        score=hit.score,
        value=hit.value,
        metadata=rest,
    )
