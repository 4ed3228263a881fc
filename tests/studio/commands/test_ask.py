"""ramify ask: what it prints and what it leaves unsaid."""

import json
import os
from pathlib import Path

import pytest

from ramify.tools.errors import InputError
from tests.graphs.faulty_servers import faulty
from tests.river import QUESTION as RIVER
from tests.studio.conftest import Ramify
from tests.tools.ollama_replies import Fail, Say
from tests.tools.ollama_server import Ollama

KEYS = {"format", "question", "strategy", "model", "answer", "confidence", "citations", "tree", "usage", "stopped_by"}
BRANCH = {"path", "parent", "question", "kind", "status", "answer", "confidence", "score", "evidence", "note", "template", "aggregated"}
USAGE = {"llm_calls", "prompt_tokens", "completion_tokens", "retrievals", "wall_s", "critical_path_calls"}
MODEL = ("--model", "ollama:llama3.1:8b")
CURIE = {"text": "Marie Curie was born in Warsaw [1].", "answer": "Warsaw", "confidence": 0.9, "citations": [1]}


def test_json_is_the_contract_and_nothing_else(ramify: Ramify, ollama: Ollama, built: Path) -> None:
    ollama.when("", Say(CURIE))
    done = ramify("ask", "Where was Marie Curie born?", "--index", built, "--strategy", "naive", *MODEL, "--json")
    told = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert set(told) >= KEYS
    assert all(set(branch) >= BRANCH for branch in told["tree"])
    assert set(told["usage"]) >= USAGE
    assert [set(citation) >= {"id", "source", "text", "sha256"} for citation in told["citations"]] == [True]
    assert told["citations"][0]["cited"] is True
    assert (told["answer"], told["strategy"], told["stopped_by"]) == ("Warsaw", "naive", "finished")
    assert told["tree"][0]["parent"] is None
    assert told["usage"]["replies"]["answer"]["valid"] == 1
    assert told["sentences"]


def test_for_a_reader(ramify: Ramify, ollama: Ollama, built: Path, tmp_path: Path) -> None:
    ollama.when("", Say(CURIE))
    page = tmp_path / "page.html"
    done = ramify(
        "ask",
        "Where was Marie Curie born?",
        "--index",
        built,
        "--strategy",
        "naive",
        *MODEL,
        "--set",
        "style=short",
        "--tree",
        "--html",
        page,
    )
    assert done.code == 0
    assert all(words in done.out for words in ("Warsaw", "[1]", "curie.txt", "1 model call", "0 leaf", "ollama:llama3.1:8b"))
    assert "at most 1 model call and 1 search" in done.err
    assert "Where was Marie Curie born?" in page.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_an_unwritable_page_is_rejected_before_the_question(ramify: Ramify, ollama: Ollama, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "no" / "page.html", tmp_path / "pipe", tmp_path):
        done = ramify("ask", "Who?", "--strategy", "closed-book", *MODEL, "--html", place)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        assert done.err.startswith("error: cannot write ")
    assert ollama.requests == []


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_answer_is_printed_when_writing_its_page_fails(
    ramify: Ramify, ollama: Ollama, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    def lost(*_: object) -> None:
        raise InputError("cannot write the page", "make room on its disk")

    monkeypatch.setattr("ramify.studio.drawing.page.write_page", lost)
    ollama.when("", Say(CURIE))
    done = ramify("ask", "Where was Marie Curie born?", "--strategy", "closed-book", *MODEL, "--html", tmp_path / "page.html", *form)
    assert (done.code, "Warsaw" in done.out) == (1, True)
    assert "error: cannot write the page" in done.err


def test_every_answer_names_the_searched_index(ramify: Ramify, ollama: Ollama, built: Path, tmp_path: Path) -> None:
    ollama.when("", Say(CURIE))
    page = tmp_path / "page.html"
    asked = ("ask", "Where was Marie Curie born?", "--strategy", "naive", *MODEL)
    demo = "demo: 64 articles that ship with ramify"
    assert f"{demo} — your own documents: --index DIR" in ramify(*asked, "--html", page).out
    assert demo in page.read_text(encoding="utf-8")
    assert json.loads(ramify(*asked, "--json").out)["index"] == demo
    own = ramify(*asked, "--index", built, "--html", page).out
    assert f"{built} (2 files, 2 passages)" in own
    assert "your own documents" not in own
    assert f"{built} (2 files" in page.read_text(encoding="utf-8")


def test_filters_are_those_of_search(ramify: Ramify, ollama: Ollama, built: Path) -> None:
    ollama.when("", Say(CURIE))
    asked = ("ask", "Where was Marie Curie born?", "--index", built, "--strategy", "naive", *MODEL)
    one = ("--filter", "title=Warsaw", "--filter", "source=warsaw.md")
    for filters, sources in (((), {"curie.txt", "warsaw.md"}), (one, {"warsaw.md"})):
        told = json.loads(ramify(*asked, *filters, "--json").out)
        assert {passage.partition("#")[0] for branch in told["tree"] for passage in branch["evidence"]} == sources


def test_a_filter_is_given_once(ramify: Ramify) -> None:
    for twice in (("--filter", "a=1", "--set", 'filter={"a": 1}'), ("--filter", "a=1", "--filter", "a=2"), ("--filter", "a")):
        done = ramify("ask", "Who?", *twice)
        assert (done.code, done.out) == (2, "")
        assert "--filter" in done.err


def test_without_ollama_the_answer_comes_with_a_notice(ramify: Ramify, nowhere: str) -> None:
    done = ramify("ask", "Who was Marie Curie?", "--strategy", "closed-book")
    assert done.code == 0
    assert done.err.count("\n") == 1
    assert "using the extractive model" in done.err


def test_where_a_confidence_is_known_from(ramify: Ramify, nowhere: str, built: Path) -> None:
    """The embedded model measures no log probabilities of its own: what it tells is its reader's confidence."""
    asked = ("ask", "Where was Marie Curie born?", "--index", built, "--strategy", "prune", "--model", "extractive")
    told = json.loads(ramify(*asked, "--json").out)
    assert told["confidence_source"] == "reader"
    assert {branch["confidence_source"] for branch in told["tree"]} <= {"reader", None}
    assert "from the embedded reader" in ramify(*asked).out


def test_a_budget_is_enforced_and_reported(ramify: Ramify, ollama: Ollama, built: Path) -> None:
    final = {**CURIE, "settled_by": "agreement"}
    ollama.when("", Say(final))
    options = ("--index", built, "--strategy", "prune", *MODEL, "--set", "max_calls=1")
    told = json.loads(ramify("ask", "Where was Marie Curie born?", *options, "--json").out)
    assert told["stopped_by"] == "calls"
    assert told["usage"]["llm_calls"] <= 1
    assert told["answer"] == "Warsaw"
    assert "max_calls" in ramify("ask", "Where was Marie Curie born?", *options).out


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_model_that_is_refused_on_the_way_is_an_error_with_what_was_found(ramify: Ramify, built: Path, more: tuple[str, ...]) -> None:
    with faulty("ollama", lambda number, name: Fail(401, "no") if number == 3 else None) as server:
        model = ("--model", server.options["model"], "--base-url", server.options["base_url"])
        done = ramify("ask", RIVER, "--index", built, "--strategy", "chain", *model, *more)
    assert (done.code, [line[:7] for line in done.err.splitlines()].count("error: ")) == (1, 1)
    assert "OLLAMA_API_KEY" in done.err.splitlines()[-1]
    if more:
        told = json.loads(done.out)
        assert (told["stopped_by"], told["usage"]["llm_calls"]) == ("error", 3)
        assert told["error"] in done.err
        assert any(branch["answer"] for branch in told["tree"])
