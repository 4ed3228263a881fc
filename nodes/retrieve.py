"""retrieve: search the index for all branches of a level in one batch (ToR-RAG §3)."""

import asyncio
from functools import reduce
from typing import Any

from ramify.nodes.asking.ask import current_model
from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.settings import EMBEDDED, LARGE, PruneSettings, Settings
from ramify.nodes.state import State, Usage, merge_passages
from ramify.nodes.step import Context, Update, call_model, level_step
from ramify.nodes.tree import DROPPED, Branch, Passage
from ramify.nodes.tree.notes import NOT_FOUND
from ramify.prompts import TRANSLATE
from ramify.prompts.translate import MAX_QUESTIONS
from ramify.tools.errors import ModelError
from ramify.tools.index.unfinished import BY_WORDS
from ramify.tools.languages import detect_language
from ramify.tools.search.relevance import NO_RERANKER, load_reranker, rerank_passages
from ramify.tools.search.searcher import (
    Searchable,
    find_passages,
    index_summary,
    languages_of,
    unfinished_notices,
    unknown_filter_fields,
    warm,
)

SHARED_WIDTH = 100
"""A passage cited elsewhere is not shown to a question that does not find it among so many."""
_UNTRANSLATED = "searched in the language of the question"


@level_step
async def retrieve(branches: list[Branch], context: Context[Settings]) -> Update:
    """Search the passages of all branches in one batch, and rerank them; for answered ones, the next k, which their answer did not use.

    With `shared_evidence`, the most relevant passages that other answers cite are added.
    """
    state, settings = context.state, context.settings
    reranks = settings.reranker != NO_RERANKER
    loading = await asyncio.to_thread(load_reranker, settings.reranker) if reranks else 0.0
    index, waited = await asyncio.to_thread(warm, settings.index)  # opened once for all that this step asks of it
    waited += loading
    wanted = {branch.path: settings.passages_for(branch.path) for branch in branches}
    read = {branch.path: branch.evidence if branch.status == "answered" else () for branch in branches}
    most = max(wanted[path] + len(read[path]) for path in wanted)
    how: dict[str, Any] = {"hybrid": settings.hybrid, "filter": settings.filter, "view": settings.view, "options": settings.search}
    asked = list(dict.fromkeys(branch.question for branch in branches))
    names = {branch.question for branch in branches if branch.kind == "entity"}
    if settings.model in (EMBEDDED, LARGE):  # it translates nothing
        queries, translating = asked, Update()
    else:
        queries, translating = await _translate_queries(index, asked, names, context)
    wide = max(most, settings.rerank_k) if reranks else most
    results = await find_passages(index, queries, k=wide, fetch_k=settings.fetch_k, mmr=settings.mmr, **how)
    said = any(notice.startswith(BY_WORDS) for notice in state["notices"])
    notices = [] if said else await asyncio.to_thread(unfinished_notices, index)
    if not any(results) and (notice := await asyncio.to_thread(unknown_filter_fields, index, settings.filter)):
        notices.append(notice)
    if reranks:
        results = await asyncio.to_thread(
            lambda: [rerank_passages(*pair, settings.reranker, most) for pair in zip(queries, results, strict=True)]
        )
    passages = dict(zip(asked, results, strict=True))
    taken = {
        branch.path: [passage for passage in passages[branch.question] if passage.id not in read[branch.path]][: wanted[branch.path]]
        for branch in branches
    }
    if isinstance(settings, PruneSettings) and settings.shared_evidence:
        cited = dict(zip(asked, await _rank_cited(index, queries, how, context), strict=True))
        for branch in branches:
            own = {*read[branch.path], *(passage.id for passage in taken[branch.path])}
            others = [passage for passage in cited[branch.question] if passage.id not in own]
            taken[branch.path] += others[: settings.shared_evidence]
    return {
        "tree": {branch.path: _with_evidence(branch, read[branch.path], taken[branch.path]) for branch in branches},
        "passages": reduce(merge_passages, ({passage.id: passage for passage in group} for group in taken.values())),
        **translating,
        "usage": translating.get("usage", Usage()) + Usage(retrievals=len(queries)),
        "index": index_summary(settings.index, index),
        **(add_loading_time(state, waited) if waited else {}),
        **({"notices": [*translating.get("notices", []), *notices]} if notices else {}),
    }


async def _rank_cited(index: Searchable, queries: list[str], how: dict[str, Any], context: Context[Settings]) -> list[list[Passage]]:
    """Return for each query the passages that answers in the tree cite, if a wide search finds them, best first (M-PruneRAG)."""
    known, kept = context.state["passages"], [branch for branch in context.tree.values() if branch.status not in DROPPED]
    cited = {key for branch in kept for key in branch.cited if key in known}
    results = await find_passages(index, queries, k=SHARED_WIDTH, **how) if cited else [[] for _ in queries]
    return [[known[passage.id] for passage in passages if passage.id in cited] for passages in results]


def _with_evidence(branch: Branch, read: tuple[str, ...], passages: list[Passage]) -> Branch:
    """Return a branch with what was found for it, after what its answer was read from; it fails if it has nothing."""
    evidence = (*read, *(passage.id for passage in passages))
    if not evidence:
        return branch.with_status("failed", note=NOT_FOUND)
    return branch.with_status(branch.status if read else "open", evidence=evidence)


async def _translate_queries(
    index: Searchable, questions: list[str], names: set[str], context: Context[Settings]
) -> tuple[list[str], Update]:
    """Return the query of each question: itself, or its translation if no document is in its language."""
    try:
        model = await asyncio.to_thread(current_model, CALL_CONTEXT.get().settings)
    except ModelError:  # reported by the next step that calls it
        return questions, {}
    if not model.writes:
        return questions, {}
    known = await asyncio.to_thread(languages_of, index)
    others = [question for question in questions if question not in names]
    foreign = [question for question in others if (language := detect_language(question)) and known and language not in known]
    if not foreign:
        return questions, {}
    slots: dict[str, Any] = {"questions": foreign[:MAX_QUESTIONS], "language": " or ".join(sorted(known))}
    reply, update = await call_model(context.state, TRANSLATE, fallback=_UNTRANSLATED, **slots)
    queries = [] if reply is None else reply.value.queries
    translated = dict(zip(foreign, queries, strict=False)) if len(queries) == len(slots["questions"]) else {}
    if reply is not None and len(translated) < len(foreign):
        update["notices"] = [*update.get("notices", []), f"{_UNTRANSLATED}: {len(foreign) - len(translated)} of {len(foreign)}"]
    return [translated.get(question) or question for question in questions], update


def add_loading_time(state: State, waited: float) -> Update:
    """Return an update that moves the start time by the seconds of loading, which do not count against the budget."""
    return {"started": state.get("started", 0.0) + waited, "loading_s": state.get("loading_s", 0.0) + waited}
