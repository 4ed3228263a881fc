"""`ramify serve` as a command: what it refuses before anything is served."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.store.sqlite import SqliteStore

from ramify.serve.commands import serve as command
from ramify.tools.index import Index
from tests.studio.conftest import Ramify
from tests.studio.dev_server import free_port


def test_a_host_that_others_reach_needs_a_token(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAMIFY_SERVE_TOKEN", raising=False)
    for host in ("0.0.0.0", "::", "192.168.1.5"):
        done = ramify("serve", "--host", host)
        assert done.code == 2
        assert "can be reached from other machines, and there is no token — set RAMIFY_SERVE_TOKEN, or give --token" in done.err


def test_a_token_may_stand_in_the_environment_alone(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMIFY_SERVE_TOKEN", "ada:ada-has-a-secret ben:short")
    done = ramify("serve", "--host", "127.0.0.1", "--port", free_port())
    assert (done.code, done.out) == (2, "")
    assert "the token of 'ben', of 5 characters" in done.err


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (("--index", "nowhere"), 1, "there is no index in"),
        (("--strategy", "other"), 2, "there is no strategy 'other'"),
        (("--set", "kk=1"), 2, "has no setting 'kk'"),
        (("--base-url", "http://a:1/v1", "--base-url", "http://b:1/v1"), 2, "put a proxy before them"),
        (("--model", "gguf:/etc/hostname"), 1, "'/etc/hostname' cannot be run"),
        (("--model", "gguf:smollm2", "--set", "adapter=/etc/hostname"), 1, "'/etc/hostname' cannot be run"),
        (("--model", "extractive", "--set", "adapter=/etc/hostname"), 2, "is loaded for gguf: models only"),
        (("--memory", "file.db"), 2, "is not an address for storing conversations"),
    ],
)
def test_invalid_options_are_rejected_before_serving(ramify: Ramify, options: tuple[str, ...], code: int, expected: str) -> None:
    done = ramify("serve", "--port", free_port(), *options)
    assert done.code == code
    assert expected in done.err


def test_the_error_on_missing_libraries_names_the_command_to_install_them(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "REQUIRED_MODULES", ("starlette", "no_such_package.inside"))
    done = ramify("serve")
    assert done.code == 1
    assert "run `pip install 'ramify-rag[serve]'`" in done.err


def test_an_emptied_file_of_conversations_is_one_line(ramify: Ramify, tmp_path: Path) -> None:
    file = tmp_path / "talks.db"
    with closing(sqlite3.connect(tmp_path / "talks.db.threads")) as database:
        SqliteStore(database).setup()
        database.execute("INSERT INTO store (prefix, key, value) VALUES ('threads', 'pens', '{}')")
        database.commit()
    file.touch()
    done = ramify("serve", "--port", free_port(), "--memory", f"sqlite:{file}", "--model", "extractive")
    assert (done.code, done.err.count("error: ")) == (1, 1)
    assert str(file) in done.err


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a.yaml", "b.yaml"], "two files of tests"),
        (["letters=a.yaml", "index=a.yaml"], "two collections"),
        (["elsewhere=a.yaml"], "elsewhere"),
        (["missing.yaml"], "missing.yaml"),
    ],
)
def test_files_of_tests_that_fit_no_collection_are_rejected(
    ramify: Ramify, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str], expected: str
) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("tests: []\n", encoding="utf-8")
    (tmp_path / "letter.txt").write_text("Dear all.", encoding="utf-8")
    Index.build([tmp_path / "letter.txt"], tmp_path / "letters")
    monkeypatch.chdir(tmp_path)
    options = [word for file in given for word in ("--test", file)]
    refused = ramify("serve", "--model", "extractive", "--index", built, "--index", "letters", "--port", free_port(), *options)
    assert refused.code == 2
    assert expected in refused.err
