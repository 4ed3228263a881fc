"""A collection that is damaged is listed with its error, and costs itself alone; clients see no folders of the server."""

import asyncio
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from plugins.serve.tests.conftest import BORN, TIMEOUT_S, Running, Serve, wait_until
from plugins.serve.tests.test_collections import KEEPER, index, list_collections, refusal, send
from plugins.serve.tests.test_mcp import connect, text
from plugins.serve.tests.test_signals import started
from ramify.serve.catalog import Catalog
from ramify.serve.collections import UserCollections
from ramify.tools.quoting import hide_folders
from tests.faults import fault
from tests.studio.conftest import Ramify
from tests.studio.dev_server import free_port

WHO = "Who was the first keeper of the lighthouse of Arda?"


def _replaced_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "manifest of nothing": lambda index: (index / "manifest.json").write_bytes(b""),
    "manifest of other JSON": lambda index: (index / "manifest.json").write_text("[]"),
    "manifest of another layout": lambda index: (index / "manifest.json").write_text('{"layout": 99}'),
    "manifest is a folder": lambda index: _replaced_by_folder(index / "manifest.json"),
    "passages of nothing": lambda index: (index / "passages.sqlite").write_bytes(b""),
    "passages cut": lambda index: (index / "passages.sqlite").write_bytes((index / "passages.sqlite").read_bytes()[:5000]),
    "passages overwritten": lambda index: (index / "passages.sqlite").write_bytes(b"no database" * 1000),
    "passages gone": lambda index: (index / "passages.sqlite").unlink(),
    "passages are a folder": lambda index: _replaced_by_folder(index / "passages.sqlite"),
    "vectors gone": lambda index: (index / "vectors.faiss").unlink(),
    "vectors overwritten": lambda index: (index / "vectors.faiss").write_bytes(b"\0" * 3000),
}


def two_collections(server: Running) -> None:
    """Make two indexed collections, arda and beta."""
    for name in ("arda", "beta"):
        server.call("POST", "/collections", json={"name": name})
        send(server, name, "keeper.txt", KEEPER.encode())
        assert index(server, name)[-1][0] == "built"


def answer(server: Running, **given: Any) -> Any:
    return dict(server.ask(WHO, **given))["result"]["answer"]


def check_rest(server: Running, root: Path) -> None:
    """Check that all but arda is served, and that no reply names a folder of the server."""
    listed = list_collections(server)
    assert listed["arda"]["error"]
    assert "report it" not in listed["arda"]["error"]
    assert listed["arda"]["documents"] is None
    assert [name for name, entry in listed.items() if "error" in entry] == ["arda"]
    assert answer(server, collection="beta") == "Jonas Vell"
    assert dict(server.ask(BORN))["result"]["answer"] == "Budapest"
    models = httpx.get(f"{server.url}/v1/models", timeout=TIMEOUT_S, trust_env=False)
    assert models.status_code == 200
    names = [model["id"] for model in models.json()["data"]]
    assert "beta/prune" in names
    assert "arda/prune" not in names
    tags = httpx.get(f"{server.url}/api/tags", timeout=TIMEOUT_S, trust_env=False)
    assert "beta/prune" in tags.text
    wait_until(lambda: httpx.get(f"{server.url}/ready", timeout=TIMEOUT_S, trust_env=False).status_code == 200)
    replies = [
        server.call("GET", "/collections"),
        server.call("GET", "/collections/arda/documents"),
        server.call("POST", "/ask", json={"question": WHO, "collection": "arda"}),
        server.call("POST", "/ask", json={"question": WHO, "collection": ["arda", "beta"]}),
        server.call("GET", "/source", params={"collection": "arda", "passage": "x"}),
        server.call("GET", "/file", params={"collection": "arda", "passage": "x"}),
        httpx.post(
            f"{server.url}/v1/chat/completions",
            json={"model": "arda/prune", "messages": [{"role": "user", "content": WHO}]},
            timeout=TIMEOUT_S,
            trust_env=False,
        ),
    ]
    for reply in replies:
        assert str(root.parent) not in reply.text, reply.text
        assert "report it" not in reply.text, reply.text


@fault("servers", "damaged collection beside others", sees="it is listed with its error", kept="the others are served", code="503")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_collection_costs_itself_alone(serve: Serve, tmp_path: Path, damage: str) -> None:
    server = serve()
    two_collections(server)
    root = tmp_path / "collections"
    DAMAGES[damage](root / "arda" / "index")
    check_rest(server, root)
    check_rest(restarted := serve(), root)
    assert index(restarted, "arda")[-1][0] == "built" or restarted.call("DELETE", "/collections/arda").status_code == 200
    assert "error" not in list_collections(restarted).get("arda", {})


async def test_agents_search_the_collections_that_are_intact(serve: Serve, tmp_path: Path) -> None:
    def restarted() -> Running:
        two_collections(serve())
        return serve()

    server = await asyncio.to_thread(restarted)
    async with connect(f"{server.url}/mcp") as client:
        reply = await client.call_tool("search_documents", {"query": WHO})
        first = reply.structured_content["passages"][0]["collection"]
        (tmp_path / "collections" / first / "index" / "manifest.json").write_text("{}")
        reply = await client.call_tool("search_documents", {"query": WHO})
        assert not reply.is_error, text(reply)
        collections = {passage["collection"] for passage in reply.structured_content["passages"]}
        assert {"arda", "beta"} - {first} <= collections
        assert first not in collections


def test_a_conversation_about_a_damaged_collection_is_shown(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    two_collections(server)
    server.ask(WHO, collection="arda", thread="lamp")
    (tmp_path / "collections" / "arda" / "index" / "manifest.json").write_text("{}")
    (turn,) = server.call("GET", "/threads/lamp").json()["turns"]
    assert turn["result"]["answer"] == "Jonas Vell"
    assert turn["remarks"]["cost"]


@fault(
    "servers", "damaged record of a collection", sees="the collection is listed with its error", kept="the others are served", code="200"
)
@pytest.mark.parametrize("record", ["", "[]", "{", '{"folder": null}', '{"folder": 1, "user": "me"}', "\x00\x00", None])
def test_a_damaged_record_costs_its_collection_alone(serve: Serve, tmp_path: Path, record: str | None) -> None:
    two_collections(serve())
    file = tmp_path / "collections" / "arda" / "collection.json"
    if record is None:
        _replaced_by_folder(file)
    else:
        file.write_text(record, encoding="utf-8")
    server = serve()
    listed = list_collections(server)
    assert "collection.json" in listed["arda"]["error"]
    assert str(tmp_path) not in json.dumps(listed)
    assert answer(server, collection="beta") == "Jonas Vell"
    assert "damaged" in refusal(send(server, "arda", "other.txt", b"text"))
    assert "damaged" in refusal(server.call("POST", "/collections/arda/index", json={}))
    assert server.call("POST", "/collections", json={"name": "arda"}).json() == {"name": "arda-2"}
    assert server.call("GET", "/collections/arda-2/documents").json()["files"] == []
    assert server.call("DELETE", "/collections/arda").status_code == 200
    assert "arda" not in list_collections(server)


def test_nobody_owns_a_collection_whose_record_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "arda").mkdir()
    (tmp_path / "arda" / "collection.json").write_text("{}", encoding="utf-8")
    collections = UserCollections(Catalog({}, "naive", ["extractive"]), tmp_path, separate_users=True)
    for user in ("ada", ""):
        [entry] = collections.list_collections(user)
        assert (entry["changeable"], bool(entry["error"])) == (False, True)
        with pytest.raises(Exception, match="operator"):
            collections.delete(user, "arda")


def is_serving(address: str) -> bool:
    with suppress(httpx.ConnectError):
        return httpx.get(f"{address}/health", timeout=TIMEOUT_S, trust_env=False).status_code == 200
    return False


def test_the_command_serves_the_rest_and_tells_its_operator(built: Path, tmp_path: Path, ramify: Ramify) -> None:
    for name in ("good", "bad"):
        shutil.copytree(built, tmp_path / name)
    (tmp_path / "bad" / "manifest.json").write_text("{}")
    options = ("--model", "extractive", "--memory", f"sqlite:{tmp_path / 'talks.db'}")
    with started(tmp_path, *options, "--index", str(tmp_path / "bad"), "--index", str(tmp_path / "good")) as (_, address):
        server: Any = Running(address, None)  # type: ignore[arg-type]  # its parts are in another process
        wait_until(lambda: is_serving(address))
        listed = list_collections(server)
        assert ("error" in listed["bad"], "error" in listed["good"]) == (True, False)
    alone = ramify("serve", "--port", free_port(), "--index", tmp_path / "bad")
    assert alone.code == 1
    assert str(tmp_path / "bad") in alone.err


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("'/srv/a b/index/manifest.json' is damaged", "'manifest.json' is damaged"),
        ("run `ramify index A --out /srv/x/index`", "run `ramify index A --out index`"),
        ("[Errno 2] No such file or directory: '/srv/a'", "[Errno 2] No such file or directory: 'a'"),
        ("sqlite:/srv/data/talks.db cannot be read", "sqlite:talks.db cannot be read"),
        ("('/srv/a/b', '/srv/c/d')", "('b', 'd')"),
        ("~/docs/a and C:\\Users\\me\\a.txt", "a and a.txt"),
        ("no server at http://127.0.0.1:9/api/tags — start it", "no server at http://127.0.0.1:9/api/tags — start it"),
        ("postgresql://me@db.example/talks and/or 12/05/2000 1/2", "postgresql://me@db.example/talks and/or 12/05/2000 1/2"),
    ],
)
def test_folders_are_hidden_and_addresses_are_not(message: str, shown: str) -> None:
    assert hide_folders(message) == shown
