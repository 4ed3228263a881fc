"""A newcomer's own documents on the page of `ramify serve`: added first, listed, asked alone, kept after a restart."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from tests.browser.test_page import CHROMIUM, COMMAND, PATIENCE_MS, answered, ask, browser, violations  # noqa: F401
from tests.studio.dev_server import free_port

KEEPER = "# Arda lamp\n\nThe Arda lamp is a bright lamp of the harbour. Its first keeper was Jonas Vell.\n"
OTHER = "# Oskel lamp\n\nThe Oskel lamp is a small lamp of the river. Its first keeper was Mara Lind.\n"
ASKED = "Who was the first keeper of the Arda lamp?"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}")]


@contextmanager
def serving(home: Path, port: int) -> Iterator[str]:
    """Run a server on a port, with what it kept in a folder before; yield its address."""
    command = [sys.executable, "-c", COMMAND, "serve", "--model", "extractive", "--port", str(port)]
    environment = {**os.environ, "RAMIFY_CACHE": str(home), "LANGSMITH_TRACING": "false"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert str(port) in server.stderr.readline()
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.kill()


def opened(browser: Browser, address: str) -> Page:  # noqa: F811
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page.goto(address)
    expect(page.locator("html")).to_have_attribute("data-ready", "yes")
    return page


def add(page: Page, folder: Path) -> None:
    """Add two files and one that cannot be read, as a newcomer does."""
    for name, text in (("arda.md", KEEPER), ("oskel.md", OTHER)):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    page.locator("#first-name").fill("My lamps")
    page.locator("#add input[type=file]").set_input_files([folder / "arda.md", folder / "oskel.md", folder / "broken.pdf"])
    expect(page.locator("#adding")).to_contain_text("My lamps: 2 files in 2 passages, 1 file skipped")


def test_documents_are_added_first_listed_and_asked_alone(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    with serving(tmp_path / "home", free_port()) as address:
        page = opened(browser, address)
        expect(page.locator("#add")).to_be_visible()
        expect(page.locator("#about")).to_contain_text("Or ask the demonstration first")
        assert violations(page, "first") == []
        add(page, tmp_path)
        expect(page.locator("#collection")).to_have_value("My lamps")
        expect(page.locator("#add")).to_be_hidden()
        expect(page.locator("#about")).to_contain_text("My lamps has 2 files in 2 passages")
        expect(page.locator("#files-list .skipped")).to_contain_text("broken.pdf")
        expect(page.locator("#files-list input")).to_have_count(2)
        assert violations(page, "own") == []
        page.locator("#files-list").get_by_label("Ask oskel.md only").check()
        expect(page.locator("#examples")).to_have_text("What is the Oskel lamp?")
        page.locator("#only").click()
        page.locator("#examples").get_by_text("What is the Arda lamp?").click()
        expect(page.locator(".turn .text, .turn .final").first).to_contain_text("bright lamp of the harbour")
        expect(page.locator("#send")).to_be_visible()
        expect(page.locator(".turn .card")).to_have_count(1)
        expect(page.locator(".turn .card")).to_be_hidden()  # not split: there is no tree to look at
        page.locator("#files-list button", has_text="oskel.md").click()
        expect(page.locator("#source .passage")).to_contain_text("Mara Lind")
        page.keyboard.press("Escape")
        page.locator("#files-list").get_by_label("Ask oskel.md only").check()
        expect(page.locator("#only")).to_contain_text("only 1 file of 2")
        ask(page, ASKED)
        expect(page.locator("#send")).to_be_visible()
        expect(page.locator(".turn").last.locator(".sources .file, .sources .title").first).to_contain_text("Oskel")
        page.locator("#only").click()
        expect(page.locator("#only")).to_be_hidden()
        ask(page, ASKED)
        expect(page.locator(".turn").last.locator(".final")).to_contain_text("Jonas Vell")
        assert violations(page, "files") == []
        page.close()


def test_a_language_model_suggests_questions_once_it_is_asked_to(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    with serving(tmp_path / "home", free_port()) as address:
        page = opened(browser, address)
        add(page, tmp_path)
        expect(page.get_by_role("button", name="Let the model suggest others")).to_have_count(0)
        about = page.request.get(f"{address}ramify/v1/about").json()
        about |= {"model": "ollama:llama3.1:8b", "models": ["auto"], "default": {**about["default"], "model": "auto"}}
        page.route("**/ramify/v1/about", lambda route: route.fulfill(json=about))
        page.route("**/questions?by=model*", lambda route: route.fulfill(json={"questions": ["Who keeps the lamps?"]}))
        page.reload()
        page.get_by_role("button", name="Let the model suggest others").click()
        expect(page.locator("#examples button").first).to_have_text("Who keeps the lamps?")
        expect(page.locator("#examples button").first).to_be_focused()
        page.close()


def test_two_tabs_and_a_restart_lose_nothing(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    port = free_port()
    with serving(tmp_path / "home", port) as address:
        page, other = opened(browser, address), opened(browser, address)
        add(page, tmp_path)
        ask(page, ASKED)
        ask(other, "What is Budapest?")
        for tab, words in ((page, "Jonas Vell"), (other, "")):
            expect(tab.locator("#send")).to_be_visible()
            expect(tab.locator(".turn")).to_have_count(1)
            expect(tab.locator(".turn .result")).to_contain_text(words)
        expect(other.locator(".turn .result")).not_to_contain_text("Jonas Vell")
        other.close()
    ask(page, ASKED)
    expect(page.locator(".turn").last.locator(".error")).to_contain_text("does not answer")
    with serving(tmp_path / "home", port):
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        expect(page.locator(".turn").first.locator(".final")).to_contain_text("Jonas Vell")
        expect(page.locator("#collection")).to_have_value("My lamps")
        expect(page.locator("#threads li")).to_have_count(2)
        page.locator("#collection").select_option("demo")
        page.reload()
        expect(page.locator("#collection")).to_have_value("My lamps")
        ask(page, ASKED)
        answered(page)
        expect(page.locator(".turn").last.locator(".final")).to_contain_text("Jonas Vell")
        page.close()


def test_an_unsure_answer_leads_to_the_step(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    note = "filled with 'Tom Reed' from 0.1; confidence 0.312, not above tau 0.4"
    told = [
        ("0", "Where was its maker born?", "split", "Vane", 0.3, ""),
        ("0.1", "Who made it?", "answered", "Tom Reed", 0.9, ""),
        ("0.2", "Where was Tom Reed born?", "answered", "Vane", 0.31, note),
    ]
    tree = [
        {"path": path, "question": question, "kind": "question", "status": status, "answer": answer, "confidence": confidence, "note": why}
        for path, question, status, answer, confidence, why in told
    ]
    tree.append({**tree[2], "path": "0.3", "question": "Who rules {1}?", "status": "pruned", "awaits": "0.2", "answer": None})
    result: dict[str, Any] = {"question": "Where was its maker born?", "answer": "Vane", "text": "Vane", "confidence": 0.3, "tree": tree}
    result |= {"sentences": [], "citations": [], "notices": []}
    with serving(tmp_path / "home", free_port()) as address:
        page = opened(browser, address)
        events = [("accepted", {"id": "1", "thread": "t"}), ("result", result)]
        body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        page.route("**/ramify/v1/ask", lambda route: route.fulfill(content_type="text/event-stream", body=body))
        ask(page, "Where was its maker born?")
        answered(page)
        expect(page.locator(".measures").first).to_contain_text("low: check this")
        card = page.locator(".card.weak")
        expect(card).to_contain_text(re.compile("with 'Tom Reed', the answer of step 0.1; less sure than an answer should be"))
        expect(card).not_to_contain_text("tau", use_inner_text=True)
        expect(page.locator(".card").last).to_contain_text("Who rules [answer of step 0.2]?")
        page.get_by_role("button", name="Step 0.2 is unsure").click()
        expect(card).to_be_focused()
        card.locator(".values summary").click()
        expect(card.locator(".values")).to_contain_text("not above tau 0.4")
        assert violations(page, "unsure") == []
        page.close()
