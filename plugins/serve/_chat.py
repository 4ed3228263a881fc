"""Shared code of the chat protocols: model names, messages to questions, answers as Markdown, and the growing tree as text."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from ramify.agents.markdown import escape_markdown
from ramify.graphs.run import Result
from ramify.nodes.state import MARK
from ramify.nodes.tree import DROPPED, is_unknown
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.nodes.tree.notes import check_advice, confidence_figure
from ramify.serve.catalog import MAX_QUOTED_CHARS
from ramify.serve.questions import Event, RunningQuestion
from ramify.serve.service import AskRequest, QuestionService
from ramify.studio.drawing.phrases import (
    ALSO_CLOSE,
    CLOSEST_HEADING,
    UNSUPPORTED,
    citation_quote,
    citation_title,
    stop_reason,
    text_lines,
    to_sentence,
    unknown_advice,
)
from ramify.tools.english import content_stems
from ramify.tools.errors import UsageError
from ramify.tools.quoting import nonempty_lines, one_line, truncate_line

MAX_STORED_ANSWERS = 2000
"""Maximum number of answers stored for follow-ups, with confidence and tree: the messages that clients send back lack these."""
LATEST_TAG = ":latest"
"""Suffix that clients of Ollama add to a model's name."""
_BRANCH_FIELDS = ("path", "question", "answer", "confidence", "status")
"""Fields of a branch that a follow-up uses."""
_CITATION_FIELDS = {"id", "collection", "source", "name", "title", "heading", "page", "quote", "start", "end", "cited", "closest"}
MAX_MESSAGES = 1000
"""Maximum number of messages in a request."""
MAX_CHAT_CHARS = 1_000_000
"""Maximum number of characters of all messages of a request together."""
MAX_EARLIER_CHARS = 4000
"""Maximum number of characters that are read of each earlier message: a follow-up refers to its subject, not to all of its text."""
ROLES = ("user", "assistant", "system", "developer", "tool", "function")
"""Roles of messages; all but the first two are ignored."""
_TEXT_PARTS = {"text", "input_text", "output_text"}
_LINK_TITLE_ENDS = ('"', "'", ")")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_FIRST_FOOTNOTE = re.compile(r"^\[\^[0-9]+\]: ", re.MULTILINE)
_THINK, _THINK_END = "<think>", "</think>"
_CITATION_MARK = re.compile(r"(?<!\\)((?:\\\\)*+)\[\^[0-9]+\]")
_SHORT_ANSWER = re.compile(r"\*\*(.+?)\*\*(?:\n|$)")


class MessagePart(BaseModel):
    """A part of a message's content."""

    model_config = ConfigDict(extra="ignore")

    type: str = "text"
    text: str = ""


class Message(BaseModel):
    """A message of a chat."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | list[MessagePart] | None = None
    images: list[Any] | None = None
    """Images in Ollama's protocol, which are refused."""

    @property
    def text_content(self) -> str:
        """Return the text of the message; raise UsageError if a part of it is not text."""
        reject_images(self.images)
        parts = self.content if isinstance(self.content, list) else []
        if other := next((part.type for part in parts if part.type not in _TEXT_PARTS), None):
            what = f"a message has a part of type {truncate_line(repr(other), MAX_QUOTED_CHARS)}"
            raise UsageError(what, "send parts of type 'text' only")
        return "\n".join(part.text for part in self.content) if isinstance(self.content, list) else self.content or ""


def reject_images(images: Sequence[Any] | None) -> None:
    """Raise UsageError if there are images."""
    if images:
        raise UsageError(f"a message has images ({len(images):,}), and only text is read", "send the question without `images`")


class ChatService:
    """Answers chat requests, which contain all earlier messages."""

    def __init__(self, service: QuestionService) -> None:
        self._service = service
        self._answers: OrderedDict[str, dict[str, Any]] = OrderedDict()

    async def models(self) -> list[str]:
        """Return the model names: each collection with each strategy that can answer from it."""
        return await asyncio.to_thread(self._service.catalog.model_names)

    async def resolve_model(self, model: str) -> tuple[str, str]:
        """Return the collections, joined by `+`, and the strategy of a model name; raise HTTPException 404 for an unknown model."""
        catalog = self._service.catalog
        if (resolved := await asyncio.to_thread(catalog.resolve_model, model.removesuffix(LATEST_TAG))) is None:
            known = ", ".join(await asyncio.to_thread(catalog.model_names))
            raise HTTPException(
                404, f"there is no model {truncate_line(repr(model), MAX_QUOTED_CHARS)} on this server: choose one of {known}"
            )
        return resolved[0].name, resolved[1]

    async def ask(self, user: str, model: str, messages: Sequence[Message]) -> RunningQuestion:
        """Submit the last message as a question that may refer to earlier messages; system messages are ignored."""
        if len(messages) > MAX_MESSAGES:
            raise UsageError(f"there are {len(messages):,} messages", f"send the last {MAX_MESSAGES:,} at most")
        collection, strategy = await self.resolve_model(model)
        if not messages or messages[-1].role != "user":
            raise UsageError(
                f"the last message has the role {truncate_line(repr(messages[-1].role), MAX_QUOTED_CHARS)}"
                if messages
                else "there are no messages",
                "end the messages with a question of the role 'user'",
            )
        question, earlier = await asyncio.to_thread(self._read_messages, user, messages)
        return await self._service.ask(user, AskRequest(question=question, collection=collection, strategy=strategy), earlier)

    def answer_content(self, user: str, result: Result) -> str:
        """Return an answer as the content of a message, and store it for follow-ups."""
        content = "\n\n".join(markdown_paragraphs(result))
        tree = [{name: getattr(branch, name) for name in _BRANCH_FIELDS} for branch in result.tree.values()]
        stored = {"question": result.question, "answer": result.answer, "confidence": result.confidence, "tree": tree}
        for text in (content, visible_text(content)):
            self._answers[_key(user, text)] = stored | ({"asked_back": result.asked_back} if result.asked_back else {})
        while len(self._answers) > 2 * MAX_STORED_ANSWERS:
            self._answers.popitem(last=False)
        return content

    def _read_messages(self, user: str, messages: Sequence[Message]) -> tuple[str, list[AnyMessage]]:
        """Return the question and the messages before it; raise UsageError for an invalid message, or too much text."""
        if (unknown := next((message.role for message in messages if message.role not in ROLES), None)) is not None:
            raise UsageError(f"a message has the role {truncate_line(repr(unknown), MAX_QUOTED_CHARS)}", f"use one of {', '.join(ROLES)}")
        if (chars := sum(len(message.text_content) for message in messages)) > MAX_CHAT_CHARS:
            raise UsageError(f"the messages have {chars:,} characters together", f"send {MAX_CHAT_CHARS:,} at most, the latest ones")
        earlier: list[AnyMessage] = []
        for message in messages[:-1]:
            asked = earlier[-1].text if earlier else ""
            if (converted := self._to_langchain(user, message, asked)) is not None:
                earlier.append(converted)
        return messages[-1].text_content, earlier

    def _to_langchain(self, user: str, message: Message, asked: str) -> AnyMessage | None:
        if message.role == "user":
            return HumanMessage(message.text_content[:MAX_EARLIER_CHARS])
        if message.role != "assistant":
            return None
        content = message.text_content
        stored = self._answers.get(_key(user, content)) or self._edited_answer(user, content, asked)
        return AIMessage(extract_short_answer(content)[:MAX_EARLIER_CHARS], additional_kwargs={MARK: stored} if stored else {})

    def _edited_answer(self, user: str, content: str, asked: str) -> dict[str, Any] | None:
        """Return the stored answer of a message whose footnotes or thoughts a client changed, if it answers the question before it."""
        stored = self._answers.get(_key(user, visible_text(content)))
        return stored if stored and content_stems(asked) <= content_stems(str(stored["question"])) else None


def _key(user: str, content: str) -> str:
    return sha256(f"{user}\0{content.strip()}".encode(errors="replace")).hexdigest()


def markdown_paragraphs(result: Result) -> list[str]:
    """Return an answer as paragraphs of Markdown, the last one its footnotes."""
    if result.asked_back:
        return [escape_markdown(result.asked_back)]
    escape = partial(escape_markdown, known="\n".join(citation.text for citation in result.citations))
    text = "\n".join(" ".join(_sentence_markdown(sentence, escape) for sentence in line) for line in text_lines(result))
    close = [number for number, citation in enumerate(result.citations, 1) if citation.closest]
    if text and close and is_unknown(result.answer):
        text = f"{CLOSEST_HEADING}\n\n{text}"
    also = f"{ALSO_CLOSE}:{_citation_marks(close)}" if close and not is_unknown(result.answer) else ""
    advice = check_advice(result.confidence)
    advice = advice and f"confidence {confidence_figure(result.confidence)}, {advice}"
    explanations = (result.explanation, unknown_advice(result)) if is_unknown(result.answer) else ()
    remarks = [to_sentence(text) for text in (stop_reason(result), advice, *map(one_line, explanations)) if text]
    footnotes = "\n".join(_footnote(number, citation, escape) for number, citation in enumerate(result.citations, 1))
    return [part for part in (_short_paragraph(result, bool(text), escape), *map(escape, remarks), text, also, footnotes) if part]


def visible_text(markdown: str) -> str:
    """Return the text of an answer without footnotes, and without thoughts that a client put before it."""
    text = markdown.strip()
    if text.startswith(_THINK):
        text = text.partition(_THINK_END)[2] or text
    footnotes = _FIRST_FOOTNOTE.search(text)
    return _CITATION_MARK.sub(r"\1", text[: footnotes.start()] if footnotes else text).strip()


def extract_short_answer(markdown: str) -> str:
    """Return the short answer in the Markdown of `markdown_paragraphs`, else all of its text without footnotes."""
    text = visible_text(markdown)
    match = _SHORT_ANSWER.match(text)
    return _ESCAPED.sub(r"\1", match[1] if match else text)


def _short_paragraph(result: Result, has_text: bool, escape: Callable[[str], str]) -> str:
    """Return the short answer, with citation numbers if there is no text that has them."""
    answer = escape("\n".join(nonempty_lines(result.answer)))
    if has_text or is_unknown(result.answer):
        return f"**{answer}**" if "\n" not in answer else ""
    return answer + _citation_marks([number for number, citation in enumerate(result.citations, 1) if citation.cited])


def _sentence_markdown(sentence: Sentence, escape: Callable[[str], str]) -> str:
    unsupported = f" *({UNSUPPORTED})*" if sentence.supported is False else ""
    return escape(sentence.text) + _citation_marks(sentence.citations) + unsupported


def _citation_marks(numbers: Sequence[int]) -> str:
    return "".join(f"[^{number}]" for number in numbers)


def _footnote(number: int, citation: Citation, escape: Callable[[str], str]) -> str:
    title = f"{citation_title(citation)}{citation.mark}, {citation.file}" if citation.title else f"{citation.where}{citation.mark}"
    content = f"{escape(one_line(title))}: {escape(one_line(citation_quote(citation))) or '…'}"
    if content.endswith(_LINK_TITLE_ENDS):  # without footnotes in its Markdown, a client would read the line as the target of a link
        content = f"{content[:-1]}\\{content[-1]}"
    return f"[^{number}]: {content}"


def _safe_line(text: str | None) -> str:
    """Return a text on one line with Markdown escaped: clients also render reasoning as Markdown."""
    return escape_markdown(one_line(text))


class TreeNarration:
    """Describes the growing tree in lines, as a model's reasoning before its answer."""

    def __init__(self) -> None:
        self._questions: dict[str, str] = {}
        self._outcomes: dict[str, tuple[Any, ...]] = {}

    def describe(self, event: Event) -> str:
        """Return the lines that an event adds; empty if there are none."""
        if event.name == "waiting" and event.data["position"]:
            return f"waiting, number {event.data['position']} in the queue\n"
        return "".join(map(self._describe_branch, event.data["branches"])) if event.name == "tree" else ""

    def _describe_branch(self, branch: dict[str, Any]) -> str:
        path, text = branch["path"], ""
        if self._questions.get(path) != branch["question"]:
            self._questions[path] = branch["question"]
            text = f"{path} {_safe_line(branch['question'])}\n"
        outcome = (branch["answer"], branch["status"] if branch["status"] in DROPPED else "")
        if outcome != self._outcomes.get(path, (None, "")):
            self._outcomes[path] = outcome
            is_sure = branch["confidence"] is not None and not is_unknown(branch["answer"] or "")
            confidence = "" if not is_sure else f" (confidence {confidence_figure(branch['confidence'])})"
            text += (
                f"{path} {outcome[1]}: {_safe_line(branch['note'])}\n" if outcome[1] else f"{path} → {_safe_line(outcome[0])}{confidence}\n"
            )
        return text


def citations_json(result: Result) -> list[dict[str, Any]]:
    """Return the citations of an answer, numbered as its footnotes."""
    return [{"number": number, **citation.model_dump(include=_CITATION_FIELDS)} for number, citation in enumerate(result.citations, 1)]


def result_summary(result: Result) -> dict[str, Any]:
    """Return an answer's confidence, cost, model and notices."""
    usage = result.usage
    cost_text = {"calls": usage.llm_calls, "searches": usage.retrievals, "seconds": usage.wall_s}
    outcome = {"answer": result.answer, "confidence": result.confidence, "stopped_by": result.stopped_by}
    return {**outcome, **cost_text, "model": result.model, "notices": result.notices}
