"""`ramify serve --watch`: a collection follows its folder while the server runs."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from plugins.serve.tests.conftest import TIMEOUT_S, Running, Serve, wait_until
from plugins.serve.tests.test_signals import started
from ramify.serve.collections import create_watched_folders
from ramify.studio.cli import run
from tests.studio.conftest import Ramify
from tests.studio.dev_server import free_port

KEEPER = "The first keeper of the lighthouse of Arda was Jonas Vell.\n"
BUILDER = "The lighthouse of Arda was built by Edda Storm.\n"
WHO = "Who built the lighthouse of Arda?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "arda"
    made.mkdir()
    (made / "keeper.txt").write_text(KEEPER, encoding="utf-8")
    return made


def is_listening(address: str) -> bool:
    """Tell whether a server answers there already."""
    with suppress(httpx.ConnectError):
        return httpx.get(f"{address}/health", timeout=TIMEOUT_S, trust_env=False).status_code == 200
    return False


def find_collection(server: Running, name: str) -> dict[str, Any]:
    collections: list[dict[str, Any]] = server.call("GET", "/collections").json()["collections"]
    return next(collection for collection in collections if collection["name"] == name)


def test_a_folder_is_a_collection_that_follows_its_changes(folder: Path, tmp_path: Path) -> None:
    options = ("--watch", str(folder), "--model", "extractive", "--memory", f"sqlite:{tmp_path / 'talks.db'}")
    with started(tmp_path, *options, RAMIFY_CACHE=str(tmp_path / "cache")) as (_, address):
        server: Any = Running(address, None)  # type: ignore[arg-type]  # its parts are in another process
        wait_until(lambda: is_listening(address))
        assert server.call("GET", "/about").json()["default"]["collection"] == "arda"
        assert find_collection(server, "arda")["documents"] == 1
        wait_until(lambda: find_collection(server, "arda")["watched"]["updated"])
        assert find_collection(server, "arda")["watched"] | {"updated": ""} == {"folder": "arda", "updated": "", "problem": ""}
        (folder / "builder.txt").write_text(BUILDER, encoding="utf-8")
        wait_until(lambda: find_collection(server, "arda")["documents"] == 2)
        assert dict(server.ask(WHO))["result"]["answer"] == "Edda Storm"
        refused = server.call("DELETE", "/collections/arda")
        assert (refused.status_code, "was made on this server" in refused.text) == (400, True)
    assert sorted(path.name for path in folder.iterdir()) == ["builder.txt", "keeper.txt"]


def test_the_index_that_was_made_of_a_folder_is_the_one_that_follows_it(serve: Serve, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "made"
    assert run(["index", str(folder), "--out", str(index)]) == 0
    watched = create_watched_folders([folder, folder], [str(index)], tmp_path / "own")
    assert [watch.where for watch in watched] == [str(index)]
    server = serve(index, watched=watched)
    wait_until(lambda: find_collection(server, "made")["watched"]["updated"])
    (folder / "builder.txt").write_text(BUILDER, encoding="utf-8")
    wait_until(lambda: find_collection(server, "made")["documents"] == 2)
    shutil.rmtree(folder)
    wait_until(lambda: find_collection(server, "made")["watched"]["problem"])
    assert "was deleted or moved" in find_collection(server, "made")["watched"]["problem"]
    assert find_collection(server, "made")["documents"] == 2, "the last state that was published"


def test_what_cannot_be_watched_is_refused(ramify: Ramify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "oil.txt").write_text("Oil.", encoding="utf-8")
    refused = ramify("serve", "--port", free_port(), "--watch", tmp_path / "oil.txt")
    assert refused.code == 2
    assert "is not a folder" in refused.err
    monkeypatch.setattr("ramify.serve.commands.serve.find_spec", lambda name: None if name == "watchfiles" else name)
    refused = ramify("serve", "--port", free_port(), "--watch", tmp_path)
    assert refused.code == 1
    assert "pip install 'ramify-rag[watch]'" in refused.err
