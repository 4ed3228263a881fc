"""The page of `ramify serve` as a user meets it: in a real browser, on the demo. `make browser-test`; pictures in build/browser/."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")
axe = pytest.importorskip("axe_playwright_python")

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

from tests.studio.dev_server import free_port  # noqa: E402

CHROMIUM = Path("/usr/bin/chromium")
PICTURES = Path(__file__).parents[2] / "build" / "browser"
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
BORN = "In which city was the inventor of the ballpoint pen born?"
HOSTILE = "<img src=x onerror=\"document.title='run'\"> Who was the first keeper of the lighthouse of Arda?"
DOCUMENT = "<img src=x onerror=\"document.title='run'\"> The first keeper of the lighthouse of Arda was Jonas Vell.\n"
COMMAND = "from ramify.studio.entry import main; main()"
PATIENCE_MS = 120_000
PASSAGE = {
    "id": "gone",
    "text": "𝒜 tower. Jonas 𝒱ell kept it. It is white.",
    "start": 9,
    "end": 28,
    "quote": "Jonas 𝒱ell kept it.",
    "source": "a.md",
}
SENTENCES = [
    {"text": "Jonas 𝒱ell kept the tower.", "citations": [1], "supported": True},
    {"text": "He was <b>very</b> old.", "citations": [], "supported": False},
]
RESULT = {
    "question": "Who?", "answer": "Jonas 𝒱ell", "text": "Jonas 𝒱ell kept the tower. [1]\nHe was <b>very</b> old.", "sentences": SENTENCES,
    "model": "ollama:small", "confidence": 0.42, "confidence_source": "stated", "quoted": False, "notices": ["a notice"], "tree": [],
    "citations": [{**PASSAGE, "title": "Tower", "heading": "Keepers", "page": 3}],
}  # fmt: skip
EVENTS = [
    ("accepted", {"id": "1", "thread": "t"}), ("text", {"delta": "Jonas", "anew": False}), ("text", {"delta": "Jonas V", "anew": True}),
    ("remarks", {"cost": "2 model calls", "notes": ["Try: a larger model."], "stopped": "", "understood": ""}), ("result", RESULT),
]  # fmt: skip
WRITTEN = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in EVENTS)
"""What the server sends of an answer that a language model writes; its passage lies outside Unicode's first plane."""
AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}")]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, for this file."""
    home, port = tmp_path_factory.mktemp("server"), free_port()
    command = [sys.executable, "-c", COMMAND, "serve", "--model", "extractive", "--port", str(port)]
    environment = {**os.environ, "RAMIFY_CACHE": str(home), "LANGSMITH_TRACING": "false"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        assert str(port) in said, said
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, with nothing in its console at the end, and nothing asked of another server."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    opened, wrong = context.new_page(), list[str]()
    opened.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" and "Failed to load" not in said.text else None)
    opened.on("request", lambda request: wrong.append(request.url) if not request.url.startswith((address, "blob:")) else None)
    opened.goto(address)
    expect(opened.locator("html")).to_have_attribute("data-ready", "yes")
    yield opened
    context.close()
    assert wrong == []


def ask(page: Page, question: str) -> None:
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page) -> None:
    expect(page.locator(".turn .final").last).to_be_visible()
    expect(page.locator("#send")).to_be_visible()


def violations(page: Page, name: str) -> list[str]:
    """Look at the page, and list what axe-core finds against WCAG AA."""
    page.wait_for_timeout(300)
    page.screenshot(path=PICTURES / f"page-{name}.png")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("tags => axe.run(document, { runOnly: tags })", AA)["violations"]
    return [f"{one['id']}: {node['html'][:120]} {node['any'][:1]}" for one in found for node in one["nodes"]]


def test_a_question_grows_a_tree_and_is_answered_with_sources(page: Page) -> None:
    assert violations(page, "empty") == []
    ask(page, BORN)
    expect(page.locator("#stop")).to_be_visible()
    expect(page.locator(".card")).to_have_count(3)
    answered(page)
    expect(page.locator(".final")).to_contain_text("Budapest")
    expect(page.locator(".result .measures")).to_contain_text(re.compile(r"confidence.*0\.\d\d.*(sure|low)"))
    expect(page.locator(".cost")).to_contain_text("model calls")
    expect(page.locator("#live")).to_contain_text("Answer: Budapest")
    page.locator(".below > summary").click()
    expect(page.locator(".card").last).to_be_hidden()
    assert violations(page, "answered") == []


def test_an_explanation_that_is_quoted_is_shown_once(page: Page) -> None:
    ask(page, "How does the ballpoint pen work?")
    expect(page.locator(".result .quoted")).to_contain_text("a small metal ball at the tip")
    expect(page.locator(".final")).to_have_count(0)


def test_a_citation_opens_the_marked_sentence_by_keyboard(page: Page) -> None:
    ask(page, BORN)
    answered(page)
    number = page.locator(".text button.number").last
    number.focus()
    page.keyboard.press("Enter")
    mark = page.locator("#source mark")
    expect(mark).to_contain_text("born in Budapest")
    expect(mark).to_be_in_viewport()
    expect(page.locator("#source h2")).to_have_text("László Bíró")
    expect(number).to_have_attribute("aria-expanded", "true")
    assert violations(page, "source") == []
    with page.expect_popup() as popup:
        page.locator("#source .file a").click()
    assert popup.value.evaluate("document.contentType") in {"text/plain", "application/json"}
    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_be_hidden()
    expect(number).to_be_focused()


def test_a_conversation_is_kept_continued_and_deleted(page: Page) -> None:
    ask(page, "Who is the inventor of the ballpoint pen?")
    answered(page)
    ask(page, "and where was he born?")
    expect(page.locator(".turn")).to_have_count(2)
    answered(page)
    expect(page.locator(".turn .understood")).to_contain_text("understood as")
    page.reload()
    expect(page.locator(".turn .final")).to_have_count(2)
    expect(page.locator("#threads [aria-current]")).to_contain_text("Who is the inventor")
    before = page.locator("#threads li").count()
    page.locator("#threads li:has([aria-current]) .drop").click()
    page.keyboard.press("Escape")
    expect(page.locator("#threads li")).to_have_count(before)
    page.locator("#threads li:has([aria-current]) .drop").click()
    assert violations(page, "confirm") == []
    page.locator("#confirm .danger").click()
    expect(page.locator("#threads li")).to_have_count(before - 1)
    expect(page.locator("#welcome")).to_be_visible()
    page.reload()
    expect(page.locator("#threads li")).to_have_count(before - 1)


def test_settings_are_changed_shown_sent_and_reset(page: Page) -> None:
    page.locator("#open-settings").click()
    page.get_by_text("More: settings of prune").click()
    page.locator("#set-max_depth").fill("0")
    page.keyboard.press("Tab")
    expect(page.locator(".field.changed")).to_contain_text("max_depth")
    assert violations(page, "settings") == []
    page.keyboard.press("Escape")
    expect(page.locator("#how")).to_have_text("prune, own settings, no language model")
    ask(page, BORN)
    answered(page)
    expect(page.locator(".card")).to_have_count(1)
    page.locator("#how").click()
    page.get_by_role("button", name="Reset max_depth").click()
    expect(page.locator(".field.changed")).to_have_count(0)
    page.locator("#set-strategy").select_option("naive")
    expect(page.locator("#how")).to_have_text("naive, balanced, no language model")
    page.locator("#set-spend").select_option("thorough")
    expect(page.locator("#how")).to_have_text("naive, thorough, no language model")
    page.get_by_text("More: settings of every strategy").click()
    expect(page.locator("#set-k")).to_have_value("10")


def test_documents_are_collected_and_nothing_in_them_runs(page: Page, tmp_path: Path) -> None:
    (tmp_path / "keeper.txt").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    page.locator("#open-collections").click()
    page.locator("#collection-name").fill("arda")
    page.locator("#collections input[type=file]").set_input_files([tmp_path / "keeper.txt", tmp_path / "broken.pdf"])
    expect(page.locator("#collections [role=status]")).to_contain_text("1 file in 1 passage, 1 file skipped")
    page.locator(".list li", has_text="arda").get_by_role("button", name="Documents").click()
    expect(page.locator(".files .state")).to_have_text("indexed, 1 passage")
    expect(page.locator(".files .skipped")).to_contain_text("not a readable PDF")
    assert violations(page, "collections") == []
    page.keyboard.press("Escape")
    expect(page.locator("#collection")).to_have_value("arda")
    ask(page, HOSTILE)
    answered(page)
    page.locator(".sources button").first.click()
    expect(page.locator("#source .passage")).to_contain_text("<img src=x onerror")
    expect(page.locator(".turn > h2")).to_contain_text("<img src=x onerror")
    expect(page.locator("#threads")).to_contain_text("<img src=x onerror")
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "Ramify"
    page.locator("#open-collections").click()
    page.locator(".list li", has_text="arda").get_by_role("button", name="Delete").click()
    page.locator("#confirm .danger").click()
    expect(page.locator(".list li", has_text="arda")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#collection")).to_have_value("demo")


def test_a_written_answer_streams_and_what_nothing_supports_is_marked(page: Page) -> None:
    page.route("**/ramify/v1/ask", lambda route: route.fulfill(content_type="text/event-stream", body=WRITTEN))
    ask(page, "Who?")
    answered(page)
    expect(page.locator(".text p")).to_have_count(2)
    expect(page.locator(".unsupported")).to_have_text("He was <b>very</b> old.")
    expect(page.locator(".text")).to_contain_text("no cited passage says this")
    expect(page.locator(".notices")).to_contain_text("a notice")
    assert violations(page, "written") == []
    page.locator(".text button.number").click()
    expect(page.locator("#source mark")).to_have_text("Jonas 𝒱ell kept it.")
    page.unroute("**/ramify/v1/ask")
    page.route(
        "**/ramify/v1/ask", lambda route: route.fulfill(status=503, json={"error": {"kind": "model", "message": "no model — start it"}})
    )
    ask(page, "And?")
    expect(page.locator(".turn .error")).to_contain_text("Start it.")
    assert violations(page, "error") == []


def test_an_answer_is_copied_and_saved(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, BORN)
    answered(page)
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"\*\*Budapest\*\*.*\[1\].*### Sources.*1\. Ballpoint pen", copied, re.DOTALL)
    for name, inside in (("Save as HTML", "How it was found"), ("Save as JSON", '"answer": "Budapest"')):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert inside in Path(download.value.path()).read_text(encoding="utf-8")


def test_a_branch_is_edited_by_keyboard_and_the_question_runs_on(page: Page) -> None:
    ask(page, BORN)
    answered(page)
    expect(page.get_by_role("button", name="Edit branch 0", exact=True)).to_have_count(0)
    edit = page.get_by_role("button", name="Edit branch 0.0")
    edit.focus()
    page.keyboard.press("Enter")
    box = page.get_by_label("Ask in branch 0.0 instead")
    expect(box).to_be_focused()
    assert violations(page, "editing") == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Edit branch 0.0")).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_be_focused()
    box.fill("Who is the inventor of the saxophone?")
    page.keyboard.press("Enter")
    expect(page.locator(".final")).to_contain_text("Dinant")
    expect(page.locator(".card").nth(1)).to_contain_text("Adolphe Sax")
    assert violations(page, "edited") == []
    page.get_by_role("button", name="Drop branch 0.0").click()
    expect(page.locator(".card.pruned").first).to_contain_text("dropped by the user")
    answered(page)
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".card.pruned").first).to_contain_text("dropped by the user")


def test_only_the_last_answer_is_edited_and_a_refusal_leaves_it(page: Page) -> None:
    ask(page, BORN)
    answered(page)
    ask(page, BORN)
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn .final")).to_have_count(2)
    answered(page)
    expect(page.get_by_role("button", name="Edit branch 0.0")).to_have_count(1)
    refused = {"error": {"kind": "usage", "message": "it was never to be searched \u2014 ask anew"}}
    page.route("**/edit", lambda route: route.fulfill(status=400, json=refused))
    page.get_by_role("button", name="Drop branch 0.0").click()
    expect(page.locator(".turn .error")).to_contain_text("Ask anew.")
    expect(page.locator(".turn .final").last).to_contain_text("Budapest")


def test_several_collections_are_asked_together(page: Page, tmp_path: Path) -> None:
    (tmp_path / "keeper.txt").write_text("The first keeper of the lighthouse of Arda was Jonas Vell.\n", encoding="utf-8")
    page.locator("#open-collections").click()
    page.locator("#collection-name").fill("lights")
    page.locator("#collections input[type=file]").set_input_files([tmp_path / "keeper.txt"])
    expect(page.locator("#collections [role=status]")).to_contain_text("1 file in 1 passage")
    page.keyboard.press("Escape")
    page.locator("#several-open").click()
    expect(page.locator("#several").get_by_role("button", name="Choose")).to_be_disabled()
    for name in ("demo", "lights"):
        page.locator("#several").get_by_label(name).check()
    assert violations(page, "several") == []
    page.locator("#several").get_by_role("button", name="Choose").click()
    expect(page.locator("#collection")).to_have_value("demo+lights")
    ask(page, "Who was the first keeper of the lighthouse of Arda?")
    answered(page)
    expect(page.locator(".final")).to_contain_text("Jonas Vell")
    source = page.locator(".sources button", has_text="lights").first
    source.click()
    expect(page.locator("#source mark")).to_contain_text("Jonas Vell")
    page.locator("#open-collections").click()
    page.locator(".list li", has_text="lights").get_by_role("button", name="Delete").click()
    page.locator("#confirm .danger").click()
    expect(page.locator(".list li", has_text="lights")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#collection")).to_have_value("demo")


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_colours_follow_the_system_and_the_switch(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    dark = "getComputedStyle(document.body).backgroundColor === 'rgb(17, 21, 28)'"
    assert page.evaluate(dark) is (scheme == "dark")
    ask(page, BORN)
    answered(page)
    assert violations(page, scheme) == []
    presses = 1 if scheme == "dark" else 2  # as the system, light, dark
    for _ in range(presses):
        page.locator("#theme").click()
    assert page.evaluate(dark) is (scheme != "dark")
    page.reload()
    assert page.evaluate(dark) is (scheme != "dark")


def test_it_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 760})
    expect(page.locator("#side")).to_be_hidden()
    ask(page, BORN)
    answered(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page, "phone") == []
    page.locator(".text button.number").last.click()
    expect(page.locator("#source mark")).to_be_in_viewport()
    assert violations(page, "phone-source") == []
    page.keyboard.press("Escape")
    page.locator("#side-open").click()
    expect(page.locator("#new")).to_be_visible()
    assert violations(page, "phone-side") == []
    page.keyboard.press("Escape")
    expect(page.locator("#side")).to_be_hidden()
    expect(page.locator("#side-open")).to_be_focused()


def test_a_token_is_asked_for_once_and_kept_in_the_tab(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    port = free_port()
    command = [sys.executable, "-c", COMMAND, "serve", "--model", "extractive", "--port", str(port), "--token", "ada:ada-has-a-secret"]
    with subprocess.Popen(command, env={**os.environ, "RAMIFY_CACHE": str(tmp_path)}, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        server.stderr.readline()
        request.addfinalizer(server.kill)
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.locator("#token").fill("wrong-one")
        page.keyboard.press("Enter")
        expect(page.locator("#confirm .warning")).to_be_visible()
        assert violations(page, "token") == []
        page.locator("#token").fill("ada-has-a-secret")
        page.keyboard.press("Enter")
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        assert page.evaluate("JSON.stringify(localStorage)").find("secret") < 0
        page.close()
        server.kill()
