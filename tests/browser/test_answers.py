"""What an answer shows on the page of `ramify serve`: marked words, notices once, counts of documents, and text that stays text."""

import json
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from plugins.serve.tests.hostile import HOSTILE, active_elements
from tests.browser.test_page import BORN, RESULT, WRITTEN, address, answered, ask, browser, page, pytestmark

__all__ = ["address", "browser", "page", "pytestmark"]


def test_the_words_of_the_answer_are_marked_in_what_is_quoted(page: Page) -> None:
    ask(page, BORN)
    answered(page)
    expect(page.locator(".text b", has_text="Budapest")).to_have_count(1)
    expect(page.locator(".text b", has_text="László Bíró").first).to_be_visible()
    page.locator(".text button.number").last.click()
    expect(page.locator("#source mark b").last).to_have_text("Budapest")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".text b", has_text="Budapest")).to_have_count(1)


def test_a_notice_stands_once_in_a_conversation(page: Page) -> None:
    body = WRITTEN
    page.route("**/ramify/v1/ask", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    ask(page, "Who?")
    answered(page)
    ask(page, "And before?")
    expect(page.locator(".turn .final")).to_have_count(2)
    expect(page.locator(".notices p")).to_have_text(["a notice"])
    body = WRITTEN.replace("a notice", "another notice")
    ask(page, "And after?")
    expect(page.locator(".notices p")).to_have_text(["a notice", "another notice"])
    page.locator("#new").click()
    ask(page, "Who?")
    expect(page.locator(".notices p")).to_have_text(["another notice"])


def test_documents_are_counted_as_files(page: Page, tmp_path: Path) -> None:
    (tmp_path / "stock.csv").write_text("tool,shelf\nsaw,A1\nplane,B2\nchisel,C3\n", encoding="utf-8")
    (tmp_path / "note.txt").write_text("The workshop opens at eight.\n", encoding="utf-8")
    page.locator("#open-collections").click()
    page.locator("#collection-name").fill("workshop")
    page.locator("#collections input[type=file]").set_input_files([tmp_path / "stock.csv", tmp_path / "note.txt"])
    expect(page.locator("#collections [role=status]")).to_contain_text("2 files in 4 passages")
    item = page.locator(".list li", has_text="workshop")
    expect(item).to_contain_text("2 files · 4 passages")
    page.keyboard.press("Escape")
    expect(page.locator("#about")).to_contain_text("2 files in 4 passages")
    page.locator("#open-collections").click()
    item.get_by_role("button", name="Delete").click()
    page.locator("#confirm .danger").click()
    expect(page.locator(".list li", has_text="workshop")).to_have_count(0)


def test_copied_markdown_holds_nothing_active(page: Page) -> None:
    for text in HOSTILE:
        sentences = [{"text": text, "citations": [1], "supported": True}, {"text": "It is so.", "citations": [], "supported": True}]
        result = {**RESULT, "answer": text, "text": text, "sentences": sentences}
        result["citations"] = [{"id": "a", "source": "a.md", "title": text, "text": text, "quote": text}]
        given = json.dumps([text, result])
        copied = page.evaluate(f"import('/page/turn.js').then(parts => parts.markdown(...{given}))")
        assert set(active_elements(copied)) <= {"bare_url"}, text
