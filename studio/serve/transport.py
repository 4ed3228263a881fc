"""HTTP as all protocols share it: the body and the user of a request, how answers and failures are sent, and the server itself."""

import asyncio
import hmac
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar

import uvicorn
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from ramify.studio.serve.questions import GONE, Asked, Event, Failure, Questions, failure_of
from ramify.studio.server.guard import Guard, LimitedProtocol, pattern
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import register_secrets

M = TypeVar("M", bound=BaseModel)
DEFAULT = "default"
"""The user of a server without tokens, and of a token without a name."""
SHORTEST = 8
SSE = "text/event-stream"
NOT_STORED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Nothing on the way is to keep an answer, or hold back its parts."""
SENT = ("authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name")
"""The headers that a page on the list of origins may send."""
GRACE_S = 10
"""Seconds that connections have to end when the server is stopped."""
_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
_QUOTED = 80


async def read(request: Request, kind: type[M]) -> M:
    """Read the body of a request; UsageError, in a line, where it is not of its form."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        if not where:
            raise UsageError(f"the body of the request is not the JSON that is expected ({first['msg']})", "send an object") from None
        known = ", ".join(kind.model_fields)
        what = f"{where}={truncate_line(repr(first['input']), _QUOTED)} is not valid ({first['msg']})"
        raise UsageError(what, f"correct it; a request has {known}") from None


def users_of(tokens: Sequence[str]) -> dict[str, str]:
    """Return the secrets by their users; UsageError for a token that is none. Messages and logs do not show them."""
    found: dict[str, str] = {}
    for token in tokens:
        name, colon, secret = token.partition(":")
        name, secret = (name, secret) if colon else (DEFAULT, name)
        register_secrets(secret)
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name of a user", "write --token NAME:SECRET, the name in letters, digits, _, . and -")
        if len(secret) < SHORTEST or not secret.isascii() or not secret.isprintable() or " " in secret:
            remedy = f"give at least {SHORTEST} letters, digits and signs, without spaces"
            raise UsageError(f"the token of {name!r} has {len(secret)} characters", remedy)
        if name in found:
            raise UsageError(f"{name!r} has two tokens", "give each user one")
        found[name] = secret
    return found


class Tokens:
    """Let through requests with a token and say whose it is; without tokens, all are the default user's."""

    def __init__(self, app: ASGIApp, users: Mapping[str, str]) -> None:
        self._app = app
        self._users = {name: secret.encode() for name, secret in users.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request; raise HTTPException where its token is missing or not known."""
        if scope["type"] == "http":
            scope["ramify.user"] = self._user(Headers(scope=scope).get("authorization", "")) if self._users else DEFAULT
        await self._app(scope, receive, send)

    def _user(self, authorization: str) -> str:
        scheme, _, given = authorization.partition(" ")
        secret = given.strip().encode() if scheme.lower() == "bearer" else b""
        known = [name for name, one in self._users.items() if hmac.compare_digest(one, secret)]
        if not known:
            what = "the token is not known here" if secret else "this server asks for a token"
            raise HTTPException(401, f"{what}: send the header `Authorization: Bearer TOKEN`", {"WWW-Authenticate": "Bearer"})
        return known[0]


def user_of(request: Request) -> str:
    """Return whose request it is."""
    return str(request.scope["ramify.user"])


class Stream(StreamingResponse):
    """Send parts of an answer; the question is stopped when the response ends, however it does."""

    def __init__(self, asked: Asked, parts: AsyncIterator[str], media_type: str = SSE) -> None:
        super().__init__(parts, media_type=media_type, headers=NOT_STORED)
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._asked.stop(GONE)


async def until_answered(asked: Asked, request: Request) -> None:
    """Wait for the end of a question; where the client goes away before it, the question is stopped."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    gone, end = asyncio.create_task(disconnected()), asyncio.create_task(asked.ended())
    try:
        await asyncio.wait([gone, end], return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.stop(GONE)
        gone.cancel()
        await end


def as_json(value: Any) -> str:
    """Write a value as JSON on one line; halves of characters are escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace").decode()


def sse(event: Event) -> str:
    """Write an event as a server-sent one; one without a name as a comment."""
    return f"event: {event.name}\ndata: {as_json(event.data)}\n\n" if event.name else ": waiting\n\n"


def guarded(
    routes: Sequence[BaseRoute], origins: Sequence[str], methods: Sequence[str], command: str,
    refusals: Mapping[str, Callable[[Failure], Any]], lifespan: Lifespan[Starlette], untyped: bool = False,
) -> Starlette:  # fmt: skip
    """Return the application of a server that was started by a command; `origins` are allowed besides this machine's.

    `refusals` put a failure into the form of the protocol that was spoken, by how the path begins; the first that fits counts.
    """

    async def failed(request: Request, error: Exception) -> Response:
        failure = failure_of(error)
        refusal = next(form for prefix, form in refusals.items() if f"{request.url.path}/".startswith(prefix))
        return JSONResponse(refusal(failure), failure.status, error.headers if isinstance(error, HTTPException) else None)

    return Starlette(
        routes=routes,
        middleware=[
            Middleware(Guard, origins=pattern(origins, known=()), command=command, untyped=untyped),
            Middleware(CORSMiddleware, allow_origins=origins, allow_methods=methods, allow_headers=SENT),
        ],
        exception_handlers={RamifyError: failed, HTTPException: failed, 500: failed},
        lifespan=lifespan,
    )


class WebServer(uvicorn.Server):
    """Runs an application: slow clients are cut off, and answers end before the server waits for their connections when it is stopped."""

    def __init__(self, app: Starlette, questions: Questions) -> None:
        super().__init__(
            uvicorn.Config(app, http=LimitedProtocol, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_S)
        )
        self._questions = questions

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop questions, then connections."""
        await self._questions.close()
        await super().shutdown(sockets)
