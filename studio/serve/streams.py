"""Answers that are sent while they are made: one that ends, or whose client goes away, leaves no question behind."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ramify.studio.serve.questions import GONE, Asked, Event

SSE = "text/event-stream"
JSON_LINES = "application/x-ndjson"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Nothing on the way is to keep an answer, or hold back its parts."""


class Stream(StreamingResponse):
    """Send parts of an answer; the question is stopped when the response ends, however it does."""

    def __init__(self, asked: Asked, parts: AsyncIterator[str], media_type: str) -> None:
        super().__init__(parts, media_type=media_type, headers=HEADERS)
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._asked.stop(GONE)


def as_json(value: Any) -> str:
    """Write a value as JSON on one line; halves of characters are escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace").decode()


def sse(event: Event) -> str:
    """Write an event as a server-sent one; one without a name as a comment."""
    return f"event: {event.name}\ndata: {as_json(event.data)}\n\n" if event.name else ": waiting\n\n"


async def until_answered(asked: Asked, request: Request) -> None:
    """Wait for the end of a question; where the client goes away before it, the question is stopped."""
    gone = asyncio.create_task(_disconnected(request.receive))
    end = asyncio.create_task(asked.ended())
    try:
        await asyncio.wait([gone, end], return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.stop(GONE)
        gone.cancel()
        await end


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
