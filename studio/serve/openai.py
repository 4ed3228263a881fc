"""OpenAI's protocol: models, and chat completions whole or streamed."""

import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ramify.graphs.run import Result
from ramify.studio.serve.bodies import read
from ramify.studio.serve.chat import Chats, Message, TreeInWords, citations_json, measured
from ramify.studio.serve.questions import Asked, Failure
from ramify.studio.serve.streams import SSE, Stream, as_json, until_answered
from ramify.studio.serve.users import user_of
from ramify.tools.errors import UsageError

PREFIX = "/v1"
_BEGUN = int(time.time())
_CODES = {"token": "invalid_api_key", "missing": "model_not_found"}


class StreamOptions(BaseModel):
    """What a stream has beside its text."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class Completion(BaseModel):
    """A request; what is for the sampling of a language model (temperature, max_tokens, tools …) is passed over."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[Message]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = 1


class OpenAI:
    """The routes of the protocol."""

    def __init__(self, chats: Chats) -> None:
        self._chats = chats

    def routes(self) -> list[Route]:
        """Return the routes, below `PREFIX`."""
        return [
            Route("/models", self.models),
            Route("/models/{name:path}", self.model),
            Route("/chat/completions", self.complete, methods=["POST"]),
        ]

    async def models(self, request: Request) -> Response:
        """List the models."""
        return JSONResponse({"object": "list", "data": [*map(_model, await self._chats.models())]})

    async def model(self, request: Request) -> Response:
        """Describe a model."""
        name = request.path_params["name"]
        await self._chats.found(name)
        return JSONResponse(_model(name))

    async def complete(self, request: Request) -> Response:
        """Answer the last message."""
        given, user = await read(request, Completion), user_of(request)
        if given.n not in (None, 1):
            raise UsageError(f"n={given.n} is not valid: a question has one answer", "leave it out")
        asked = await self._chats.ask(user, given.model, given.messages)
        if given.stream:
            return Stream(asked, self._chunks(asked, user, given), SSE)
        await until_answered(asked, request)
        if asked.failure is not None:
            return JSONResponse(refusal(asked.failure), asked.failure.status)
        return JSONResponse(self._whole(asked, user, given.model))

    def _whole(self, asked: Asked, user: str, model: str) -> dict[str, Any]:
        result = asked.answer()
        citations = citations_json(result)
        message = {"role": "assistant", "content": self._chats.told(user, result), "citations": citations}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        head = _head(asked, model, "chat.completion")
        return {**head, "choices": [choice], "usage": _usage(result), "citations": citations, "ramify": measured(result)}

    async def _chunks(self, asked: Asked, user: str, given: Completion) -> AsyncIterator[str]:
        """Yield the tree as reasoning while it grows, then the answer paragraph by paragraph: only then are its citations known."""
        head, words = _head(asked, given.model, "chat.completion.chunk"), TreeInWords()
        yield _chunk(head, {"role": "assistant", "content": ""})
        async for event in asked.events():
            if not event.name:
                yield ": waiting\n\n"
            if told := words.new(event):
                yield _chunk(head, {"reasoning_content": told})
        if asked.failure is not None:
            yield f"data: {as_json(refusal(asked.failure))}\n\n"
        else:
            result = asked.answer()
            for part in self._chats.told(user, result).split("\n\n"):
                yield _chunk(head, {"content": f"{part}\n\n"})
            yield _chunk(head, {}, "stop", citations=citations_json(result), ramify=measured(result))
            if given.stream_options is not None and given.stream_options.include_usage:
                yield f"data: {as_json({**head, 'choices': [], 'usage': _usage(result)})}\n\n"
        yield "data: [DONE]\n\n"


def refusal(failure: Failure) -> dict[str, Any]:
    """Return a failure in the protocol's form."""
    kind = "invalid_request_error" if failure.status < 500 else "server_error"
    return {"error": {"message": failure.message, "type": kind, "param": None, "code": _CODES.get(failure.kind, failure.kind)}}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _BEGUN, "owned_by": "ramify"}


def _head(asked: Asked, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{asked.id}", "object": kind, "created": int(time.time()), "model": model}


def _chunk(head: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return f"data: {as_json({**head, 'choices': [choice], **more})}\n\n"


def _usage(result: Result) -> dict[str, int]:
    told, said = result.usage.prompt_tokens, result.usage.completion_tokens
    return {"prompt_tokens": told, "completion_tokens": said, "total_tokens": told + said}
