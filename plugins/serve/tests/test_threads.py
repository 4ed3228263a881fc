"""Conversations: continued, read and deleted, each by its own user alone."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from plugins.serve.tests.conftest import BORN, FOLLOW_UP, INVENTOR, Running, Serve
from ramify.serve.transport import parse_tokens
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from tests.faults import fault

ADA, BEN = "ada-has-a-secret", "ben-has-another"


@pytest.fixture
def server(serve: Serve) -> Running:
    return serve(tokens=[f"ada:{ADA}", f"ben:{BEN}"], strategy="naive")


def test_a_follow_up_is_understood_and_the_turns_can_be_read(serve: Serve) -> None:
    server = serve(strategy="naive")
    thread = server.ask(INVENTOR, thread="new")[0][1]["thread"]
    result = server.ask(FOLLOW_UP, thread=thread)[-1][1]
    assert (result["question"], result["answer"]) == ("Where was László Bíró born?", "Budapest")
    [listed] = server.call("GET", "/threads").json()["threads"]
    assert (listed["id"], listed["first"], listed["turns"], listed["strategy"]) == (thread, INVENTOR, 2, "naive")
    conversation = server.call("GET", f"/threads/{thread}").json()
    assert [(turn["asked"], turn["collection"]) for turn in conversation["turns"]] == [(INVENTOR, "demo"), (FOLLOW_UP, "demo")]
    for name in ("question", "answer", "text", "sentences", "citations", "confidence"):
        assert conversation["turns"][1]["result"][name] == result[name]


def test_conversations_that_start_concurrently_are_all_stored(serve: Serve) -> None:
    server = serve(strategy="closed-book")
    with ThreadPoolExecutor(12) as pool:
        ended = list(pool.map(lambda number: server.ask(INVENTOR, thread=f"talk-{number}")[-1][0], range(12)))
    assert ended == ["result"] * 12
    assert len(server.call("GET", "/threads").json()["threads"]) == 12


def test_a_question_without_a_conversation_leaves_none(serve: Serve) -> None:
    server = serve()
    assert server.ask(INVENTOR)[0][1]["thread"] is None
    assert server.call("GET", "/threads").json() == {"threads": []}


def test_a_deleted_conversation_is_gone_from_its_file_too(serve: Serve, tmp_path: Path) -> None:
    server = serve(strategy="naive")
    for thread in ("kept", "gone"):
        server.ask(INVENTOR, thread=thread)
    assert server.call("DELETE", "/threads/gone").json() == {"deleted": "gone"}
    assert server.call("GET", "/threads/gone").status_code == 404
    assert server.call("DELETE", "/threads/gone").status_code == 404
    with sqlite3.connect(tmp_path / "conversations.sqlite") as database:
        names = {name for table in ("checkpoints", "writes") for (name,) in database.execute(f"SELECT thread_id FROM {table}")}
    assert names == {"default/kept"}


@fault("servers", "user who reads or changes another user's conversation", sees="not found", kept="the conversation as it was", code="404")
def test_users_cannot_see_or_change_the_conversations_of_others(server: Running) -> None:
    for token in (ADA, BEN):
        server.ask(INVENTOR, token, thread="mine")
    server.ask(INVENTOR, ADA, thread="ada-s")
    assert {thread["id"] for thread in server.call("GET", "/threads", BEN).json()["threads"]} == {"mine"}
    assert server.call("GET", "/threads/ada-s", BEN).status_code == 404
    assert server.call("DELETE", "/threads/ada-s", BEN).status_code == 404
    assert server.call("DELETE", "/threads/mine", BEN).status_code == 200
    assert {thread["id"] for thread in server.call("GET", "/threads", ADA).json()["threads"]} == {"mine", "ada-s"}
    for name in ("ada/mine", "../ada/mine", "ada%2Fmine"):
        assert server.call("GET", f"/threads/{name}", BEN).status_code in (400, 404)


@pytest.mark.parametrize("path", ["/ramify/v1/about", "/ramify/v1/threads", "/v1/models", "/api/tags", "/api/version"])
@fault("servers", "request without a required token", sees="refused", kept="nothing is returned", code="401")
def test_a_token_is_asked_for_at_every_interface(server: Running, path: str) -> None:
    def status(authorization: str | None) -> int:
        headers = {"Authorization": authorization} if authorization else {}
        return httpx.get(server.url + path, headers=headers, trust_env=False).status_code

    assert [status(given) for given in (None, "Bearer wrong", f"Basic {ADA}", "Bearer", f"Bearer ada:{ADA}")] == [401] * 5
    assert [status(f"Bearer {secret}") for secret in (ADA, BEN)] == [200, 200]


def test_routes_without_data_need_no_token(server: Running) -> None:
    assert [httpx.get(server.url + path, trust_env=False).status_code for path in ("/", "/health")] == [200, 200]
    assert server.call("GET", "/about", BEN).json()["user"] == "ben"


@pytest.mark.parametrize("token", ["short", "a b:long-enough-secret", "ada:with a space", "ada:", "ada:nicht-ganz-äscii"])
def test_a_token_that_is_none_is_refused_unquoted(token: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_tokens([token])
    secret = token.rpartition(":")[2]
    assert not secret or secret not in str(refused.value)


def test_two_tokens_of_one_user_are_refused() -> None:
    with pytest.raises(UsageError, match="has two tokens"):
        parse_tokens(["long-enough-one", "long-enough-two"])


def test_the_tree_of_a_question_has_no_branches_of_the_one_before(serve: Serve) -> None:
    server = serve()
    first = server.ask(BORN, thread="new")
    thread = first[0][1]["thread"]
    events = server.ask("Who is older, Nikola Tesla or Thomas Edison?", thread=thread)
    questions = {branch["question"] for name, data in events if name == "tree" for branch in data["branches"]}
    assert questions
    assert not questions & {row["question"] for row in first[-1][1]["tree"]}


def test_a_question_that_follows_a_stopped_one_is_answered(serve: Serve) -> None:
    server = serve()
    with server.stream(BORN, thread="new") as events:
        accepted = next(events)[1]
        assert server.call("POST", "/stop", json={"id": accepted["id"]}).json() == {"stopped": True}
        assert server.ask(BORN, thread=accepted["thread"])[-1][1]["answer"] == "Budapest"
        assert list(events)[-1][1]["kind"] == "stopped"
    assert server.call("DELETE", f"/threads/{accepted['thread']}").status_code == 200


def test_files_are_counted_beside_the_documents_in_them(serve: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "shed"
    folder.mkdir()
    (folder / "stock.csv").write_text("tool,shelf\nsaw,A1\nplane,B2\nchisel,C3\n", encoding="utf-8")
    (folder / "note.txt").write_text("The workshop opens at eight.\n", encoding="utf-8")
    Index.build([folder], tmp_path / "index")
    [listed] = serve(tmp_path / "index").call("GET", "/collections").json()["collections"]
    assert (listed["files"], listed["documents"], listed["passages"]) == (2, 4, 4)
