"""Check requests of the development server: hosts and origins, sizes and waiting times."""

import asyncio
import json
import os
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import h11
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
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


LOOPBACK = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
HOSTED = "https://smith.langchain.com"
"""LangGraph Studio, which runs in the browser and asks the server from there."""
PORTS = {"http": 80, "https": 443}
READING = frozenset({"GET", "HEAD", "OPTIONS"})
INSIDE = "/noauth"
"""Where the server mounts itself for its own calls; no request from outside has this root."""


def pattern(added: Sequence[str] = (), known: Sequence[str] = (HOSTED,)) -> str:
    """Return the list of allowed origins as a regular expression for full matches."""
    return "|".join((LOOPBACK, *(re.escape(origin) for origin in (*known, *added))))


def allowed() -> str:
    """Return the list used for the server's CORS headers, from langgraph.json or the default."""
    cors = json.loads(os.environ.get("LANGGRAPH_HTTP") or "{}").get("cors") or {}
    return str(cors.get("allow_origin_regex") or pattern())


def origin_of(url: str) -> str:
    """Return the origin of an address as browsers write it; raise UsageError for an invalid one."""
    wrong = UsageError(f"--allow-origin {url!r} is no origin", "write it as https://studio.example or http://192.168.1.5:2024")
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise wrong
    return f"{parts.scheme}://{place(parts.hostname, None if port == PORTS[parts.scheme] else port)}"


def place(host: str, port: int | None) -> str:
    """Return host and port as in a URL."""
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"


class Guard:
    """Refuse requests that are not allowed, in one line, and pass on all others.

    origins: a regular expression of those allowed, by default that of langgraph.json; command: what started the server; untyped: whether
    a body without a content type is read where no browser sent it, as some programs do.
    """

    def __init__(self, app: ASGIApp, origins: str | None = None, command: str = "ramify studio", untyped: bool = False) -> None:
        self._app = app
        self._allowed = re.compile(origins or allowed())  # read when the server is put together: its environment names the list only then
        self._command = command
        self._untyped = untyped

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request or websocket; pass on a request when its body has arrived."""
        if scope["type"] == "lifespan" or scope.get("root_path", "").startswith(INSIDE):
            return await self._app(scope, receive, send)
        try:
            self._check(scope)
            received = await arrived(scope, receive) if scope["type"] == "http" else receive
        except HTTPException as error:
            if scope["type"] != "http":
                return await send({"type": "websocket.close", "code": 1008, "reason": error.detail})
            refusal = JSONResponse({"detail": error.detail}, error.status_code, {"connection": "close"})
            return await refusal(scope, receive, send)  # what is left of its body is not waited for
        await self._app(scope, received, send)

    def _check(self, scope: Scope) -> None:
        """Raise HTTPException for a request that is not allowed."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if not hosts or not all(self._listed(f"http://{host}", f"https://{host}") for host in hosts):
            raise self._refused_origin("is not reached by the name", f"http://{hosts[0]}" if hosts else "none")
        if not all(self._listed(origin) for origin in origins):
            raise self._refused_origin("does not answer the pages of", origins[0] or "none")
        reading = scope.get("method", "GET") in READING
        # A foreign page loads an image, script or frame, for which browsers send no origin; its links are allowed.
        linked = headers.getlist("sec-fetch-dest") == ["document"] and scope.get("method") in READING
        if not origins and headers.getlist("sec-fetch-site") == ["cross-site"] and not linked:
            raise HTTPException(403, "this server does not answer the pages of other sites")
        has_body = "transfer-encoding" in headers or any(length != "0" for length in headers.getlist("content-length"))
        program = self._untyped and not any(name in headers for name in ("content-type", "origin", "sec-fetch-site"))
        if has_body and not (reading or program or _is_json(headers)):
            raise HTTPException(415, "this server reads JSON: send it with the content type application/json")

    def _listed(self, *origins: str) -> bool:
        return any(self._allowed.fullmatch(origin) for origin in origins)

    def _refused_origin(self, what: str, origin: str) -> HTTPException:
        told = f"{origin[:200]!r} — whoever started it can add it: `{self._command} --allow-origin {origin[:200]}`"
        return HTTPException(403, f"this server {what} {told}")


def _is_json(headers: Headers) -> bool:
    """Return whether the content type is JSON: foreign pages may send others without a preflight request."""
    kinds = {kind.partition(";")[0].strip().lower() for kind in headers.getlist("content-type")}
    return kinds == {"application/json"}


app = Starlette(middleware=[Middleware(Guard)])
"""No route of its own: LangGraph puts this app's middleware around all routes of the server."""
