"""What a run on the development server may name: asked of a server, and of the settings that bound it."""

import os
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.studio.server.bounds import (
    DEFAULT_INDEX_VARIABLE,
    INDEX_ADDRESSES_VARIABLE,
    INDEX_FOLDERS_VARIABLE,
    LIMITS_VARIABLE,
    restrict_settings,
    set_allowed,
    set_limits,
)
from ramify.tools.errors import UsageError
from tests.faults import fault
from tests.studio.conftest import Ramify
from tests.studio.dev_server import DevServer, free_port
from tests.studio.server.guard.conftest import ASKED, LOCAL, run, runs, send
from tests.tools.llamacpp import write_model


class TestRuns:
    """What a run may name."""

    @fault("servers", "run that names a model's address", sees="refused", kept="the key is sent nowhere else", code="error")
    def test_the_key_goes_to_no_address_that_a_run_names(self, server: DevServer, other_server: tuple[str, list[str]]) -> None:
        address, heard = other_server
        models = ("openai:x", "ollama:x", "auto")
        strategies = ("closed-book", "prune", "tor", "iterative", "chain", "ircot", "self-ask", "react", "naive")
        ended = runs(server, [({"model": name, "base_url": f"{address}/v1"}, strategy) for name in models for strategy in strategies])
        told = f"base_url='{address}/v1' is not allowed for runs of this server — start it with `ramify studio --base-url {address}/v1`"
        assert [end["__error__"]["message"] for end in ended] == [told] * len(models) * len(strategies)
        assert heard == []

    def test_no_other_way_of_naming_it_helps(self, server: DevServer, other_server: tuple[str, list[str]], not_allowed_index: Path) -> None:
        address, heard = other_server
        for wrong in ({"model": "openai:x", "base_url": address}, {"model": "extractive", "index": str(not_allowed_index)}):
            made = {"graph_id": "naive", "context": wrong}
            assistant = send(server, "POST", "/assistants", made, content_type="application/json").json()["assistant_id"]
            assert "is not allowed" in run(server, {}, assistant)["__error__"]["message"]
            by_config: Any = {"assistant_id": "naive", "input": ASKED, "config": {"configurable": wrong}}
            assert "is not allowed" in send(server, "POST", "/runs/wait", by_config, content_type="application/json").text
        assert heard == []

    def test_an_interrupted_thread_cannot_be_resumed_with_another_server(
        self, server: DevServer, other_server: tuple[str, list[str]]
    ) -> None:
        address, heard = other_server
        thread = send(server, "POST", "/threads", {}, content_type="application/json").json()["thread_id"]
        given = {"assistant_id": "closed-book", "input": ASKED, "context": LOCAL, "interrupt_before": ["answer"]}
        send(server, "POST", f"/threads/{thread}/runs/wait", given, content_type="application/json")
        onward = {"assistant_id": "closed-book", "input": None, "context": {"model": "openai:x", "base_url": address}}
        assert "is not allowed" in send(server, "POST", f"/threads/{thread}/runs/wait", onward, content_type="application/json").text
        assert heard == []

    @fault("servers", "run that names a folder as its index", sees="refused", kept="the folder is not read", code="error")
    def test_only_allowed_indexes_are_read(self, server: DevServer, not_allowed_index: Path) -> None:
        folder = server.said.parent
        assert run(server, {**LOCAL, "index": str(folder / "mine")})["answer"] == "László Bíró"
        assert run(server, {**LOCAL, "index": "demo"})["answer"] == "László Bíró"
        wrong = (not_allowed_index, folder / "link", folder / "mine" / ".." / "link", Path("/"), "~", "mine", "../demo")
        ended = runs(server, [({**LOCAL, "index": str(named)}, "naive") for named in wrong])
        for named, end in zip(wrong, ended, strict=True):
            assert f"index={str(named)!r} is not allowed for runs of this server" in end["__error__"]["message"]

    @fault("servers", "run that names a model file", sees="refused", kept="the file is not read", code="error")
    def test_only_allowed_model_files_are_read(self, server: DevServer, not_allowed_index: Path) -> None:
        wrong = ("/etc/hostname", str(not_allowed_index / "model.gguf"), "../smollm2", "model.gguf")
        ended = runs(server, [({"model": f"gguf:{file}"}, "closed-book") for file in wrong])
        for file, end in zip(wrong, ended, strict=True):
            told = f"model='gguf:{file}' is not allowed for runs of this server — start it with `ramify studio --gguf {file}`"
            assert end["__error__"]["message"] == told

    def test_the_server_prints_what_runs_may_name(self, server: DevServer) -> None:
        assert f"a run may name as its index: demo, {server.said.parent / 'mine'}" in server.log()
        assert "a run may name as its base_url: none" in server.log()
        assert "a run may name as its model file: gguf:smollm2 (add one with --gguf)" in server.log()


@pytest.mark.parametrize(
    ("given", "first", "shown"),
    [
        ([], "demo", "demo"),
        (["/mine"], "/mine", "/mine"),
        (["/mine", "/yours", "milvus:http://a/b"], "/mine", "/mine"),
        (["milvus:http://a/b", "/mine"], "milvus:http://a/b", "milvus:http://a/b"),
        (["milvus:http://me:secret@a/b"], "milvus:http://me:secret@a/b", None),
    ],
)
def test_a_run_that_names_no_index_gets_the_first(monkeypatch: pytest.MonkeyPatch, given: list[str], first: str, shown: str | None) -> None:
    set_allowed(given, [], [])
    settings = restrict_settings(graphs.build("naive")).settings
    assert settings().index == first
    assert settings.model_json_schema()["properties"]["index"].get("default") == shown, "no password in a form"
    assert [settings(index=name).index for name in ("demo", *given)] == ["demo", *given]


def test_of_several_indexes_each_must_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INDEX_FOLDERS_VARIABLE, os.pathsep.join(["/mine", "/ours"]))
    settings = restrict_settings(graphs.build("naive")).settings
    assert settings(index=["/mine", "demo", "/ours"]).index == ("/mine", "demo", "/ours")
    with pytest.raises(UsageError, match="index='/yours' is not allowed"):
        settings(index=["/mine", "/yours"])


def test_langgraph_dev_takes_the_first_from_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {INDEX_FOLDERS_VARIABLE: "", INDEX_ADDRESSES_VARIABLE: "milvus:http://a/b", DEFAULT_INDEX_VARIABLE: ""}.items():
        monkeypatch.setenv(name, value)
    assert restrict_settings(graphs.build("naive")).settings().index == "milvus:http://a/b"
    monkeypatch.setenv(INDEX_FOLDERS_VARIABLE, "/mine:/yours")
    assert restrict_settings(graphs.build("naive")).settings().index == "/mine"
    monkeypatch.setenv(DEFAULT_INDEX_VARIABLE, "/yours")
    assert restrict_settings(graphs.build("naive")).settings().index == "/yours"


def test_a_model_file_that_the_server_was_started_with_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_model(tmp_path / "mine.gguf")
    settings = restrict_settings(graphs.build("naive")).settings
    with pytest.raises(UsageError, match="is not allowed"):
        settings(model=f"gguf:{tmp_path}/mine.gguf")
    set_allowed([], [], [tmp_path / "mine.gguf"])
    assert settings(model=f"gguf:{tmp_path}/mine.gguf").model == f"gguf:{tmp_path}/mine.gguf"
    with pytest.raises(UsageError, match="is not allowed"):
        settings(model=f"gguf:{tmp_path}/../{tmp_path.name}/mine.gguf")


def test_an_adapter_that_the_server_was_started_with_may_be_named(tmp_path: Path) -> None:
    settings = restrict_settings(graphs.build("naive")).settings
    set_allowed([], [], [])
    assert [settings(adapter=name).adapter for name in ("auto", " off ")] == ["auto", "off"]
    for other in (f"{tmp_path}/mine.gguf", "smollm2", "/etc/hostname"):
        with pytest.raises(UsageError, match=f"adapter='{other}' is not allowed"):
            settings(adapter=other)
    set_allowed([], [], [tmp_path / "mine.gguf"])
    assert settings(adapter=f"{tmp_path}/mine.gguf").adapter == f"{tmp_path}/mine.gguf"


def test_a_reranker_that_the_server_was_started_with_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = restrict_settings(graphs.build("naive")).settings
    assert [settings(rerank=name).rerank for name in ("reader", "none", None)] == ["reader", "none", "none"]
    with pytest.raises(UsageError, match="rerank='/etc' is not allowed"):
        settings(rerank="/etc")
    set_allowed([], [], [], ["/etc"])
    assert settings(rerank="/etc").rerank == "/etc"


@fault("servers", "run that names the address of a reranker", sees="refused", kept="nothing is sent there", code="error")
def test_only_an_address_that_the_server_was_started_with_is_asked_to_rerank() -> None:
    ours = "small@http://127.0.0.1:8080/v1/rerank"
    settings = restrict_settings(graphs.build("naive")).settings
    set_allowed([], [], [], ["/etc", ours])
    assert [settings(rerank=name).rerank for name in (ours, "/etc")] == [ours, "/etc"]
    others = ("http://169.254.169.254/latest", ours.removeprefix("small@"), ours.replace("small", "large"), f"{ours}?to=me", f"{ours}/../x")
    for other in (*others, "http", "//127.0.0.1", "file:///etc/passwd", f"{ours} http://10.0.0.1", ours.upper()):
        with pytest.raises(UsageError, match="is not allowed"):
            settings(rerank=other)


def test_a_password_in_a_reranker_that_is_not_allowed_is_not_repeated() -> None:
    settings = restrict_settings(graphs.build("naive")).settings
    with pytest.raises(UsageError, match=r"is not allowed") as raised:
        settings(rerank="http://me:Zx9qL27vTr4Wm81@10.0.0.1/rerank")
    assert "Zx9q" not in str(raised.value)
    assert "10.0.0.1/rerank" in str(raised.value)


def test_an_address_does_not_check_sentences() -> None:
    address = "http://127.0.0.1:8080/v1/rerank"
    settings = restrict_settings(graphs.build("naive")).settings
    set_allowed([], [], [], [address])
    with pytest.raises(UsageError, match=f"check='{address}'"):
        settings(check=address)


def test_an_invalid_model_file_is_rejected_before_the_server_starts(ramify: Ramify) -> None:
    done = ramify("studio", "--port", str(free_port()), "--gguf", "/etc/hostname")
    assert (done.code, done.out) == (1, "")
    assert "'/etc/hostname' cannot be run: it is not a GGUF file" in done.err


def test_a_run_cannot_raise_the_operator_s_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMITS_VARIABLE, "")
    set_limits({"max_calls": 2, "k": 3, "max_seconds": 5, "max_batches": 4})
    settings = restrict_settings(graphs.build("tor")).settings
    assert (settings().max_calls, settings().k, settings().max_seconds) == (2, 3, 5)
    assert [settings(max_calls=given).max_calls for given in (None, 1, 2, 50, "50")] == [2, 1, 2, 2, 2]
    assert [settings(k=given).k for given in (1, 3, 100)] == [1, 3, 3]
    assert settings(max_seconds=float("inf")).max_seconds == 5
    with pytest.raises(UsageError, match="k=0 is not valid"):
        settings(k=0)


@pytest.mark.parametrize("limit", ["max_calls=0", "k=many", "model=extractive", "none=1", "temperature=1", "max_calls"])
def test_what_is_no_limit_is_refused_before_the_server_starts(ramify: Ramify, limit: str) -> None:
    done = ramify("studio", "--port", str(free_port()), "--set", limit)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
