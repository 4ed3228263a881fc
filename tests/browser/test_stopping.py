"""Stop and New conversation on the page of `ramify serve`: no question is lost, none waits for good, and each shows its own branches."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, Route, expect

from tests.browser.test_page import BORN, address, answered, ask, browser, page, pytestmark

__all__ = ["address", "browser", "page", "pytestmark"]

DIRECTOR = "In which year was the director of Solaris born?"


def let_people_decide(page: Page, value: str) -> None:
    page.locator("#open-settings").click()
    page.evaluate("for (const more of document.querySelectorAll('#settings details.more')) more.open = true")
    page.locator("#set-ask_first").select_option(value)
    page.keyboard.press("Escape")


def ask_and_wait_for_review(page: Page, question: str) -> None:
    """Ask a question that goes on running, because it waits for a person's decision."""
    let_people_decide(page, "splits")
    ask(page, question)
    expect(page.locator(".review")).to_be_visible()


@contextmanager
def first_request_held(page: Page, path: str) -> Iterator[None]:
    """Hold the first request to a path back until the end of the block."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(path, hold)
    yield
    expect(page.locator("#question")).to_be_visible()
    held[0].continue_()


def test_a_stopped_question_shows_its_own_branches_only(page: Page) -> None:
    ask(page, BORN)
    answered(page)
    ask_and_wait_for_review(page, DIRECTOR)
    page.locator("#stop").click()
    turn = page.locator(".turn").last
    expect(turn.locator(".empty")).to_contain_text("Stopped")
    expect(turn.locator(".card .question").first).to_be_visible()
    expect(turn.locator(".card", has_text="In which city")).to_have_count(0)


def test_a_question_can_be_asked_while_the_one_before_it_is_being_stopped(page: Page) -> None:
    ask_and_wait_for_review(page, DIRECTOR)
    let_people_decide(page, "never")
    with first_request_held(page, "**/ramify/v1/stop"):
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        expect(page.locator(".turn .doing")).to_have_text("stopping …")
        ask(page, BORN)
        expect(page.locator(".turn")).to_have_count(2)
        expect(page.locator("#question")).to_have_value("")
    answered(page)
    expect(page.locator(".turn").first.locator(".empty")).to_contain_text("Stopped")
    expect(page.locator(".turn").last.locator(".final")).to_contain_text("Budapest")
    page.reload()
    expect(page.locator(".turn .final")).to_have_text(["Budapest"])


def test_a_question_that_is_stopped_before_the_server_has_it_does_not_hinder_the_next(page: Page) -> None:
    ask(page, "Who is the inventor of the ballpoint pen?")
    answered(page)
    with first_request_held(page, "**/ramify/v1/ask"):
        ask(page, DIRECTOR)
        page.locator("#stop").click()
        ask(page, BORN)
    expect(page.locator(".turn").nth(1).locator(".empty")).to_contain_text("Stopped")
    expect(page.locator(".turn").last.locator(".final")).to_contain_text("Budapest")
    expect(page.locator("#send")).to_be_visible()


def test_a_question_that_waits_for_a_stopped_one_can_be_stopped(page: Page) -> None:
    ask_and_wait_for_review(page, DIRECTOR)
    let_people_decide(page, "never")
    with first_request_held(page, "**/ramify/v1/stop"):
        page.locator("#stop").click()
        ask(page, "Who is the inventor of the ballpoint pen?")
        page.locator("#stop").click()
        ask(page, BORN)
    expect(page.locator(".turn .empty")).to_have_count(2)
    expect(page.locator(".turn").last.locator(".final")).to_contain_text("Budapest")


@pytest.mark.parametrize("held", ["**/ramify/v1/stop", "**/ramify/v1/ask"])
def test_a_new_conversation_can_be_begun_while_a_question_runs(page: Page, held: str) -> None:
    if held.endswith("stop"):
        ask_and_wait_for_review(page, DIRECTOR)
        let_people_decide(page, "never")
    with first_request_held(page, held):
        if held.endswith("ask"):
            ask(page, DIRECTOR)
        page.locator("#new").click()
        ask(page, BORN)
        answered(page)
    expect(page.locator(".turn > h2")).to_have_text([BORN])
    expect(page.locator("#threads [aria-current]")).to_contain_text(BORN)
    ask(page, "and what did he invent?")
    answered(page)
    page.reload()
    expect(page.locator(".turn > h2").first).to_have_text(BORN)
    expect(page.locator(".turn > h2")).to_have_count(2)


def test_a_question_beside_a_running_one_stays_in_the_box(page: Page) -> None:
    ask_and_wait_for_review(page, DIRECTOR)
    ask(page, BORN)
    expect(page.locator("#question")).to_have_value(BORN)
    expect(page.locator("#live")).to_contain_text("Wait for the answer")
    expect(page.locator(".turn")).to_have_count(1)


def test_a_conversation_whose_question_was_stopped_can_be_deleted_at_once(page: Page) -> None:
    ask_and_wait_for_review(page, DIRECTOR)
    expect(page.locator("#stop")).to_be_visible()
    page.locator("#stop").click()
    expect(page.locator(".turn .empty")).to_contain_text("Stopped")
    expect(page.locator("#threads li:has([aria-current])")).to_have_count(1)
    before = page.locator("#threads li").count()
    page.locator("#threads li:has([aria-current]) .drop").click()
    page.locator("#confirm .danger").click()
    expect(page.locator("#threads li")).to_have_count(before - 1)
