"""Time and size limits for requests to the development server."""

import asyncio
import os
from typing import Any

import h11
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from ramify.tools.errors import UsageError

VARIABLE = "RAMIFY_STUDIO_REQUEST_SECONDS"
BODY = 16 * 1024 * 1024
"""Bytes of a body. The whole state of a thread, with hundreds of branches and thousands of passages, is a few million."""
HEADER = 64 * 1024
"""Bytes of a header."""
LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def _seconds() -> float:
    given = os.environ.get(VARIABLE) or "30"
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{VARIABLE}={given[:40]!r} is not a number of seconds", "give a number above 0, such as 30")
    return seconds


SECONDS = _seconds()
"""Time limit for the header of a request, and again for its body."""


async def arrived(scope: Scope, receive: Receive) -> Receive:
    """Wait for the whole body of a request, and return a `receive` with it; raise HTTPException beyond a limit."""
    too_large = HTTPException(413, f"this server reads bodies of at most {BODY:,} bytes: send less at a time")
    declared = Headers(scope=scope).get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS):
            while (message := await receive())["type"] == "http.request":
                body += message.get("body", b"")
                if len(body) > BODY:
                    raise too_large
                if not message.get("more_body"):
                    message = {"type": "http.request", "body": bytes(body), "more_body": False}
                    break
    except TimeoutError:
        raise HTTPException(408, f"the body of the request did not arrive within {SECONDS:g} s: send it again, at once") from None
    first = iter([message])

    async def receive_again() -> Message:
        return next(first, None) or await receive()

    return receive_again


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol, closing connections whose header is too slow or too long.

    uvicorn itself waits for ever. Between requests its keep-alive timeout applies.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = h11.Connection(h11.SERVER, HEADER)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first header."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(SECONDS, self._close)

    def data_received(self, data: bytes) -> None:
        """Process bytes; run the timer while a header is incomplete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._wait_no_longer()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(SECONDS, self._close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def _wait_no_longer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        self.transport.write(LATE)
        self.transport.close()
