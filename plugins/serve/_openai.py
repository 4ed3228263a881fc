"""OpenAI's protocol: models, chat completions and responses, complete or streamed.

The tree is sent as reasoning; in responses, citations are annotations.
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
from ramify.serve._chat import ChatService, Message, TreeNarration, citations_json, result_summary
from ramify.serve.questions import Failure, RunningQuestion
from ramify.serve.transport import AnswerStream, parse_body, request_user, to_json_line, wait_or_stop
from ramify.tools.errors import UsageError

PREFIX = "/v1"
_STARTED_AT = int(time.time())
_ERROR_CODES = {"token": "invalid_api_key", "missing": "model_not_found"}
_CITATION_MARK = re.compile(r"(?<!\\)(?:\\\\)*+\[\^([0-9]{1,4})\](?!:)")
"""A citation number after a sentence."""
_CONSTANT_FIELDS: dict[str, Any] = {
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": False,
}
_CONSTANT_FIELDS |= {"temperature": None, "tool_choice": "none", "tools": [], "top_p": None}
"""Required fields of a response that do not apply."""


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class CompletionRequest(BaseModel):
    """A request for a chat completion; options of a language model (temperature, max_tokens, tools …) are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[Message]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = 1


class InputMessage(Message):
    """A message of the input; items without a role, such as earlier reasoning, are ignored."""

    role: str = ""


class ResponseRequest(BaseModel):
    """A request for a response; options of a language model, and its instructions, are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    input: str | list[InputMessage]
    stream: bool | None = False
    previous_response_id: str | None = None

    @property
    def messages(self) -> list[Message]:
        """Return the input as messages."""
        if isinstance(self.input, str):
            return [Message(role="user", content=self.input)]
        return [item for item in self.input if item.role]


class OpenAI:
    """The routes of OpenAI's protocol."""

    def __init__(self, chat_service: ChatService) -> None:
        self._chat_service = chat_service

    def routes(self) -> list[Route]:
        """Return the routes, below `PREFIX`."""
        return [
            Route("/models", self.models),
            Route("/models/{name:path}", self.model),
            Route("/chat/completions", self.complete, methods=["POST"]),
            Route("/responses", self.respond, methods=["POST"]),
        ]

    async def models(self, request: Request) -> Response:
        """Return the models."""
        return JSONResponse({"object": "list", "data": [*map(_model, await self._chat_service.models())]})

    async def model(self, request: Request) -> Response:
        """Return the description of a model."""
        name = request.path_params["name"]
        await self._chat_service.resolve_model(name)
        return JSONResponse(_model(name))

    async def complete(self, request: Request) -> Response:
        """Answer the last message."""
        body, user = await parse_body(request, CompletionRequest), request_user(request)
        if body.n not in (None, 1):
            raise UsageError(f"n={body.n} is not valid: a question has one answer", "omit it")
        running = await self._chat_service.ask(user, body.model, body.messages)
        if body.stream:
            return AnswerStream(running, self._chunks(running, user, body))
        await wait_or_stop(running, request)
        if running.failure is not None:
            return JSONResponse(error_body(running.failure), running.failure.status)
        return JSONResponse(self._completion(running, user, body.model))

    def _completion(self, running: RunningQuestion, user: str, model: str) -> dict[str, Any]:
        result = running.require_result()
        citations = citations_json(result)
        message = {"role": "assistant", "content": self._chat_service.answer_content(user, result), "citations": citations}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        head = _completion_fields(running, model, "chat.completion")
        return {**head, "choices": [choice], "usage": _usage(result), "citations": citations, "ramify": result_summary(result)}

    async def _chunks(self, running: RunningQuestion, user: str, body: CompletionRequest) -> AsyncIterator[str]:
        """Yield the growing tree as reasoning, then the answer paragraph by paragraph: its citations are known only at the end."""
        head, narrator = _completion_fields(running, body.model, "chat.completion.chunk"), TreeNarration()
        yield _chunk(head, {"role": "assistant", "content": ""})
        async for event in running.events():
            if not event.name:
                yield ": waiting\n\n"
            if narration := narrator.describe(event):
                yield _chunk(head, {"reasoning_content": narration})
        if running.failure is not None:
            yield f"data: {to_json_line(error_body(running.failure))}\n\n"
        else:
            result = running.require_result()
            for part in self._chat_service.answer_content(user, result).split("\n\n"):
                yield _chunk(head, {"content": f"{part}\n\n"})
            yield _chunk(head, {}, "stop", citations=citations_json(result), ramify=result_summary(result))
            if body.stream_options is not None and body.stream_options.include_usage:
                yield f"data: {to_json_line({**head, 'choices': [], 'usage': _usage(result)})}\n\n"
        yield "data: [DONE]\n\n"

    async def respond(self, request: Request) -> Response:
        """Answer the last message of the input."""
        body, user = await parse_body(request, ResponseRequest), request_user(request)
        if body.previous_response_id is not None:
            raise UsageError(
                f"previous_response_id={body.previous_response_id[:80]!r} is unknown: responses are not stored",
                "send the earlier messages as `input`",
            )
        running = await self._chat_service.ask(user, body.model, body.messages)
        if body.stream:
            return AnswerStream(running, self._response_events(running, user, body.model))
        await wait_or_stop(running, request)
        if running.failure is not None:
            return JSONResponse(error_body(running.failure), running.failure.status)
        narrator = TreeNarration()
        reasoning = "".join([narrator.describe(event) async for event in running.events()])
        return JSONResponse(self._response(running, user, body.model, reasoning))

    def _response(self, running: RunningQuestion, user: str, model: str, reasoning: str) -> dict[str, Any]:
        result = running.require_result()
        usage = {"input_tokens": result.usage.prompt_tokens, "output_tokens": result.usage.completion_tokens}
        usage |= {"total_tokens": sum(usage.values())}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        text = _text(self._chat_service.answer_content(user, result), citations_json(result))
        output = [_reasoning(running, reasoning), _message(running, [text])]
        return {
            **_response_fields(running, model, "completed"),
            "output": output,
            "usage": {**usage, **details},
            "ramify": result_summary(result),
        }

    async def _response_events(self, running: RunningQuestion, user: str, model: str) -> AsyncIterator[str]:
        """Yield the growing tree as a summary of reasoning, then the answer paragraph by paragraph."""
        numbers, narrator, reasoning = count(), TreeNarration(), ""

        def event_text(kind: str, **data: Any) -> str:
            return f"event: {kind}\ndata: {to_json_line({'type': kind, 'sequence_number': next(numbers), **data})}\n\n"

        position: dict[str, Any] = {"item_id": f"rs_{running.id}", "output_index": 0, "summary_index": 0}
        for kind in ("response.created", "response.in_progress"):
            yield event_text(kind, response=_response_fields(running, model, "in_progress"))
        yield event_text("response.output_item.added", output_index=0, item=_reasoning(running, None))
        yield event_text("response.reasoning_summary_part.added", **position, part={"type": "summary_text", "text": ""})
        async for event in running.events():
            if not event.name:
                yield ": waiting\n\n"
            if narration := narrator.describe(event):
                reasoning += narration
                yield event_text("response.reasoning_summary_text.delta", **position, delta=narration)
        yield event_text("response.reasoning_summary_text.done", **position, text=reasoning)
        yield event_text("response.reasoning_summary_part.done", **position, part={"type": "summary_text", "text": reasoning})
        yield event_text("response.output_item.done", output_index=0, item=_reasoning(running, reasoning))
        if running.failure is not None:
            code = "server_error" if running.failure.status >= 500 else "invalid_prompt"
            error = {"code": code, "message": running.failure.message}
            yield event_text("response.failed", response={**_response_fields(running, model, "failed"), "error": error})
            return
        response = self._response(running, user, model, reasoning)
        [text] = response["output"][1]["content"]
        position = {"item_id": f"msg_{running.id}", "output_index": 1, "content_index": 0}
        yield event_text("response.output_item.added", output_index=1, item={**_message(running, []), "status": "in_progress"})
        yield event_text("response.content_part.added", **position, part={**text, "text": "", "annotations": []})
        for part in re.findall(r"(?:.|\n)+?(?:\n\n|\Z)", text["text"]):
            yield event_text("response.output_text.delta", **position, delta=part, logprobs=[])
        for number, annotation in enumerate(text["annotations"]):
            yield event_text("response.output_text.annotation.added", **position, annotation_index=number, annotation=annotation)
        yield event_text("response.output_text.done", **position, text=text["text"], logprobs=[])
        yield event_text("response.content_part.done", **position, part=text)
        yield event_text("response.output_item.done", output_index=1, item=response["output"][1])
        yield event_text("response.completed", response=response)


def error_body(failure: Failure) -> dict[str, Any]:
    """Return the body of an error response."""
    kind = "invalid_request_error" if failure.status < 500 else "server_error"
    return {"error": {"message": failure.message, "type": kind, "param": None, "code": _ERROR_CODES.get(failure.kind, failure.kind)}}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _STARTED_AT, "owned_by": "ramify"}


def _completion_fields(running: RunningQuestion, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{running.id}", "object": kind, "created": int(time.time()), "model": model}


def _chunk(head: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None, **extra: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return f"data: {to_json_line({**head, 'choices': [choice], **extra})}\n\n"


def _usage(result: Result) -> dict[str, int]:
    prompt, completion = result.usage.prompt_tokens, result.usage.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _response_fields(running: RunningQuestion, model: str, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{running.id}",
        "object": "response",
        "created_at": int(time.time()),
        "model": model,
        "status": status,
        "output": [],
        **_CONSTANT_FIELDS,
    }


def _reasoning(running: RunningQuestion, reasoning: str | None) -> dict[str, Any]:
    summary = [] if reasoning is None else [{"type": "summary_text", "text": reasoning}]
    return {"id": f"rs_{running.id}", "type": "reasoning", "summary": summary}


def _message(running: RunningQuestion, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": f"msg_{running.id}", "type": "message", "role": "assistant", "status": "completed", "content": content}


def _text(text: str, citations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the text with an annotation at each citation number."""
    marks = [(mark.start(1) - len("[^"), int(mark[1])) for mark in _CITATION_MARK.finditer(text)]
    annotations = [
        {
            **(citation := citations[number - 1]),
            "type": "file_citation",
            "file_id": citation["id"],
            "filename": citation["name"] or citation["source"],
            "index": offset,
        }
        for offset, number in marks
        if 0 < number <= len(citations)
    ]
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}
