"""Score a result: its answer against the gold answers, its passages against the gold documents or sentences."""

from collections.abc import Collection, Sequence
from typing import Any, cast

from ramify.evaluation.dataset import BY_SOURCE, BY_TEXT, HitsBy, Question
from ramify.evaluation.metrics import (
    citation_scores,
    containment,
    exact_match,
    fact_scores,
    held_facts,
    official_multihop_rag,
    retrieval_scores,
    stands_for,
    token_f1,
)
from ramify.graphs import STRATEGIES, Result
from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step.findings import ranked, shown_at_last
from ramify.nodes.tree import Passage, is_unknown
from ramify.tools.index.passage_store import document_of

UNSCORED: dict[str, Any] = dict.fromkeys(("em", "f1", "containment", "official"))
"""The scores of a line without a gold answer."""
NOT_SEARCHED: dict[str, Any] = {"retrieved": [], "retrieval": None, "gold_retrieved": False, "gold_found": False}


def scores(question: Question, result: Result, hits_by: HitsBy) -> dict[str, Any]:
    """Return all scores of a result that its question allows."""
    answer, golds = result.answer, question.golds
    cited = [result.passages[citation.id] for citation in result.citations if citation.cited and citation.id in result.passages]
    known = {
        "em": exact_match(answer, golds),
        "f1": token_f1(answer, golds),
        "containment": containment(answer, golds),
        "official": official_multihop_rag(answer, question.answer),
    }
    return {
        **(known if question.answer else UNSCORED),
        "abstained": is_unknown(answer),
        "supported": _supported(result),
        **(retrieval(question, shown_passages(result, hits_by), hits_by, cited) if result.usage.retrievals else NOT_SEARCHED),
        "gold_found": bool(result.usage.retrievals) and all_gold(question, list(result.passages.values()), hits_by),
    }


def _supported(result: Result) -> float | None:
    """Return the share of the text's sentences that what they cite supports; None where none was checked."""
    verdicts = [sentence.supported for sentence in result.sentences if sentence.supported is not None]
    return sum(verdicts) / len(verdicts) if verdicts else None


def gold_of(question: Question, hits_by: HitsBy) -> tuple[str, ...]:
    """Return the gold sentences or documents to find; empty if they are unknown or the question is unanswerable."""
    if question.unanswerable:
        return ()
    return question.gold_facts if hits_by in BY_TEXT else question.gold_documents


def _document(passage: Passage, hits_by: HitsBy) -> str:
    """Return what a passage's document is known by in the gold."""
    return passage.source if hits_by in BY_SOURCE else document_of(passage.id)


def all_gold(question: Question, passages: Sequence[Passage], hits_by: HitsBy) -> bool:
    """Return whether all gold is among the passages; False if the gold is unknown."""
    gold = set(gold_of(question, hits_by))
    held = (held_facts(passage.text, gold) if hits_by in BY_TEXT else {_document(passage, hits_by)} for passage in passages)
    return bool(gold) and gold <= set().union(*held)


def shown_passages(result: Result, hits_by: HitsBy = "fact") -> list[Passage]:
    """Return the passages as the model was shown them, in the order of the final call.

    What was never shown cannot be forgotten. A passage counts for its document if most of it was shown (PruneRAG's reference code), for a
    sentence if that was shown.
    """
    seen = [(whole, whole.text[: result.shown.get(whole.id, 0)]) for whole in _in_order(result)]
    enough = [(whole, text) for whole, text in seen if text and (hits_by in BY_TEXT or stands_for(text, whole.text))]
    return [whole.model_copy(update={"text": text}) for whole, text in enough]


def _in_order(result: Result) -> list[Passage]:
    if result.search is not None:
        return [result.passages[key] for key in result.search.support]
    state = cast(State, {"tree": result.tree, "passages": result.passages})
    settings = STRATEGIES[result.strategy].build().settings if result.strategy in STRATEGIES else Settings
    return ranked(state, shown_at_last(state, settings), by_value=settings.shown_at_last == "leaves")


def retrieval(question: Question, ranked: Sequence[Passage], hits_by: HitsBy, cited: Collection[Passage] | None = None) -> dict[str, Any]:
    """Return the retrieval scores; None if the gold is unknown."""
    documents = list(dict.fromkeys(_document(passage, hits_by) for passage in ranked))
    told: dict[str, Any] = {"retrieved": documents, "retrieval": None, "gold_retrieved": False}
    gold = gold_of(question, hits_by)
    if not gold:
        return told
    if hits_by in BY_TEXT:
        held = [held_facts(passage.text, gold) for passage in ranked]
        found, measured = set().union(*held), fact_scores(held, gold)
    else:
        found, measured = set(documents), retrieval_scores(documents, gold)
    support = {} if cited is None else citation_scores({_document(one, hits_by) for one in cited}, set(question.gold_documents))
    return {**told, "retrieval": {**measured, **support}, "gold_retrieved": set(gold) <= found}
