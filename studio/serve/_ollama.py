"""Ollama's protocol: the routes that chat clients use."""

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
from ramify.studio.serve._chat import LATEST_TAG, ChatService, Message, TreeNarration, citations_json, result_summary
from ramify.studio.serve.questions import Failure, RunningQuestion
from ramify.studio.serve.transport import AnswerStream, parse_body, request_user, to_json_line, wait_or_stop
from ramify.tools.errors import UsageError

PREFIX = "/api"
PROTOCOL_VERSION = "0.12.11"
"""The version of Ollama whose protocol this is; some clients require a minimum."""
_NS = 1_000_000_000
_FORMAT = {"parent_model": "", "format": "ramify", "family": "ramify", "families": ["ramify"]}
_DETAILS = {**_FORMAT, "parameter_size": "", "quantization_level": ""}


class ChatRequest(BaseModel):
    """A chat request; options of a language model are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[Message]
    stream: bool | None = True
    think: bool | str | None = None


class ShowRequest(BaseModel):
    """A request for the description of a model."""

    model_config = ConfigDict(extra="ignore")

    model: str = ""
    name: str = ""


class Ollama:
    """The routes of Ollama's protocol."""

    def __init__(self, chat_service: ChatService) -> None:
        self._chat_service = chat_service

    def routes(self) -> list[Route]:
        """Return the routes, below `PREFIX`."""
        return [
            Route("/tags", self.tags),
            Route("/ps", self.loaded_models),
            Route("/show", self.show, methods=["POST"]),
            Route("/chat", self.chat, methods=["POST"]),
            Route("/version", self.version),
        ]

    async def tags(self, request: Request) -> Response:
        """Return the models."""
        return JSONResponse({"models": [*map(_model, await self._chat_service.models())]})

    async def loaded_models(self, request: Request) -> Response:
        """Return the loaded models: all of them."""
        loaded = {"expires_at": "9999-12-31T00:00:00Z", "size_vram": 0, "context_length": 0}
        return JSONResponse({"models": [{**_model(name), **loaded} for name in await self._chat_service.models()]})

    async def show(self, request: Request) -> Response:
        """Return the description of a model."""
        body = await parse_body(request, ShowRequest)
        collection, strategy = await self._chat_service.resolve_model(body.model or body.name)
        model_info = {"general.architecture": "ramify", "ramify.collection": collection, "ramify.strategy": strategy}
        head = {"modelfile": "", "parameters": "", "template": "{{ .Prompt }}", "details": _DETAILS, "model_info": model_info}
        return JSONResponse({**head, "capabilities": ["completion", "thinking"], "modified_at": _now()})

    async def version(self, request: Request) -> Response:
        """Return the versions of the protocol and of ramify."""
        return JSONResponse({"version": PROTOCOL_VERSION, "ramify": version("ramify-rag")})

    async def chat(self, request: Request) -> Response:
        """Answer the last message."""
        body, user = await parse_body(request, ChatRequest), request_user(request)
        if not body.messages:
            raise UsageError("there are no messages", "send a question")
        running = await self._chat_service.ask(user, body.model, body.messages)
        if body.stream is not False:
            return AnswerStream(running, self._lines(running, user, body), "application/x-ndjson")
        await wait_or_stop(running, request)
        if running.failure is not None:
            return JSONResponse(error_body(running.failure), running.failure.status)
        result = running.require_result()
        return JSONResponse(_final_object(body.model, result, self._chat_service.answer_content(user, result)))

    async def _lines(self, running: RunningQuestion, user: str, body: ChatRequest) -> AsyncIterator[str]:
        """Yield the growing tree as thinking, then the answer paragraph by paragraph."""
        narrator = TreeNarration()
        async for event in running.events():
            narration = narrator.describe(event)
            if narration and body.think is not False:
                yield _line(body.model, {"role": "assistant", "content": "", "thinking": narration})
        if running.failure is not None:
            yield f"{to_json_line(error_body(running.failure))}\n"
            return
        result = running.require_result()
        for part in self._chat_service.answer_content(user, result).split("\n\n"):
            yield _line(body.model, {"role": "assistant", "content": f"{part}\n\n"})
        yield f"{to_json_line(_final_object(body.model, result, ''))}\n"


def error_body(failure: Failure) -> dict[str, Any]:
    """Return the body of an error response."""
    return {"error": failure.message}


def _model(name: str) -> dict[str, Any]:
    full = f"{name}{LATEST_TAG}"
    digest = sha256(full.encode()).hexdigest()
    return {"name": full, "model": full, "modified_at": _now(), "size": 0, "digest": digest, "details": _DETAILS}


def _line(model: str, message: Mapping[str, Any]) -> str:
    return f"{to_json_line({'model': model, 'created_at': _now(), 'message': message, 'done': False})}\n"


def _final_object(model: str, result: Result, content: str) -> dict[str, Any]:
    """Return the last object of a streamed answer, or the whole answer."""
    usage = result.usage
    durations = {"total_duration": int(usage.wall_s * _NS), "load_duration": int(usage.loading_s * _NS)}
    tokens = {"prompt_eval_count": usage.prompt_tokens, "eval_count": usage.completion_tokens}
    durations |= {"prompt_eval_duration": 0, "eval_duration": durations["total_duration"] - durations["load_duration"]}
    message = {"role": "assistant", "content": content}
    head = {"model": model, "created_at": _now(), "message": message, "done": True, "done_reason": "stop"}
    return {**head, **durations, **tokens, "citations": citations_json(result), "ramify": result_summary(result)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
