"""The tools for agents over MCP's streamable HTTP: a route of `ramify serve`, and the application of `ramify mcp --http`.

Every request stands alone, as in the specification of 2026-07-28. A client of an earlier one is answered, too, without a session.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.types import INVALID_REQUEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ramify.graphs.run import Result
from ramify.graphs.tool import Queue
from ramify.studio.serve.questions import GONE, Failure, Questions, failure_of
from ramify.studio.serve.users import Tokens
from ramify.studio.server.guard import BODY, Guard, pattern

PREFIX = "/mcp"
COMMAND = "ramify mcp --http"
METHODS = ("POST",)
HEADERS = ("authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name")
"""What a page on the list of origins may send."""
ASKING = "mcp"
"""In whose name questions are asked: clients stop theirs by closing the connection."""


def stateless(made: Server[Any]) -> StreamableHTTPSessionManager:
    """Return what answers the requests to a server, while its `run()` is entered."""
    return StreamableHTTPSessionManager(made, stateless=True, max_request_body_size=BODY)


def route(manager: StreamableHTTPSessionManager, users: Mapping[str, str]) -> Route:
    """Return the route; where there are users, requests must carry a token."""
    return Route(PREFIX, StreamableHTTPASGIApp(manager), methods=METHODS, middleware=[Middleware(Tokens, users=users)])


def application(made: Server[Any], users: Mapping[str, str], origins: Sequence[str] = ()) -> Starlette:
    """Return the application of `ramify mcp --http`; `origins` are allowed besides this machine's."""
    manager = stateless(made)
    return Starlette(
        routes=[route(manager, users)],
        middleware=[
            Middleware(Guard, origins=pattern(origins, known=()), command=COMMAND),
            Middleware(CORSMiddleware, allow_origins=origins, allow_methods=METHODS, allow_headers=HEADERS),
        ],
        exception_handlers={HTTPException: _refused, 500: _failed},
        lifespan=lambda app: manager.run(),
    )


def in_turn(questions: Questions) -> Queue:
    """Return a queue that answers questions in turn with all others of a server; one that is given up, or outlives it, is stopped."""

    async def wait(run: Callable[[], Awaitable[Result]]) -> Result:
        asked = questions.ask(ASKING, lambda watch, reviewer: run())
        try:
            return await asked.outcome()
        finally:
            asked.stop(GONE)

    return wait


def refusal(failure: Failure) -> dict[str, Any]:
    """Return the body of a refused request: an error of the protocol, which clients show."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": failure.message}}


async def _refused(request: Request, error: Exception) -> Response:
    status, why = getattr(error, "status_code", 500), str(getattr(error, "detail", error))
    return JSONResponse(refusal(Failure("usage", why, status)), status, getattr(error, "headers", None))


async def _failed(request: Request, error: Exception) -> Response:
    failure = failure_of(error)
    return JSONResponse(refusal(failure), failure.status)
