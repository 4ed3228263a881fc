"""Score a result: its answer against the golds, its passages against the documents or sentences to be found."""

from collections.abc import Collection, Sequence
from typing import Any, cast

from ramify.evaluation.dataset import HitsBy, Question
from ramify.evaluation.metrics.answers import containment, exact_match, official_multihop_rag, token_f1
from ramify.evaluation.metrics.facts import fact_scores, held_facts, stands_for
from ramify.evaluation.metrics.retrieval import retrieval_scores, supporting_facts_f1
from ramify.graphs import STRATEGIES, Result
from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step.findings import ranked, shown_at_last
from ramify.nodes.tree import Passage, is_unknown
from ramify.tools.index.ids import document_of

UNSCORED: dict[str, Any] = dict.fromkeys(("em", "f1", "containment", "official"))
"""What a line says where no gold answer is known: of an open question, or for retrieval alone."""
NOT_SEARCHED: dict[str, Any] = {"retrieved": [], "retrieval": None, "gold_retrieved": False, "gold_found": False}


def scores(question: Question, result: Result, hits_by: HitsBy) -> dict[str, Any]:
    """Score a result in every way that its question allows."""
    answer, golds = result.answer, question.golds
    cited = [citation.id for citation in result.citations if citation.cited]
    known = {
        "em": exact_match(answer, golds),
        "f1": token_f1(answer, golds),
        "containment": containment(answer, golds),
        "official": official_multihop_rag(answer, question.answer),
    }
    return {
        **(known if question.answer else UNSCORED),
        "abstained": is_unknown(answer),
        **(retrieval(question, handed(result, hits_by), hits_by, cited) if result.usage.retrievals else NOT_SEARCHED),
        "gold_found": bool(result.usage.retrievals) and all_gold(question, list(result.passages.values()), hits_by),
    }


def all_gold(question: Question, passages: Sequence[Passage], hits_by: HitsBy) -> bool:
    """Tell whether all gold is among passages; not where it is not known what there is to find."""
    gold = question.gold_facts if hits_by == "fact" else question.gold_documents
    if not gold or question.unanswerable:
        return False
    if hits_by == "fact":
        return set(gold) <= set().union(*(held_facts(passage.text, gold) for passage in passages))
    return set(gold) <= {document_of(passage.id) for passage in passages}


def handed(result: Result, hits_by: HitsBy = "fact") -> list[Passage]:
    """List what the model was shown of the passages, in the order in which the final call takes them.

    What was retrieved and never shown, or cut away, was not there to be forgotten. A passage stands for its document where most of it was
    shown (PruneRAG's reference code), for a sentence where that was.
    """
    seen = [(whole, whole.text[: result.shown.get(whole.id, 0)]) for whole in _in_order(result)]
    enough = [(whole, text) for whole, text in seen if text and (hits_by == "fact" or stands_for(text, whole.text))]
    return [whole.model_copy(update={"text": text}) for whole, text in enough]


def _in_order(result: Result) -> list[Passage]:
    if result.search is not None:
        return [result.passages[key] for key in result.search.support]
    state = cast(State, {"tree": result.tree, "passages": result.passages})
    settings = STRATEGIES[result.strategy].build().settings if result.strategy in STRATEGIES else Settings
    return ranked(state, shown_at_last(state, settings), by_value=settings.shown_at_last == "leaves")


def retrieval(question: Question, ranked: Sequence[Passage], hits_by: HitsBy, cited: Collection[str] | None = None) -> dict[str, Any]:
    """Score what was found; no scores where it is not known what there is to find."""
    documents = list(dict.fromkeys(document_of(passage.id) for passage in ranked))
    told: dict[str, Any] = {"retrieved": documents, "retrieval": None, "gold_retrieved": False}
    gold = question.gold_facts if hits_by == "fact" else question.gold_documents
    if not gold or question.unanswerable:
        return told
    if hits_by == "fact":
        held = [held_facts(passage.text, gold) for passage in ranked]
        found, measured = set().union(*held), fact_scores(held, gold)
    else:
        found, measured = set(documents), retrieval_scores(documents, gold)
    support = None if cited is None else supporting_facts_f1([document_of(key) for key in cited], question.gold_documents)
    return {**told, "retrieval": {**measured, "supporting_f1": support}, "gold_retrieved": set(gold) <= found}
