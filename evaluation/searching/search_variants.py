"""Searching alone, without a model: the same index asked in several ways, as lines beside those of the strategies."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ramify.evaluation.asking.one_question import NOTHING, Task, head
from ramify.evaluation.dataset import Question
from ramify.evaluation.index_kinds import PLAIN, VIEW, dotted, named, own_options
from ramify.evaluation.order import RERANK, RERANK_K, Order, swept_in_searching
from ramify.evaluation.plan import Plan, Source
from ramify.evaluation.rows import RESULTS, Log, Row, Watch, key_of, outlines
from ramify.evaluation.scoring import retrieval
from ramify.evaluation.searching.true_groups import WRONG_GROUP, Truth
from ramify.evaluation.variants import Variant, shown
from ramify.nodes.retrieve import passage_of
from ramify.nodes.settings import Settings
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.ids import document_of
from ramify.tools.index.manifest import Kind
from ramify.tools.index.searcher import opened
from ramify.tools.relevance import NONE, load, reranked, width

SEARCH = "search"
"""What stands for a strategy in these lines."""
DEEPEST = 10


class Way(NamedTuple):
    """How to search, and in which kind of index."""

    how: Mapping[str, Any]
    kind: Kind = PLAIN


FUSED: dict[str, Any] = {"mmr": None}
"""What the strategies do: vectors and words fused."""
WAYS = {
    "dense": Way({"hybrid": False, "mmr": None}),
    "BM25": Way({"dense": False, "mmr": None}),
    "mmr=0.75": Way({"mmr": 0.75}),
    "dense, mmr=0.75": Way({"hybrid": False, "mmr": 0.75}),
}
"""Other ways to search plain passages."""


def ways_of(order: Order) -> dict[str, Way]:
    """List the ways to search that are wanted: the strategies' own in each kind of index, or where nothing else is wanted all of them.

    Those are also each reranker that is named, and the values of what is swept. UsageError for a setting that is not valid.
    """
    first, given = order.kinds[0], dotted(order.options)
    own = {"": _way(first, given)}
    further = {named(kind): _way(kind, given) for kind in order.kinds[1:]}
    if not order.retrieval_only:
        return {**own, **further}
    swept = [(key, value) for key in order.sweeps if key in swept_in_searching(order) - {RERANK, RERANK_K} for value in order.sweeps[key]]
    changed = {f"{key}={shown(value)}": _way(first, {**given, key: value}) for key, value in swept}
    return {**own, **WAYS, **_reranked(first, given, order.sweeps.get(RERANK, [])), **changed, **further}


def _way(kind: Kind, options: Mapping[str, Any]) -> Way:
    """Search as the strategies do, with what the options say of the kind's own way."""
    view = Settings.model_validate({VIEW: options[VIEW]}).view if VIEW in options else "auto"
    own = {} if kind == PLAIN else {"view": view, "options": own_options(kind, options)}
    return Way({**FUSED, **own}, kind)


def _reranked(kind: Kind, options: Mapping[str, Any], swept: list[Any]) -> dict[str, Way]:
    given = {key: options[key] for key in (RERANK, RERANK_K) if key in options}
    wanted = [Settings.model_validate(given), *(Settings.model_validate({**given, RERANK: value}) for value in swept)]
    how = _way(kind, options).how
    return {f"{RERANK}={one.rerank}": Way({**how, RERANK: one.rerank, "wide": one.rerank_k}, kind) for one in wanted if one.rerank != NONE}


def search(plan: Plan, order: Order, watch: Watch) -> None:
    """Write the lines of searching alone that are not there yet; blocking."""
    ways = ways_of(order)
    with Log(order.out / RESULTS) as log:
        known = outlines(order.out / RESULTS)
        for source in plan.sources:
            name, ids = source.dataset.name, [question.id for question in source.dataset.questions]
            missing = {way: how for way, how in ways.items() if not all(key_of(name, SEARCH, way, one) in known for one in ids)}
            if missing:
                fresh = [row for row in search_all(plan, source, missing) if row["key"] not in known]
                log.write(fresh)
                for row in fresh:
                    watch(row)


def search_all(plan: Plan, source: Source, ways: Mapping[str, Way]) -> list[Row]:
    """Search every question of a data set in each way; blocking."""
    questions = source.dataset.questions
    truth = Truth(source.dataset, source.group_by) if source.group_by else None
    rows = []
    for name, way in ways.items():
        index = opened(source.holding(way.kind))
        found = _found(index, [question.question for question in questions], **way.how)
        for question, hits in zip(questions, found, strict=True):
            task = plan.task_of(source, question, Variant(strategy=SEARCH, name=name, kind=way.kind))
            told = retrieval(question, [passage_of(hit) for hit in hits], source.dataset.hits_by)
            rows.append(_row(task, told if truth is None else with_groups(told, truth, question, hits)))
    return rows


def _found(index: Index, asked: list[str], rerank: str = NONE, wide: int = DEEPEST, **how: Any) -> list[list[Hit]]:
    load(rerank)
    found = index.search(asked, width(rerank, DEEPEST, wide), **how)
    return [reranked(*one, rerank, DEEPEST) for one in zip(asked, found, strict=True)]


def with_groups(told: dict[str, Any], truth: Truth, question: Question, hits: Sequence[Hit]) -> dict[str, Any]:
    """Add to the scores of what was found how much of it is of a wrong group."""
    if told["retrieval"] is None:
        return told
    wrong = truth.wrong_group([document_of(str(hit.document.id)) for hit in hits], question.gold_documents)
    return {**told, "retrieval": {**told["retrieval"], WRONG_GROUP: wrong}}


def _row(task: Task, found: dict[str, Any]) -> Row:
    """Make a line that has no answer: only what was found."""
    unasked = ("answer", "confidence", "confidence_source", "em", "f1", "containment", "official", "usage", "model")
    blank = {**NOTHING, **dict.fromkeys(unasked), "stopped_by": "finished", "error": None}
    return {**head(task), **blank, **found}
