"""The tests of a collection that is served: run on demand and after each update, with what changed; and the checks of an answer."""

from pathlib import Path
from typing import Any

import pytest

from plugins.serve.tests.conftest import BORN, Running, Serve, wait_until
from ramify.serve.collection_tests import CollectionTests
from ramify.serve.collections import WatchedFolder
from ramify.testing.expectations import Expectation, append_expectations
from ramify.tools.errors import UsageError
from ramify.tools.index import Index

QUESTION = "Every how many hours is the oil changed?"


class Corpus:
    """A folder of one document, its index, and a test of it."""

    def __init__(self, above: Path) -> None:
        self.folder, self.index, self.tests = above / "manual", above / "index", above / "tests.yaml"
        self.folder.mkdir()
        self.write(250)
        append_expectations(self.tests, [Expectation(question=QUESTION, contains=["250 hours"])])

    def write(self, hours: int) -> None:
        (self.folder / "oil.txt").write_text(f"The oil is changed every {hours} hours.", encoding="utf-8")

    def build(self) -> None:
        Index.build([self.folder], self.index)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


def state_of(server: Running) -> dict[str, Any]:
    """Return the state of the first collection's tests."""
    state: dict[str, Any] = server.call("GET", "/collections").json()["collections"][0]["tests"]
    return state


def run(server: Running) -> dict[str, Any]:
    """Run the tests of the collection, and return their state at the end."""
    assert server.call("POST", "/collections/index/tests").status_code == 202
    wait_until(lambda: not state_of(server)["running"])
    return state_of(server)


def test_what_an_edit_of_the_documents_changed_is_shown(serve: Serve, corpus: Corpus) -> None:
    corpus.build()
    server = serve(corpus.index, tests=corpus.tests)
    assert (state_of(server)["summary"], state_of(server)["passed"]) == ("1 not run", False)
    assert run(server)["summary"] == "1 passed"
    corpus.write(400)
    corpus.build()
    state = run(server)
    assert (state["summary"], state["passed"]) == ("1 failed", False)
    [test] = state["tests"]
    assert test["question"] == QUESTION
    assert any("250 hours" in line and "400 hours" in line for line in test["details"])
    started_again = CollectionTests(corpus.tests, {}).to_json()
    assert started_again == state, "a server that is started again shows the same"
    corpus.tests.write_text(f"tests:\n- question: {QUESTION}\n  contains: 400 hours\n", encoding="utf-8")
    assert CollectionTests(corpus.tests, {}).to_json()["summary"] == "1 passed", "judged by what is expected now"


def test_an_unexpected_error_ends_a_run_and_is_shown(serve: Serve, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.build()

    async def failing(*_: object, **__: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("ramify.testing.running.ask_async", failing)
    state = run(serve(corpus.index, tests=corpus.tests))
    assert state["problem"]
    assert not state["passed"]


def test_settings_of_the_server_count_where_a_strategy_has_them(serve: Serve, corpus: Corpus) -> None:
    corpus.build()
    corpus.tests.write_text(f"tests:\n- question: {QUESTION}\n  contains: 250 hours\n  strategy: naive\n", encoding="utf-8")
    assert run(serve(corpus.index, tests=corpus.tests, max_depth=1))["summary"] == "1 passed"


def test_a_watched_folder_is_tested_after_each_update(serve: Serve, corpus: Corpus) -> None:
    corpus.build()
    server = serve(corpus.index, tests=corpus.tests, watched=[WatchedFolder(corpus.folder, str(corpus.index))])
    wait_until(lambda: state_of(server)["summary"] == "1 passed")
    corpus.write(400)
    wait_until(lambda: state_of(server)["summary"] == "1 failed")


def test_a_collection_without_tests_has_none_to_run(serve: Serve, corpus: Corpus) -> None:
    corpus.build()
    server = serve(corpus.index)
    assert server.call("POST", "/collections/index/tests").status_code == 404
    assert "tests" not in server.call("GET", "/collections").json()["collections"][0]


def test_a_file_that_cannot_be_read_is_told(serve: Serve, corpus: Corpus) -> None:
    corpus.build()
    server = serve(corpus.index, tests=corpus.tests)
    corpus.tests.write_text("tests: 3", encoding="utf-8")
    assert "tests" in run(server)["problem"]
    with pytest.raises(UsageError):
        CollectionTests(corpus.tests, {})


def test_an_answer_is_checked_without_a_model(serve: Serve) -> None:
    remarks = dict(serve().ask(BORN))["remarks"]
    assert remarks["checked"] == {"summary": "4 of 4 steps hold", "holds": True, "checks": []}
    assert dict(serve().ask("Who is the president of the Moon?"))["remarks"]["checked"] is None
