"""What an Ollama server says: its stream of tokens, its figures, and a value for any JSON schema."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.likelihood import likelihoods, value_span

Request = dict[str, Any]
"""The body of a call to /api/chat."""
PIECES = re.compile(r"\s?\w{1,6}|\s+|[^\w\s]")


@dataclass(frozen=True)
class Say:
    """A reply: an object, or a text that need not be one; `sure` is the log probability of the answer's tokens, or gives that of each."""

    content: dict[str, Any] | str
    sure: Callable[[str], float] | float | None = -0.1
    """None for a server too old for log probabilities."""
    at_once: bool = False
    """In one line of the stream."""
    thought: str = ""
    """What is thought before, apart from the reply."""

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)

    def likely(self, pieces: list[str]) -> list[float]:
        """The log probability of each token."""
        if callable(self.sure):
            return [self.sure(piece) for piece in pieces]
        span = value_span(self.content, "answer", ensure_ascii=False)
        return [logprob for _, logprob in likelihoods(pieces, span, self.sure or 0.0)]


@dataclass(frozen=True)
class Fail:
    """An error as the server reports it: by its status, or in the middle of the stream."""

    status: int
    message: str


@dataclass(frozen=True)
class Raw:
    """Anything at all in the place of a reply; `cut` promises more than is sent."""

    body: str
    kind: str = "application/x-ndjson"
    cut: bool = False


class Hang:
    """No reply at all."""


class Reset:
    """The connection is broken off in the place of a reply."""


Answer = Say | Fail | Raw | Hang | Reset


def asked_in(request: Request) -> str:
    """Give what a request asks, without the examples before it."""
    roles = [message["role"] for message in request["messages"]]
    examples = len(roles) - roles[::-1].index("assistant") if "assistant" in roles else 1
    return "\n".join(message["content"] for message in [*request["messages"][:1], *request["messages"][examples:]])


def prompt_of(request: Request) -> str:
    return "\n".join(message["content"] for message in request["messages"])


def tokens_of(request: Request) -> int:
    """A server's own count: what the template adds included."""
    return sum(len(PIECES.findall(message["content"])) + 5 for message in request["messages"]) + 3


def example(schema: dict[str, Any]) -> Any:
    """The simplest value of a JSON schema: what a grammar would let through."""
    if "$ref" in schema or "enum" in schema:
        return schema.get("enum", [None])[0]
    match schema.get("type"):
        case "object":
            return {name: example(inner) for name, inner in schema["properties"].items()}
        case "array":
            return [example(schema["items"])] * schema.get("minItems", 0)
        case "string":
            return "text"
        case "integer":
            return int(schema.get("minimum", 1))
        case "number":
            return 0.5
        case "boolean":
            return True
    return None


def lines(request: Request, said: Say, figures: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The stream: a token a line, then the figures."""
    options = request["options"]
    thought = PIECES.findall(said.thought)
    pieces = [said.text] if said.at_once else PIECES.findall(said.text)
    written = thought + pieces
    allowed = written[: options.get("num_predict", len(written))]
    head = {"model": request["model"], "created_at": "2026-11-01T00:00:00Z"}
    likely = [-5.0] * len(thought) + said.likely(pieces)
    for number, (piece, logprob) in enumerate(zip(allowed, likely, strict=False)):
        message = {"content": "", "thinking": piece} if number < len(thought) else {"content": piece}
        line = {**head, "message": {"role": "assistant", **message}, "done": False}
        if request.get("logprobs") and said.sure is not None:
            line["logprobs"] = [{"token": piece, "logprob": logprob, "bytes": list(piece.encode())}]
        yield line
    yield {
        **head,
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop" if len(allowed) == len(written) else "length",
        # What does not fit is dropped without a word.
        "prompt_eval_count": min(tokens_of(request), options.get("num_ctx", 4096)),
        "eval_count": len(allowed),
        "total_duration": 1000,
        **figures,
    }
