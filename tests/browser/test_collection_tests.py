"""The tests of a collection on the page of `ramify serve`: run by a button, with what an edit of the documents has changed."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from ramify.tools.index import Index
from tests.browser.test_page import COMMAND, answered, ask, browser, page, pytestmark, violations
from tests.processes import started
from tests.studio.dev_server import free_port

__all__ = ["browser", "page", "pytestmark"]
TESTS = """tests:
- question: Every how many hours is the oil changed?
  contains: 250 hours
- question: How long is the belt?
  contains: 90 cm
"""


class Manual:
    """A folder with a document, and its index."""

    def __init__(self, above: Path) -> None:
        self.folder, self.index, self.tests = above / "manual", above / "index", above / "tests.yaml"
        self.folder.mkdir()
        self.tests.write_text(TESTS, encoding="utf-8")

    def publish(self, hours: int) -> None:
        (self.folder / "oil.txt").write_text(f"The oil is changed every {hours} hours. The belt is 90 cm long.", encoding="utf-8")
        Index.build([self.folder], self.index)


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Manual:
    made = Manual(tmp_path_factory.mktemp("manual"))
    made.publish(250)
    return made


@pytest.fixture(scope="module")
def address(manual: Manual, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    given = ["--index", manual.index, "--test", manual.tests, "--model", "extractive", "--port", str(port)]
    environment = {**os.environ, "RAMIFY_CACHE": str(tmp_path_factory.mktemp("server")), "LANGSMITH_TRACING": "false"}
    with started([sys.executable, "-c", COMMAND, "serve", *given], env=environment) as server:
        assert server.stderr is not None
        assert str(port) in server.stderr.readline()
        yield f"http://127.0.0.1:{port}/"


def test_what_changed_is_shown(page: Page, manual: Manual) -> None:
    page.locator("#open-collections").click()
    tests = page.locator("#collections .tests")
    expect(tests).to_contain_text("tests.yaml: 2 not run")
    page.locator("#collection-name").fill("another")
    tests.get_by_role("button", name="Run the tests").click()
    expect(tests).to_contain_text("tests.yaml: 2 passed")
    expect(tests.get_by_role("button")).to_be_focused()
    expect(page.locator("#collection-name")).to_have_value("another")
    manual.publish(400)
    tests.get_by_role("button", name="Run the tests").click()
    expect(tests).to_contain_text("1 failed")
    expect(tests.locator("li")).to_contain_text(["250 hours"])
    expect(tests.locator("li")).to_contain_text(["400 hours"])
    assert violations(page, "tests") == []


def test_an_answer_says_what_was_checked(page: Page) -> None:
    ask(page, "How long is the belt?")
    answered(page)
    expect(page.locator(".turn")).to_contain_text("word for word. Whether they answer the question is not checked. (2 of 2 steps hold)")
    assert violations(page, "checked") == []
