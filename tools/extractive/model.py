"""The embedded model: each of the toolkit's prompts has a function that answers it. Deterministic, English, no language model."""

import threading
import time
from collections.abc import Callable

from ramify.tools.embeddings import load_encoder
from ramify.tools.english import content
from ramify.tools.errors import UsageError
from ramify.tools.extractive.answering import answer, closed_book, compress, decide, entities
from ramify.tools.extractive.asking import contextualize, next_question, plan, split_question
from ramify.tools.extractive.building import claims, describe, extract, glean, missed, report, sum_up
from ramify.tools.extractive.finalize import aggregate, finalize
from ramify.tools.extractive.overview import map_report, reduce
from ramify.tools.extractive.question_kinds import objection, open_ended
from ramify.tools.extractive.slots import Reply, Slots
from ramify.tools.extractive.weighing import filter_batch, judge, rubric, summarize
from ramify.tools.reader.weights import load_network
from ramify.tools.splitting.weights import load_pen
from ramify.tools.unknown import UNKNOWN

_REPLIES: dict[str, Callable[[Slots], Reply]] = {
    "aggregate": aggregate,
    "answer": answer,
    "claims": claims,
    "closed_book": closed_book,
    "compress": compress,
    "contextualize": contextualize,
    "decide": decide,
    "decompose": split_question,
    "describe": describe,
    "entities": entities,
    "extract": extract,
    "filter": filter_batch,
    "finalize": finalize,
    "glean": glean,
    "judge": judge,
    "map_report": map_report,
    "missed": missed,
    "next_question": next_question,
    "plan": plan,
    "reduce": reduce,
    "report": report,
    "rubric": rubric,
    "summarize": summarize,
    "summarize_cluster": sum_up,
    "support": sum_up,
}
_OVERVIEWS = ("map_report", "reduce")
_NOTHING_NAMED = "The question does not say what it asks about."
"""Any date answers `When?`: somebody's, but nobody knows whose."""
_NO_PHRASE = "The question asks for more than a phrase, and the extractive model quotes phrases."
_LOADING = threading.Lock()


def reply_to(name: str, slots: Slots) -> Reply:
    """Return the fields of the reply to a prompt of the toolkit, by its name; blocking. UsageError for a prompt that it does not know."""
    if name not in _REPLIES:
        remedy = "it answers the toolkit's own prompts; for any other, name a language model, such as ollama:llama3.1:8b"
        raise UsageError(f"the extractive model does not know the prompt {name!r}", remedy)
    question = str(slots.get("question", ""))
    reply = _REPLIES[name](slots)
    if objected := objection(question):
        return _refused(reply, objected)
    if name in _OVERVIEWS:  # they quote whole sentences, as many as there are: any question will do
        return reply
    if "question" in slots and not content(question):
        return _refused(reply, _NOTHING_NAMED)
    return _refused(reply, _NO_PHRASE) if open_ended(question) else reply


def _refused(reply: Reply, why: str) -> Reply:
    """Say Unknown to a question that cannot be read or says nothing, and why where there is room for it."""
    refused: Reply = {
        "answer": UNKNOWN,
        "confidence": 0.0,
        "citations": [],
        "explanation": why,
        "points": [],
        "quotes": [],
        "settled_by": "unsettled",
    }
    if "action" in reply:
        refused |= {"action": "answer", "questions": [], "entities": []}
    return {key: refused.get(key, value) for key, value in reply.items()} if {"answer", "points"} & reply.keys() else reply


def load() -> float:
    """Load the encoder and both networks; give the seconds that took, 0 where all was there; blocking."""
    encoder = load_encoder("minilm")
    if encoder.loaded and load_network.cache_info().currsize and load_pen.cache_info().currsize:
        return 0.0
    began = time.perf_counter()
    with _LOADING:  # many runs begin at once: one of them loads, the others wait
        encoder.load()
        load_network()
        load_pen()
    return time.perf_counter() - began
