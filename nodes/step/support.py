"""Say of each sentence of a text whether a passage says it, cite the passage that does, and leave out what was only copied from one."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ramify.nodes.settings import Settings
from ramify.nodes.state import State, merge_max
from ramify.nodes.step import Update, call_model
from ramify.nodes.tree import Passage, is_unknown
from ramify.nodes.tree.citation import Citation, Sentence, cite, group_by_line, headings, text_of, text_of_lines, with_marks
from ramify.prompts import CHECK
from ramify.tools.english import content_stems, fold
from ramify.tools.errors import ModelError
from ramify.tools.languages import detect_language
from ramify.tools.reader import READER, Material, Reader, find_reader
from ramify.tools.search.relevance import MODEL
from ramify.tools.supporting_sentence import QuestionAnswer, contains_answer, quote_support

_MIN_COPIED, _MIN_COPIED_WORDS = 3, 5
"""Sentences of a text that stand in a passage word for word, from which it is a copy; and the least words of such a sentence."""
_PASSAGE = re.compile(r"\bpassages?\b", re.IGNORECASE)
"""The prompts' word for what is shown, which a reader of the answer does not see."""
_NOT_CHECKED = "the sentences were not checked"


async def check_sentences(state: State, settings: Settings, update: Update) -> Update:
    """Return an update with each sentence marked as supported or not by its citations, as the setting `check` says.

    A sentence whose citations do not say it cites the shown passage that does, too. Conclusions are not marked. Where no reader is
    installed, only the model checks.
    """
    asked = asked_with_answers(state, str(update["answer"]))
    language = detect_language(str(update["text"])) or detect_language(state["question"])
    by = READER if settings.check == MODEL else settings.check
    try:
        sentences, citations = update["sentences"], update.get("citations", [])
        reader = find_reader()
        if reader is None and settings.check != MODEL and "check" in settings.model_fields_set:
            raise ModelError("no reader is installed", f"install one, or set check={MODEL}")
        if reader is not None:
            if not is_unknown(str(update["answer"])):  # then what cites nothing says what is missing
                sentences, citations = await asyncio.to_thread(_attribute, reader, state, update, asked)
            sentences = await asyncio.to_thread(_with_verdicts, reader, sentences, citations, asked, by, language)
    except ModelError as error:
        return {"notices": [*update.get("notices", state["notices"]), f"{_NOT_CHECKED}: {error}"]}
    attributed: Update = {
        "citations": citations,
        "sentences": sentences,
        "text": text_of(str(update["text"]), update["sentences"], sentences),
    }
    if settings.check == MODEL and any(sentence.supported is not False and sentence.citations for sentence in sentences):
        attributed |= await _check_with_model(state, attributed, update, only=reader is None)
    if is_unknown(str(update["answer"])):
        unmarked = [
            sentence if sentence.citations else sentence.model_copy(update={"supported": None}) for sentence in attributed["sentences"]
        ]
        attributed["sentences"] = unmarked
    return attributed


def asked_with_answers(state: State, answer: str) -> list[QuestionAnswer]:
    """Return the question and its answer, then those of the branches that have one."""
    known = [branch for branch in state["tree"].values() if branch.known and branch.kind == "question"]
    return [QuestionAnswer(state["question"], answer), *(QuestionAnswer(branch.question, branch.answer or "") for branch in known)]


def leave_out_irrelevant(state: State, update: Update) -> Update:
    """Return a text without the sentences that say nothing of the question: small models copy passages, and tell of them as such.

    What is left out has no answer. A sentence that stands in a passage bears on the question if it has a word of a question or an answer
    that is not the subject of all: one in the passage's title, or in most of the copied sentences.
    """
    sentences: list[Sentence] = update["sentences"]
    asked = [pair for pair in asked_with_answers(state, str(update["answer"])) if not is_unknown(pair.answer)]
    irrelevant = _idle_copies(update, asked) | _told_of_passages(state, update)
    dropped = {number for number in irrelevant if not any(contains_answer(sentences[number].text, pair.answer) for pair in asked)}
    if not dropped or len(dropped) == len(sentences):
        return {}
    places = iter(range(len(sentences)))
    lines = [[(next(places), sentence) for sentence in line] for line in group_by_line(str(update["text"]), sentences)]
    kept = [[sentence for number, sentence in line if number not in dropped] for line in lines]
    return {"sentences": [sentence for line in kept for sentence in line], "text": text_of_lines([line for line in kept if line])}


def _idle_copies(update: Update, asked: Sequence[QuestionAnswer]) -> set[int]:
    """Return the numbers of copied sentences that do not bear on the question, if the text is a copy."""
    passages = [(fold(citation.text), content_stems(f"{citation.title} {citation.heading}")) for citation in update.get("citations", [])]
    copied: dict[int, frozenset[str]] = {}
    for number, sentence in enumerate(update["sentences"]):
        folded = fold(sentence.text)
        titles = [title for text, title in passages if folded in text]
        if titles and len(folded.split()) >= _MIN_COPIED_WORDS:
            copied[number] = content_stems(sentence.text) - frozenset().union(*titles)
    if len(copied) < _MIN_COPIED:
        return set()
    counts = Counter(word for words in copied.values() for word in words)
    stems = content_stems(" ".join(f"{pair.question} {pair.answer}" for pair in asked))
    words = {word for word in stems if 2 * counts[word] <= len(copied)}
    return {number for number, own in copied.items() if not own & words}


def _told_of_passages(state: State, update: Update) -> set[int]:
    """Return the numbers of the sentences that speak of passages, where neither the question nor a cited passage does."""
    if _PASSAGE.search(" ".join([state["question"], *(citation.text for citation in update.get("citations", []))])):
        return set()
    return {number for number, sentence in enumerate(update["sentences"]) if _PASSAGE.search(sentence.text)}


def _attribute(reader: Reader, state: State, update: Update, asked: Sequence[QuestionAnswer]) -> tuple[list[Sentence], list[Citation]]:
    """Return the sentences with the citations that they lack, and all citations; blocking.

    The bare answer gets none: a passage that has its words need not say that they answer the question.
    """
    answer = fold(str(update["answer"]))
    citations: list[Citation] = list(update.get("citations", []))
    cited = {citation.id for citation in citations}
    shown = merge_max(state.get("shown"), update.get("shown"))
    known: dict[str, Passage] = {**state["passages"], **update.get("passages", {})}
    others = [known[key] for key in shown if key in known and key not in cited]
    materials = [_material(passage) for passage in citations] + [
        Material(" ".join(headings(passage)), passage.text[: shown[passage.id]]) for passage in others
    ]
    places = {number: number for number in range(len(citations))}
    given: list[Sentence] = update["sentences"]
    unmarked = len(given) > 1 and len({sentence.citations for sentence in given}) == 1  # all cite all: the model has marked none
    sentences = []
    for sentence in given:
        own = [materials[number - 1] for number in sentence.citations]
        if unmarked and len(own) > 1 and (alone := reader.find_source(sentence.text, own, asked)) is not None:
            sentences.append(sentence.model_copy(update={"citations": (sentence.citations[alone],)}))
            continue
        is_complete = fold(sentence.text) == answer or (own and reader.check_support(sentence.text, own, asked) is not False)
        source = None if is_complete else _find(reader, sentence, own, materials, asked)
        if source is not None:
            if source not in places:
                places[source] = len(citations)
                citations.append(_citation(others[source - len(materials) + len(others)], sentence.text))
            place = places[source]
            citations[place] = citations[place].model_copy(update={"cited": True, "closest": False})
            sentence = sentence.model_copy(update={"citations": tuple(dict.fromkeys((*sentence.citations, place + 1)))})
        sentences.append(sentence)
    return sentences, citations


def _find(
    reader: Reader, sentence: Sentence, own: list[Material], materials: Sequence[Material], asked: Sequence[QuestionAnswer]
) -> int | None:
    """Return the number of the passage that says a sentence, else of one that says it together with those that it cites."""
    if (source := reader.find_source(sentence.text, materials, asked)) is not None or not own:
        return source
    others = ((number, material) for number, material in enumerate(materials) if material not in own)
    return next((number for number, material in others if reader.check_support(sentence.text, [*own, material], asked)), None)


def _citation(passage: Passage, sentence: str) -> Citation:
    return cite([passage], [quote_support(passage.text, [QuestionAnswer(sentence, "")], headings(passage))], cited=True)[0]


def _material(citation: Citation) -> Material:
    return Material(" ".join(filter(None, (citation.title, citation.heading))), citation.text)


def _with_verdicts(
    reader: Reader,
    sentences: Sequence[Sentence],
    citations: Sequence[Citation],
    asked: Sequence[QuestionAnswer],
    by: str,
    language: str | None,
) -> list[Sentence]:
    """Return the sentences with what their citations say of them; blocking."""
    own = [[_material(citations[number - 1]) for number in sentence.citations] for sentence in sentences]
    verdicts = [
        reader.check_support(sentence.text, materials, asked, by, language) for sentence, materials in zip(sentences, own, strict=True)
    ]
    return [sentence.model_copy(update={"supported": verdict}) for sentence, verdict in zip(sentences, verdicts, strict=True)]


async def _check_with_model(state: State, attributed: Update, update: Update, only: bool) -> Update:
    """Return an update in which the model has found further unsupported sentences, with the call's usage; no verdicts without a reply.

    only: whether nothing else checks, so that a sentence with citations is supported unless the model denies it.
    """
    sentences: list[Sentence] = attributed["sentences"]
    known = {**state["passages"], **update.get("passages", {})}
    passages = tuple(known[citation.id] for citation in attributed["citations"] if citation.cited and citation.id in known)
    noticed: State = {**state, "notices": update.get("notices", state["notices"])}
    listed = [with_marks(sentence) for sentence in sentences]
    reply, spent = await call_model(noticed, CHECK, passages, fallback=_NOT_CHECKED, sentences=listed)
    spent = add_usage(update, spent)
    if reply is None:  # with the citations that were added, so that sentences and text agree, but without verdicts
        return {**spent, "sentences": [sentence.model_copy(update={"supported": None}) for sentence in sentences]}
    wrong = set(reply.value.unsupported)
    known_verdicts = [bool(known.citations) or None if only else known.supported for known in sentences]
    checked = [
        sentence.model_copy(update={"supported": verdict and number not in wrong})
        for number, (sentence, verdict) in enumerate(zip(sentences, known_verdicts, strict=True), 1)
    ]
    return {**spent, "sentences": checked}


def add_usage(update: Update, spent: Update) -> Update:
    """Return the usage of an additional call added to an update's; its failure does not stop the question, which has an answer."""
    kept: dict[str, Any] = {name: value for name, value in spent.items() if name not in ("stopped_by", "error")}
    usage = update["usage"] + spent["usage"] if "usage" in update else spent["usage"]
    return {**kept, "usage": usage, "shown": merge_max(update.get("shown"), spent["shown"])}
