"""Ollama's protocol, as far as programs use it that chat with a model."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ramify.graphs.run import Result
from ramify.studio.serve.chat import LATEST, Chats, Message, TreeInWords, citations_json, measured
from ramify.studio.serve.questions import Asked, Failure
from ramify.studio.serve.transport import Stream, as_json, read, until_answered, user_of
from ramify.tools.errors import UsageError

PREFIX = "/api"
SPOKEN = "0.12.11"
"""The version of Ollama whose protocol this is: clients look at it."""
_NS = 1_000_000_000
_FORMAT = {"parent_model": "", "format": "ramify", "family": "ramify", "families": ["ramify"]}
_DETAILS = {**_FORMAT, "parameter_size": "", "quantization_level": ""}


class Chat(BaseModel):
    """A request; options of a language model are passed over."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[Message]
    stream: bool | None = True
    think: bool | str | None = None


class Show(BaseModel):
    """A request for what is known of a model."""

    model_config = ConfigDict(extra="ignore")

    model: str = ""
    name: str = ""


class Ollama:
    """The routes of the protocol."""

    def __init__(self, chats: Chats) -> None:
        self._chats = chats

    def routes(self) -> list[Route]:
        """Return the routes, below `PREFIX`."""
        return [
            Route("/tags", self.tags),
            Route("/ps", self.running),
            Route("/show", self.show, methods=["POST"]),
            Route("/chat", self.chat, methods=["POST"]),
            Route("/version", self.version),
        ]

    async def tags(self, request: Request) -> Response:
        """List the models."""
        return JSONResponse({"models": [*map(_model, await self._chats.models())]})

    async def running(self, request: Request) -> Response:
        """List the models that are loaded: all of them."""
        far = {"expires_at": "9999-12-31T00:00:00Z", "size_vram": 0, "context_length": 0}
        return JSONResponse({"models": [{**_model(name), **far} for name in await self._chats.models()]})

    async def show(self, request: Request) -> Response:
        """Describe a model."""
        given = await read(request, Show)
        collection, strategy = await self._chats.found(given.model or given.name)
        told = {"general.architecture": "ramify", "ramify.collection": collection, "ramify.strategy": strategy}
        head = {"modelfile": "", "parameters": "", "template": "{{ .Prompt }}", "details": _DETAILS, "model_info": told}
        return JSONResponse({**head, "capabilities": ["completion", "thinking"], "modified_at": _now()})

    async def version(self, request: Request) -> Response:
        """Say which version of the protocol this is."""
        return JSONResponse({"version": SPOKEN, "ramify": version("ramify-rag")})

    async def chat(self, request: Request) -> Response:
        """Answer the last message."""
        given, user = await read(request, Chat), user_of(request)
        if not given.messages:
            raise UsageError("there are no messages", "send at least a question")
        asked = await self._chats.ask(user, given.model, given.messages)
        if given.stream is not False:
            return Stream(asked, self._lines(asked, user, given), "application/x-ndjson")
        await until_answered(asked, request)
        if asked.failure is not None:
            return JSONResponse(refusal(asked.failure), asked.failure.status)
        result = asked.answer()
        return JSONResponse(_last(given.model, result, self._chats.told(user, result)))

    async def _lines(self, asked: Asked, user: str, given: Chat) -> AsyncIterator[str]:
        """Yield the tree as thinking while it grows, then the answer paragraph by paragraph."""
        words = TreeInWords()
        async for event in asked.events():
            told = words.new(event)
            if told and given.think is not False:
                yield _line(given.model, {"role": "assistant", "content": "", "thinking": told})
        if asked.failure is not None:
            yield f"{as_json(refusal(asked.failure))}\n"
            return
        result = asked.answer()
        for part in self._chats.told(user, result).split("\n\n"):
            yield _line(given.model, {"role": "assistant", "content": f"{part}\n\n"})
        yield f"{as_json(_last(given.model, result, ''))}\n"


def refusal(failure: Failure) -> dict[str, Any]:
    """Return a failure in the protocol's form."""
    return {"error": failure.message}


def _model(name: str) -> dict[str, Any]:
    full = f"{name}{LATEST}"
    digest = sha256(full.encode()).hexdigest()
    return {"name": full, "model": full, "modified_at": _now(), "size": 0, "digest": digest, "details": _DETAILS}


def _line(model: str, message: Mapping[str, Any]) -> str:
    return f"{as_json({'model': model, 'created_at': _now(), 'message': message, 'done': False})}\n"


def _last(model: str, result: Result, content: str) -> dict[str, Any]:
    """Return the object that ends an answer, or is all of it."""
    usage = result.usage
    took = {"total_duration": int(usage.wall_s * _NS), "load_duration": int(usage.loading_s * _NS)}
    tokens = {"prompt_eval_count": usage.prompt_tokens, "eval_count": usage.completion_tokens}
    took |= {"prompt_eval_duration": 0, "eval_duration": took["total_duration"] - took["load_duration"]}
    message = {"role": "assistant", "content": content}
    head = {"model": model, "created_at": _now(), "message": message, "done": True, "done_reason": "stop"}
    return {**head, **took, **tokens, "citations": citations_json(result), "ramify": measured(result)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
