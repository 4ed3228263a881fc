"""The application of `ramify serve`: all protocols, the web page, and the health and readiness probes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from ramify.graphs.strategies import configure
from ramify.nodes.asking.ask import current_model
from ramify.serve import _json_api, _ollama, _openai, mcp
from ramify.serve._chat import ChatService
from ramify.serve._public import public_index
from ramify.serve.catalog import COMMAND, Catalog, Selection
from ramify.serve.questions import to_failure
from ramify.serve.service import QuestionService
from ramify.serve.transport import TokenMiddleware, create_guarded_app
from ramify.tools.pages import read_packaged, render_template, style_sheet
from ramify.tools.search.searcher import warm

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Allows no resources of other origins, no inline scripts, and no framing by other pages."""
PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STYLE_SHEET = "serve.css"
_STYLE_SHEETS = ("turn.css", _STYLE_SHEET)
"""Files of the page's style sheet, after that of all pages."""
_PAGE_FILES = {
    _STYLE_SHEET: "text/css",
    "serve.svg": "image/svg+xml",
    "parts.js": "text/javascript",
    "serve.js": "text/javascript",
    "serve_panels.js": "text/javascript",
    "serve_requests.js": "text/javascript",
    "serve_review.js": "text/javascript",
    "serve_sources.js": "text/javascript",
    "serve_upload.js": "text/javascript",
    "source.js": "text/javascript",
    "tree.js": "text/javascript",
    "turn.js": "text/javascript",
}


def create_app(service: QuestionService, origins: Sequence[str] = ()) -> Starlette:
    """Return the application of `ramify serve`; `origins` are allowed besides this machine's."""
    catalog, chat_service, tokens = service.catalog, ChatService(service), [Middleware(TokenMiddleware, users=service.users)]
    tool_options = _tool_options(catalog)
    tools = mcp.create_session_manager(
        mcp.create_server(
            catalog.strategy, tool_options, queue=mcp.shared_queue(service.questions),
            name_index=lambda description: public_index(description, list(catalog.collections.values())),
        )
    )  # fmt: skip

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.loading = asyncio.create_task(asyncio.to_thread(_load_all, catalog))
        service.connect_tests()
        watch_tasks = [asyncio.create_task(folder.run()) for folder in service.watched_folders]
        async with tools.run():
            yield
        for task in watch_tasks:
            task.cancel()
        await asyncio.gather(*watch_tasks, return_exceptions=True)
        await asyncio.gather(*(tests.stop() for tests in service.tests.values()))
        await service.questions.close()
        await service.collections.close()
        app.state.loading.cancel()

    return create_guarded_app(
        [
            Route("/health", _health),
            Route("/ready", _ready),
            Mount(_json_api.PREFIX, routes=_json_api.JsonApi(service).routes(), middleware=tokens),
            Mount(_openai.PREFIX, routes=_openai.OpenAI(chat_service).routes(), middleware=tokens),
            Mount(_ollama.PREFIX, routes=_ollama.Ollama(chat_service).routes(), middleware=tokens),
            mcp.create_route(tools, service.users),
            Route("/", _index),  # the page itself needs no token: it contains no data
            Route("/page/{name}", _page_file),
        ],
        origins,
        ("GET", "POST", "DELETE"),
        COMMAND,
        {
            f"{_openai.PREFIX}/": _openai.error_body,
            f"{_ollama.PREFIX}/": _ollama.error_body,
            f"{mcp.PREFIX}/": mcp.error_body,
            "/": _json_api.error_body,
        },
        lifespan,
        untyped=True,
    )


def _tool_options(catalog: Catalog) -> Callable[[], dict[str, Any]]:
    """Return a function that returns the options of tools for agents: they search all collections of now that are intact."""
    names = list(catalog.collections)

    def options() -> dict[str, Any]:
        intact = [collection for collection in catalog.intact_collections() if collection.name in names]
        return catalog.request_options(catalog.strategy, Selection(tuple(intact or [catalog.collection(None)])))

    return options


def _load_all(catalog: Catalog) -> None:
    """Load the model and the collections, except those that cannot be opened; raise RamifyError if that is none."""
    intact = catalog.intact_collections()
    for collection in intact or [catalog.collection(None)]:
        warm(collection.where)
    _, settings = configure(catalog.strategy, catalog.request_options(catalog.strategy, catalog.selection(None)))
    current_model(settings).load()


async def _health(request: Request) -> Response:
    return JSONResponse({"alive": True})


async def _ready(request: Request) -> Response:
    """Readiness probe: 200 once everything is loaded, else 503 with the reason."""
    loading: asyncio.Task[None] | None = getattr(request.app.state, "loading", None)
    if loading is None or not loading.done():
        return JSONResponse({"ready": False, "why": "the indexes and the model are being loaded"}, 503)
    if (error := loading.exception()) is not None:
        return JSONResponse({"ready": False, "why": to_failure(error).message}, 503)
    return JSONResponse({"ready": True})


async def _index(request: Request) -> Response:
    return HTMLResponse(f"{render_template('serve.html')}\n", headers=PAGE_HEADERS)


async def _page_file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _PAGE_FILES:
        raise HTTPException(404, f"the page has no file {name[:80]!r}: choose one of {', '.join(_PAGE_FILES)}")
    content = "\n".join([style_sheet(), *map(read_packaged, _STYLE_SHEETS)]) if name == _STYLE_SHEET else read_packaged(name)
    return Response(content, media_type=_PAGE_FILES[name], headers=PAGE_HEADERS)
