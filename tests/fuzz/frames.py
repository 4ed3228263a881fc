"""Fuzz targets for connections: requests to our servers, and what a model's server sends back.

A request is answered, or refused by a status below 500 and a line in JSON; a question to a server that answers anything at all ends with a
result or an error of the family. No server is started: requests go to the application itself, and replies come from a transport.
"""

import asyncio
import io
import json
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import httpx
from starlette.applications import Starlette

import ramify.graphs as graphs
from ramify.graphs.run import Result
from ramify.serve import service
from ramify.serve.app import create_app
from ramify.serve.catalog import Catalog, name_collections
from ramify.serve.collections import UserCollections
from ramify.serve.mcp import create_mcp_app, create_server
from ramify.serve.mcp_stdio import serve_stdio
from ramify.serve.questions import QuestionQueue
from ramify.serve.service import QuestionService, UserThreads
from ramify.studio.server.bounds import set_allowed
from ramify.tools.errors import RamifyError
from ramify.tools.models import named as models
from ramify.tools.models import servers
from tests.fuzz.values import FIELDS, JSON, NUMBERS, Target, words
from tests.river import QUESTION, model, river
from tests.studio.samples import result

FOLDER = "http://127.0.0.1"
ANSWER_STATUSES, ERROR_STATUSES = (200, 202, 307), range(400, 500)
TIMEOUT_S = 30.0
"""Seconds after which a reply is not waited for."""


@cache
def start_server() -> Starlette:
    """Return the application of `ramify serve` over the demo, whose questions all have one answer."""
    places: list[str] = []
    set_allowed(places, [], [])
    home = Path(tempfile.mkdtemp())
    catalog = Catalog(name_collections(places), "naive", ["extractive"])
    threads = UserThreads(f"sqlite:{home / 'conversations.sqlite'}")
    asyncio.run(threads.create_tables())
    return create_app(QuestionService(catalog, QuestionQueue(2), threads, UserCollections(catalog, home / "collections", [], False)))


async def send_request(*given: Any, **options: Any) -> Result:
    return result()


async def _request(app: Starlette, method: str, path: str, body: bytes = b"") -> httpx.Response:
    head = {"content-type": "application/json", "accept": "application/json, text/event-stream"} if body or method == "POST" else {}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=FOLDER) as client:
        return await client.request(method, path, content=body, headers=head)


def check(response: httpx.Response) -> None:
    """Check that a response is an answer, or a refusal in JSON."""
    assert response.status_code in ANSWER_STATUSES or response.status_code in ERROR_STATUSES, (response.status_code, response.text[:300])
    kind = response.headers.get("content-type", "")
    if response.status_code in ERROR_STATUSES or (response.content and kind.startswith("application/json")):
        body = response.json()
        assert response.status_code in ANSWER_STATUSES or (isinstance(body, dict) and {"error", "detail"} & body.keys()), body
    elif kind.startswith("text/event-stream"):
        for line in response.text.splitlines():
            assert not line.startswith("data: ") or line == "data: [DONE]" or json.loads(line.removeprefix("data: ")) is not None


def make_post(path: str) -> Callable[[bytes], None]:
    """Return what sends a body to a path of `ramify serve`."""

    def run(data: bytes) -> None:
        with patch.object(service, "ask_async", send_request):
            check(asyncio.run(_request(start_server(), "POST", path, data)))

    return run


def query(data: bytes) -> None:
    """Ask for what the page asks for: a path below the interface, and its query."""
    place = quote(data, safe="/?&=%+#;:@.").lstrip("/")
    app = start_server()

    async def run() -> None:
        for method, prefix in product(("GET", "DELETE"), ("/ramify/v1/", "/")):
            with suppress(httpx.InvalidURL):  # the client sends none
                check(await _request(app, method, f"{prefix}{place}"))

    asyncio.run(run())


def mcp_http(data: bytes) -> None:
    """Send a body to `ramify mcp --http`."""

    async def run() -> httpx.Response:
        app = create_mcp_app(create_server("naive", {"model": model(), "index": river()}), {})
        async with app.router.lifespan_context(app):
            return await _request(app, "POST", "/mcp", data)

    check(asyncio.run(run()))


PING = b'\n{"jsonrpc": "2.0", "id": "last", "method": "ping"}\n'
HELLO = b"""{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
"clientInfo": {"name": "a", "version": "1"}}}\n""".replace(b",\n", b", ")


class RecordingWriter(io.BytesIO):
    """A writer that keeps what is written; `last` is set when the ping is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.last = threading.Event()

    def write(self, data: Any) -> int:
        if b'"last"' in data:
            self.last.set()
        return super().write(data)

    def close(self) -> None:
        pass


class BytesReader(io.BytesIO):
    """Lines that end when all are answered: at the end of its input, a server drops what it has not answered."""

    def __init__(self, lines: bytes, answered: threading.Event) -> None:
        super().__init__(lines)
        self.answered = answered

    def read1(self, size: int | None = -1) -> bytes:
        lines = super().read1(size)
        if not lines:
            self.answered.wait(TIMEOUT_S)
        return lines


def mcp_stdio(data: bytes) -> None:
    """Send lines to `ramify mcp`: it says nothing but JSON-RPC, and answers a ping behind them."""
    told = RecordingWriter()
    given = BytesReader(HELLO + data + PING, told.last)
    with patch.object(sys, "stdin", io.TextIOWrapper(given)), patch.object(sys, "stdout", io.TextIOWrapper(told)):
        asyncio.run(serve_stdio(create_server("naive", {"model": model(), "index": river()})))
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert all(line["jsonrpc"] == "2.0" for line in lines)
    assert any(line.get("id") == "last" for line in lines), lines
    assert len(lines) <= 100 + 2 * (data.count(b"\n") + data.count(b"\r") + 3)


class ByteStream(httpx.AsyncByteStream):
    """A body that comes in pieces, and may break off."""

    def __init__(self, body: bytes, size: int, cut: bool) -> None:
        self.body, self.size, self.cut = body, size, cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for place in range(0, len(self.body), self.size):
            yield self.body[place : place + self.size]
        if self.cut:
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")


def make_receiver(name: str, kind: str, whole: bytes) -> Callable[[bytes], None]:
    """Return what asks a model whose server sends this: of the first byte, how long the pieces are, and whether it breaks off.

    A `%s` is put in the middle of a reply that is whole otherwise.
    """

    def run(data: bytes) -> None:
        size, cut, body = (data[0] % 64 or 4096, data[0] > 127, data[1:]) if data else (4096, False, b"")
        body = whole.replace(b"%s", body[1:]) if body[:1] == b"%" else body

        async def reply(self: object, request: httpx.Request) -> httpx.Response:
            asked = request.url.path.endswith(("/chat", "/chat/completions"))
            sent = body if asked else json.dumps({"models": [{"name": "m", "model": "m"}], "data": [{"id": "m"}]}).encode()
            return httpx.Response(200, headers={"content-type": kind}, stream=ByteStream(sent, size if asked else 4096, cut and asked))

        def reply_at_once(self: object, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json={"models": [{"name": "m", "model": "m"}], "data": [{"id": "m"}], "model_info": {}})

        class Reading:
            reads_text = True

            def __call__(self, kind: str, event: Any) -> None:
                json.dumps(event, default=str).encode()

        options = {"model": name, "base_url": f"{FOLDER}:9/v1", "index": river(), "style": "full", "check": "none"}
        models.clear_cache()
        with (
            patch.object(servers, "RETRY_PAUSES_S", (0.0, 0.0)),
            patch.object(httpx.AsyncHTTPTransport, "handle_async_request", reply),
            patch.object(httpx.HTTPTransport, "handle_request", reply_at_once),
            suppress(RamifyError),
        ):
            found = graphs.ask(QUESTION, "naive", watch=Reading(), **options)
            assert found.answer
            json.dumps(found.to_json(), ensure_ascii=False).encode()

    return run


def _sse(*deltas: str) -> bytes:
    head = '{"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [{"index": 0, "delta": '
    return "".join(f'data: {head}{delta}, "finish_reason": null}}]}}\n\n' for delta in deltas).encode()


SSE_MEDIA_TYPE = (
    _sse('{"role": "assistant", "content": ""}', '{"content": "{\\"text\\": \\"It is %s\\", \\"answer\\": \\"Seine\\"}"}')
    + b"data: [DONE]\n\n"
)
NDJSON = b'{"model": "m", "message": {"role": "assistant", "content": "{\\"text\\": \\"It is %s\\", "}, "done": false}\n'
NDJSON += (
    b'{"model": "m", "message": {"role": "assistant", "content": "\\"answer\\": \\"Seine\\"}"}, "done": true, "done_reason": "stop"}\n'
)

CHAT = words(
    '{"model": "demo/naive", "messages": [', '{"role": "user", "content": "Where?"}', '{"role": "assistant", "content": "**x**[^1]"}, '
)
CHAT += words(
    '], "stream": true',
    '], "stream": false',
    "}",
    ', "n": 2',
    '{"type": "image_url"}',
    '"demo+demo/naive"',
    ': [{"type": "text", "text": "Where?"}]',
)
ASK = words(
    '{"question": "Where?"',
    ', "collection": "demo"',
    ', "collection": ["demo", ',
    ', "settings": {"k": ',
    ', "thread": "new"',
    ', "style": "full"',
)
ASK += words(
    "]", "}", ', "settings": {"filter": {"a": ', ', "strategy": "', ', "index": "/"', '"ask_first": "answer"', ', "preset": "paper"'
)
INPUT = words(
    '{"model": "demo/naive", "input": "Where?"',
    '{"model": "demo/naive", "input": [',
    '{"type": "reasoning", "summary": []}, ',
    '{"role": "user", "content": [',
)
INPUT += words('{"type": "input_text", "text": "Where?"}', "]}", ', "stream": true', ', "previous_response_id": "a"')
CALL = words(
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_documents", "arguments": {"query": "river"', "}}}\n"
)
CALL += words(
    '"research_documents", "arguments": {"question": "',
    ', "filter": {"source": ',
    '"id": null',
    '"method": "',
    "tools/list",
    "ping",
    "initialize",
)
CALL += words(
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}\n',
    '"_meta": {"progressToken": ',
    "[",
    "]",
    "\r",
    "\x85",
)
SENT = words(
    'data: {"id": "1", ',
    '"choices": [{"index": 0, ',
    '"delta": {"content": "',
    '"message": {"role": "assistant", "content": "',
    '"finish_reason": "',
)
SENT += words(
    "data: [DONE]\n\n",
    "\n\n",
    "event: error\n",
    '"done": true',
    '"eval_count": ',
    '"usage": {"prompt_tokens": ',
    '"error": "',
    "%",
    "\xff",
    ": a\n",
)
SENT += words(
    '"logprobs": [{"token": "', '"logprob": ', '"tool_calls": [{"function": {"name": "', '"thinking": "', '\\"answer\\": \\"Seine\\"'
)
PLACES = words(
    "source?",
    "file?",
    "collection=demo",
    "&",
    "passage=",
    "quote=",
    "threads/",
    "collections/",
    "/documents",
    "/documents?file=",
    "/progress",
    "page/",
)
PLACES += words(
    "..%2f",
    "%00",
    "%ff",
    "%ed%a0%80",
    "+",
    "serve.css",
    "/",
    "demo",
    "v1/models/",
    "api/tags",
    "collection=" * 3,
    "a" * 9000,
    "#",
    "strategies",
    "about",
)


def targets() -> Iterator[tuple[str, Target]]:
    yield "serve-ask", Target(make_post("/ramify/v1/ask"), [*ASK, *JSON, *NUMBERS], 4)
    yield "serve-query", Target(query, PLACES, 8)
    yield "serve-openai", Target(make_post("/v1/chat/completions"), [*CHAT, *JSON], 4)
    yield "serve-responses", Target(make_post("/v1/responses"), [*INPUT, *CHAT, *JSON], 4)
    yield "serve-ollama", Target(make_post("/api/chat"), [*CHAT, *JSON], 4)
    yield (
        "serve-page",
        Target(make_post("/ramify/v1/page"), [*words('{"collection": "demo", "result": {', '"tree": [', '"answer": "'), *JSON], 4),
    )
    yield "mcp-http", Target(mcp_http, [*CALL, *JSON, *NUMBERS], 4)
    yield "mcp-stdio", Target(mcp_stdio, [*CALL, *JSON, *NUMBERS], 4)
    received_parts = [*SENT, *FIELDS, *JSON, *NUMBERS]
    yield "openai-reply", Target(make_receiver("openai:m", "text/event-stream", SSE_MEDIA_TYPE), received_parts, 5)
    yield "openai-whole-reply", Target(make_receiver("openai:m", "application/json", SSE_MEDIA_TYPE), received_parts, 5)
    yield "ollama-reply", Target(make_receiver("ollama:m", "application/x-ndjson", NDJSON), received_parts, 5)


TARGETS = dict(targets())
