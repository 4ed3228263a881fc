"""The HTTP layer of all protocols: request bodies and users, streamed answers, error responses, and the server itself."""

import asyncio
import hmac
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import uvicorn
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from ramify.serve.questions import CLIENT_GONE, Event, Failure, QuestionQueue, RunningQuestion, to_failure
from ramify.studio.server.guard import Guard, LimitedProtocol, origin_pattern
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import register_secrets

M = TypeVar("M", bound=BaseModel)
DEFAULT_USER = "default"
"""The user of a server without tokens, and of a token without a name."""
MIN_TOKEN_CHARS = 8
SSE_MEDIA_TYPE = "text/event-stream"
NO_STORE_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Proxies must neither cache an answer nor buffer its parts."""
ALLOWED_HEADERS = ("authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name")
"""The headers that pages of allowed origins may send."""
GRACE_S = 3
"""Time limit for open connections when the server is stopped."""
_USER_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
_MAX_QUOTED_CHARS = 80


async def parse_body(request: Request, model: type[M]) -> M:
    """Parse the body of a request; raise UsageError, with a one-line message, if it is invalid."""
    return await asyncio.to_thread(_parse_json, await request.body(), model)


def _parse_json(body: bytes, model: type[M]) -> M:
    try:
        from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise UsageError(f"the body of the request is not valid JSON ({error})", "send a JSON object") from None
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        if not where:
            raise UsageError(f"the body of the request is not a valid JSON object ({first['msg']})", "send a JSON object") from None
        known = ", ".join(model.model_fields)
        what = f"{where}={truncate_line(repr(first['input']), _MAX_QUOTED_CHARS)} is not valid ({first['msg']})"
        raise UsageError(what, f"correct it; the fields are {known}") from None


def parse_tokens(tokens: Sequence[str]) -> dict[str, str]:
    """Parse tokens NAME:SECRET; return the secrets by user, and mask them in logs. Raise UsageError for an invalid token."""
    secrets: dict[str, str] = {}
    for token in tokens:
        name, colon, secret = token.partition(":")
        name, secret = (name, secret) if colon else (DEFAULT_USER, name)
        register_secrets(secret)
        if not _USER_NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is not a valid user name", "write --token NAME:SECRET, the name in up to 40 letters, digits, _, . and -"
            )
        if len(secret) < MIN_TOKEN_CHARS or not secret.isascii() or not secret.isprintable() or " " in secret:
            remedy = f"use at least {MIN_TOKEN_CHARS} ASCII letters, digits and signs, without spaces"
            raise UsageError(f"the token of {name!r}, of {len(secret)} characters, is not valid", remedy)
        if name in secrets:
            raise UsageError(f"{name!r} has two tokens", "give each user one")
        if other := next((user for user, known in secrets.items() if known == secret), None):
            raise UsageError(f"{other!r} and {name!r} have the same token", "give each user another secret")
        secrets[name] = secret
    return secrets


class TokenMiddleware:
    """ASGI middleware that authenticates requests by token; without tokens, all requests are the default user's."""

    def __init__(self, app: ASGIApp, users: Mapping[str, str]) -> None:
        self._app = app
        self._users = {name: secret.encode() for name, secret in users.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Set the user of a request; raise HTTPException 401 if its token is missing or unknown."""
        if scope["type"] == "http":
            scope["ramify.user"] = self._user(Headers(scope=scope).get("authorization", "")) if self._users else DEFAULT_USER
        await self._app(scope, receive, send)

    def _user(self, authorization: str) -> str:
        scheme, _, token = authorization.partition(" ")
        secret = token.strip().encode() if scheme.lower() == "bearer" else b""
        users = [name for name, user_secret in self._users.items() if hmac.compare_digest(user_secret, secret)]
        if not users:
            what = "the token is unknown" if secret else "this server requires a token"
            raise HTTPException(401, f"{what}: send the header `Authorization: Bearer TOKEN`", {"WWW-Authenticate": "Bearer"})
        return users[0]


def request_user(request: Request) -> str:
    """Return the user of a request."""
    return str(request.scope["ramify.user"])


class AnswerStream(StreamingResponse):
    """A streamed answer; the question is stopped when the response ends for any reason."""

    def __init__(self, running: RunningQuestion, parts: AsyncIterator[str], media_type: str = SSE_MEDIA_TYPE) -> None:
        super().__init__(parts, media_type=media_type, headers=NO_STORE_HEADERS)
        self._running = running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._running.stop(CLIENT_GONE)


async def wait_or_stop(running: RunningQuestion, request: Request) -> None:
    """Wait for the end of a question; stop it if the client disconnects."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    disconnection, answered = asyncio.create_task(disconnected()), asyncio.create_task(running.wait())
    try:
        await asyncio.wait([disconnection, answered], return_when=asyncio.FIRST_COMPLETED)
    finally:
        running.stop(CLIENT_GONE)
        disconnection.cancel()
        await answered


def to_json_line(value: Any) -> str:
    """Return a value as JSON on one line, with unpaired surrogates replaced."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace").decode()


def format_sse(event: Event) -> str:
    """Return an event in the format of server-sent events; one without a name is a comment, as a keep-alive."""
    return f"event: {event.name}\ndata: {to_json_line(event.data)}\n\n" if event.name else ": waiting\n\n"


def create_guarded_app(
    routes: Sequence[BaseRoute], origins: Sequence[str], methods: Sequence[str], command: str,
    error_bodies: Mapping[str, Callable[[Failure], Any]], lifespan: Lifespan[Starlette], untyped: bool = False,
) -> Starlette:  # fmt: skip
    """Return an application with checks of origins and error responses; `origins` are allowed besides this machine's.

    `error_bodies` are functions that return the body of an error response, by prefix of the path; the first that matches is used.
    """

    async def error_response(request: Request, error: Exception) -> Response:
        failure = to_failure(error)
        build_body = next(form for prefix, form in error_bodies.items() if f"{request.url.path}/".startswith(prefix))
        return JSONResponse(build_body(failure), failure.status, error.headers if isinstance(error, HTTPException) else None)

    return Starlette(
        routes=routes,
        middleware=[
            Middleware(Guard, origins=origin_pattern(origins, known=()), command=command, untyped=untyped),
            Middleware(CORSMiddleware, allow_origins=origins, allow_methods=methods, allow_headers=ALLOWED_HEADERS),
        ],
        exception_handlers={RamifyError: error_response, HTTPException: error_response, 500: error_response},
        lifespan=lifespan,
    )


class WebServer(uvicorn.Server):
    """Runs an application with time limits for slow clients; when stopped, it stops questions before it waits for their connections."""

    def __init__(self, app: Starlette, questions: QuestionQueue) -> None:
        super().__init__(
            uvicorn.Config(app, http=LimitedProtocol, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_S)
        )
        self._questions = questions

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop questions, then connections; threads that are loading or computing are not waited for."""
        await self._questions.close()
        await super().shutdown(sockets)
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))  # closing a loop waits for the threads of the one it has
