"""What the protocols of chat models share: models by name, messages that become a question, answers in Markdown, the tree in words."""

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
from ramify.nodes.tree.phrases import figure
from ramify.studio.drawing.phrases import UNSUPPORTED, advice, full_text, quoted, reason, sentence, stopped, title_of
from ramify.studio.serve.catalog import QUOTED
from ramify.studio.serve.questions import Asked, Event
from ramify.studio.serve.serving import Ask, Serving
from ramify.tools.errors import UsageError
from ramify.tools.quoting import nonempty_lines, one_line, truncate_line

REMEMBERED = 2000
"""Answers that a follow-up may refer to, with how sure they were: the messages that clients send back do not say it."""
LATEST = ":latest"
"""What clients of Ollama put behind a name."""
_TREE = ("path", "question", "answer", "confidence", "status")
"""What a follow-up reads of a branch."""
_CITED = {"id", "collection", "source", "name", "title", "heading", "page", "quote", "start", "end", "cited", "closest"}
CLOSEST = "Closest passages, which may not hold the answer:"
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])[(:\[]|!(?=\[)|\[(?=\^)")
"""What would begin an element, a link, a picture or a footnote: documents and models are not to load anything into a page."""
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+-]*(?=://)|\bwww(?=\.))[^\s<>()\[\]\"'`]+", re.IGNORECASE)
"""What programs take for a link as it stands."""
_BEGUN = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_FOOTNOTES = re.compile(r"\n*^\[\^\d+\]: .*", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"\[\^\d+\]")
_SHORT = re.compile(r"\*\*(.+?)\*\*(?:\n|$)")


class Part(BaseModel):
    """A part of a message."""

    model_config = ConfigDict(extra="ignore")

    type: str = "text"
    text: str = ""


class Message(BaseModel):
    """A message of a chat."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | list[Part] | None = None

    @property
    def said(self) -> str:
        """Return its text; UsageError where a part of it is something else."""
        if isinstance(self.content, list) and (other := next((part.type for part in self.content if "text" not in part.type), None)):
            raise UsageError(f"a message has a part of the type {truncate_line(repr(other), QUOTED)}", "send text only")
        return "\n".join(part.text for part in self.content) if isinstance(self.content, list) else self.content or ""


class Chats:
    """Questions as messages of a chat, which carries all that was said before."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._answers: OrderedDict[str, dict[str, Any]] = OrderedDict()

    async def models(self) -> list[str]:
        """List the names of models: each collection with each strategy that can answer from it."""
        return await asyncio.to_thread(self._serving.catalog.model_names)

    async def found(self, model: str) -> tuple[str, str]:
        """Return the collections, joined by `+`, and the strategy that a model stands for; 404 where there is none."""
        catalog = self._serving.catalog
        if (found := await asyncio.to_thread(catalog.model_of, model.removesuffix(LATEST))) is None:
            known = ", ".join(await asyncio.to_thread(catalog.model_names))
            raise HTTPException(404, f"there is no model {truncate_line(repr(model), QUOTED)} here: choose one of {known}")
        return found[0].name, found[1]

    async def ask(self, user: str, model: str, messages: Sequence[Message]) -> Asked:
        """Take up the last message as a question, in the light of those before it; instructions to a model are passed over."""
        collection, strategy = await self.found(model)
        if not messages or messages[-1].role != "user":
            raise UsageError("the last message is not of the role 'user'", "end the messages with a question")
        earlier = [known for message in messages[:-1] if (known := self._known(user, message)) is not None]
        given = Ask(question=messages[-1].said, collection=collection, strategy=strategy)
        return await self._serving.ask(user, given, earlier)

    def told(self, user: str, result: Result) -> str:
        """Return the content of the message that answers, and remember it."""
        content = "\n\n".join(paragraphs(result))
        tree = [{name: getattr(branch, name) for name in _TREE} for branch in result.tree.values()]
        kept = {"question": result.question, "answer": result.answer, "confidence": result.confidence, "tree": tree}
        self._answers[_key(user, content)] = kept | ({"asked_back": result.asked_back} if result.asked_back else {})
        if len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)
        return content

    def _known(self, user: str, message: Message) -> AnyMessage | None:
        if message.role == "user":
            return HumanMessage(message.said)
        if message.role != "assistant":
            return None
        kept = self._answers.get(_key(user, message.said))
        return AIMessage(short_answer(message.said), additional_kwargs={MARK: kept} if kept else {})


def _key(user: str, content: str) -> str:
    return sha256(f"{user}\0{content.strip()}".encode(errors="replace")).hexdigest()


def paragraphs(result: Result) -> list[str]:
    """Return an answer as paragraphs, the last of them its footnotes."""
    if result.asked_back:
        return [harmless(result.asked_back)]
    plain = partial(harmless, known="\n".join(citation.text for citation in result.citations))
    text = "\n".join(" ".join(_with_marks(one, plain) for one in line) for line in full_text(result))
    if text and any(citation.closest for citation in result.citations):
        text = f"{CLOSEST}\n\n{text}"
    why = (reason(result), result.explanation, advice(result)) if is_unknown(result.answer) else ()
    told = [sentence(one) for one in (stopped(result), *map(one_line, why)) if one]
    notes = "\n".join(_footnote(number, citation, plain) for number, citation in enumerate(result.citations, 1))
    return [part for part in (_short(result, bool(text), plain), *map(plain, told), text, notes) if part]


def harmless(text: str, known: str = "") -> str:
    """Return a text in which Markdown shows no picture, link, footnote or element of HTML.

    An address that stands in the `known` text of the sources stays a link; one that does not may carry away what a model was shown.
    """
    text = _ADDRESS.sub(lambda found: found[0] if found[0].rstrip(".,;:!?*_") in known else _BEGUN.sub(r"\\\g<0>", found[0], 1), text)
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", text)


def short_answer(markdown: str) -> str:
    """Return the short answer of what `paragraphs` gave, else all of it without footnotes."""
    text = _MARK.sub("", _FOOTNOTES.sub("", markdown)).strip()
    found = _SHORT.match(text)
    return found[1] if found else text


def _short(result: Result, more: bool, plain: Callable[[str], str]) -> str:
    """Return the short answer, with the numbers of what it rests on where no text has them."""
    answer = plain("\n".join(nonempty_lines(result.answer)))
    if more or is_unknown(result.answer):
        return f"**{answer}**" if "\n" not in answer else ""
    return answer + _marks([number for number, citation in enumerate(result.citations, 1) if citation.cited])


def _with_marks(one: Sentence, plain: Callable[[str], str]) -> str:
    unsupported = f" *({UNSUPPORTED})*" if one.supported is False else ""
    return plain(one.text) + _marks(one.citations) + unsupported


def _marks(numbers: Sequence[int]) -> str:
    return "".join(f"[^{number}]" for number in numbers)


def _footnote(number: int, citation: Citation, plain: Callable[[str], str]) -> str:
    told = f"{title_of(citation)}{citation.mark}, {citation.file}" if citation.title else f"{citation.where}{citation.mark}"
    return f"[^{number}]: {plain(one_line(told))}: {plain(one_line(quoted(citation)))}"


def _shown(said: str | None) -> str:
    """Put a text on one line; programs show thoughts as Markdown, too, and may load what is in it."""
    return harmless(one_line(said))


class TreeInWords:
    """The tree as it grows, in lines, as what a model thinks before it answers."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        self._came: dict[str, tuple[Any, ...]] = {}

    def new(self, event: Event) -> str:
        """Return what an event adds, empty where that is nothing."""
        if event.name == "waiting" and event.data["position"]:
            return f"waiting, number {event.data['position']} in the queue\n"
        return "".join(map(self._branch, event.data["branches"])) if event.name == "tree" else ""

    def _branch(self, branch: dict[str, Any]) -> str:
        path, told = branch["path"], ""
        if self._asked.get(path) != branch["question"]:
            self._asked[path] = branch["question"]
            told = f"{path} {_shown(branch['question'])}\n"
        came = (branch["answer"], branch["status"] if branch["status"] in DROPPED else "")
        if came != self._came.get(path, (None, "")):
            self._came[path] = came
            sure = "" if branch["confidence"] is None else f" (confidence {figure(branch['confidence'])})"
            told += f"{path} {came[1]}: {_shown(branch['note'])}\n" if came[1] else f"{path} → {_shown(came[0])}{sure}\n"
        return told


def citations_json(result: Result) -> list[dict[str, Any]]:
    """Return the citations of an answer, numbered as its footnotes."""
    return [{"number": number, **one.model_dump(include=_CITED)} for number, one in enumerate(result.citations, 1)]


def measured(result: Result) -> dict[str, Any]:
    """Return how sure an answer is, what it cost, and what is to be known of it."""
    usage = result.usage
    cost = {"calls": usage.llm_calls, "searches": usage.retrievals, "seconds": usage.wall_s}
    told = {"answer": result.answer, "confidence": result.confidence, "stopped_by": result.stopped_by}
    return {**told, **cost, "model": result.model, "notices": result.notices}
