"""A person decides on the page of `ramify serve` on what a question proposes: by keyboard, and nothing in it is markup."""

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from tests.browser.test_page import BORN, address, answered, ask, browser, page, pytestmark, violations

__all__ = ["address", "browser", "page", "pytestmark"]


def test_a_person_edits_a_split_by_keyboard_before_it_is_asked(page: Page) -> None:
    page.locator("#open-settings").click()
    page.evaluate("for (const more of document.querySelectorAll('#settings details.more')) more.open = true")
    page.locator("#set-ask_first").select_option("splits")
    page.keyboard.press("Escape")
    ask(page, BORN)
    expect(page.locator(".review")).to_contain_text(BORN)
    expect(page.get_by_label("Approve", exact=True)).to_be_focused()
    assert violations(page, "review") == []
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Edit", exact=True)).to_be_checked()
    page.keyboard.press("Tab")
    expect(page.get_by_label("First", exact=True)).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("<b>Who</b> is the inventor of the saxophone?")
    assert violations(page, "review-edit") == []
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    answered(page)
    expect(page.locator(".review")).to_have_count(0)
    expect(page.locator(".turn .card .question", has_text="saxophone").first).to_contain_text("<b>Who</b>")
    ask(page, BORN)
    page.get_by_label("Reject", exact=True).check()
    expect(page.get_by_label("Why")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    answered(page)
    expect(page.locator(".turn").last.locator(".note", has_text="rejected by a person").first).to_be_visible()
    expect(page.locator(".turn").last.locator(".card")).to_have_count(1)
    ask(page, BORN)
    expect(page.locator(".review")).to_be_visible()
    page.locator("#stop").click()
    expect(page.locator(".turn .empty")).to_contain_text("Stopped")
    expect(page.locator(".review")).to_have_count(0)
