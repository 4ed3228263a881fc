"""Several servers of one model, at every door."""

import json
from pathlib import Path

import pytest

import ramify.graphs as graphs
from ramify.studio.server.bounds import restrict_settings, set_allowed
from ramify.tools.errors import UsageError
from ramify.tools.models import clear_cache
from tests.studio.conftest import Ramify
from tests.tools.model_process import processes

NOBODY = ("--model", "openai:local", "--base-url", "http://127.0.0.1:9/v1", "--base-url", "http://127.0.0.1:10/v1")
BOTH = "openai:local at http://127.0.0.1:9/v1 cannot be reached; openai:local at http://127.0.0.1:10/v1 cannot be reached"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_cache()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_a_question_is_answered_by_the_servers_that_respond_with_a_notice(ramify: Ramify, built: Path) -> None:
    with processes(2) as (first, second):
        dead = "http://127.0.0.1:9/v1"
        reached = ["--model", "openai:local", *(part for one in (first.address, dead, second.address) for part in ("--base-url", one))]
        done = ramify("ask", "Where was Marie Curie born?", "--index", built, "--strategy", "tor", *reached, "--json")
        assert done.code == 0, done.err
        told = json.loads(done.out)
        assert told["model"] == "openai:local"
        assert f"openai:local is used at 3 servers: {first.address}, {dead}, {second.address}" in told["notices"]
        assert any(f"{dead} cannot be reached: the server is excluded" in notice for notice in told["notices"])
        assert first.calls + second.calls == told["usage"]["llm_calls"]


def test_a_setting_names_them_as_well(ramify: Ramify, built: Path) -> None:
    with processes(2) as (first, second):
        for several in (f"{first.address},{second.address}", json.dumps([first.address, second.address])):
            done = ramify("ask", "Who?", "--index", built, "--model", "openai:local", "--set", f"base_url={several}", "--json")
            assert done.code == 0, done.err
            assert "is used at 2 servers" in json.loads(done.out)["notices"][0]


@pytest.mark.parametrize(
    "asked",
    [
        ("ask", "Who?"),
        ("eval", "demo:development", "--limit", "1", "--out", "{folder}/run"),
        ("index", "{documents}", "--out", "{folder}/graph", "--kind", "graph"),
    ],
)
def test_none_there_is_one_line_that_names_all(ramify: Ramify, documents: Path, tmp_path: Path, asked: tuple[str, ...]) -> None:
    done = ramify(*(part.format(documents=documents, folder=tmp_path) for part in asked), *NOBODY)
    assert done.code == 1
    assert f"error: none of the 2 servers can be used: {BOTH} — check base_url" in done.err
    assert done.err.count("error: ") == 1


def test_an_evaluation_continues_when_a_server_dies(ramify: Ramify, tmp_path: Path) -> None:
    with processes(2, seconds=0.05, at_once=2) as (stays, dies):
        dies.kill()
        dies.start(last=5)
        reached = ("--model", "openai:local", "--base-url", stays.address, "--base-url", dies.address)
        done = ramify("eval", "demo:development", "--strategy", "closed-book", "--limit", "20", "--out", tmp_path / "run", *reached)
        assert done.code == 0, done.err
        written = map(json.loads, (tmp_path / "run" / "results.jsonl").read_text(encoding="utf-8").splitlines())
        rows = [row for row in written if row["strategy"] == "closed-book"]
        assert len(rows) == 20
        assert {row["error"] for row in rows} == {None}
        assert 16 <= stays.calls < 20, "the other served some before it died"


def test_a_run_in_studio_may_name_several_where_each_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = restrict_settings(graphs.build("naive")).settings
    set_allowed([], ["http://a:1/v1", "http://b:2/v1"], [])
    assert settings(base_url="http://b:2/v1/, http://a:1/v1").base_url == "http://b:2/v1/ http://a:1/v1"
    for evil in ("http://a:1/v1 http://evil", "http://evil,http://a:1/v1", ["http://a:1/v1", "http://evil"], "http://a:1/v1,evil", ","):
        with pytest.raises(UsageError, match="is not allowed for runs of this server"):
            settings(base_url=evil)
