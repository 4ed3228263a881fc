"""Searching alone, without a model: the same index asked in several ways, as lines beside those of the strategies."""

from collections.abc import Container
from typing import Any

from ramify.evaluation.asking import NOTHING, Task, head
from ramify.evaluation.order import RERANK, RERANK_K, Order
from ramify.evaluation.plan import Plan, Source, task_of
from ramify.evaluation.rows import Row, key_of
from ramify.evaluation.scoring import retrieval
from ramify.evaluation.variants import Variant
from ramify.nodes.retrieve import passage_of
from ramify.nodes.settings import Settings
from ramify.tools.index import Index
from ramify.tools.index.snapshot import Hit
from ramify.tools.relevance import NONE, load, reranked, width

SEARCH = "search"
"""What stands for a strategy in these lines."""
WAYS: dict[str, dict[str, Any]] = {
    "": {"mmr": None},
    "dense": {"hybrid": False, "mmr": None},
    "BM25": {"dense": False, "mmr": None},
    "mmr=0.75": {"mmr": 0.75},
    "dense, mmr=0.75": {"hybrid": False, "mmr": 0.75},
}
"""How to search: the first is what the strategies do, vectors and words fused."""
DEEPEST = 10


def ways_of(order: Order) -> dict[str, dict[str, Any]]:
    """List the ways to search that are wanted: the first, or where nothing else is wanted all of them, and by each reranker named.

    UsageError for a setting of a reranker that is not valid.
    """
    if not order.retrieval_only:
        return {"": WAYS[""]}
    given = {key: order.options[key] for key in (RERANK, RERANK_K) if key in order.options}
    swept = [{**given, RERANK: value} for value in order.sweeps.get(RERANK, ())]
    wanted = [Settings.model_validate(options) for options in (given, *swept)]
    named = [settings for settings in wanted if settings.rerank != NONE]
    return {**WAYS, **{f"{RERANK}={one.rerank}": {**WAYS[""], RERANK: one.rerank, "wide": one.rerank_k} for one in named}}


def search_all(plan: Plan, source: Source, ways: dict[str, dict[str, Any]]) -> list[Row]:
    """Search every question of a data set in each way; blocking."""
    questions = source.dataset.questions
    index = Index.open(source.folder)
    rows = []
    for name, how in ways.items():
        found = _found(index, [question.question for question in questions], **how)
        for question, hits in zip(questions, found, strict=True):
            task = task_of(source, question, Variant(strategy=SEARCH, name=name), plan.seed)
            rows.append(_row(task, retrieval(question, [passage_of(hit) for hit in hits], source.dataset.hits_by)))
    return rows


def _found(index: Index, asked: list[str], rerank: str = NONE, wide: int = DEEPEST, **how: Any) -> list[list[Hit]]:
    load(rerank)
    found = index.search(asked, width(rerank, DEEPEST, wide), **how)
    return [reranked(*one, rerank, DEEPEST) for one in zip(asked, found, strict=True)]


def ways_left(source: Source, ways: dict[str, dict[str, Any]], known: Container[str]) -> dict[str, dict[str, Any]]:
    """List the ways in which not every question has been searched for."""
    ids = [question.id for question in source.dataset.questions]
    return {name: how for name, how in ways.items() if not all(key_of(source.dataset.name, SEARCH, name, one) in known for one in ids)}


def _row(task: Task, found: dict[str, Any]) -> Row:
    """Make a line that has no answer: only what was found."""
    unasked = ("answer", "confidence", "confidence_source", "em", "f1", "containment", "official", "usage", "model")
    blank = {**NOTHING, **dict.fromkeys(unasked), "stopped_by": "finished", "error": None}
    return {**head(task), **blank, **found}
