"""The grounds of an agent's message: for each sentence the quotations, among those that its tools gave, that say it."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from ramify.nodes.step.text import parse_sentences
from ramify.nodes.tree.citation import Citation, Sentence, cite, mark_numbers, with_marks
from ramify.tools.english import content_stems
from ramify.tools.no_answer import is_unknown
from ramify.tools.passage import Passage
from ramify.tools.quoting import one_line
from ramify.tools.reader import READER, Material, Reader, find_reader
from ramify.tools.search.relevance import NO_RERANKER
from ramify.tools.supporting_sentence import QuestionAnswer, contains_answer, quote_support

NO_SOURCE, NOT_SAID = " (no source)", " (no cited passage says this)"
"""Marks behind a sentence without a ground, and behind one whose declared grounds do not say it."""
SOURCES = "Sources:"
_OWN_SOURCES = re.compile(r"\n+Sources:[ \t]*(?:\n[ \t]*(?:[-*][ \t]*)?\[\d{1,3}\][^\n]*)+$")
"""A list of sources that the model has written in the manner of earlier messages."""
_FENCE = re.compile(r"\s*(?:```|~~~)")
_LINE_BEGIN = re.compile(r"\s*(?:(?:[-*•+>]|\d{1,3}[.)])\s+)*")
_NO_STATEMENT = re.compile(r"[?？:：][\s\"'”’»)*_]*$|^\s*#")
"""Questions, lines that introduce a list, and headings."""
_LETTER = re.compile(r"\w")
_MAX_MARK = 99
_EVERY_MARK = {number: [number] for number in range(1, _MAX_MARK + 1)}


class Reply(NamedTuple):
    """What a tool gave: its numbered quotations, and the questions that it answered with them."""

    citations: tuple[Citation, ...]
    asked: tuple[QuestionAnswer, ...] = ()
    """The question and its answer, then those of its parts."""

    @property
    def materials(self) -> list[Material]:
        """Return the passages as a reader takes them."""
        return [_material(citation) for citation in self.citations]

    @property
    def cited(self) -> list[int]:
        """Return the numbers, from 1, of the quotations that the answer rests on."""
        return [number for number, citation in enumerate(self.citations, 1) if citation.cited]


@dataclass(frozen=True)
class GroundedText:
    """A text, its sentences with the numbers of their grounds, and the grounds."""

    text: str
    sentences: list[Sentence]
    """`supported` is True where a ground says it, False where none does, None for what states nothing or cannot be judged."""
    citations: list[Citation]

    @property
    def without_ground(self) -> list[Sentence]:
        """Return the sentences that no ground says."""
        return [sentence for sentence in self.sentences if sentence.supported is False]

    def better_than(self, other: "GroundedText") -> bool:
        """Return whether fewer sentences lack a ground, and not because nothing is said any more."""
        if not other.sentences:
            return bool(self.sentences)
        says, said = (any(sentence.supported for sentence in text.sentences) for text in (self, other))
        return len(self.without_ground) < len(other.without_ground) and (says or not said)


def read_replies(messages: Sequence[AnyMessage], tools: Collection[str]) -> list[Reply]:
    """Return what the tools of some names gave in a conversation, the latest first; errors give nothing.

    The whole text of another tool than ramify's is one quotation.
    """
    given = [message for message in messages if isinstance(message, ToolMessage) and message.name in tools and message.status != "error"]
    return [_read_reply(message) for message in reversed(given)]


def _read_reply(message: ToolMessage) -> Reply:
    artifact: Any = message.artifact
    if isinstance(artifact, dict) and "citations" in artifact:
        asked = [artifact, *artifact["tree"]] if "tree" in artifact else []
        known = [QuestionAnswer(branch["question"], branch["answer"]) for branch in asked if not is_unknown(branch["answer"] or "")]
        return Reply(tuple(map(Citation.model_validate, artifact["citations"])), tuple(known))
    if isinstance(artifact, list):
        passages = [Passage.model_validate(row) for row in artifact]
        return Reply(tuple(cite(passages, [""] * len(passages), cited=True)))
    return Reply((Citation(id=message.tool_call_id, source=str(message.name), text=message.text),))


def last_question(messages: Sequence[AnyMessage]) -> str:
    """Return the last message of the user."""
    return next((message.text for message in reversed(messages) if isinstance(message, HumanMessage)), "")


def ground(text: str, replies: Sequence[Reply], check: str = READER) -> GroundedText:
    """Return a text whose sentences have the numbers of their grounds; blocking.

    A sentence has those that it names, in brackets, if they say it, else those that are found to say it. `check` names who judges: the
    reader, a cross-encoder, or none: then every ground that is named counts, and none is found. ModelError if there is no such model.
    """
    reader = None if check == NO_RERANKER else find_reader()
    sources: dict[tuple[str, str], int] = {}
    citations: list[Citation] = []

    def place(sentence: Sentence, citation: Citation) -> int:
        number = sources.setdefault((citation.id, citation.text), len(sources) + 1)
        if number > len(citations):
            quote = citation.quote or quote_support(citation.text, [QuestionAnswer(sentence.text, "")])
            citations.append(citation.model_copy(update={"quote": quote, "cited": True, "closest": False}))
        return number

    sentences: list[Sentence] = []
    lines: list[str] = []
    for begin, parts in _split_text(_OWN_SOURCES.sub("", text.rstrip())):
        grounded = []
        for part in parts:
            if isinstance(part, str):
                grounded.append(part)
                continue
            supported, found = _find_grounds(part, replies, reader, check)
            sentence = part.model_copy(
                update={"supported": supported, "citations": tuple(dict.fromkeys(place(part, one) for one in found))}
            )
            sentences.append(sentence)
            missing = "" if supported is not False else NOT_SAID if sentence.citations else NO_SOURCE
            grounded.append(with_marks(sentence) + missing)
        lines.append(begin + " ".join(grounded))
    listed = [f"[{number}] {one_line(citation.where)}: {one_line(citation.quote)}" for number, citation in enumerate(citations, 1)]
    return GroundedText("\n".join([*lines, *(["", SOURCES, *listed] if listed else [])]), sentences, citations)


def _split_text(text: str) -> Iterator[tuple[str, list[Sentence | str]]]:
    """Yield for each line its indentation and bullet, and its sentences; code as it is."""
    in_code = False
    for line in text.split("\n"):
        is_fence = _FENCE.match(line) is not None
        if in_code or is_fence or not line.strip():
            yield "", [line]
        else:
            begin = _LINE_BEGIN.match(line)
            width = begin.end() if begin else 0
            rest = line[width:]
            parsed = [sentence for sentences in parse_sentences(rest, _EVERY_MARK) for sentence in sentences]
            said = [sentence for sentence in parsed if _LETTER.search(sentence.text)]
            yield line[:width], [*said] or ([] if mark_numbers(rest) else [rest])
        in_code ^= is_fence


def _find_grounds(sentence: Sentence, replies: Sequence[Reply], reader: Reader | None, check: str) -> tuple[bool | None, list[Citation]]:
    """Return whether a sentence is said, and by which quotations; None if it states nothing.

    Several tools may have given the same number: those of the latest that say it count.
    """
    named = [_named(reply, sentence.citations) for reply in replies]
    declared = next(filter(None, named), [])
    if not declared and _states_nothing(sentence):
        return None, []
    if reader is None:
        return bool(declared), declared
    text = sentence.text
    for reply, own in zip(replies, named, strict=True):
        if own and (verdict := reader.check_support(text, list(map(_material, own)), reply.asked, check)) is not False:
            return verdict, own
    for reply in replies:
        if (number := reader.find_source(text, reply.materials, reply.asked)) is not None:
            return True, [reply.citations[number]]
        if _concludes(text, reply.asked):
            return True, _named(reply, reply.cited)
    return False, declared


def _concludes(sentence: str, asked: Sequence[QuestionAnswer]) -> bool:
    """Return whether a sentence says the answer to a question in its words, and nothing else."""
    words = content_stems(sentence)
    return any(contains_answer(sentence, answer) and words <= content_stems(f"{question} {answer}") for question, answer in asked)


def _states_nothing(sentence: Sentence) -> bool:
    """Return whether a sentence asks, introduces or says that there is no answer."""
    return _NO_STATEMENT.search(sentence.text) is not None or is_unknown(sentence.text)


def _named(reply: Reply, numbers: Sequence[int]) -> list[Citation]:
    return [reply.citations[number - 1] for number in numbers if 0 < number <= len(reply.citations)]


def _material(citation: Citation) -> Material:
    return Material(" ".join(filter(None, (citation.title, citation.heading))), citation.text)
