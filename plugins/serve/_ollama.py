"""Ollama's protocol: the routes that chat clients use."""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ramify.graphs.run import Result
from ramify.serve._chat import LATEST_TAG, ChatService, Message, TreeNarration, citations_json, reject_images, result_summary
from ramify.serve.questions import Failure, RunningQuestion
from ramify.serve.transport import AnswerStream, parse_body, request_user, to_json_line, wait_or_stop

PREFIX = "/api"
PROTOCOL_VERSION = "0.12.11"
"""The version of Ollama whose protocol this is; some clients require a minimum."""
AnswerFields = Callable[[str, str], dict[str, Any]]
"""Returns the fields of a response that have a part of the answer and of the thinking."""
_NS = 1_000_000_000
_ZERO_DURATION = re.compile(r"0+(?:\.0+)?(?:ns|us|µs|ms|s|m|h)?")
_FORMAT = {"parent_model": "", "format": "ramify", "family": "ramify", "families": ["ramify"]}
_DETAILS = {**_FORMAT, "parameter_size": "", "quantization_level": ""}


class OllamaRequest(BaseModel):
    """What requests for an answer have in common; options of a language model are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    stream: bool | None = True
    think: bool | str | None = None
    keep_alive: float | str | None = None

    @property
    def load_reason(self) -> str:
        """Return why a request without a question ends: the model is loaded, or unloaded with a `keep_alive` of 0."""
        return "unload" if _ZERO_DURATION.fullmatch(str(self.keep_alive)) else "load"


class ChatRequest(OllamaRequest):
    """A chat request; without messages, it loads the model."""

    messages: list[Message] | None = None


class GenerateRequest(OllamaRequest):
    """A request with a single question; without one, it loads the model."""

    prompt: str | None = None
    images: list[Any] | None = None


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
            Route("/generate", self.generate, methods=["POST"]),
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
        body = await parse_body(request, ChatRequest)
        return await self._answer(request, body, body.messages or [], _chat_fields)

    async def generate(self, request: Request) -> Response:
        """Answer a single question."""
        body = await parse_body(request, GenerateRequest)
        reject_images(body.images)
        messages = [Message(role="user", content=body.prompt)] if body.prompt else []
        return await self._answer(request, body, messages, _generate_fields)

    async def _answer(self, request: Request, body: OllamaRequest, messages: list[Message], fields: AnswerFields) -> Response:
        """Answer the last message, complete or streamed; without messages, only check the model's name."""
        user = request_user(request)
        if not messages:
            await self._chat_service.resolve_model(body.model)
            head = {"model": body.model, "created_at": _now(), **fields("", "")}
            return JSONResponse({**head, "done": True, "done_reason": body.load_reason})
        running = await self._chat_service.ask(user, body.model, messages)
        if body.stream is not False:
            return AnswerStream(running, self._lines(running, user, body, fields), "application/x-ndjson")
        await wait_or_stop(running, request)
        if running.failure is not None:
            return JSONResponse(error_body(running.failure), running.failure.status)
        result = running.require_result()
        return JSONResponse(_final_object(body.model, result, fields(self._chat_service.answer_content(user, result), "")))

    async def _lines(self, running: RunningQuestion, user: str, body: OllamaRequest, fields: AnswerFields) -> AsyncIterator[str]:
        """Yield the growing tree as thinking, then the answer paragraph by paragraph."""
        narrator = TreeNarration()
        async for event in running.events():
            narration = narrator.describe(event)
            if narration and body.think is not False:
                yield _line(body.model, fields("", narration))
        if running.failure is not None:
            yield f"{to_json_line(error_body(running.failure))}\n"
            return
        result = running.require_result()
        for part in self._chat_service.answer_content(user, result).split("\n\n"):
            yield _line(body.model, fields(f"{part}\n\n", ""))
        yield f"{to_json_line(_final_object(body.model, result, fields('', '')))}\n"


def error_body(failure: Failure) -> dict[str, Any]:
    """Return the body of an error response."""
    return {"error": failure.message}


def _model(name: str) -> dict[str, Any]:
    full = f"{name}{LATEST_TAG}"
    digest = sha256(full.encode()).hexdigest()
    return {"name": full, "model": full, "modified_at": _now(), "size": 0, "digest": digest, "details": _DETAILS}


def _chat_fields(content: str, thinking: str) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": content, **({"thinking": thinking} if thinking else {})}}


def _generate_fields(content: str, thinking: str) -> dict[str, Any]:
    return {"response": content, **({"thinking": thinking} if thinking else {})}


def _line(model: str, fields: Mapping[str, Any]) -> str:
    return f"{to_json_line({'model': model, 'created_at': _now(), **fields, 'done': False})}\n"


def _final_object(model: str, result: Result, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the last object of a streamed answer, or the whole answer."""
    usage = result.usage
    durations = {"total_duration": int(usage.wall_s * _NS), "load_duration": int(usage.loading_s * _NS)}
    tokens = {"prompt_eval_count": usage.prompt_tokens, "eval_count": usage.completion_tokens}
    durations |= {"prompt_eval_duration": 0, "eval_duration": durations["total_duration"] - durations["load_duration"]}
    head = {"model": model, "created_at": _now(), **fields, "done": True, "done_reason": "stop"}
    return {**head, **durations, **tokens, "citations": citations_json(result), "ramify": result_summary(result)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
