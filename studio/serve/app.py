"""The application: all routes behind the guard, what is loaded before the first question, and how errors are told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server as Tools
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from ramify.graphs.strategies import configure
from ramify.nodes.asking.ask import current_model
from ramify.studio.serve import json_api, mcp, ollama, openai, page, responses
from ramify.studio.serve.catalog import COMMAND, Selection
from ramify.studio.serve.chat import Chats
from ramify.studio.serve.questions import Failure, failure_of
from ramify.studio.serve.serving import Serving
from ramify.studio.serve.users import Tokens
from ramify.studio.server.guard import Guard, pattern
from ramify.studio.server.mcp import server
from ramify.tools.errors import RamifyError
from ramify.tools.index.searcher import warm

_REFUSALS: dict[str, Callable[[Failure], Any]] = {openai.PREFIX: openai.refusal, ollama.PREFIX: ollama.refusal, mcp.PREFIX: mcp.refusal}
"""How failures are told, by the first part of the path; our own way elsewhere."""
_METHODS = ("GET", "POST", "DELETE")
_KINDS = {400: "usage", 401: "token", 404: "missing", 405: "usage"}


class Readiness:
    """Whether everything is loaded that the first question would wait for."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._loading: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin to load."""
        self._loading = asyncio.create_task(asyncio.to_thread(self._load))

    async def end(self) -> None:
        """Wait for no more of it."""
        if self._loading is not None:
            self._loading.cancel()

    async def show(self, request: Request) -> Response:
        """Say that all is loaded; 503 while it is not, or where it cannot be."""
        if self._loading is None or not self._loading.done():
            return JSONResponse({"ready": False, "why": "indexes and the model are being loaded"}, 503)
        if (error := self._loading.exception()) is not None:
            return JSONResponse({"ready": False, "why": failure_of(error).message}, 503)
        return JSONResponse({"ready": True})

    def _load(self) -> None:
        catalog = self._serving.catalog
        for collection in catalog.collections.values():
            warm(collection.where)
        _, settings = configure(catalog.strategy, catalog.options_of(catalog.strategy, catalog.selection(None)))
        current_model(settings).load()


def application(serving: Serving, origins: Sequence[str] = ()) -> Starlette:
    """Return the application; `origins` are allowed besides this machine's."""
    ready = Readiness(serving)
    tools = mcp.stateless(_tools(serving))
    tokens, chats = [Middleware(Tokens, users=serving.users)], Chats(serving)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        ready.begin()
        watching = [asyncio.create_task(one.run()) for one in serving.watched]
        async with tools.run():
            yield
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        await serving.questions.close()
        if serving.collections is not None:
            await serving.collections.close()
        await ready.end()

    return Starlette(
        routes=[
            Route("/health", _health),
            Route("/ready", ready.show),
            Mount(json_api.PREFIX, routes=json_api.JsonApi(serving).routes(), middleware=tokens),
            Mount(openai.PREFIX, routes=[*openai.OpenAI(chats).routes(), *responses.Responses(chats).routes()], middleware=tokens),
            Mount(ollama.PREFIX, routes=ollama.Ollama(chats).routes(), middleware=tokens),
            mcp.route(tools, serving.users),
            *page.routes(),
        ],
        middleware=[
            Middleware(Guard, origins=pattern(origins, known=()), command=COMMAND, untyped=True),
            Middleware(CORSMiddleware, allow_origins=origins, allow_methods=_METHODS, allow_headers=mcp.HEADERS),
        ],
        exception_handlers={RamifyError: _failed, HTTPException: _refused, 500: _failed},
        lifespan=lifespan,
    )


def _tools(serving: Serving) -> Tools[Any]:
    """Return the tools for agents over all collections that are there, with the server's first strategy and model."""
    catalog = serving.catalog
    options = catalog.options_of(catalog.strategy, Selection(tuple(catalog.collections.values())))
    return server(catalog.strategy, options, queue=mcp.in_turn(serving.questions))


async def _health(request: Request) -> Response:
    return JSONResponse({"alive": True})


async def _failed(request: Request, error: Exception) -> Response:
    return _told(request, failure_of(error))


async def _refused(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    failure = Failure(_KINDS.get(status, "other"), str(getattr(error, "detail", error)), status)
    return _told(request, failure, getattr(error, "headers", None))


def _told(request: Request, failure: Failure, headers: dict[str, str] | None = None) -> Response:
    """Tell a failure in the form of the protocol that was spoken."""
    refusal = next((form for prefix, form in _REFUSALS.items() if f"{request.url.path}/".startswith(f"{prefix}/")), json_api.refusal)
    return JSONResponse(refusal(failure), failure.status, headers)
