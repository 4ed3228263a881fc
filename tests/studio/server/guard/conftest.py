"""A server with a key in its environment, asked by plain HTTP, as a page's browser or a program asks; one for all tests of this folder."""

import json
import shutil
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest

from ramify.tools.demo import demo_index
from tests.studio.dev_server import DevServer, dev_server
from tests.tools.ollama_server import Quiet

KEY = "sk-the-operators-own-key"
ALLOWED_ORIGIN = "https://friend.example"
LOCAL = {"model": "extractive"}
ASKED = {"question": "Who is the inventor of the ballpoint pen?"}


class OtherServer(BaseHTTPRequestHandler):
    """A server of somebody else's, which keeps what it is sent."""

    heard: list[str]

    def do_POST(self) -> None:
        self.heard.append(f"{self.path}\n{self.headers}")
        self.send_error(500)

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def other_server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that nobody has named to ours, and what it is sent."""
    heard: list[str] = []
    listening = Quiet(("127.0.0.1", 0), type("Here", (OtherServer,), {"heard": heard}))
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}", heard
    listening.shutdown()
    listening.server_close()


@pytest.fixture(scope="session")
def not_allowed_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index on this machine that the server was not told of."""
    return Path(shutil.copytree(demo_index(), tmp_path_factory.mktemp("others") / "hidden"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, not_allowed_index: Path) -> Iterator[DevServer]:
    """A server with a key in its environment, an index that it was told of, and a page that was let in."""
    folder = tmp_path_factory.mktemp("server")
    mine = Path(shutil.copytree(demo_index(), folder / "mine"))
    (folder / "link").symlink_to(not_allowed_index)
    with dev_server(folder, None, "--index", str(mine), "--allow-origin", ALLOWED_ORIGIN, OPENAI_API_KEY=KEY) as running:
        yield running
    assert running.complaints() == []


def send(server: DevServer, method: str, path: str, body: Any = None, **headers: str | None) -> httpx.Response:
    """Send a request with these headers and no others that matter here."""
    given = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
    content = None if body is None else body if isinstance(body, str) else json.dumps(body)
    return httpx.request(method, server.url + path, content=content, headers=given, timeout=120, trust_env=False)


def run(server: DevServer, context: dict[str, Any], strategy: str = "naive", **body: Any) -> Any:
    """Ask as a program does; give the final values, or the error."""
    given = {"assistant_id": strategy, "input": ASKED, "context": context, **body}
    return send(server, "POST", "/runs/wait", given, content_type="application/json").json()


def runs(server: DevServer, asked: Iterable[tuple[dict[str, Any], str]]) -> list[Any]:
    """Ask with several contexts and strategies at once: the server takes a second for each to be looked at."""
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda one: run(server, *one), asked))
