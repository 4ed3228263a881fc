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

from ramify.graphs.run import Result
from ramify.nodes.state import MARK
from ramify.nodes.tree import DROPPED, is_unknown
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.nodes.tree.phrases import confidence_figure
from ramify.studio.drawing.phrases import (
    UNSUPPORTED,
    citation_quote,
    citation_title,
    stop_reason,
    text_lines,
    to_sentence,
    unknown_advice,
)
from ramify.studio.serve.catalog import MAX_QUOTED_CHARS
from ramify.studio.serve.questions import Event, RunningQuestion
from ramify.studio.serve.service import AskRequest, QuestionService
from ramify.tools.errors import UsageError
from ramify.tools.quoting import nonempty_lines, one_line, truncate_line

MAX_STORED_ANSWERS = 2000
"""Maximum number of answers stored for follow-ups, with confidence and tree: the messages that clients send back lack these."""
LATEST_TAG = ":latest"
"""Suffix that clients of Ollama add to a model's name."""
_BRANCH_FIELDS = ("path", "question", "answer", "confidence", "status")
"""Fields of a branch that a follow-up uses."""
_CITATION_FIELDS = {"id", "collection", "source", "name", "title", "heading", "page", "quote", "start", "end", "cited", "closest"}
CLOSEST_HEADING = "Closest passages, which may not hold the answer:"
_ACTIVE_MARKDOWN = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])[(:\[]|!(?=\[)|\[(?=\^)")
"""Starts of HTML elements, links, images and footnotes: text of documents and models must not load anything into a page."""
_BARE_URL = re.compile(r"(?:\b[a-z][a-z0-9+-]*(?=://)|\bwww(?=\.))[^\s<>()\[\]\"'`]+", re.IGNORECASE)
"""URLs that Markdown renderers turn into links."""
_URL_DELIMITER = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_FOOTNOTES = re.compile(r"\n*^\[\^\d+\]: .*", re.MULTILINE | re.DOTALL)
_CITATION_MARK = re.compile(r"\[\^\d+\]")
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

    @property
    def text_content(self) -> str:
        """Return the text of the message; raise UsageError if a part of it is not text."""
        if isinstance(self.content, list) and (part_type := next((part.type for part in self.content if "text" not in part.type), None)):
            raise UsageError(
                f"a message has a part of type {truncate_line(repr(part_type), MAX_QUOTED_CHARS)}", "send parts of type 'text' only"
            )
        return "\n".join(part.text for part in self.content) if isinstance(self.content, list) else self.content or ""


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
        if (found := await asyncio.to_thread(catalog.resolve_model, model.removesuffix(LATEST_TAG))) is None:
            known = ", ".join(await asyncio.to_thread(catalog.model_names))
            raise HTTPException(
                404, f"there is no model {truncate_line(repr(model), MAX_QUOTED_CHARS)} on this server: choose one of {known}"
            )
        return found[0].name, found[1]

    async def ask(self, user: str, model: str, messages: Sequence[Message]) -> RunningQuestion:
        """Submit the last message as a question that may refer to earlier messages; system messages are ignored."""
        collection, strategy = await self.resolve_model(model)
        if not messages or messages[-1].role != "user":
            raise UsageError(
                f"the last message has the role {messages[-1].role[:80]!r}" if messages else "there are no messages",
                "end the messages with a question of the role 'user'",
            )
        earlier = [converted for message in messages[:-1] if (converted := self._to_langchain(user, message)) is not None]
        request = AskRequest(question=messages[-1].text_content, collection=collection, strategy=strategy)
        return await self._service.ask(user, request, earlier)

    def answer_content(self, user: str, result: Result) -> str:
        """Return an answer as the content of a message, and store it for follow-ups."""
        content = "\n\n".join(markdown_paragraphs(result))
        tree = [{name: getattr(branch, name) for name in _BRANCH_FIELDS} for branch in result.tree.values()]
        stored = {"question": result.question, "answer": result.answer, "confidence": result.confidence, "tree": tree}
        self._answers[_key(user, content)] = stored | ({"asked_back": result.asked_back} if result.asked_back else {})
        if len(self._answers) > MAX_STORED_ANSWERS:
            self._answers.popitem(last=False)
        return content

    def _to_langchain(self, user: str, message: Message) -> AnyMessage | None:
        if message.role == "user":
            return HumanMessage(message.text_content)
        if message.role != "assistant":
            return None
        stored = self._answers.get(_key(user, message.text_content))
        return AIMessage(extract_short_answer(message.text_content), additional_kwargs={MARK: stored} if stored else {})


def _key(user: str, content: str) -> str:
    return sha256(f"{user}\0{content.strip()}".encode(errors="replace")).hexdigest()


def markdown_paragraphs(result: Result) -> list[str]:
    """Return an answer as paragraphs of Markdown, the last one its footnotes."""
    if result.asked_back:
        return [escape_markdown(result.asked_back)]
    escape = partial(escape_markdown, known="\n".join(citation.text for citation in result.citations))
    text = "\n".join(" ".join(_sentence_markdown(sentence, escape) for sentence in line) for line in text_lines(result))
    if text and any(citation.closest for citation in result.citations):
        text = f"{CLOSEST_HEADING}\n\n{text}"
    explanations = (result.explanation, unknown_advice(result)) if is_unknown(result.answer) else ()
    remarks = [to_sentence(text) for text in (stop_reason(result), *map(one_line, explanations)) if text]
    footnotes = "\n".join(_footnote(number, citation, escape) for number, citation in enumerate(result.citations, 1))
    return [part for part in (_short_paragraph(result, bool(text), escape), *map(escape, remarks), text, footnotes) if part]


def escape_markdown(text: str, known: str = "") -> str:
    """Escape a text so that Markdown renders no image, link, footnote or HTML element of it.

    URLs contained in `known`, the text of the sources, remain links; any other could leak what a model has read.
    """
    text = _BARE_URL.sub(
        lambda found: found[0] if found[0].rstrip(".,;:!?*_") in known else _URL_DELIMITER.sub(r"\\\g<0>", found[0], 1), text
    )
    return _ACTIVE_MARKDOWN.sub(lambda found: f"\\{found[0]}", text)


def extract_short_answer(markdown: str) -> str:
    """Return the short answer in the Markdown of `markdown_paragraphs`, else all of its text without footnotes."""
    text = _CITATION_MARK.sub("", _FOOTNOTES.sub("", markdown)).strip()
    found = _SHORT_ANSWER.match(text)
    return found[1] if found else text


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
    return f"[^{number}]: {escape(one_line(title))}: {escape(one_line(citation_quote(citation)))}"


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
