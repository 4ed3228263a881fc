"""The text of an answer: sentences with their citations, written by the model or quoted (`style`), each checked for support."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_config, get_stream_writer
from langgraph.graph.message import push_message

from ramify.nodes.asking.answerer import OnText
from ramify.nodes.asking.ask import Answerer, Reply
from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.settings import UNSURE, Settings
from ramify.nodes.state import State, answer_id
from ramify.nodes.step import Update, call_model
from ramify.nodes.step.findings import branches_for_final_call, rank_passages, to_finding
from ramify.nodes.step.support import add_usage, check_sentences, leave_out_irrelevant
from ramify.nodes.tree import DROPPED, ROOT, ancestors, is_unknown, position
from ramify.nodes.tree.citation import (
    MAX_UNCITED,
    Citation,
    Sentence,
    cite,
    headings,
    mark_numbers,
    text_of_lines,
    without_marks,
    without_unfinished,
)
from ramify.prompts import WRITE
from ramify.prompts.prompt import Quote
from ramify.tools.search.relevance import NO_RERANKER
from ramify.tools.steps import in_step_order
from ramify.tools.supporting_sentence import QuestionAnswer, quote_support, split_sentences

_MARK_AFTER_STOP = re.compile(
    r"(?<![.!?。！？])([.!?。！？]++[\"'”’“»)\]*_]*+)((?:\s*+[\[【](?:passages? )?\d[\d,;– and-]*+[\]】])+)", re.IGNORECASE
)
_BETWEEN_MARKS = re.compile(r"(?<=[\]】])\s*[,;]\s*(?=[\[【]\d)")
"""Separators between marks."""
STREAM_TEXT = "ramify_stream_text"
"""Key in a config's `configurable`: whether anybody reads the streamed text."""
_TEXT_FIELDS = {"text", "sentences", "quoted"}
_NOT_WRITTEN = "the answer in sentences is quoted, not written"


def make_citations(state: State, answer: str, cited: Iterable[str], shown: tuple[str, ...]) -> list[Citation]:
    """Return citations of the cited passages, without duplicates; if none is cited, of the first shown ones, marked as not cited."""
    chosen = tuple(cited)
    passages = [state["passages"][key] for key in dict.fromkeys(chosen or shown[:MAX_UNCITED]) if key in state["passages"]]
    quotes = []
    for passage in passages:  # it may be quoted for the answer, then for those of the branches that cite it
        below = [branch for branch in state["tree"].values() if branch.known and passage.id in branch.cited]
        asked = [QuestionAnswer(state["question"], answer), *(QuestionAnswer(branch.question, branch.answer or "") for branch in below)]
        quotes.append(quote_support(passage.text, asked, headings(passage)))
    return cite(passages, quotes, bool(chosen))


def cite_reply(state: State, answer: str, reply: Reply[Any], before: Sequence[Citation] = ()) -> Update:
    """Return an update with the passages that a reply cites, in its text or list, and its text with renumbered citations.

    Citations in `before` stay cited, after the new ones.
    """
    text: str = getattr(reply.value, "text", "")
    passages = [passage.id for passage in reply.passages]
    in_text = [passages[number - 1] for number in mark_numbers(text) if 0 < number <= len(passages)]
    known = not is_unknown(answer)
    cited = dict.fromkeys((*in_text, *(reply.cited_ids() if known else ()), *(earlier.id for earlier in before if earlier.cited)))
    shown = tuple(earlier.id for earlier in before) or reply.shown_ids()
    citations = make_citations(state, answer, cited, shown if known else ())
    if not text.strip():
        return {"citations": citations, "text": ""}
    place = {citation.id: number for number, citation in enumerate(citations, 1) if citation.cited}
    renumbered = {number: [place[key]] for number, key in enumerate(passages, 1) if key in place}
    lines = parse_sentences(text, renumbered)
    if not in_text and place:  # without marks, all of it rests on all that is cited
        lines = with_citations(lines, place.values())
    return {"citations": citations, **text_update(lines)}


def written_answer(reply: Reply[Any], known: bool) -> Update:
    """Return what a branch keeps of a reply beside a known answer: the ids cited, and the text with its marks numbered by them."""
    passages, text = reply.shown_ids(), str(getattr(reply.value, "text", "")) if known else ""
    in_text = [passages[number - 1] for number in mark_numbers(text) if 0 < number <= len(passages)]
    cited = tuple(dict.fromkeys((*in_text, *reply.cited_ids())))
    numbers = {number: [cited.index(key) + 1] for number, key in enumerate(passages, 1) if key in cited}
    lines = parse_sentences(text, numbers)
    return {"cited": cited, "text": text_of_lines(lines if in_text else with_citations(lines, range(1, len(cited) + 1)))}


def parse_sentences(text: str, numbers: Mapping[int, Sequence[int]]) -> list[list[Sentence]]:
    """Split a text with marks into lines of sentences; `numbers` maps marks to citations, and other marks are dropped."""
    lines: list[list[Sentence]] = []
    for line in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        sentences: list[Sentence] = []
        for part in split_sentences(_MARK_AFTER_STOP.sub(r"\2\1", _BETWEEN_MARKS.sub("", line))):
            marks = dict.fromkeys(place for number in mark_numbers(part) for place in numbers.get(number, ()))
            before = sentences or (lines[-1] if lines else [])
            if bare := without_marks(part).strip():
                sentences.append(Sentence(text=bare, citations=tuple(marks)))
            elif before:  # marks on a line of their own
                before[-1] = before[-1].model_copy(update={"citations": tuple(dict.fromkeys((*before[-1].citations, *marks)))})
        lines.append(sentences)
    return [line for line in lines if line]


def with_citations(lines: Sequence[Sequence[Sentence]], places: Iterable[int]) -> list[list[Sentence]]:
    """Return lines of sentences with the same citations for all of them."""
    cited = tuple(places)
    return [[sentence.model_copy(update={"citations": cited}) for sentence in line] for line in lines]


def text_update(lines: Sequence[Sequence[Sentence]], quoted: bool = False) -> Update:
    """Return a state update with the sentences and the text made from them, with marks."""
    return {"text": text_of_lines(lines), "sentences": [sentence for line in lines for sentence in line], "quoted": quoted}


async def add_text(state: State, settings: Settings, model: Answerer, update: Update) -> Update:
    """Return the final update with a text, if it lacks one: written in one call, otherwise quoted; and with its sentences checked."""
    answered = not is_unknown(str(update["answer"]))
    if settings.style == "short":
        quoted = (
            await _quote_passages(state, model, update) if model.needs_quotation(str(update["answer"]), update.get("confidence")) else {}
        )
        return update | ({name: value for name, value in quoted.items() if name not in _TEXT_FIELDS} if "answer" in quoted else {})
    if model.writes_text(settings.style) and answered and "text" not in update and not update.get("error"):
        update = update | await _write_text(state, settings, update)
    if answered and not update.get("text"):
        update = update | _quote_citations(state, update)
    if model.needs_quotation(str(update["answer"]), update.get("confidence")):
        update = update | await _quote_passages(state, model, update)
    if answered and update.get("sentences") and not update.get("quoted"):
        update = update | leave_out_irrelevant(state, update)
    if not update.get("quoted") and update.get("sentences") and state["passages"] and settings.check != NO_RERANKER:
        update = update | await check_sentences(state, settings, update)
    return update


async def _write_text(state: State, settings: Settings, update: Update) -> Update:
    """Return an update with a known answer written in sentences by the model."""
    state = {**state, **{name: update[name] for name in ("notices",) if name in update}}  # type: ignore[typeddict-item]  # the same keys
    known = {**state["passages"], **update.get("passages", {})}
    ids = [citation.id for citation in update.get("citations", [])] or [
        passage.id for passage in rank_passages(state, state["tree"].values())
    ]
    passages = tuple(known[key] for key in ids if key in known)[: settings.final_k]
    answered = [branch for branch in branches_for_final_call(state, settings) if branch.answer is not None and branch.status not in DROPPED]
    findings = [to_finding(branch, known, ancestors(state["tree"], branch.path)) for branch in answered]
    answer = str(update["answer"])
    slots: dict[str, Any] = {"question": state["question"], "known": answer, "findings": findings}
    reply, spent = await call_model(state, WRITE, passages, fallback=_NOT_WRITTEN, on_text=text_streamer(state), **slots)
    spent = add_usage(update, spent)
    return spent if reply is None else {**spent, **cite_reply(state, answer, reply, update.get("citations", []))}


def text_streamer(state: State) -> OnText | None:
    """Return a callback that streams a text while it is generated: as custom events with all of it so far, and as message chunks.

    Without citation numbers, which are known only at the end.

    None if the config says that nobody reads the stream, so that replies need not be streamed, or if a person reviews the answer.
    """
    if CALL_CONTEXT.get().settings.reviewed == UNSURE or not get_config().get("configurable", {}).get(STREAM_TEXT, True):
        return None
    writer, identity, sent, tries = get_stream_writer(), answer_id(state), "", 0

    def on_text(text: str) -> None:
        nonlocal sent, tries
        shown = without_unfinished(text)
        if not shown.startswith(sent):  # it is written once more
            sent, tries = "", tries + 1
        if shown != sent:
            writer({"text": shown})
            push_message(AIMessageChunk(content=shown[len(sent) :], id=f"{identity}-text-{tries}"), state_key=None)
            sent = shown

    return on_text


def _quote_citations(state: State, update: Update) -> Update:
    """Return a text of quotations from the cited passages, in the order of the hops; those of a procedure in the order of its steps."""
    answer, cited = str(update["answer"]), [citation for citation in update.get("citations", []) if citation.cited]
    if not cited:
        return text_update([[Sentence(text=line)] for line in answer.splitlines() if line.strip()])
    hops = {key: branch.path for branch in reversed(state["tree"].values()) if branch.known and branch.path != ROOT for key in branch.cited}
    known = {**state["passages"], **update.get("passages", {})}
    ordered = in_step_order(sorted(cited, key=lambda citation: position(hops.get(citation.id, "9"))), lambda citation: known[citation.id])
    quotes: dict[str, list[int]] = {}
    for number, citation in enumerate(ordered, 1):
        quotes.setdefault(citation.quote.strip("… "), []).append(number)
    lines = [[Sentence(text=quote, citations=tuple(numbers), supported=True)] for quote, numbers in quotes.items() if quote]
    return {"citations": ordered, **text_update(lines, quoted=True)}


async def _quote_passages(state: State, model: Answerer, update: Update) -> Update:
    """Return an update that quotes sentences answering a question which no phrase answers, or the closest ones for an unsure answer."""
    passages = rank_passages(state, [branch for branch in state["tree"].values() if branch.status not in DROPPED])
    above = [" > ".join(dict.fromkeys(filter(None, headings(passage)))) for passage in passages]
    shown = [
        Quote(title=title, source=passage.source, text=passage.text, version=passage.version)
        for title, passage in zip(above, passages, strict=True)
    ]
    quotation = await asyncio.to_thread(model.find_quotation, state["question"], shown, str(update["answer"])) if shown else None
    if quotation is None or not quotation.lines:
        return {}
    before: list[Citation] = [] if quotation.answers else update.get("citations", [])
    said = {(citation.id, citation.quote) for citation in before}
    lines = [(passages[number - 1], quote) for number, quote in quotation.lines if (passages[number - 1].id, quote) not in said]
    lines = in_step_order(lines, lambda line: line[0])
    places: dict[str, list[str]] = {}
    for passage, quote in lines:
        places.setdefault(passage.id, []).append(quote)
    by_id = {passage.id: passage for passage, _ in lines}
    new = cite(
        [by_id[key] for key in places], ["\n".join(quotes) for quotes in places.values()], quotation.answers, closest=not quotation.answers
    )
    number = {citation.id: place for place, citation in enumerate(new, len(before) + 1)}
    quoted = [[Sentence(text=quote, citations=(number[passage.id],), supported=quotation.answers or None)] for passage, quote in lines]
    if not quotation.answers and not is_unknown(str(update["answer"])):  # these are no part of the text, which is about the answer
        return {"citations": [*before, *new]}
    update = {"citations": [*before, *new], **text_update(quoted, quoted=True)}
    if quotation.answers:
        conclusion: Update = {
            "answer": "\n".join(quote for _, quote in lines),
            "confidence": quotation.confidence,
            "confidence_source": "reader",
        }
        root = state["tree"][ROOT]
        update |= {**conclusion, "tree": {ROOT: root.with_status(root.status, **conclusion, cited=tuple(places))}}
    return update
