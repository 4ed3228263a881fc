"""The application of `ramify serve`: all protocols, the page, and whether everything is loaded that the first question would wait for."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from ramify.graphs.strategies import configure
from ramify.nodes.asking.ask import current_model
from ramify.studio.serve import json_api, mcp, ollama, openai
from ramify.studio.serve.catalog import COMMAND, Catalog, Selection
from ramify.studio.serve.chat import Chats
from ramify.studio.serve.questions import failure_of
from ramify.studio.serve.serving import Serving
from ramify.studio.serve.transport import Tokens, guarded
from ramify.tools.index.searcher import warm
from ramify.tools.pages import read_packaged, render_template, style_sheet

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, nothing inline is run, and no other page has this one in a frame."""
PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_SHEET = "serve.css"
_PARTS = {
    _SHEET: "text/css",
    "serve.svg": "image/svg+xml",
    "serve.js": "text/javascript",
    "serve_parts.js": "text/javascript",
    "serve_panels.js": "text/javascript",
    "serve_review.js": "text/javascript",
}


def application(serving: Serving, origins: Sequence[str] = ()) -> Starlette:
    """Return the application; `origins` are allowed besides this machine's."""
    catalog, chats, tokens = serving.catalog, Chats(serving), [Middleware(Tokens, users=serving.users)]
    searched = catalog.options_of(catalog.strategy, Selection(tuple(catalog.collections.values())))
    tools = mcp.stateless(mcp.server(catalog.strategy, searched, queue=mcp.in_turn(serving.questions)))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.loading = asyncio.create_task(asyncio.to_thread(_load, catalog))
        watching = [asyncio.create_task(one.run()) for one in serving.watched]
        async with tools.run():
            yield
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        await serving.questions.close()
        await serving.collections.close()
        app.state.loading.cancel()

    return guarded(
        [
            Route("/health", _health),
            Route("/ready", _ready),
            Mount(json_api.PREFIX, routes=json_api.JsonApi(serving).routes(), middleware=tokens),
            Mount(openai.PREFIX, routes=openai.OpenAI(chats).routes(), middleware=tokens),
            Mount(ollama.PREFIX, routes=ollama.Ollama(chats).routes(), middleware=tokens),
            mcp.route(tools, serving.users),
            Route("/", _index),  # the page asks for no token, and tells nothing that does
            Route("/page/{name}", _part),
        ],
        origins,
        ("GET", "POST", "DELETE"),
        COMMAND,
        {
            f"{openai.PREFIX}/": openai.refusal,
            f"{ollama.PREFIX}/": ollama.refusal,
            f"{mcp.PREFIX}/": mcp.refusal,
            "/": json_api.refusal,
        },
        lifespan,
        untyped=True,
    )


def _load(catalog: Catalog) -> None:
    for collection in catalog.collections.values():
        warm(collection.where)
    _, settings = configure(catalog.strategy, catalog.options_of(catalog.strategy, catalog.selection(None)))
    current_model(settings).load()


async def _health(request: Request) -> Response:
    return JSONResponse({"alive": True})


async def _ready(request: Request) -> Response:
    """Say that all is loaded; 503 while it is not, or where it cannot be."""
    loading: asyncio.Task[None] | None = getattr(request.app.state, "loading", None)
    if loading is None or not loading.done():
        return JSONResponse({"ready": False, "why": "indexes and the model are being loaded"}, 503)
    if (error := loading.exception()) is not None:
        return JSONResponse({"ready": False, "why": failure_of(error).message}, 503)
    return JSONResponse({"ready": True})


async def _index(request: Request) -> Response:
    return HTMLResponse(f"{render_template('serve.html')}\n", headers=PAGE_HEADERS)


async def _part(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _PARTS:
        raise HTTPException(404, f"the page has no part {name[:80]!r}: it is made of {', '.join(_PARTS)}")
    content = f"{style_sheet()}\n{read_packaged(_SHEET)}" if name == _SHEET else read_packaged(name)
    return Response(content, media_type=_PARTS[name], headers=PAGE_HEADERS)
