"""Values of the wrong kind or form in requests: each is a 400, 401, 404 or 409 with one line, and nothing is logged as unexpected."""

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from plugins.serve.tests.conftest import INVENTOR, TIMEOUT_S, Running, Serve
from plugins.serve.tests.test_collections import list_collections, send
from ramify.serve.catalog import Catalog, Collection
from ramify.serve.collections import UserCollections
from ramify.serve.transport import parse_tokens
from ramify.tools.errors import UsageError
from tests.faults import fault

LONG = "x" * 300
wrong_values = fault(
    "servers",
    "values of the wrong kind in a request, at `ramify serve`",
    sees="one line with its remedy",
    kept="the server continues",
    code="400",
)


def check_refused(reply: httpx.Response, *statuses: int) -> str:
    """Check that a reply is a refusal in one line, and return that."""
    assert reply.status_code in (statuses or (400,)), reply.text[:500]
    message = str(reply.json()["error"]["message"])
    assert "\n" not in message
    assert "report it" not in message
    return message


FOLDERS = [
    "~nobody",
    "~nobody/x",
    "~root",
    LONG,
    f"/{LONG}",
    "a/" * 3000,
    "\0",
    "\n",
    "",
    "..",
    "/proc/self/root",
    "//",
    "C:\\x",
    "/dev/null",
]


@wrong_values
def test_folders_that_cannot_be(serve: Serve, tmp_path: Path) -> None:
    server = serve(documents=[tmp_path])
    for folder in (*FOLDERS, f"{tmp_path}/{LONG}", str(tmp_path / "none")):
        check_refused(server.call("POST", "/collections", json={"name": "x", "folder": folder}))
    assert set(list_collections(server)) == {"demo"}


@wrong_values
@pytest.mark.parametrize(
    "settings",
    [
        {"preset": []},
        {"preset": ["paper"]},
        {"preset": {}},
        {"preset": 1},
        {"preset": True},
        {"preset": LONG},
        {"k": []},
        {"k": 10**400},
        {"k": 1.5},
        {"joint": []},
        {"search": []},
        {"search": 1, "search.seeds": 2},
        {"": 1},
        {LONG: 1},
        {"rerank": {}},
        {"rerank": "~nobody"},
        {"filter": {"a": {"b": 1}}},
        {"filter": {"a": 2**63}},
        {"tau": "nan"},
        {"temperature": "inf"},
    ],
    ids=lambda settings: str(settings)[:30],
)
def test_settings_of_the_wrong_kind(serve: Serve, settings: dict[str, Any]) -> None:
    check_refused(serve().call("POST", "/ask", json={"question": INVENTOR, "settings": settings}))


@wrong_values
def test_bodies_that_are_not_json(serve: Serve) -> None:
    server = serve()
    for body in (
        b"", b"\xff\xfe", b"null", b"[]", b'"a"', b"[" * 100_000, b'{"a":' * 100_000, b'{"question": "Who?", "settings": {"tau": NaN}}',
        b'{"question": "Who?", "settings": {"max_seconds": Infinity}}', b'{"question": "Who?", "settings": {"max_seconds": -Infinity}}',
        b'{"question": "\\ud800"}', b'{"question": null}', b'{"question": ["a"]}', b'{"question": "Who?", "collection": [[]]}',
        b'{"question": "Who?", "thread": []}', b'{"question": "Who?", "thread": "' + LONG.encode() + b'"}',
    ):  # fmt: skip
        reply = httpx.post(
            f"{server.url}/ramify/v1/ask", content=body, headers={"Content-Type": "application/json"}, timeout=TIMEOUT_S, trust_env=False
        )
        check_refused(reply)


@wrong_values
def test_a_result_whose_figures_are_none(serve: Serve) -> None:
    server = serve()
    result = dict(server.ask(INVENTOR, strategy="naive"))["result"]
    usage, branch, citation = result["usage"], result["tree"][0], result["citations"][0]
    changes: list[dict[str, Any]] = [{name: value} for name in result for value in (float("nan"), [], {}, -1, LONG)]
    changes += [{"tree": [{**branch, name: value}]} for name in branch for value in (float("nan"), [], -1, LONG, "\0")]
    changes += [{"citations": [{**citation, name: value}]} for name in citation for value in (float("inf"), [], -1, 10**20)]
    changes += [{"usage": {**usage, name: value}} for name in usage for value in (float("nan"), [], -1, 10**400)]
    for change in changes:
        body = json.dumps({"result": {**result, **change}, "collection": "demo"})
        reply = httpx.post(
            f"{server.url}/ramify/v1/page", content=body, headers={"Content-Type": "application/json"}, timeout=TIMEOUT_S, trust_env=False
        )
        if "NaN" in body or "Infinity" in body:
            check_refused(reply)
        assert reply.status_code in (200, 400), (change, reply.text[:300])


@wrong_values
def test_names_that_cannot_be(serve: Serve) -> None:
    server = serve()
    for name in (LONG, "%00", "%ff", "~nobody", "%2e%2e", "a%2fb", "%F0%90"):
        for method, path, given in (
            ("DELETE", f"/collections/{name}", {}),
            ("GET", f"/collections/{name}/documents", {}),
            ("POST", f"/collections/{name}/index", {"json": {}}),
            ("GET", f"/collections/{name}/progress", {}),
            ("GET", f"/threads/{name}", {}),
            ("DELETE", f"/threads/{name}", {}),
            ("POST", f"/threads/{name}/edit", {"json": {"branch": "0"}}),
            ("GET", f"/source?passage={name}", {}),
            ("GET", f"/file?collection={name}&passage={name}", {}),
        ):
            check_refused(server.call(method, path, **given), 400, 404)


@wrong_values
@pytest.mark.parametrize("content", ["\u00e9", "YWJj\uac00", "====", "a", "YQ", "YQ==\n", " ", "\u2028"])
def test_content_that_is_not_base64(serve: Serve, content: str) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    reply = server.call("POST", "/collections/arda/documents", json={"file": "a.txt", "content": content})
    assert "not base64" in check_refused(reply)


@pytest.mark.parametrize(
    "header", [b"Bearer \xc3\xa9", b"Bearer \xff", b"Basic \xe9\xe9", b"Basic w6k6", b"Bearer", b"", b"Bearer a b", b"\xe9"]
)
def test_a_header_that_is_no_token(serve: Serve, header: bytes) -> None:
    server = serve(tokens=["ada:ada-has-a-secret"])
    for path in ("/ramify/v1/about", "/v1/models", "/api/tags"):
        reply = httpx.get(f"{server.url}{path}", headers={b"Authorization": header}, timeout=TIMEOUT_S, trust_env=False)
        assert reply.status_code == 401


@pytest.mark.parametrize(
    "tokens", [["ada:one-secret", "ben:one-secret"], ["ada:one-secret", "one-secret"], ["a:xxxxxxxx", "b:yyyyyyyy", "c:xxxxxxxx"]]
)
def test_two_users_do_not_have_the_same_token(tokens: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        parse_tokens(tokens)
    assert "secret" not in refused.value.what
    assert "x" * 8 not in str(refused.value)


@fault("servers", "more collections than a user may have", sees="the limit; delete one", kept="the collections as they were", code="409")
def test_the_collections_of_a_user_are_limited(serve: Serve, tmp_path: Path) -> None:
    ada, ben = "ada-has-a-secret", "ben-has-another"
    server = serve(tokens=[f"ada:{ada}", f"ben:{ben}"])
    server.service.collections._max_collections = 2
    for name in ("one", "two", "one"):  # the last is there already
        assert server.call("POST", "/collections", token=ada, json={"name": name}).status_code == 200
    reply = server.call("POST", "/collections", token=ada, json={"name": "three"})
    assert (reply.status_code, reply.json()["error"]["kind"]) == (409, "usage")
    assert all(words in reply.json()["error"]["message"] for words in ("2", "delete one"))
    assert sorted(path.name for path in (tmp_path / "collections").iterdir()) == ["one", "two"]
    assert server.call("POST", "/collections", token=ben, json={"name": "three"}).status_code == 200
    server.call("DELETE", "/collections/one", token=ada)
    assert server.call("POST", "/collections", token=ada, json={"name": "four"}).status_code == 200


def test_collections_are_listed_while_others_come_and_go(tmp_path: Path) -> None:
    catalog = Catalog({"demo": Collection("demo", "demo")}, "naive", ["extractive"])
    collections, ended, problems = UserCollections(catalog, tmp_path), threading.Event(), list[BaseException]()

    def change() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            catalog.collections[f"new-{number}"] = Collection(f"new-{number}", "demo")
            if number > 20:
                catalog.collections.pop(f"new-{number - 20}")
            time.sleep(0)  # else it keeps the others from reading

    def read() -> None:
        try:
            for _ in range(60):
                collections.list_collections("ada")
                catalog.model_names()
                catalog.collection(None)
        except BaseException as error:  # noqa: BLE001 - reported below
            problems.append(error)

    changing = threading.Thread(target=change)
    reading = [threading.Thread(target=read) for _ in range(3)]
    for thread in (changing, *reading):
        thread.start()
    for thread in reading:
        thread.join()
    ended.set()
    changing.join()
    assert problems == []


def test_users_create_delete_and_list_at_once(serve: Serve, tmp_path: Path) -> None:
    server = serve()

    async def act(number: int) -> None:
        name = f"c{number % 4}"
        for _ in range(3):
            made = (await asyncio.to_thread(server.call, "POST", "/collections", json={"name": name})).json()["name"]
            sent = await asyncio.to_thread(send, server, made, f"{number}.txt", b"text")
            started = await asyncio.to_thread(server.call, "POST", f"/collections/{made}/index", json={})
            listed = await asyncio.to_thread(server.call, "GET", "/collections")
            deleted = await asyncio.to_thread(server.call, "DELETE", f"/collections/{made}")
            assert listed.status_code == 200
            assert {sent.status_code, started.status_code, deleted.status_code} <= {200, 202, 400}

    async def act_all() -> None:
        await asyncio.gather(*map(act, range(8)))

    asyncio.run(act_all())
    names = set(list_collections(server)) - {"demo"}
    assert {path.name for path in (tmp_path / "collections").iterdir()} == names


def test_limits_hold_for_what_a_client_asks_for(serve: Serve) -> None:
    server: Running = serve(max_calls=2, max_seconds=50, k=3)
    settings = {entry["name"]: entry for entry in server.call("GET", "/strategies").json()["strategies"][0]["settings"]}
    assert [settings[name]["schema"]["maximum"] for name in ("max_calls", "max_seconds", "k")] == [2, 50, 3]
    catalog = server.service.catalog

    def used(**settings: Any) -> tuple[Any, ...]:
        options = catalog.request_options("prune", catalog.selection(None), settings=settings)
        return tuple(options.get(name) for name in ("max_calls", "max_seconds", "k"))

    assert used() == (2, 50, 3)
    for large in (50, "50", 3.0, None):
        assert used(max_calls=large)[0] == 2
    assert used(max_calls=1, max_seconds=None, k=100) == (1, 50, 3)
    assert used(max_seconds=0.5, k=2) == (2, 0.5, 2)
    assert used(preset="paper") == (2, 50, 3)
    assert catalog.request_options("prune", catalog.selection(None), settings={"final_k": 99})["final_k"] == 99, "not set by the operator"
    result = dict(server.ask(INVENTOR, settings={"k": 50, "max_calls": 90}, strategy="naive"))["result"]
    assert len(result["citations"]) <= 3
    assert result["usage"]["llm_calls"] <= 2
