"""Ollama's address, what is sent there, and many calls at once, with the real client."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_ollama import ChatOllama

from ramify.tools.errors import ModelError
from ramify.tools.models import ModelOptions, resolve_model
from ramify.tools.models.concurrency import DEFAULT_CONCURRENCY
from ramify.tools.models.reply_parsing import span_confidence
from tests.tools.ollama_replies import Hang, Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.questions import GOOD, NOWHERE, QUESTION, Answered, fresh

__all__ = ["fresh", "ollama"]


async def test_what_is_sent_to_ollama(ollama: Ollama) -> None:
    ollama.when("polonium", Say(GOOD))
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(temperature=0.2, seed=7, num_ctx=4096, num_predict=99, keep_alive="3m"))
    reply = await model.reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)
    assert reply.error is None
    (sent,) = ollama.requests
    assert sent["options"] == {"temperature": 0.2, "seed": 7, "num_ctx": 4096, "num_predict": 99}
    assert (sent["model"], sent["keep_alive"], sent["logprobs"]) == ("llama3.1:8b", "3m", True)
    assert sent["format"]["properties"].keys() == {"answer", "confidence"}
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]


async def test_confidence_comes_from_the_answer_alone(ollama: Ollama) -> None:
    ollama.when("polonium", Say(GOOD, sure=lambda token: -0.5 if token.strip() in ("Marie", "Curie") else -7))
    reply = await resolve_model("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
    assert span_confidence(reply.raw, "answer") == pytest.approx(0.6065, abs=1e-4)
    assert reply.raw.usage_metadata is not None
    assert reply.raw.usage_metadata["output_tokens"] > 0


def test_ollama_is_not_running() -> None:
    with pytest.raises(ModelError, match=r"no Ollama server answers at http://127\.0\.0\.1:9 — start it with `ollama serve`"):
        resolve_model("ollama:llama3.1:8b", ModelOptions(base_url=NOWHERE))


def test_ollama_lacks_the_model(ollama: Ollama) -> None:
    with pytest.raises(ModelError, match=r"'mistral' — .*`ollama pull mistral`"):
        resolve_model("ollama:mistral", ModelOptions())


def test_the_window_is_no_larger_than_the_model_was_trained_for(ollama: Ollama) -> None:
    ollama.models["small"] = 2048
    model = resolve_model("ollama:small", ModelOptions(num_ctx=8192))
    assert model.num_ctx == 2048
    assert isinstance(model.chat, ChatOllama)
    assert model.chat.num_ctx == 2048


@pytest.mark.parametrize("slots", [1, 2])
async def test_no_call_fails_for_waiting_in_the_queue_of_a_server_that_serves_few(ollama: Ollama, slots: int) -> None:
    ollama.slots, ollama.seconds = threading.Semaphore(slots), 0.4
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(timeout=2.0))
    replies = await asyncio.gather(*(model.reply([HumanMessage(f"Question {number}")], Answered) for number in range(12)))
    assert all(reply.parsed for reply in replies)
    assert len(ollama.requests) == 12
    assert ollama.most_busy <= DEFAULT_CONCURRENCY


async def test_a_call_that_waited_in_the_servers_own_queue_does_not_fail(ollama: Ollama) -> None:
    """Five times 0.3 seconds is more than one call may take."""
    ollama.slots, ollama.seconds = threading.Semaphore(1), 0.3
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(timeout=1.0, max_concurrency=5))
    replies = await asyncio.gather(*(model.reply([HumanMessage(f"Question {number}")], Answered) for number in range(5)))
    assert all(reply.parsed for reply in replies)
    assert (ollama.most_busy, len(ollama.requests)) == (5, 5)


async def test_a_clients_own_patience_is_not_the_end_of_a_call_that_was_queued(ollama: Ollama) -> None:
    ollama.slots, ollama.seconds = threading.Semaphore(1), 1.0
    chat = ChatOllama(model="llama3.1:8b", base_url=ollama.address, client_kwargs={"timeout": 1.9})
    model = resolve_model(chat, ModelOptions(max_concurrency=2))
    replies = await asyncio.gather(*(model.reply([HumanMessage(f"Question {number}")], Answered) for number in range(2)))
    assert all(reply.parsed for reply in replies)


async def test_a_server_that_serves_nobody_is_not_waited_for_again(ollama: Ollama) -> None:
    ollama.when("Question", Hang())
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(timeout=0.3, max_concurrency=4))
    replies = await asyncio.gather(
        *(model.reply([HumanMessage(f"Question {number}")], Answered) for number in range(4)), return_exceptions=True
    )
    assert [str(reply).split(" gave ")[1][:26] for reply in replies] == ["no reply within 0.3 s — ra"] * 4
    assert len(ollama.requests) == 4


@pytest.mark.parametrize(
    ("told", "limit"), [("4", 4), ("0", DEFAULT_CONCURRENCY), ("", DEFAULT_CONCURRENCY), ("many", DEFAULT_CONCURRENCY)]
)
def test_the_servers_own_setting_counts_where_it_is_known(told: str, limit: int, ollama: Ollama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_NUM_PARALLEL", told)
    assert resolve_model("ollama:llama3.1:8b", ModelOptions()).cap.limit == limit
    assert resolve_model("ollama:llama3.1:8b", ModelOptions(max_concurrency=3)).cap.limit == 3


async def test_64_calls_keep_a_cap_of_8_busy(ollama: Ollama) -> None:
    ollama.wait_for = 8
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(max_concurrency=8))
    replies = await asyncio.gather(*(model.reply([HumanMessage(f"Question {number}")], Answered) for number in range(64)))
    assert all(reply.parsed for reply in replies)
    assert (ollama.most_busy, len(ollama.requests)) == (8, 64)


def test_event_loops_one_after_another_and_side_by_side(ollama: Ollama) -> None:
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(max_concurrency=2))
    parsed: list[Any] = []

    async def some() -> None:
        parsed.extend(reply.parsed for reply in await asyncio.gather(*(model.reply(QUESTION, Answered) for _ in range(3))))

    threads = [threading.Thread(target=asyncio.run, args=(some(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    asyncio.run(some())
    assert len(parsed) == 15
    assert all(parsed)
    assert ollama.most_busy <= 2


async def test_a_cancelled_call_gives_its_place_back(ollama: Ollama) -> None:
    ollama.when("hang", Hang())
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(max_concurrency=1))
    hanging = asyncio.create_task(model.reply([HumanMessage("hang")], Answered))
    await asyncio.to_thread(ollama.wait_for_calls)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert (await model.reply(QUESTION, Answered)).parsed is not None


async def test_time_spent_waiting_for_a_place_is_not_the_servers(ollama: Ollama) -> None:
    model = resolve_model("ollama:llama3.1:8b", ModelOptions(max_concurrency=1, timeout=5))
    async with model.cap:
        waiting = asyncio.create_task(model.reply(QUESTION, Answered))
        await asyncio.sleep(0.01)
        assert not ollama.requests
    assert (await waiting).parsed is not None
