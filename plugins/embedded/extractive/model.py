"""The embedded model: one function per prompt of the toolkit. Deterministic, English, no language model.

The replies for building a graph or a hierarchy are here; builds with the embedded model use rules on the whole corpus instead.
"""

import threading
import time
from collections.abc import Callable
from itertools import combinations

from ramify.embedded.extractive import ReplyFields, Slots
from ramify.embedded.extractive._answers import (
    answer,
    compress,
    condense,
    decide,
    entities,
    filter_batch,
    follow_up,
    next_thought,
    summarize,
)
from ramify.embedded.extractive._findings import aggregate, finalize
from ramify.embedded.extractive.follow_ups import contextualize
from ramify.embedded.extractive.overviews import map_report, reduce
from ramify.embedded.extractive.questions import (
    judge,
    next_question,
    open_question_kind,
    plan,
    rubric,
    split_question,
    unreadable_reason,
)
from ramify.embedded.extractive.references import unclear_reference
from ramify.embedded.reader.reading import LARGE, SMALL
from ramify.embedded.splitting.writing import load_splitter
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.pretrained import MINILM
from ramify.tools.english import content_stems, find_names, sentences
from ramify.tools.errors import UsageError
from ramify.tools.no_answer import UNKNOWN

_SEPARATOR = " | "
_MAX_NAMES, _MAX_LINE_CHARS, _MAX_DESCRIPTION_CHARS, _MAX_TITLE_CHARS = 10, 120, 600, 80
_MAX_FINDINGS = 6
_MAX_SENTENCES = 5
_MAX_FINDING_CHARS = 220
_OVERVIEWS = ("map_report", "reduce")
_NOTHING_NAMED = "The question does not say what it asks about."
"""`When?` could be answered by any date."""
_NO_PHRASE = "The question asks for more than a phrase, and the extractive model quotes phrases."
_LOADING_LOCK = threading.Lock()


def extract(slots: Slots) -> ReplyFields:
    """Return capitalised names, and relations between names in the same sentence."""
    named_in = [(sentence, find_names(sentence)) for sentence in sentences(str(slots["text"]))]
    named = {name: sentence for sentence, names in reversed(named_in) for name in names}
    pairs = {pair: sentence for sentence, names in reversed(named_in) for pair in combinations(names, 2)}
    return {
        "entities": [_SEPARATOR.join((name, "", sentence))[:_MAX_LINE_CHARS] for name, sentence in named.items()][:_MAX_NAMES],
        "relations": [_SEPARATOR.join((one, other, sentence))[:_MAX_LINE_CHARS] for (one, other), sentence in pairs.items()][:_MAX_NAMES],
    }


def describe(slots: Slots) -> ReplyFields:
    """Join the descriptions."""
    texts = slots["descriptions"] if isinstance(slots["descriptions"], list) else [str(slots["descriptions"])]
    return {"description": " ".join(dict.fromkeys(map(str, texts)))[:_MAX_DESCRIPTION_CHARS]}


def report(slots: Slots) -> ReplyFields:
    """Quote the first lines of the material."""
    lines = [str(line) for line in slots["material"]] if isinstance(slots["material"], list) else [str(slots["material"])]
    findings = [f"{line[:_MAX_FINDING_CHARS]} [{number}]" for number, line in enumerate(lines[:_MAX_FINDINGS], 1)]
    return {"title": lines[0].partition(":")[0][:_MAX_TITLE_CHARS] if lines else "", "summary": "", "importance": 0.5, "findings": findings}


def quote_first(slots: Slots) -> ReplyFields:
    """Quote the first sentence of each of the first passages."""
    texts = slots["material"] if isinstance(slots["material"], list) else [str(slots["material"])]
    first = [listed[0] for text in texts if (listed := sentences(str(text)))]
    return {"sentences": list(dict.fromkeys(first))[:_MAX_SENTENCES]}


_REPLIES: dict[str, Callable[[Slots], ReplyFields]] = {
    **{reply.__name__: reply for reply in (aggregate, answer, compress, contextualize, decide, entities, finalize, judge, next_question)},
    **{reply.__name__: reply for reply in (describe, extract, map_report, plan, reduce, report, rubric, summarize)},
    **{reply.__name__: reply for reply in (condense, follow_up, next_thought)},
    "claims": lambda slots: {"claims": []},
    "check": lambda slots: {"unsupported": []},  # quotations are always supported
    "closed_book": lambda slots: {"answer": UNKNOWN, "confidence": 0.0, "citations": []},
    "decompose": split_question,
    "filter": filter_batch,
    "glean": lambda slots: {"entities": [], "relations": []},  # the rules would find nothing more
    "search_or_answer": follow_up,
    "summarize_cluster": quote_first,
    "translate": lambda slots: {"queries": slots["questions"]},  # it reads English only
    "write": lambda slots: {"text": slots["known"]},
    "support": quote_first,  # quotations are always supported
}


def reply_to(name: str, slots: Slots) -> ReplyFields:
    """Return the fields of the reply to a prompt of the toolkit, by its name; blocking. UsageError for an unknown prompt."""
    if name not in _REPLIES:
        remedy = "it answers the toolkit's own prompts; for any other, name a language model, such as ollama:llama3.1:8b"
        raise UsageError(f"the extractive model does not know the prompt {name!r}", remedy)
    question = str(slots.get("question", ""))
    reply = _REPLIES[name](slots)
    if objected := unreadable_reason(question):
        return _refuse(reply, objected)
    if name in _OVERVIEWS:  # they quote whole sentences, so any question is allowed
        return reply
    if "question" in slots and not content_stems(question):
        return _refuse(reply, _NOTHING_NAMED)
    if unclear := unclear_reference(question):
        return _refuse(reply, f"{unclear[0].upper()}{unclear[1:]}.")
    return _refuse(reply, _NO_PHRASE) if open_question_kind(question) else reply


def _refuse(reply: ReplyFields, why: str) -> ReplyFields:
    """Return the reply with Unknown as its answer, and the reason if it has a field for that."""
    refused: ReplyFields = {
        "answer": UNKNOWN,
        "confidence": 0.0,
        "citations": [],
        "explanation": why,
        "points": [],
        "quotes": [],
        "settled_by": "unsettled",
    }
    if "action" in reply:  # the action stays, since not every action is allowed
        refused |= {"questions": [], "entities": []}
    return {key: refused.get(key, value) for key, value in reply.items()} if {"answer", "points"} & reply.keys() else reply


def load_models(large: bool = False) -> float:
    """Load the encoder, the splitter and a reader; return the seconds it took, 0 if all were loaded; blocking."""
    encoder, reader = load_encoder(MINILM), LARGE if large else SMALL
    if encoder.loaded and reader.loaded and load_splitter.cache_info().currsize:
        return 0.0
    began = time.perf_counter()
    with _LOADING_LOCK:  # of concurrent runs one loads, the others wait
        encoder.load()
        reader.load()
        load_splitter()
    return time.perf_counter() - began
