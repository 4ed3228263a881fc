"""Middleware that checks the host, origin, size and content type of requests, and a protocol class with time limits."""

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

TIMEOUT_VARIABLE = "RAMIFY_STUDIO_REQUEST_SECONDS"
MAX_BODY_BYTES = 16 * 1024 * 1024
"""The state of a thread with hundreds of branches and thousands of passages takes a few million bytes."""
MAX_HEADER_BYTES = 64 * 1024
TIMEOUT_RESPONSE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def _read_timeout() -> float:
    text = os.environ.get(TIMEOUT_VARIABLE) or "30"
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{TIMEOUT_VARIABLE}={text[:40]!r} is not a number of seconds", "give a number above 0, such as 30")
    return seconds


TIMEOUT_S = _read_timeout()
"""Time limit for receiving the header of a request, and again for its body."""


async def receive_body(scope: Scope, receive: Receive) -> Receive | None:
    """Wait for the whole body of a request; return a `receive` that yields it, or None if the client has disconnected before.

    Raise HTTPException beyond a limit.
    """
    too_large = HTTPException(413, f"this server reads bodies of at most {MAX_BODY_BYTES:,} bytes: send less at a time")
    declared = Headers(scope=scope).get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > MAX_BODY_BYTES:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while (message := await receive())["type"] == "http.request":
                body += message.get("body", b"")
                if len(body) > MAX_BODY_BYTES:
                    raise too_large
                if not message.get("more_body"):
                    message = {"type": "http.request", "body": bytes(body), "more_body": False}
                    break
            else:
                return None
    except TimeoutError:
        raise HTTPException(408, f"the body of the request did not arrive within {TIMEOUT_S:g} s: send it again without pauses") from None
    first = iter([message])

    async def receive_again() -> Message:
        return next(first, None) or await receive()

    return receive_again


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol that closes connections whose header is too slow or too long.

    uvicorn itself has no time limit for headers. Between requests its keep-alive timeout applies.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = h11.Connection(h11.SERVER, MAX_HEADER_BYTES)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first header."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(TIMEOUT_S, self._close_late)

    def data_received(self, data: bytes) -> None:
        """Process bytes; run the timer while a header is incomplete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(TIMEOUT_S, self._close_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._cancel_deadline()
        super().connection_lost(exc)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_late(self) -> None:
        self._deadline = None
        self.transport.write(TIMEOUT_RESPONSE)
        self.transport.close()


LOOPBACK_PATTERN = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
HOSTED_STUDIO = "https://smith.langchain.com"
"""LangGraph Studio, which runs in the browser and sends requests from there."""
DEFAULT_PORTS = {"http": 80, "https": 443}
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
INTERNAL_ROOT = "/noauth"
"""Root path that the server uses for calls to itself; no request from outside has it."""


def origin_pattern(extra: Sequence[str] = (), known: Sequence[str] = (HOSTED_STUDIO,)) -> str:
    """Return a regular expression that fully matches the allowed origins: loopback, `known` and `extra`."""
    return "|".join((LOOPBACK_PATTERN, *(re.escape(origin) for origin in (*known, *extra))))


def configured_origins() -> str:
    """Return the pattern of allowed origins from langgraph.json, else the default."""
    cors = json.loads(os.environ.get("LANGGRAPH_HTTP") or "{}").get("cors") or {}
    return str(cors.get("allow_origin_regex") or origin_pattern())


def parse_origin(url: str) -> str:
    """Return the origin of a URL as browsers send it; raise UsageError for an invalid one."""
    invalid = UsageError(f"--allow-origin {url!r} is not a valid origin", "write it as https://studio.example or http://192.168.1.5:2024")
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise invalid from None
    if (
        parts.scheme not in DEFAULT_PORTS
        or not parts.hostname
        or parts.path.strip("/")
        or parts.query
        or parts.fragment
        or "@" in parts.netloc
    ):
        raise invalid
    return f"{parts.scheme}://{host_and_port(parts.hostname, None if port == DEFAULT_PORTS[parts.scheme] else port)}"


def host_and_port(host: str, port: int | None) -> str:
    """Return host and port as in a URL, an IPv6 address in brackets."""
    host_text = f"[{host}]" if ":" in host else host
    return host_text if port is None else f"{host_text}:{port}"


class Guard:
    """ASGI middleware: reject requests that are not allowed with a one-line error, and pass on all others.

    origins: regular expression of the allowed origins, by default that of langgraph.json; command: the command named in error messages;
    untyped: whether a body without a content type is accepted if no browser sent it.
    """

    def __init__(self, app: ASGIApp, origins: str | None = None, command: str = "ramify studio", untyped: bool = False) -> None:
        self._app = app
        self._allowed = re.compile(origins or configured_origins())  # the environment variable is set when the application is built
        self._command = command
        self._untyped = untyped

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request or websocket; pass on a request once its body has arrived."""
        if scope["type"] == "lifespan" or scope.get("root_path", "").startswith(INTERNAL_ROOT):
            return await self._app(scope, receive, send)
        try:
            self._check(scope)
            receive_again = await receive_body(scope, receive) if scope["type"] == "http" else receive
        except HTTPException as error:
            if scope["type"] != "http":
                return await send({"type": "websocket.close", "code": 1008, "reason": error.detail})
            response = JSONResponse({"detail": error.detail}, error.status_code, {"connection": "close"})
            return await response(scope, receive, send)  # the rest of its body is not read
        if receive_again is not None:  # else nobody is there to answer
            await self._app(scope, receive_again, send)

    def _check(self, scope: Scope) -> None:
        """Raise HTTPException for a request that is not allowed."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if not hosts or not all(self._is_allowed(f"http://{host}", f"https://{host}") for host in hosts):
            raise self._origin_error("does not accept the host name", f"http://{hosts[0]}" if hosts else "none")
        if not all(self._is_allowed(origin) for origin in origins):
            raise self._origin_error("does not accept requests from pages of", origins[0] or "none")
        is_read_only = scope.get("method", "GET") in SAFE_METHODS
        # Browsers send no origin when a page of another site loads an image, script or frame: rejected; links from other sites are allowed.
        is_link = headers.getlist("sec-fetch-dest") == ["document"] and scope.get("method") in SAFE_METHODS
        if not origins and headers.getlist("sec-fetch-site") == ["cross-site"] and not is_link:
            raise HTTPException(403, "this server does not accept requests from pages of other sites")
        has_body = "transfer-encoding" in headers or any(length != "0" for length in headers.getlist("content-length"))
        is_program = self._untyped and not any(name in headers for name in ("content-type", "origin", "sec-fetch-site"))
        if has_body and not (is_read_only or is_program or _is_json(headers)):
            raise HTTPException(415, "the content type is not application/json: send JSON with that content type")

    def _is_allowed(self, *origins: str) -> bool:
        return any(self._allowed.fullmatch(origin) for origin in origins)

    def _origin_error(self, problem: str, origin: str) -> HTTPException:
        hint = f"{origin[:200]!r} — its operator can allow it: `{self._command} --allow-origin {origin[:200]}`"
        return HTTPException(403, f"this server {problem} {hint}")


def _is_json(headers: Headers) -> bool:
    """Return whether the content type is JSON: foreign pages may send others without a preflight request."""
    kinds = {kind.partition(";")[0].strip().lower() for kind in headers.getlist("content-type")}
    return kinds == {"application/json"}


app = Starlette(middleware=[Middleware(Guard)])
"""An app without routes: LangGraph applies its middleware to all routes of the server."""
