"""A server in this process, on loopback and a port of its own, asked by plain HTTP and by the clients of others."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from ramify.serve.app import create_app
from ramify.serve.catalog import Catalog, name_collections
from ramify.serve.collection_tests import CollectionTests
from ramify.serve.collections import UserCollections, WatchedFolder
from ramify.serve.questions import QuestionQueue
from ramify.serve.service import QuestionService, UserThreads
from ramify.serve.transport import WebServer, parse_tokens
from ramify.studio.server.bounds import set_allowed
from tests.studio.conftest import built, documents, nothing_allowed, nowhere, ollama, ramify

__all__ = ["built", "documents", "nothing_allowed", "nowhere", "ollama", "ramify"]


TIMEOUT_S = 120.0
"""Seconds until what must come has come, on a busy machine."""
BORN = "In which city was the inventor of the ballpoint pen born?"
INVENTOR = "Who is the inventor of the ballpoint pen?"
FOLLOW_UP = "and where was he born?"


class Running(NamedTuple):
    """A running server: its address, and its parts."""

    url: str
    service: QuestionService

    def call(self, method: str, path: str, token: str = "", **given: Any) -> httpx.Response:
        """Send a request to our own interface."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.request(method, f"{self.url}/ramify/v1{path}", headers=headers, timeout=TIMEOUT_S, trust_env=False, **given)

    def ask(self, question: str, token: str = "", **given: Any) -> list[tuple[str, Any]]:
        """Ask, and return the events until the end."""
        with self.stream(question, token, **given) as events:
            return list(events)

    @contextmanager
    def stream(self, question: str, token: str = "", **given: Any) -> Iterator[Iterator[tuple[str, Any]]]:
        """Ask, and yield the events as they come."""
        with self.sent("/ask", {"question": question, **given}, token) as events:
            yield events

    @contextmanager
    def sent(self, path: str, body: dict[str, Any], token: str = "") -> Iterator[Iterator[tuple[str, Any]]]:
        """Send what is answered by events, and yield them as they come."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with (
            httpx.Client(timeout=TIMEOUT_S, trust_env=False) as client,
            client.stream("POST", f"{self.url}/ramify/v1{path}", json=body, headers=headers) as response,
        ):
            assert response.status_code == 200, response.read()
            yield read_events(response.iter_lines())


def read_events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    """Read server-sent events."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + TIMEOUT_S
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@contextmanager
def running(service: QuestionService, origins: Sequence[str] = ()) -> Iterator[Running]:
    """Run a server in a thread."""
    server = WebServer(create_app(service, origins), service.questions)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_until(lambda: server.started)
            yield Running(f"http://127.0.0.1:{listening.getsockname()[1]}", service)
        finally:
            server.should_exit = True
            thread.join()


Serve = Callable[..., Running]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start servers, and stop them at the end of the test."""
    with ExitStack() as stack:

        def start(
            *indexes: str | Path,
            model: str = "extractive",
            strategy: str = "prune",
            tokens: Sequence[str] = (),
            at_once: int = 4,
            documents: Sequence[Path] = (),
            watched: Sequence[WatchedFolder] = (),
            tests: Path | None = None,
            **options: Any,
        ) -> Running:
            places = [str(path) for path in indexes]
            set_allowed(places, [], [])
            catalog = Catalog(name_collections(places), strategy, [model], options)
            threads = UserThreads(f"sqlite:{tmp_path / 'conversations.sqlite'}")
            asyncio.run(threads.create_tables())
            users = parse_tokens(tokens)
            collections = UserCollections(catalog, tmp_path / "collections", documents, bool(users))
            first = catalog.collection(None)
            tested = {first.name: CollectionTests(tests, {**options, "model": model, "index": first.where})} if tests else {}
            queue = QuestionQueue(at_once)
            return stack.enter_context(running(QuestionService(catalog, queue, threads, collections, users, watched, tested)))

        yield start
