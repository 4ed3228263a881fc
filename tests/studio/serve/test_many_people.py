"""Many people at one server: two at one conversation, hundreds of conversations, and a server killed while a hundred answers are written.

`RAMIFY_CONVERSATIONS=1000` sets how many conversations are kept.
"""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.fakes import FakeModel
from tests.faults import fault
from tests.studio.serve.conftest import FOLLOW_UP, INVENTOR, PATIENCE, Serve, events_of
from tests.studio.serve.test_signals import started
from tests.tools.ollama_replies import Hang, Say
from tests.tools.ollama_server import Ollama

OLLAMA = "ollama:llama3.1:8b"
ANSWER = Say({"answer": "László Bíró", "confidence": 0.9, "citations": []})
CONVERSATIONS = int(os.environ.get("RAMIFY_CONVERSATIONS", "200"))
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
        assert "still at its last question" in second.json()["error"]["message"]
        ollama.slots.release(10)
        assert dict(events)["result"]["answer"] == "László Bíró"
    assert "result" in dict(server.ask(INVENTOR, thread="pens"))
    turns = server.call("GET", "/threads/pens").json()["turns"]
    assert [turn["asked"] for turn in turns] == [INVENTOR, INVENTOR]


@fault(
    "servers",
    "hundreds of conversations",
    sees="each user's own are listed and can be read",
    kept="every turn, after a restart too",
    code="200",
)
def test_hundreds_of_conversations(serve: Serve) -> None:
    server = serve(tokens=[f"{user}:{token}" for user, token in USERS.items()])
    for number in range(CONVERSATIONS):
        conversation = server.serving.threads.conversation(list(USERS)[number % 2], f"pen-{number}")
        conversation.ask(f"Who made pen number {number}?", "closed-book", model=MODEL, style="short")
    for running in (server, serve(tokens=[f"{user}:{token}" for user, token in USERS.items()])):
        for place, token in enumerate(USERS.values()):
            mine = range(place, CONVERSATIONS, 2)
            listed = running.call("GET", "/threads", token)
            assert {one["id"] for one in listed.json()["threads"]} == {f"pen-{number}" for number in mine}
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
def test_a_server_that_is_killed_in_the_middle_of_a_hundred_streams(ollama: Ollama, tmp_path: Path) -> None:
    hanging = threading.Event()
    ollama.when("", lambda request: Hang() if hanging.is_set() else ANSWER)
    options = ["--model", OLLAMA, "--strategy", "closed-book", "--memory", f"sqlite:{tmp_path / 'talks.db'}", "--at-once", str(STREAMS)]
    options += ["--set", "style=short", "--set", f"max_concurrency={STREAMS}"]
    with started(tmp_path, *options) as (process, address):
        for number in range(3):
            assert "result" in asked(address, INVENTOR, f"pen-{number}")
        hanging.set()
        with ThreadPoolExecutor(STREAMS) as crew:
            cut = [crew.submit(asked, address, f"Who made pen number {number}?", f"pen-{number}") for number in range(STREAMS)]
            ollama.wait_for_calls(3 + STREAMS)
            process.send_signal(signal.SIGKILL)
            told = [one.result() for one in cut]
    assert all("broken" in events and "result" not in events and "error" not in events for events in told)
    with started(tmp_path, *options) as (_, address):
        turns = [httpx.get(f"{address}/ramify/v1/threads/pen-{number}", trust_env=False).json()["turns"] for number in range(3)]
        assert [one[0]["result"]["answer"] for one in turns] == ["László Bíró"] * 3
        assert all(turn["result"] is None for one in turns for turn in one[1:]), "what was under way has no answer"
        hanging.clear()
        for number in (0, STREAMS - 1):
            assert asked(address, INVENTOR, f"pen-{number}")["result"]["answer"] == "László Bíró"


def asked(address: str, question: str, thread: str) -> dict[str, Any]:
    """Ask a server of its own process; `broken` is among the events where the stream ended without a last one."""
    events: dict[str, Any] = {}
    with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
        try:
            with client.stream("POST", f"{address}/ramify/v1/ask", json={"question": question, "thread": thread}) as response:
                for name, data in events_of(response.iter_lines()):
                    events[name] = data
        except httpx.TransportError as error:
            events["broken"] = type(error).__name__
    return events
