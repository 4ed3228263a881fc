"""Several servers of one model, at every door: one clear error that names the page."""

import json
from pathlib import Path

import pytest

import ramify.graphs as graphs
from ramify.studio.server.bounds import restrict_settings, set_allowed
from ramify.tools.errors import UsageError
from tests.studio.conftest import Ramify

FIRST, SECOND = "http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"
ERROR = f"error: base_url names 2 model servers: {FIRST}, {SECOND} — put a proxy before them and name its address alone (docs/operating.md"
FLAGS = ("--base-url", FIRST, "--base-url", SECOND)


@pytest.mark.parametrize(
    "asked",
    [
        ("ask", "Who?", *FLAGS),
        ("ask", "Who?", "--base-url", f"{FIRST},{SECOND}"),
        ("ask", "Who?", "--set", f"base_url={json.dumps([FIRST, SECOND])}"),
        ("chat", *FLAGS),
        ("index", "{documents}", "--out", "{folder}/graph", "--kind", "graph", *FLAGS),
    ],
)
def test_every_command_says_what_to_do(ramify: Ramify, documents: Path, tmp_path: Path, asked: tuple[str, ...]) -> None:
    done = ramify(
        *(part.format(documents=documents, folder=tmp_path) if "{f" in part or "{d" in part else part for part in asked),
        "--model",
        "openai:local",
    )
    assert (done.code, done.out) == (2, "")
    assert ERROR in done.err
    assert done.err.count("error: ") == 1


def test_one_named_twice_is_one(ramify: Ramify, built: Path) -> None:
    done = ramify("ask", "Who?", "--index", built, "--model", "openai:local", "--base-url", FIRST, "--base-url", f"{FIRST}/")
    assert done.code == 1
    assert f"{FIRST}/ cannot be reached" in done.err


def test_in_python_it_is_the_same_error() -> None:
    with pytest.raises(UsageError, match="put a proxy before them"):
        graphs.ask("Who?", "naive", model="openai:local", base_url=[FIRST, SECOND])


def test_a_run_in_studio_may_name_one_of_several_that_were_given(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = restrict_settings(graphs.build("naive")).settings
    set_allowed([], ["http://a:1/v1", "http://b:2/v1"], [])
    assert settings(base_url="http://b:2/v1/").base_url == "http://b:2/v1/"
    for evil in ("http://evil", "http://a:1/v1,evil", ","):
        with pytest.raises(UsageError, match="is not allowed for runs of this server"):
            settings(base_url=evil)
    for several in ("http://a:1/v1 http://evil", ["http://a:1/v1", "http://b:2/v1"]):
        with pytest.raises(UsageError, match="put a proxy before them"):
            settings(base_url=several)
