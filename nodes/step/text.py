"""The text of an answer (`style=full`): sentences with their citations, written by the model or quoted, each checked for support."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_config, get_stream_writer
from langgraph.graph.message import push_message

from ramify.nodes.asking.answerer import OnText
from ramify.nodes.asking.ask import Answerer, Reply
from ramify.nodes.asking.budget import CURRENT
from ramify.nodes.settings import UNSURE, Settings
from ramify.nodes.state import State, answer_id, merge_max
from ramify.nodes.step import Update, call_model
from ramify.nodes.step.findings import finding, ranked, shown_at_last
from ramify.nodes.tree import DROPPED, ROOT, Tree, ancestors, is_unknown, position
from ramify.nodes.tree.citation import SHOWN, Citation, Sentence, cite, headings, marked, numbers_in, without_marks, without_unfinished
from ramify.prompts import CHECK, WRITE
from ramify.prompts.prompt import Quote
from ramify.tools.errors import ModelError
from ramify.tools.languages import detect_language
from ramify.tools.relevance import MODEL, NO_RERANKER, is_supported, missing_facts
from ramify.tools.supporting_sentence import QuestionAnswer, quote_support, split_sentences

_BEHIND_STOP = re.compile(r"([.!?。！？]+[\"'”’“»)\]*_]*)((?:\s*[\[【](?:passages? )?\d[\d,;– and-]*[\]】])+)", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<=[\]】])\s*[,;]\s*(?=[\[【]\d)")
"""What separates marks."""
STREAM_TEXT = "ramify_stream_text"
"""The name in a config's `configurable` that says whether anybody reads a text while it is written."""
_TEXT = {"text", "sentences", "quoted"}
_NOT_WRITTEN = "the answer in sentences is quoted, not written"


def citations(state: State, answer: str, cited: Iterable[str], shown: tuple[str, ...]) -> list[Citation]:
    """Turn the ids of the cited passages into citations, each once; where none is cited, the first that were shown, marked so."""
    chosen = tuple(cited)
    passages = [state["passages"][key] for key in dict.fromkeys(chosen or shown[:SHOWN]) if key in state["passages"]]
    quotes = []
    for passage in passages:  # it may be quoted for the answer, then for those of the branches that cite it
        below = [branch for branch in state["tree"].values() if branch.known and passage.id in branch.cited]
        asked = [QuestionAnswer(state["question"], answer), *(QuestionAnswer(branch.question, branch.answer or "") for branch in below)]
        quotes.append(quote_support(passage.text, asked, headings(passage)))
    return cite(passages, quotes, bool(chosen))


def written(state: State, answer: str, reply: Reply[Any], before: Sequence[Citation] = ()) -> Update:
    """Cite what a reply names, in its text and by its list, and take the text over with the numbers of the citations.

    What was cited `before` stays cited, behind that.
    """
    text: str = getattr(reply.value, "text", "")
    passages = [passage.id for passage in reply.passages]
    in_text = [passages[number - 1] for number in numbers_in(text) if 0 < number <= len(passages)]
    known = not is_unknown(answer)
    cited = dict.fromkeys((*in_text, *(reply.cited() if known else ()), *(one.id for one in before if one.cited)))
    shown = tuple(one.id for one in before) or reply.shown()
    found = citations(state, answer, cited, shown if known else ())
    if not text.strip():
        return {"citations": found, "text": ""}
    place = {citation.id: number for number, citation in enumerate(found, 1) if citation.cited}
    renumbered = {number: [place[key]] for number, key in enumerate(passages, 1) if key in place}
    lines = split(text, renumbered)
    if not in_text and place:  # without marks, all of it rests on all that is cited
        lines = resting_on(lines, place.values())
    return {"citations": found, **in_lines(lines)}


def split(text: str, numbers: Mapping[int, Sequence[int]]) -> list[list[Sentence]]:
    """Split a text with marks into lines of sentences; `numbers` leads from a mark to citations, and any other mark is dropped."""
    lines: list[list[Sentence]] = []
    for line in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        found: list[Sentence] = []
        for part in split_sentences(_BEHIND_STOP.sub(r"\2\1", _BETWEEN.sub("", line))):
            marks = dict.fromkeys(place for number in numbers_in(part) for place in numbers.get(number, ()))
            before = found or (lines[-1] if lines else [])
            if bare := without_marks(part).strip():
                found.append(Sentence(text=bare, citations=tuple(marks)))
            elif before:  # marks on a line of their own
                before[-1] = before[-1].model_copy(update={"citations": tuple(dict.fromkeys((*before[-1].citations, *marks)))})
        lines.append(found)
    return [line for line in lines if line]


def resting_on(lines: Sequence[Sequence[Sentence]], places: Iterable[int]) -> list[list[Sentence]]:
    """Return lines of sentences that all cite the same."""
    cited = tuple(places)
    return [[one.model_copy(update={"citations": cited}) for one in line] for line in lines]


def in_lines(lines: Sequence[Sequence[Sentence]], quoted: bool = False) -> Update:
    """Return lines of sentences as an update of the state: the text, each sentence with its marks, and the sentences."""
    text = "\n".join(" ".join(map(marked, line)) for line in lines)
    return {"text": text, "sentences": [sentence for line in lines for sentence in line], "quoted": quoted}


async def complete(state: State, settings: Settings, model: Answerer, update: Update) -> Update:
    """Add the text to an update that concludes a question, where it has none: written in one call, else quoted; and check it."""
    answered = not is_unknown(str(update["answer"]))
    if settings.style == "short":
        found = await _quoted_by(state, model, update) if model.quotes(str(update["answer"]), update.get("confidence")) else {}
        return update | ({name: value for name, value in found.items() if name not in _TEXT} if "answer" in found else {})
    if answered and "text" not in update and model.writes and not update.get("error"):
        update = update | await _write(state, settings, update)
    if answered and not update.get("text"):
        update = update | _quotation(state["tree"], update)
    if model.quotes(str(update["answer"]), update.get("confidence")):
        update = update | await _quoted_by(state, model, update)
    sentences: list[Sentence] = update.get("sentences", [])
    if not update.get("quoted") and sentences and state["passages"] and settings.check != NO_RERANKER:
        update = update | await _checked(state, settings, sentences, update)
    return update


async def _write(state: State, settings: Settings, update: Update) -> Update:
    """Have an answer that is known written in sentences."""
    state = {**state, **{name: update[name] for name in ("notices",) if name in update}}  # type: ignore[typeddict-item]  # the same keys
    held = {**state["passages"], **update.get("passages", {})}
    ids = [citation.id for citation in update.get("citations", [])] or [passage.id for passage in ranked(state, state["tree"].values())]
    passages = tuple(held[key] for key in ids if key in held)[: settings.final_k]
    told = [branch for branch in shown_at_last(state, settings) if branch.answer is not None and branch.status not in DROPPED]
    findings = [finding(branch, held, ancestors(state["tree"], branch.path)) for branch in told]
    answer = str(update["answer"])
    slots: dict[str, Any] = {"question": state["question"], "known": answer, "findings": findings}
    reply, spent = await call_model(state, WRITE, passages, instead=_NOT_WRITTEN, on_text=hand_on(state), **slots)
    spent = _beside(update, spent)
    return spent if reply is None else {**spent, **written(state, answer, reply, update.get("citations", []))}


def _beside(update: Update, spent: Update) -> Update:
    """Book a call beside what the question has cost; its failure is none of the question's, which has its answer."""
    kept = {name: value for name, value in spent.items() if name not in ("stopped_by", "error")}
    usage = update["usage"] + spent["usage"] if "usage" in update else spent["usage"]
    return {**kept, "usage": usage, "shown": merge_max(update.get("shown"), spent["shown"])}


def hand_on(state: State) -> OnText | None:
    """Return what hands a text on while it is written: as custom events with all of it so far, and as chunks of a message.

    Without numbers: those of the citations are known at the end.

    None where whoever runs the graph has said that nobody reads it: then replies need not be streamed; and where a person is asked first.
    """
    if CURRENT.get().settings.reviewed == UNSURE or not get_config().get("configurable", {}).get(STREAM_TEXT, True):
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


def _quotation(tree: Tree, update: Update) -> Update:
    """Quote the passages that an answer rests on, in the order in which they were found: first hop first."""
    answer, cited = str(update["answer"]), [citation for citation in update.get("citations", []) if citation.cited]
    if not cited:
        return in_lines([[Sentence(text=line)] for line in answer.splitlines() if line.strip()])
    hops = {key: branch.path for branch in reversed(tree.values()) if branch.known and branch.path != ROOT for key in branch.cited}
    ordered = sorted(cited, key=lambda citation: position(hops.get(citation.id, "9")))
    quotes: dict[str, list[int]] = {}
    for number, citation in enumerate(ordered, 1):
        quotes.setdefault(citation.quote.strip("… "), []).append(number)
    lines = [[Sentence(text=quote, citations=tuple(numbers), supported=True)] for quote, numbers in quotes.items() if quote]
    return {"citations": ordered, **in_lines(lines, quoted=True)}


async def _quoted_by(state: State, model: Answerer, update: Update) -> Update:
    """Quote what answers a question that no phrase answers; where it has no answer, or a doubtful one, what comes closest to it."""
    passages = ranked(state, [branch for branch in state["tree"].values() if branch.status not in DROPPED])
    above = [" > ".join(dict.fromkeys(filter(None, headings(passage)))) for passage in passages]
    shown = [Quote(title=title, source=passage.source, text=passage.text) for title, passage in zip(above, passages, strict=True)]
    found = await asyncio.to_thread(model.quotation, state["question"], shown, str(update["answer"])) if shown else None
    if found is None or not found.lines:
        return {}
    before: list[Citation] = [] if found.answers else update.get("citations", [])
    said = {(citation.id, citation.quote) for citation in before}
    lines = [(passages[number - 1], quote) for number, quote in found.lines if (passages[number - 1].id, quote) not in said]
    places: dict[str, list[str]] = {}
    for passage, quote in lines:
        places.setdefault(passage.id, []).append(quote)
    by_id = {passage.id: passage for passage, _ in lines}
    new = cite([by_id[key] for key in places], ["\n".join(quotes) for quotes in places.values()], found.answers, closest=not found.answers)
    number = {citation.id: place for place, citation in enumerate(new, len(before) + 1)}
    quoted = [[Sentence(text=quote, citations=(number[passage.id],), supported=found.answers or None)] for passage, quote in lines]
    kept = [] if found.answers else [[sentence] for sentence in update.get("sentences", [])]
    update = {"citations": [*before, *new], **in_lines([*kept, *quoted], quoted=True)}
    if found.answers:
        told: Update = {"answer": "\n".join(quote for _, quote in lines), "confidence": found.confidence, "confidence_source": "reader"}
        root = state["tree"][ROOT]
        update |= {**told, "tree": {ROOT: root.to(root.status, **told, cited=tuple(places))}}
    return update


async def _checked(state: State, settings: Settings, sentences: Sequence[Sentence], update: Update) -> Update:
    """Say of each sentence whether what it cites supports it: names and numbers first, then the rest as `check` says."""
    cited: list[Citation] = update.get("citations", [])
    texts = [[f"{cited[n - 1].title} {cited[n - 1].heading}: {cited[n - 1].text}" for n in one.citations] for one in sentences]
    spent: Update = {}
    verdicts: Sequence[bool | None] | None
    if settings.check == MODEL:
        verdicts, spent = await _asked_of_model(state, sentences, texts, update)
        if verdicts is None:
            return spent
    else:
        by, language = settings.check, detect_language(str(update["text"])) or detect_language(state["question"])
        try:
            verdicts = await asyncio.to_thread(
                lambda: [is_supported(one.text, told, by, language) for one, told in zip(sentences, texts, strict=True)]
            )
        except ModelError as error:
            return {"notices": [*update.get("notices", state["notices"]), f"the sentences were not checked: {error}"]}
    if is_unknown(str(update["answer"])):  # then what cites nothing says what is missing
        verdicts = [verdict if told else None for verdict, told in zip(verdicts, texts, strict=True)]
    return {**spent, "sentences": [one.model_copy(update={"supported": ok}) for one, ok in zip(sentences, verdicts, strict=True)]}


async def _asked_of_model(
    state: State, sentences: Sequence[Sentence], texts: Sequence[Sequence[str]], update: Update
) -> tuple[list[bool] | None, Update]:
    """Ask the model which sentences the passages do not support; one whose names or numbers are missing needs no asking.

    Return the verdicts, None where there is no reply, and the update that books the call.
    """
    stand = [bool(told) and not missing_facts(one.text, told) for one, told in zip(sentences, texts, strict=True)]
    if not any(stand):
        return stand, {}
    held = {**state["passages"], **update.get("passages", {})}
    passages = tuple(held[citation.id] for citation in update["citations"] if citation.cited and citation.id in held)
    listed = [marked(one) for one in sentences]
    noticed: State = {**state, "notices": update.get("notices", state["notices"])}
    reply, spent = await call_model(noticed, CHECK, passages, instead="the sentences were not checked", said=listed)
    spent = _beside(update, spent)
    if reply is None:
        return None, spent
    wrong = set(reply.value.unsupported)
    return [ok and number not in wrong for number, ok in enumerate(stand, 1)], spent
