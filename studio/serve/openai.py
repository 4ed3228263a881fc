"""OpenAI's protocol: models, and chat completions or responses, whole or streamed.

The tree is the reasoning; in responses, a citation is an annotation.
"""

import re
import time
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ramify.graphs.run import Result
from ramify.studio.serve.chat import Chats, Message, TreeInWords, citations_json, measured
from ramify.studio.serve.questions import Asked, Failure
from ramify.studio.serve.transport import Stream, as_json, read, until_answered, user_of
from ramify.tools.errors import UsageError

PREFIX = "/v1"
_BEGUN = int(time.time())
_CODES = {"token": "invalid_api_key", "missing": "model_not_found"}
_MARK = re.compile(r"\[\^(\d+)\](?!:)")
"""The number of a citation behind a sentence."""
_FIXED: dict[str, Any] = {"error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": False}
_FIXED |= {"temperature": None, "tool_choice": "none", "tools": [], "top_p": None}
"""What a response has, and means nothing here."""


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


class Item(Message):
    """A message of the input; items of other types, such as earlier reasoning, have no role and are passed over."""

    role: str = ""


class Asking(BaseModel):
    """A request; what is for the sampling of a language model, and its instructions, are passed over."""

    model_config = ConfigDict(extra="ignore")

    model: str
    input: str | list[Item]
    stream: bool | None = False
    previous_response_id: str | None = None

    @property
    def messages(self) -> list[Message]:
        """Return the input as messages."""
        if isinstance(self.input, str):
            return [Message(role="user", content=self.input)]
        return [item for item in self.input if item.role]


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
            Route("/responses", self.respond, methods=["POST"]),
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
            return Stream(asked, self._chunks(asked, user, given))
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

    async def respond(self, request: Request) -> Response:
        """Answer the last message of the input."""
        given, user = await read(request, Asking), user_of(request)
        if given.previous_response_id is not None:
            raise UsageError("previous_response_id is not known here: no response is stored", "send the earlier messages as `input`")
        asked = await self._chats.ask(user, given.model, given.messages)
        if given.stream:
            return Stream(asked, self._response_events(asked, user, given.model))
        await until_answered(asked, request)
        if asked.failure is not None:
            return JSONResponse(refusal(asked.failure), asked.failure.status)
        words = TreeInWords()
        thought = "".join([words.new(event) async for event in asked.events()])
        return JSONResponse(self._response(asked, user, given.model, thought))

    def _response(self, asked: Asked, user: str, model: str, thought: str) -> dict[str, Any]:
        result = asked.answer()
        usage = {"input_tokens": result.usage.prompt_tokens, "output_tokens": result.usage.completion_tokens}
        usage |= {"total_tokens": sum(usage.values())}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        text = _text(self._chats.told(user, result), citations_json(result))
        output = [_reasoning(asked, thought), _message(asked, [text])]
        return {**_response_head(asked, model, "completed"), "output": output, "usage": {**usage, **details}, "ramify": measured(result)}

    async def _response_events(self, asked: Asked, user: str, model: str) -> AsyncIterator[str]:
        """Yield the tree as a summary of reasoning while it grows, then the answer paragraph by paragraph."""
        numbers, words, thought = count(), TreeInWords(), ""

        def sent(kind: str, **data: Any) -> str:
            return f"event: {kind}\ndata: {as_json({'type': kind, 'sequence_number': next(numbers), **data})}\n\n"

        at: dict[str, Any] = {"item_id": f"rs_{asked.id}", "output_index": 0, "summary_index": 0}
        for kind in ("response.created", "response.in_progress"):
            yield sent(kind, response=_response_head(asked, model, "in_progress"))
        yield sent("response.output_item.added", output_index=0, item=_reasoning(asked, None))
        yield sent("response.reasoning_summary_part.added", **at, part={"type": "summary_text", "text": ""})
        async for event in asked.events():
            if not event.name:
                yield ": waiting\n\n"
            if told := words.new(event):
                thought += told
                yield sent("response.reasoning_summary_text.delta", **at, delta=told)
        yield sent("response.reasoning_summary_text.done", **at, text=thought)
        yield sent("response.reasoning_summary_part.done", **at, part={"type": "summary_text", "text": thought})
        yield sent("response.output_item.done", output_index=0, item=_reasoning(asked, thought))
        if asked.failure is not None:
            error = {"code": "server_error", "message": asked.failure.message}
            yield sent("response.failed", response={**_response_head(asked, model, "failed"), "error": error})
            return
        whole = self._response(asked, user, model, thought)
        [text] = whole["output"][1]["content"]
        at = {"item_id": f"msg_{asked.id}", "output_index": 1, "content_index": 0}
        yield sent("response.output_item.added", output_index=1, item={**_message(asked, []), "status": "in_progress"})
        yield sent("response.content_part.added", **at, part={**text, "text": "", "annotations": []})
        for part in re.findall(r"(?:.|\n)+?(?:\n\n|\Z)", text["text"]):
            yield sent("response.output_text.delta", **at, delta=part, logprobs=[])
        for place, annotation in enumerate(text["annotations"]):
            yield sent("response.output_text.annotation.added", **at, annotation_index=place, annotation=annotation)
        yield sent("response.output_text.done", **at, text=text["text"], logprobs=[])
        yield sent("response.content_part.done", **at, part=text)
        yield sent("response.output_item.done", output_index=1, item=whole["output"][1])
        yield sent("response.completed", response=whole)


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


def _response_head(asked: Asked, model: str, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{asked.id}",
        "object": "response",
        "created_at": int(time.time()),
        "model": model,
        "status": status,
        "output": [],
        **_FIXED,
    }


def _reasoning(asked: Asked, thought: str | None) -> dict[str, Any]:
    summary = [] if thought is None else [{"type": "summary_text", "text": thought}]
    return {"id": f"rs_{asked.id}", "type": "reasoning", "summary": summary}


def _message(asked: Asked, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": f"msg_{asked.id}", "type": "message", "role": "assistant", "status": "completed", "content": content}


def _text(text: str, citations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the text with an annotation where a sentence has the number of a citation."""
    marks = ((mark.start(), citations[int(mark[1]) - 1]) for mark in _MARK.finditer(text) if 0 < int(mark[1]) <= len(citations))
    annotations = [
        {**one, "type": "file_citation", "file_id": one["id"], "filename": one["name"] or one["source"], "index": place}
        for place, one in marks
    ]
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}
