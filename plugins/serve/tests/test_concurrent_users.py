"""Many people at one server: two at one conversation, many conversations of two users, and a server killed while a hundred answers run.

`RAMIFY_CONVERSATIONS=1000` sets how many conversations are kept.
"""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from plugins.serve.tests.conftest import FOLLOW_UP, INVENTOR, TIMEOUT_S, Serve, read_events
from plugins.serve.tests.test_signals import started
from tests.fakes import FakeModel
from tests.faults import fault
from tests.tools.ollama_replies import Hang, Say
from tests.tools.ollama_server import Ollama

OLLAMA = "ollama:llama3.1:8b"
ANSWER = Say({"answer": "László Bíró", "confidence": 0.9, "citations": []})
CONVERSATIONS = int(os.environ.get("RAMIFY_CONVERSATIONS", "40"))
STREAMS = 100
USERS = {"ada": "ada-has-a-secret", "ben": "ben-has-another"}
MODEL = FakeModel(replies=lambda prompt, slots: {"answer": "László Bíró", "confidence": 0.9, "citations": []})


@fault(
    "servers",
    "second question to a conversation, from another window, while the first is answered",
    sees="that the last question is not finished; repeated afterwards, the question is answered",
    kept="both turns, in order",
    code="400",
)
def test_two_windows_at_one_conversation(serve: Serve, ollama: Ollama) -> None:
    ollama.when("", ANSWER)
    ollama.slots = threading.Semaphore(0)
    server = serve(model=OLLAMA, strategy="closed-book", style="short")
    with server.stream(INVENTOR, thread="pens") as events:
        next(events)
        ollama.wait_for_calls()
        second = server.call("POST", "/ask", json={"question": FOLLOW_UP, "thread": "pens"})
        assert second.status_code == 400
        assert "still being answered" in second.json()["error"]["message"]
        ollama.slots.release(10)
        assert dict(events)["result"]["answer"] == "László Bíró"
    assert "result" in dict(server.ask(INVENTOR, thread="pens"))
    turns = server.call("GET", "/threads/pens").json()["turns"]
    assert [turn["asked"] for turn in turns] == [INVENTOR, INVENTOR]


@fault(
    "servers",
    "many conversations of two users",
    sees="each user's own are listed and can be read",
    kept="every turn, after a restart too",
    code="200",
)
def test_many_conversations_of_two_users(serve: Serve) -> None:
    server = serve(tokens=[f"{user}:{token}" for user, token in USERS.items()])
    for number in range(CONVERSATIONS):
        conversation = server.service.threads.conversation(list(USERS)[number % 2], f"pen-{number}")
        conversation.ask(f"Who made pen number {number}?", "closed-book", model=MODEL, style="short")
    for running in (server, serve(tokens=[f"{user}:{token}" for user, token in USERS.items()])):
        for place, token in enumerate(USERS.values()):
            mine = range(place, CONVERSATIONS, 2)
            listed = running.call("GET", "/threads", token)
            assert {thread["id"] for thread in listed.json()["threads"]} == {f"pen-{number}" for number in mine}
            for number in (mine[0], mine[-1]):
                kept = running.call("GET", f"/threads/pen-{number}", token)
                assert [turn["asked"] for turn in kept.json()["turns"]] == [f"Who made pen number {number}?"]


@fault(
    "servers",
    "`ramify serve` killed while a hundred answers are written",
    sees="each stream ends at once; after a restart the conversation continues",
    kept="every turn that was answered before",
    code="connection closed",
)
def test_a_server_that_is_killed_in_the_middle_of_a_hundred_streams(serve: Serve, ollama: Ollama, tmp_path: Path) -> None:
    hanging = threading.Event()
    ollama.when("", lambda request: Hang() if hanging.is_set() else ANSWER)
    options = [
        "--model",
        OLLAMA,
        "--strategy",
        "closed-book",
        "--memory",
        f"sqlite:{tmp_path / 'conversations.sqlite'}",
        "--at-once",
        str(STREAMS),
    ]
    options += ["--set", "style=short", "--set", f"max_concurrency={STREAMS}"]
    unlimited = httpx.Limits(max_connections=None)
    with (
        started(tmp_path, *options) as (process, address),
        httpx.Client(base_url=address, timeout=TIMEOUT_S, trust_env=False, limits=unlimited) as client,
    ):
        for number in range(3):
            assert "result" in ask_and_read(client, INVENTOR, f"pen-{number}")
        hanging.set()
        with ThreadPoolExecutor(STREAMS) as crew:
            cut = [crew.submit(ask_and_read, client, f"Who made pen number {number}?", f"pen-{number}") for number in range(STREAMS)]
            ollama.wait_for_calls(3 + STREAMS)
            process.send_signal(signal.SIGKILL)
            streams = [future.result() for future in cut]
    assert all("broken" in events and "result" not in events and "error" not in events for events in streams)
    server = serve(model=OLLAMA, strategy="closed-book", style="short")
    turns = [server.call("GET", f"/threads/pen-{number}").json()["turns"] for number in range(3)]
    assert [conversation[0]["result"]["answer"] for conversation in turns] == ["László Bíró"] * 3
    assert all(turn["result"] is None for conversation in turns for turn in conversation[1:]), "what was under way has no answer"
    hanging.clear()
    for number in (0, STREAMS - 1):
        assert dict(server.ask(INVENTOR, thread=f"pen-{number}"))["result"]["answer"] == "László Bíró"


def ask_and_read(client: httpx.Client, question: str, thread: str) -> dict[str, Any]:
    """Ask a server of its own process; `broken` is among the events where the stream ended without a last one."""
    events: dict[str, Any] = {}
    try:
        with client.stream("POST", "/ramify/v1/ask", json={"question": question, "thread": thread}) as response:
            for name, data in read_events(response.iter_lines()):
                events[name] = data
    except httpx.TransportError as error:
        events["broken"] = type(error).__name__
    return events
