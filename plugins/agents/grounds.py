"""The grounds of an agent's message: for each sentence the quotations, among those that its tools gave, that say it."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import AnyMessage, ToolMessage
from pydantic import ValidationError

from ramify.agents.markdown import escape_markdown
from ramify.agents.message import Statement, put_behind, split_message
from ramify.nodes.tree.citation import Citation, Sentence, cite
from ramify.tools.english import content_stems
from ramify.tools.no_answer import is_unknown
from ramify.tools.passage import Passage
from ramify.tools.quoting import collapse_whitespace, one_line
from ramify.tools.reader import READER, Material, Reader, find_reader
from ramify.tools.search.relevance import NO_RERANKER
from ramify.tools.supporting_sentence import QuestionAnswer, contains_answer, quote_support

NO_SOURCE, NOT_SAID, NOT_CHECKED = "(no source)", "(no cited passage says this)", "(not checked)"
"""Notes behind a sentence without a ground, one that its declared grounds do not say, and one of which that cannot be told."""
SOURCES = "Sources:"
_OWN_NOTES = re.compile(rf" ?(?:{'|'.join(map(re.escape, (NO_SOURCE, NOT_SAID, NOT_CHECKED)))})")
_OWN_SOURCES = re.compile(
    r"(?<!\n)\n+[ \t]*(?:#{1,6}[ \t]*)?\**(?:sources?|references?|citations?):?\**:?[ \t]*"
    r"(?:\n\s*(?:[-*][ \t]+)?(?:\[\d{1,3}\]|\d{1,3}[.)][ \t])[^\n]*)+\s*$",
    re.IGNORECASE,
)
"""Notes, and a list of sources, that the model has written in the manner of earlier messages."""
_NO_STATEMENT = re.compile(r"[?？:：][\s\"'”’»)]*$")
"""Questions, and lines that introduce a list."""
_MAX_TOGETHER = 8
"""Most quotations that are tried together for a sentence."""


class Reply(NamedTuple):
    """What a tool gave: its numbered quotations, and the questions that it answered with them."""

    citations: tuple[Citation, ...]
    asked: tuple[QuestionAnswer, ...] = ()
    """The question and its answer, then those of its parts."""


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
    try:
        if isinstance(artifact, dict) and "citations" in artifact:
            asked = [artifact, *artifact["tree"]] if "tree" in artifact else []
            known = [QuestionAnswer(branch["question"], branch["answer"]) for branch in asked if not is_unknown(branch["answer"] or "")]
            return Reply(tuple(map(Citation.model_validate, artifact["citations"])), tuple(known))
        if isinstance(artifact, list):
            passages = [Passage.model_validate(row) for row in artifact]
            return Reply(tuple(cite(passages, [""] * len(passages), cited=True)))
    except (KeyError, TypeError, ValidationError):  # the artifact of another tool
        pass
    return Reply((Citation(id=message.tool_call_id, source=str(message.name), text=message.text),))


def ground(text: str, replies: Sequence[Reply], check: str = READER) -> GroundedText:
    """Return a text whose sentences have the numbers of their grounds; blocking.

    A sentence has those that it names, in brackets, if they say it, else those that are found to say it. `check` names who judges: the
    reader, a cross-encoder, or none: then every ground that is named counts, and none is found. ModelError if there is no such model.
    """
    reader = None if check == NO_RERANKER else find_reader()
    text = _OWN_NOTES.sub("", _OWN_SOURCES.sub("", text.rstrip()))
    statements = split_message(text, max((len(reply.citations) for reply in replies), default=0))
    sources: dict[tuple[str, str], int] = {}
    citations: list[Citation] = []

    def number(statement: Statement, citation: Citation) -> int:
        place = sources.setdefault((citation.id, citation.text), len(sources) + 1)
        if place > len(citations):
            quote = citation.quote or quote_support(citation.text, [QuestionAnswer(statement.text, "")])
            citations.append(citation.model_copy(update={"quote": quote, "cited": True, "closest": False}))
        return place

    sentences: list[Sentence] = []
    notes: dict[Statement, str] = {}
    for statement in statements:
        if not statement.text:
            notes[statement] = ""
            continue
        supported, found = _find_grounds(statement, replies, reader, check)
        sentence = Sentence(
            text=statement.text, citations=tuple(dict.fromkeys(number(statement, citation) for citation in found)), supported=supported
        )
        marks = "".join(f"[{place}]" for place in sentence.citations)
        missing = {None: NOT_CHECKED if marks else "", False: NOT_SAID if marks else NO_SOURCE, True: ""}[supported]
        notes[statement] = "".join(f" {note}" for note in (marks, missing) if note)
        sentences.append(sentence)
    shown = put_behind(text, notes).rstrip()
    listed = [f"- [{place}] {_shown(citation.where)}: {_shown(citation.quote)}" for place, citation in enumerate(citations, 1)]
    return GroundedText("\n".join([shown, *(["", SOURCES, "", *listed] if listed else [])]), sentences, citations)


def _shown(text: str) -> str:
    """Return a text of a document on one line, of which Markdown loads and links nothing."""
    return escape_markdown(one_line(text))


def _find_grounds(statement: Statement, replies: Sequence[Reply], reader: Reader | None, check: str) -> tuple[bool | None, list[Citation]]:
    """Return whether a sentence is said, and by which quotations; None if it states nothing, or nobody can tell.

    Several tools may have given the same number: those of the latest that say it count, or all of them together.
    """
    named = [_named(reply, statement.numbers) for reply in replies]
    declared = next(filter(None, named), [])
    if not declared and (_NO_STATEMENT.search(statement.text) or is_unknown(statement.text)):
        return None, []
    if reader is None:
        return bool(declared), declared
    unsure: list[Citation] = []
    for own, asked in _tried(replies, named):
        verdict = reader.check_support(statement.text, list(map(_material, own)), asked, check)
        if verdict:
            return True, own
        unsure = unsure or (own if verdict is None else [])
    if found := _find_source(statement.text, replies, reader):
        return True, found
    return (None, unsure) if unsure else (False, declared)


def _tried(replies: Sequence[Reply], named: Sequence[list[Citation]]) -> Iterator[tuple[list[Citation], tuple[QuestionAnswer, ...]]]:
    """Yield what a sentence names, of each tool and of all of them together, with what these were asked."""
    yield from ((own, reply.asked) for reply, own in zip(replies, named, strict=True) if own)
    together = [citation for own in named for citation in own]
    if len(list(filter(None, named))) > 1 and len(together) <= _MAX_TOGETHER:
        yield together, tuple(pair for reply, own in zip(replies, named, strict=True) if own for pair in reply.asked)


def _find_source(sentence: str, replies: Sequence[Reply], reader: Reader) -> list[Citation]:
    """Return the quotation that says a sentence, or those of an answer that it repeats; none if there is none."""
    plain = collapse_whitespace(sentence).casefold()
    for reply in replies:
        for citation in reply.citations:
            if plain in collapse_whitespace(citation.text).casefold():
                return [citation]
    for reply in replies:
        if (number := reader.find_source(sentence, list(map(_material, reply.citations)), reply.asked)) is not None:
            return [reply.citations[number]]
        if _concludes(sentence, reply.asked):
            return [citation for citation in reply.citations if citation.cited]
    return []


def _concludes(sentence: str, asked: Sequence[QuestionAnswer]) -> bool:
    """Return whether a sentence says the answer to a question in its words, and nothing else."""
    words = content_stems(sentence)
    return any(contains_answer(sentence, answer) and words <= content_stems(f"{question} {answer}") for question, answer in asked)


def _named(reply: Reply, numbers: Sequence[int]) -> list[Citation]:
    return [reply.citations[number - 1] for number in numbers if 0 < number <= len(reply.citations)]


def _material(citation: Citation) -> Material:
    return Material(" ".join(filter(None, (citation.title, citation.heading))), citation.text)
