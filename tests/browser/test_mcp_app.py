"""The view of an answer in an MCP host: a page on loopback plays the host, with the sandbox and the policy that MCP Apps ask for."""

import asyncio
import json
import re
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("playwright")
axe = pytest.importorskip("axe_playwright_python")

from mcp import Client  # noqa: E402
from mcp.client.extension import advertise  # noqa: E402
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID  # noqa: E402
from playwright.sync_api import Browser, FrameLocator, Page, expect  # noqa: E402

from ramify.serve.mcp import create_server  # noqa: E402
from tests.browser.test_page import AA, BORN, PICTURES, browser, pytestmark  # noqa: E402
from tests.fakes import library  # noqa: E402
from tests.river import QUESTION, but, river  # noqa: E402

__all__ = ["browser", "pytestmark"]

HOST = Path(__file__).with_name("mcp_host.html")
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'none'; img-src 'self' data:; "
    "font-src 'self'; media-src 'self' data:; frame-src {frame}; object-src 'none'; base-uri 'self'"
)
"""What the specification tells hosts to set for a resource that declares no domain."""
HOSTILE = '<img src=x onerror="document.title=1"> [Paris](javascript:alert(1)) <a href="javascript:alert(1)">France has the capital</a>'
WEAK_PAIR = {"sufficiency": 1, "non_redundancy": 1, "consistency": 1, "decomposition": 1, "weaker": "1"}
T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread: playwright has a running event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@cache
def result(name: str) -> dict[str, Any]:
    """Return the result of the tool for one of these questions, as a client receives it."""
    weak = {"model": but(judge=WEAK_PAIR)}
    runs: dict[str, tuple[str, str, dict[str, Any]]] = {
        "answer": ("prune", BORN, {"model": "extractive"}),
        "unknown": ("prune", "Which film was released first, Solaris or Psycho?", {"model": "extractive"}),
        "pruned": ("tor", QUESTION, {**weak, "index": river()}),
        "hostile": ("tor", f"{HOSTILE} {QUESTION}", {**weak, "index": library(HOSTILE, "The river Seine runs through Paris.")}),
        "low": ("naive", "unsure?", {"model": but(answer={"answer": "Paris", "confidence": 0.3, "citations": [1]}), "index": river()}),
        "error": ("prune", " ", {"model": "extractive"}),
    }
    strategy, question, options = runs[name]

    async def call() -> dict[str, Any]:
        apps = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
        async with Client(create_server(strategy, options), extensions=[apps]) as client:
            told = await client.call_tool("research_documents", {"question": question})
            return {"question": question, **told.model_dump(by_alias=True, mode="json", exclude_none=True)}

    return run(call())


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """The address of the host."""

    async def read() -> str:
        async with Client(create_server("prune", {"model": "extractive"})) as client:
            [contents] = (await client.read_resource("ui://ramify/answer.html")).contents
            return str(contents.text)  # type: ignore[union-attr]

    pages = {"/": (HOST.read_text(), POLICY.format(frame="'self'")), "/view": (run(read()), POLICY.format(frame="'none'"))}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, policy = pages[self.path]
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def page(browser: Browser, host: str) -> Iterator[Page]:
    """The host's page, with nothing in its console at the end, no violation of a policy, and no request but for the two documents."""
    context = browser.new_context(viewport={"width": 900, "height": 900})
    opened, wrong, requests = context.new_page(), list[str](), list[str]()
    opened.set_default_timeout(20_000)
    expect.set_options(timeout=20_000)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(host)
    yield opened
    context.close()
    assert wrong == []
    assert {*requests} <= {host, f"{host}view", "data:,"}


def start(page: Page, **context: Any) -> FrameLocator:
    """Show the view, with this context of the host, and wait until it listens."""
    page.evaluate("context => start(context)", context)
    return page.frame_locator("#view")


def notify(page: Page, name: str, params: Mapping[str, Any]) -> None:
    page.evaluate("([name, params]) => notify(name, params)", [name, params])


def show(page: Page, name: str, **context: Any) -> FrameLocator:
    """Show the result of a question."""
    view, found = start(page, **context), result(name)
    notify(page, "tool-input", {"arguments": {"question": found["question"]}})
    notify(page, "tool-result", {part: found[part] for part in found if part != "question"})
    return view


def look(page: Page, name: str) -> list[str]:
    """Take a picture, and list what axe-core finds against WCAG AA in the view."""
    size = page.viewport_size or {"width": 900, "height": 900}
    page.set_viewport_size({"width": size["width"], "height": page.evaluate("document.documentElement.scrollHeight")})
    page.wait_for_timeout(300)
    page.screenshot(path=PICTURES / f"mcp-app-{name}.png", full_page=True)
    frame = page.frames[1]
    frame.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = frame.evaluate("tags => axe.run(document, { runOnly: tags, iframes: false })", AA)["violations"]
    return [f"{one['id']}: {node['html'][:120]} {node['any'][:1]}" for one in found for node in one["nodes"]]


def heard(page: Page, method: str) -> list[Mapping[str, Any]]:
    """List what the view told the host by a method."""
    said: list[Mapping[str, Any]] = page.evaluate("method => heard.filter(one => one.method === method).map(one => one.params)", method)
    return said


def overflow(page: Page) -> int:
    """Return how many pixels of the view are hidden at its right or below it."""
    wide: int = page.frames[1].evaluate("Math.max(0, document.documentElement.scrollWidth - innerWidth)")
    high: int = page.frames[1].evaluate("Math.max(0, document.documentElement.scrollHeight - innerHeight)")
    return wide + high


def test_an_answer_with_its_tree_and_a_source_with_its_sentence(page: Page) -> None:
    view = show(page, "answer", theme="light")
    expect(view.locator(".turn > h2")).to_have_text(BORN)
    expect(view.locator(".text")).to_contain_text("born in Budapest on 29 September 1899")
    expect(view.locator(".card")).to_have_count(3)
    assert look(page, "answer-light") == []
    assert overflow(page) == 0, "the host gives it the height that it asks for"
    below = view.locator("details.below > summary")
    expect(view.locator(".card").nth(1)).to_be_visible()
    below.press("Enter")
    expect(view.locator(".card").nth(1)).not_to_be_visible()
    below.press("Enter")
    source = view.locator(".sources li > button").nth(1)
    source.press("Enter")
    expect(source).to_have_attribute("aria-expanded", "true")
    expect(view.locator("#source h2")).to_have_text("László Bíró")
    expect(view.locator("#source mark")).to_contain_text("was born in Budapest on 29 September 1899")
    expect(view.locator("#source")).to_be_focused()
    assert look(page, "source-light") == []
    assert overflow(page) == 0
    view.locator("#source").press("Escape")
    expect(view.locator("#source")).to_have_count(0)
    expect(source).to_be_focused()
    view.locator(".card").nth(1).locator(".evidence > summary").click()
    view.locator(".card").nth(1).get_by_role("button", name="ballpoint-pen").click()
    expect(view.locator(".card").nth(1).locator("#source mark")).to_contain_text("patented in 1938")
    assert len({size["height"] for size in heard(page, "ui/notifications/size-changed")}) > 3


def test_a_pruned_branch_says_why_and_opens_what_it_cites(page: Page) -> None:
    view = show(page, "pruned", theme="dark")
    pruned = view.locator(".card.pruned")
    expect(pruned).to_have_count(2)
    expect(pruned.first.locator(".note")).to_contain_text("the weaker of the two")
    pruned.first.locator(".evidence > summary").click()
    pruned.first.locator(".evidence button", has_text="cited").click()
    expect(view.locator("#source mark")).to_have_text("France has the capital Paris.")
    assert look(page, "pruned-dark") == []


def test_it_is_narrow_in_light_and_dark(page: Page) -> None:
    page.set_viewport_size({"width": 336, "height": 800})
    view = show(page, "answer", theme="light")
    view.locator(".text button.number").first.click()
    expect(view.locator("#source mark")).to_be_visible()
    assert overflow(page) == 0
    assert look(page, "narrow-light") == []
    notify(page, "host-context-changed", {"theme": "dark"})
    assert look(page, "narrow-dark") == []
    assert page.frames[1].evaluate("getComputedStyle(document.body).colorScheme") == "dark"


def test_what_documents_say_stays_text(page: Page) -> None:
    view = show(page, "hostile")
    expect(view.locator(".turn > h2")).to_contain_text("<img src=x onerror")
    view.locator(".sources li > button").click()
    expect(view.locator("#source .passage")).to_contain_text("<img src=x onerror")
    expect(view.locator("body")).to_contain_text("[Paris](javascript:alert(1))")
    assert view.locator("img, a, iframe, script:not(:last-child)").count() == 0
    assert page.frames[1].evaluate("document.title") != "1"
    link = {**result("answer")["structuredContent"]["citations"][0], "link": "javascript:alert(1)"}
    found = {**result("answer")["structuredContent"], "citations": [link, {**link, "id": "b", "link": "file://host.example/share"}]}
    notify(page, "tool-result", {"content": [], "structuredContent": found})
    expect(view.locator(".sources li > button")).to_have_count(2)
    for number in (0, 1):
        view.locator(".sources li > button").nth(number).click()
        expect(view.locator("#source .passage")).to_contain_text("A ballpoint pen")
        expect(view.get_by_role("button", name="Open the document")).to_have_count(0)


def test_an_unknown_says_why_and_shows_what_comes_close(page: Page) -> None:
    view = show(page, "unknown", theme="light")
    expect(view.locator(".final.unknown")).to_have_text("Unknown")
    expect(view.locator(".result")).to_contain_text("does not settle the whole question")
    expect(view.locator(".sources li").first).to_contain_text("only close")
    assert look(page, "unknown-light") == []


def test_a_low_confidence_is_quiet(page: Page) -> None:
    view = show(page, "low", theme="light")
    expect(view.locator(".final.low")).to_have_text(re.compile("Paris"))
    expect(view.locator(".measures").first).to_contain_text("low: check this")
    assert look(page, "low-light") == []


def test_a_question_runs_and_is_cancelled(page: Page) -> None:
    view = start(page)
    notify(page, "tool-input-partial", {"arguments": {"question": "Who inv"}})
    expect(view.locator(".turn > h2")).to_have_text("Who inv")
    expect(view.locator(".doing")).to_contain_text("being written")
    notify(page, "tool-input", {"arguments": {"question": "Who invented it?"}})
    expect(view.locator(".turn > h2")).to_have_text("Who invented it?")
    expect(view.locator(".doing")).to_contain_text("being searched")
    assert look(page, "running") == []
    notify(page, "tool-cancelled", {"reason": "the user <b>stopped</b> it"})
    expect(view.locator(".empty")).to_have_text("The question was cancelled: the user <b>stopped</b> it")
    expect(view.locator(".doing")).to_have_count(0)


def test_an_error_is_shown_and_a_result_without_structure_is_text(page: Page) -> None:
    view = show(page, "error")
    expect(view.get_by_role("alert")).to_contain_text("empty")
    assert look(page, "error") == []
    notify(page, "tool-result", {"content": [{"type": "text", "text": "Answer: <b>Budapest</b>"}]})
    expect(view.locator(".result .text")).to_have_text("Answer: <b>Budapest</b>")
    notify(page, "tool-result", {"content": [], "structuredContent": {"answer": 7, "tree": "none"}})
    expect(view.get_by_role("alert")).to_contain_text("cannot be shown")


def test_it_follows_the_host(page: Page) -> None:
    view = show(page, "answer", displayMode="inline", availableDisplayModes=["inline", "fullscreen"], theme="dark")
    view.get_by_role("button", name="Full screen").click()
    expect(view.get_by_role("button", name="Back to the conversation")).to_be_visible()
    assert heard(page, "ui/request-display-mode") == [{"mode": "fullscreen"}]
    colours = {"--color-background-primary": "rgb(250, 240, 230)", "--color-text-primary": "rgb(20, 20, 20)", "--font-sans": "serif"}
    notify(page, "host-context-changed", {"theme": "light", "styles": {"variables": colours}})
    style = page.frames[1].evaluate("(({ backgroundColor, fontFamily }) => [backgroundColor, fontFamily])(getComputedStyle(document.body))")
    assert style == ["rgb(250, 240, 230)", "serif"]
    view.locator(".sources li > button").first.click()
    view.get_by_role("button", name="Open the document").click()
    [link] = heard(page, "ui/open-link")
    assert link["url"].startswith("file:///")
    assert link["url"] == result("answer")["structuredContent"]["citations"][0]["link"]
    [introduced] = heard(page, "ui/initialize")
    assert introduced["appCapabilities"] == {"availableDisplayModes": ["inline", "fullscreen"]}
    for method in ("ping", "ui/resource-teardown"):
        assert page.evaluate("method => ask(method, method)", method)["result"] == {}
    assert page.evaluate("ask('x', 'tools/list')")["error"]["code"] == -32601


def test_it_hears_its_host_alone(page: Page) -> None:
    view = start(page)
    message = {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"question": "forged"}}}
    page.frames[1].evaluate("message => window.postMessage(message, '*')", message)
    page.evaluate("notify('none', {}); notify('constructor', {}); send({ method: 'constructor' }); send({ id: 99, result: {} })")
    notify(page, "tool-input", {"arguments": {"question": "real?"}})
    expect(view.locator(".turn > h2")).to_have_text(["real?"])
    assert "forged" not in json.dumps(page.frames[1].evaluate("document.body.textContent"))
