"""What comes over a connection, as functions of bytes: requests to our servers, and what a model's server sends back.

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
from ramify.studio.serve import serving as asking
from ramify.studio.serve.app import application
from ramify.studio.serve.catalog import Catalog, named
from ramify.studio.serve.collections import Collections
from ramify.studio.serve.mcp import application as mcp_application
from ramify.studio.serve.mcp import serve, server
from ramify.studio.serve.questions import Questions
from ramify.studio.serve.serving import Serving, Threads
from ramify.studio.server.bounds import declare
from ramify.tools.errors import RamifyError
from ramify.tools.models import named as models
from ramify.tools.models import servers
from tests.fuzz.values import FIELDS, JSON, NUMBERS, Target, words
from tests.river import QUESTION, model, river
from tests.studio.samples import result

HERE = "http://127.0.0.1"
ANSWERED, REFUSED = (200, 202, 307), range(400, 500)
PATIENCE = 30.0
"""Seconds after which a reply is not waited for."""


@cache
def served() -> Starlette:
    """Return the application of `ramify serve` over the demo, whose questions all have one answer."""
    places: list[str] = []
    declare(places, [], [])
    home = Path(tempfile.mkdtemp())
    catalog = Catalog(named(places), "naive", ["extractive"])
    threads = Threads(f"sqlite:{home / 'conversations.sqlite'}")
    asyncio.run(threads.prepare())
    return application(Serving(catalog, Questions(2), threads, Collections(catalog, home / "collections", [], False)))


async def answered(*given: Any, **options: Any) -> Result:
    return result()


async def _request(app: Starlette, method: str, path: str, body: bytes = b"") -> httpx.Response:
    head = {"content-type": "application/json", "accept": "application/json, text/event-stream"} if body or method == "POST" else {}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE) as client:
        return await client.request(method, path, content=body, headers=head)


def check(response: httpx.Response) -> None:
    """Check that a response is an answer, or a refusal in JSON."""
    assert response.status_code in ANSWERED or response.status_code in REFUSED, (response.status_code, response.text[:300])
    kind = response.headers.get("content-type", "")
    if response.status_code in REFUSED or (response.content and kind.startswith("application/json")):
        told = response.json()
        assert response.status_code in ANSWERED or (isinstance(told, dict) and {"error", "detail"} & told.keys()), told
    elif kind.startswith("text/event-stream"):
        for line in response.text.splitlines():
            assert not line.startswith("data: ") or line == "data: [DONE]" or json.loads(line.removeprefix("data: ")) is not None


def posted(path: str) -> Callable[[bytes], None]:
    """Return what sends a body to a path of `ramify serve`."""

    def run(data: bytes) -> None:
        with patch.object(asking, "ask_async", answered):
            check(asyncio.run(_request(served(), "POST", path, data)))

    return run


def query(data: bytes) -> None:
    """Ask for what the page asks for: a path below the interface, and its query."""
    place = quote(data, safe="/?&=%+#;:@.").lstrip("/")
    app = served()

    async def run() -> None:
        for method, prefix in product(("GET", "DELETE"), ("/ramify/v1/", "/")):
            with suppress(httpx.InvalidURL):  # the client sends none
                check(await _request(app, method, f"{prefix}{place}"))

    asyncio.run(run())


def mcp_http(data: bytes) -> None:
    """Send a body to `ramify mcp --http`."""

    async def run() -> httpx.Response:
        app = mcp_application(server("naive", {"model": model(), "index": river()}), {})
        async with app.router.lifespan_context(app):
            return await _request(app, "POST", "/mcp", data)

    check(asyncio.run(run()))


PING = b'\n{"jsonrpc": "2.0", "id": "last", "method": "ping"}\n'
HELLO = b"""{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
"clientInfo": {"name": "a", "version": "1"}}}\n""".replace(b",\n", b", ")


class Told(io.BytesIO):
    """What is said, which stays; `last` is set once the ping is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.last = threading.Event()

    def write(self, said: Any) -> int:
        if b'"last"' in said:
            self.last.set()
        return super().write(said)

    def close(self) -> None:
        pass


class Given(io.BytesIO):
    """Lines that end when all are answered: at the end of its input, a server drops what it has not answered."""

    def __init__(self, lines: bytes, answered: threading.Event) -> None:
        super().__init__(lines)
        self.answered = answered

    def read1(self, size: int | None = -1) -> bytes:
        lines = super().read1(size)
        if not lines:
            self.answered.wait(PATIENCE)
        return lines


def mcp_stdio(data: bytes) -> None:
    """Send lines to `ramify mcp`: it says nothing but JSON-RPC, and answers a ping behind them."""
    told = Told()
    given = Given(HELLO + data + PING, told.last)
    with patch.object(sys, "stdin", io.TextIOWrapper(given)), patch.object(sys, "stdout", io.TextIOWrapper(told)):
        asyncio.run(serve(server("naive", {"model": model(), "index": river()})))
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert all(line["jsonrpc"] == "2.0" for line in lines)
    assert any(line.get("id") == "last" for line in lines), lines
    assert len(lines) <= 100 + 2 * (data.count(b"\n") + data.count(b"\r") + 3)


class Pieces(httpx.AsyncByteStream):
    """A body that comes in pieces, and may break off."""

    def __init__(self, body: bytes, size: int, cut: bool) -> None:
        self.body, self.size, self.cut = body, size, cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for place in range(0, len(self.body), self.size):
            yield self.body[place : place + self.size]
        if self.cut:
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")


def received(name: str, kind: str, whole: bytes) -> Callable[[bytes], None]:
    """Return what asks a model whose server sends this: of the first byte, how long the pieces are, and whether it breaks off.

    A `%s` is put in the middle of a reply that is whole otherwise.
    """

    def run(data: bytes) -> None:
        size, cut, body = (data[0] % 64 or 4096, data[0] > 127, data[1:]) if data else (4096, False, b"")
        body = whole.replace(b"%s", body[1:]) if body[:1] == b"%" else body

        async def reply(self: object, request: httpx.Request) -> httpx.Response:
            asked = request.url.path.endswith(("/chat", "/chat/completions"))
            sent = body if asked else json.dumps({"models": [{"name": "m", "model": "m"}], "data": [{"id": "m"}]}).encode()
            return httpx.Response(200, headers={"content-type": kind}, stream=Pieces(sent, size if asked else 4096, cut and asked))

        def reply_at_once(self: object, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json={"models": [{"name": "m", "model": "m"}], "data": [{"id": "m"}], "model_info": {}})

        class Reading:
            reads_text = True

            def __call__(self, kind: str, event: Any) -> None:
                json.dumps(event, default=str).encode()

        options = {"model": name, "base_url": f"{HERE}:9/v1", "index": river(), "style": "full", "check": "none"}
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


SSE = (
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
    yield "serve-ask", Target(posted("/ramify/v1/ask"), [*ASK, *JSON, *NUMBERS], 4)
    yield "serve-query", Target(query, PLACES, 8)
    yield "serve-openai", Target(posted("/v1/chat/completions"), [*CHAT, *JSON], 4)
    yield "serve-responses", Target(posted("/v1/responses"), [*INPUT, *CHAT, *JSON], 4)
    yield "serve-ollama", Target(posted("/api/chat"), [*CHAT, *JSON], 4)
    yield (
        "serve-page",
        Target(posted("/ramify/v1/page"), [*words('{"collection": "demo", "result": {', '"tree": [', '"answer": "'), *JSON], 4),
    )
    yield "mcp-http", Target(mcp_http, [*CALL, *JSON, *NUMBERS], 4)
    yield "mcp-stdio", Target(mcp_stdio, [*CALL, *JSON, *NUMBERS], 4)
    received_parts = [*SENT, *FIELDS, *JSON, *NUMBERS]
    yield "openai-reply", Target(received("openai:m", "text/event-stream", SSE), received_parts, 5)
    yield "openai-whole-reply", Target(received("openai:m", "application/json", SSE), received_parts, 5)
    yield "ollama-reply", Target(received("ollama:m", "application/x-ndjson", NDJSON), received_parts, 5)


TARGETS = dict(targets())
