"""Who may use the development server, and what a run there may name: asked by plain HTTP, as a page's browser or a program asks."""

import json
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest

import ramify.graphs as graphs
from ramify.studio.server import guard
from ramify.studio.server.bounds import BASE_URLS, INDEXES, MODEL_FILES, RERANKERS, bounded, declare
from ramify.studio.server.guard import origin_of, pattern
from ramify.studio.server.langgraph_json import configuration
from ramify.tools.demo import demo_index
from ramify.tools.errors import UsageError
from tests.studio.conftest import Ramify
from tests.studio.dev_server import RAMIFY, DevServer, dev_server, free_port
from tests.tools.llamacpp import write_model
from tests.tools.ollama_server import Quiet

KEY = "sk-the-operators-own-key"
EVIL = "http://evil.example"
FRIEND = "https://friend.example"
LOCAL = {"model": "extractive"}
ASKED = {"question": "Who is the inventor of the ballpoint pen?"}
SIMPLE = ("text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None)
"""What a browser sends to another site without asking that site beforehand."""
ROUTES = (
    ("GET", "/ok"),
    ("GET", "/info"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/metrics"),
    ("POST", "/mcp"),
    ("POST", "/runs/wait"),
    ("POST", "/runs/stream"),
    ("POST", "/threads"),
    ("POST", "/threads/search"),
    ("POST", "/assistants/search"),
    ("POST", "/store/items/search"),
    ("POST", "/a2a/naive"),
    ("POST", "/ui/naive"),
    ("POST", "/internal/truncate"),
    ("DELETE", "/store/items"),
    ("OPTIONS", "/runs/wait"),
    ("GET", "/no/such/route"),
)


class Elsewhere(BaseHTTPRequestHandler):
    """A server of somebody else's, which keeps what it is sent."""

    heard: list[str]

    def do_POST(self) -> None:
        self.heard.append(f"{self.path}\n{self.headers}")
        self.send_error(500)

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that nobody has named to ours, and what it is sent."""
    heard: list[str] = []
    listening = Quiet(("127.0.0.1", 0), type("Here", (Elsewhere,), {"heard": heard}))
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}", heard
    listening.shutdown()
    listening.server_close()


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index on this machine that the server was not told of."""
    return Path(shutil.copytree(demo_index(), tmp_path_factory.mktemp("others") / "hidden"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, hidden: Path) -> Iterator[DevServer]:
    """A server with a key in its environment, an index that it was told of, and a page that was let in."""
    folder = tmp_path_factory.mktemp("server")
    mine = Path(shutil.copytree(demo_index(), folder / "mine"))
    (folder / "link").symlink_to(hidden)
    with dev_server(folder, None, "--index", str(mine), "--allow-origin", FRIEND, OPENAI_API_KEY=KEY) as running:
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


class TestPages:
    """Which pages are answered."""

    @pytest.mark.parametrize(("method", "path"), ROUTES)
    def test_a_foreign_page_is_refused_at_every_route(self, server: DevServer, method: str, path: str) -> None:
        body = {} if method == "POST" else None
        for origin in (EVIL, "null", "https://smith.langchain.com.evil.example", "http://localhost.evil.example:2024"):
            refused = send(server, method, path, body, origin=origin, content_type="application/json")
            assert refused.status_code == 403
            assert f"--allow-origin {origin}" in refused.json()["detail"]
            assert "access-control-allow-origin" not in refused.headers

    @pytest.mark.parametrize(("method", "path"), ROUTES)
    def test_a_name_that_somebody_let_lead_here_is_refused_at_every_route(self, server: DevServer, method: str, path: str) -> None:
        body = {} if method == "POST" else None
        port = server.url.rpartition(":")[2]
        refused = send(server, method, path, body, host=f"evil.example:{port}", content_type="application/json")
        assert refused.status_code == 403
        assert "is not reached by the name 'http://evil.example:" in refused.json()["detail"]

    @pytest.mark.parametrize("kind", SIMPLE)
    @pytest.mark.parametrize("path", ["/runs/wait", "/mcp", "/threads", "/assistants/search"])
    def test_what_needs_no_preflight_is_not_read(self, server: DevServer, path: str, kind: str | None) -> None:
        given = {"assistant_id": "naive", "input": ASKED, "context": LOCAL}
        refused = send(server, "POST", path, given, content_type=kind)
        assert refused.status_code == 415
        assert "application/json" in refused.json()["detail"]

    def test_the_pictures_and_frames_of_a_foreign_page_are_refused_but_a_link_may_be_followed(self, server: DevServer) -> None:
        crossing: dict[str, str | None] = {"sec_fetch_site": "cross-site"}
        for kind in ("image", "script", "iframe", "empty"):
            assert send(server, "GET", "/docs", **crossing, sec_fetch_dest=kind).status_code == 403
        assert send(server, "GET", "/docs", **crossing, sec_fetch_dest="document").status_code == 200
        assert send(server, "POST", "/internal/truncate", **crossing, sec_fetch_dest="document").status_code == 403

    @pytest.mark.parametrize("origin", [EVIL, "null"])
    def test_a_foreign_page_opens_no_socket(self, server: DevServer, origin: str) -> None:
        assert self.handshake(server, origin).startswith("HTTP/1.1 403")
        assert not self.handshake(server, "http://localhost:3000").startswith("HTTP/1.1 403")

    @staticmethod
    def handshake(server: DevServer, origin: str) -> str:
        name, port = server.url.removeprefix("http://").split(":")
        thread = send(server, "POST", "/threads", {}, content_type="application/json").json()["thread_id"]
        upgrade = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        )
        with socket.create_connection((name, int(port)), timeout=30) as line:
            head = f"GET /threads/{thread}/stream/events HTTP/1.1\r\nHost: {name}:{port}\r\nOrigin: {origin}\r\n{upgrade}\r\n"
            line.sendall(head.encode())
            return line.recv(4096).decode()

    @pytest.mark.parametrize(
        "origin", ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:80", "https://smith.langchain.com", FRIEND]
    )
    def test_pages_on_the_list_are_answered_and_named_in_the_headers(self, server: DevServer, origin: str) -> None:
        wanted = {"access_control_request_method": "POST", "access_control_request_headers": "content-type"}
        assert send(server, "OPTIONS", "/assistants/search", origin=origin, **wanted).headers["access-control-allow-origin"] == origin
        answered = send(server, "POST", "/assistants/search", {}, origin=origin, content_type="application/json")
        assert answered.status_code == 200
        assert answered.headers["access-control-allow-origin"] == origin
        assert "x-pagination-total" in answered.headers["access-control-expose-headers"]

    @pytest.mark.parametrize("host", ["localhost:1", "[::1]:2024", "friend.example"])
    def test_names_on_the_list_are_answered(self, server: DevServer, host: str) -> None:
        assert send(server, "GET", "/info", host=host).status_code == 200

    def test_a_program_is_answered(self, server: DevServer) -> None:
        assert run(server, LOCAL)["answer"] == "László Bíró"


class TestRuns:
    """What a run may name."""

    def test_the_key_goes_to_no_address_that_a_run_names(self, server: DevServer, elsewhere: tuple[str, list[str]]) -> None:
        address, heard = elsewhere
        models = ("openai:x", "ollama:x", "auto")
        strategies = ("closed-book", "prune", "tor", "iterative", "chain", "naive")
        ended = runs(server, [({"model": name, "base_url": f"{address}/v1"}, strategy) for name in models for strategy in strategies])
        told = f"base_url='{address}/v1' is not open to this server's runs — start it with `ramify studio --base-url {address}/v1`"
        assert [end["__error__"]["message"] for end in ended] == [told] * len(models) * len(strategies)
        assert heard == []

    def test_no_other_way_of_naming_it_helps(self, server: DevServer, elsewhere: tuple[str, list[str]], hidden: Path) -> None:
        address, heard = elsewhere
        for wrong in ({"model": "openai:x", "base_url": address}, {"model": "extractive", "index": str(hidden)}):
            made = {"graph_id": "naive", "context": wrong}
            assistant = send(server, "POST", "/assistants", made, content_type="application/json").json()["assistant_id"]
            assert "is not open" in run(server, {}, assistant)["__error__"]["message"]
            by_config: Any = {"assistant_id": "naive", "input": ASKED, "config": {"configurable": wrong}}
            assert "is not open" in send(server, "POST", "/runs/wait", by_config, content_type="application/json").text
        assert heard == []

    def test_a_halted_thread_is_not_gone_on_with_elsewhere(self, server: DevServer, elsewhere: tuple[str, list[str]]) -> None:
        address, heard = elsewhere
        thread = send(server, "POST", "/threads", {}, content_type="application/json").json()["thread_id"]
        given = {"assistant_id": "closed-book", "input": ASKED, "context": LOCAL, "interrupt_before": ["answer"]}
        send(server, "POST", f"/threads/{thread}/runs/wait", given, content_type="application/json")
        onward = {"assistant_id": "closed-book", "input": None, "context": {"model": "openai:x", "base_url": address}}
        assert "is not open" in send(server, "POST", f"/threads/{thread}/runs/wait", onward, content_type="application/json").text
        assert heard == []

    def test_an_index_is_read_only_where_the_server_was_told_of_it(self, server: DevServer, hidden: Path) -> None:
        folder = server.said.parent
        assert run(server, {**LOCAL, "index": str(folder / "mine")})["answer"] == "László Bíró"
        assert run(server, {**LOCAL, "index": "demo"})["answer"] == "László Bíró"
        wrong = (hidden, folder / "link", folder / "mine" / ".." / "link", Path("/"), "~", "mine", "../demo")
        ended = runs(server, [({**LOCAL, "index": str(named)}, "naive") for named in wrong])
        for named, end in zip(wrong, ended, strict=True):
            assert f"index={str(named)!r} is not open to this server's runs" in end["__error__"]["message"]

    def test_a_model_file_is_read_only_where_the_server_was_told_of_it(self, server: DevServer, hidden: Path) -> None:
        wrong = ("/etc/hostname", str(hidden / "model.gguf"), "../smollm2", "model.gguf")
        ended = runs(server, [({"model": f"gguf:{file}"}, "closed-book") for file in wrong])
        for file, end in zip(wrong, ended, strict=True):
            told = f"model='gguf:{file}' is not open to this server's runs — start it with `ramify studio --gguf {file}`"
            assert end["__error__"]["message"] == told

    def test_the_server_says_what_runs_may_name(self, server: DevServer) -> None:
        assert f"a run may name as its index: demo, {server.said.parent / 'mine'}" in server.log()
        assert "a run may name as its base_url: none" in server.log()
        assert "a run may name as its model file: gguf:smollm2 (add one with --gguf)" in server.log()


def test_a_model_file_that_the_server_was_started_with_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_model(tmp_path / "mine.gguf")
    for name in (INDEXES, BASE_URLS, MODEL_FILES):
        monkeypatch.setenv(name, "")
    settings = bounded(graphs.build("naive")).settings
    with pytest.raises(UsageError, match="is not open"):
        settings(model=f"gguf:{tmp_path}/mine.gguf")
    declare([], [], [tmp_path / "mine.gguf"])
    assert settings(model=f"gguf:{tmp_path}/mine.gguf").model == f"gguf:{tmp_path}/mine.gguf"
    with pytest.raises(UsageError, match="is not open"):
        settings(model=f"gguf:{tmp_path}/../{tmp_path.name}/mine.gguf")


def test_a_reranker_that_the_server_was_started_with_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (INDEXES, BASE_URLS, MODEL_FILES, RERANKERS):
        monkeypatch.setenv(name, "")
    settings = bounded(graphs.build("naive")).settings
    assert [settings(rerank=name).rerank for name in ("reader", "none", None)] == ["reader", "none", "none"]
    with pytest.raises(UsageError, match="rerank='/etc' is not open"):
        settings(rerank="/etc")
    declare([], [], [], ["/etc"])
    assert settings(rerank="/etc").rerank == "/etc"


def test_a_model_file_that_is_none_is_told_before_the_server_starts(ramify: Ramify) -> None:
    done = ramify("studio", "--port", str(free_port()), "--gguf", "/etc/hostname")
    assert (done.code, done.out) == (1, "")
    assert "'/etc/hostname' cannot be run: it is not in the format GGUF" in done.err


def test_a_langgraph_json_without_a_list_has_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_HTTP", json.dumps({"app": "ramify.studio.server.guard:app"}))
    assert guard.allowed() == pattern()
    monkeypatch.setenv("LANGGRAPH_HTTP", json.dumps(configuration([FRIEND])["http"]))
    assert re.fullmatch(guard.allowed(), FRIEND)


class TestFlags:
    """What is wrong with a flag is said before anything is served."""

    @pytest.mark.parametrize(
        "url", ["evil.example", "ftp://evil.example", "https://a.example/path", "https://user@a.example", "http://a:b", ""]
    )
    def test_what_is_no_origin(self, ramify: Ramify, url: str) -> None:
        outcome = ramify("studio", "--allow-origin", url)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert "is no origin" in outcome.err

    def test_origins_are_written_as_browsers_write_them(self) -> None:
        assert origin_of("HTTPS://Studio.Example:443/") == "https://studio.example"
        assert origin_of("http://[2001:DB8::1]:2024") == "http://[2001:db8::1]:2024"
        with pytest.raises(UsageError):
            origin_of("*")

    def test_an_index_that_is_not_there(self, tmp_path: Path) -> None:
        command = [RAMIFY, "studio", "--port", str(free_port()), "--index", str(tmp_path / "none")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1
        assert f"there is no index in '{tmp_path / 'none'}'" in done.stderr.splitlines()[-1]
