"""A thread in LangGraph Studio: forked at a branch, talked on, and left in peace by what cannot be asked."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import InternalServerError

from tests.studio.dev_server import DevServer
from tests.studio.server.dev.conftest import AMBIGUOUS, CONTEXT, NARROW, QUESTION, SIMPLE, new_thread, run_question, values


class TestForks:
    """Finding the branch that went wrong, changing it, and running on."""

    async def fork(
        self, studio: LangGraphClient, thread: str, path: str, was: str, changes: dict[str, Any], before: str = "retrieve", **context: Any
    ) -> dict[str, Any]:
        """Change a branch at the last checkpoint before a step, as Studio does, and run on from there."""
        history = await studio.threads.get_history(thread, limit=100)
        moment = next(state for state in history if state["next"] == [before] and self.status(state, path) == was)
        branch = {**dict(moment["values"])["tree"][path], **changes}
        forked: Any = await studio.threads.update_state(thread, {"tree": {path: branch}}, checkpoint=moment["checkpoint"])
        await studio.runs.wait(thread, "tor", input=None, checkpoint=forked["checkpoint"], context={**CONTEXT, **context})
        return await values(studio, thread)

    @staticmethod
    def status(state: Any, path: str) -> Any:
        return state["values"]["tree"].get(path, {}).get("status")

    async def test_a_sub_question_is_changed(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        before = await run_question(studio, "tor", AMBIGUOUS, thread, **NARROW)
        assert (before["tree"]["0.0"]["answer"], before["answer"]) == ("Steven Soderbergh", "1963")
        better = "Who directed the film Solaris of 1972?"
        after = await self.fork(studio, thread, "0.0", "open", {"question": better}, **NARROW)
        assert (after["tree"]["0.0"]["question"], after["tree"]["0.0"]["answer"]) == (better, "Andrei Tarkovsky")
        assert "Andrei Tarkovsky" in after["tree"]["0.1"]["question"]
        assert (after["tree"]["0.1"]["answer"], after["answer"]) == ("1932", "1932")

    async def test_a_pruned_branch_is_taken_up_again(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        before = await run_question(studio, "tor", QUESTION, thread, min_hop_confidence=0.95)
        assert [before["tree"][path]["status"] for path in ("0.0", "0.1")] == ["leaf", "pruned"]
        taken_up = {"question": "In which city was László Bíró born?", "status": "open"}
        after = await self.fork(studio, thread, "0.1", "pruned", taken_up, "finalize")
        assert after["tree"]["0.0"] == before["tree"]["0.0"], "what was settled is not asked again"
        assert (after["tree"]["0.1"]["answer"], after["answer"]) == ("Budapest", "Budapest")

    async def test_an_invalid_branch_is_rejected_and_the_state_is_unchanged(self, server: DevServer, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        await run_question(studio, "naive", SIMPLE, thread)
        async with get_client(url=server.url) as editor:  # the server closes the connection
            with pytest.raises(InternalServerError):
                await editor.threads.update_state(thread, {"tree": {"0": {"status": "asleep"}}})
        assert (await values(studio, thread))["answer"] == "Budapest"


class TestChat:
    """Several turns on one thread."""

    async def test_a_follow_up_is_understood_and_each_turn_keeps_its_tree(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        steps: list[list[str]] = []
        for said in ("Who is the inventor of the ballpoint pen?", "In which city was he born?"):
            given = {"messages": [{"type": "human", "content": said}]}
            stream = studio.runs.stream(thread, "prune", input=given, context=CONTEXT, stream_mode="updates")
            steps.append([step async for part in stream if part.event == "updates" for step in part.data])
        assert ["contextualize" in turn for turn in steps] == [False, True]
        state = await values(studio, thread)
        assert state["question"] == "In which city was László Bíró born?"
        assert [message["type"] for message in state["messages"]] == ["human", "ai", "human", "ai"]
        kept = [message["additional_kwargs"]["ramify"] for message in state["messages"] if message["type"] == "ai"]
        assert [one["answer"] for one in kept] == ["László Bíró", "Budapest"]
        assert [one["tree"][0]["question"] for one in kept] == ["Who is the inventor of the ballpoint pen?", state["question"]]
        assert state["tree"]["0"]["question"] == state["question"]


class TestBadInput:
    """A clear message, and a thread that lives on."""

    @pytest.mark.parametrize(
        ("given", "context", "told"),
        [
            ({"question": "  "}, {}, "the question is empty"),
            ({}, {}, "the question is empty"),
            ({"question": "x" * 20_001}, {}, "the question has 20,001 characters"),
            ({"question": QUESTION}, {"index": "/no/such/index"}, "index='/no/such/index' is not allowed for runs of this server"),
            ({"question": QUESTION}, {"k": 0}, "greater than or equal to 1"),
            ({"question": QUESTION}, {"model": "ollama:llama3.1:8b"}, "no Ollama server answers at http://127.0.0.1:9"),
        ],
    )
    async def test_an_invalid_question_is_rejected_with_the_reason(
        self, studio: LangGraphClient, given: dict[str, str], context: dict[str, Any], told: str
    ) -> None:
        thread = await new_thread(studio)
        stream = studio.runs.stream(thread, "naive", input=given, context={**CONTEXT, **context})
        last = [part async for part in stream][-1]
        assert last.event == "error"
        assert told in last.data["message"]
        assert (await studio.threads.get(thread))["status"] == "error"
        assert (await run_question(studio, "naive", SIMPLE, thread))["answer"] == "Budapest"

    async def test_a_deleted_index_is_reported(self, studio: LangGraphClient, index: Path) -> None:
        assert (await run_question(studio, "naive", SIMPLE, index=str(index)))["answer"] == "Budapest"
        await asyncio.to_thread(shutil.move, index, index.with_name("moved"))
        given: Any = {"question": QUESTION}
        stream = studio.runs.stream(await new_thread(studio), "naive", input=given, context={**CONTEXT, "index": str(index)})
        assert "there is no index in" in [part async for part in stream][-1].data["message"]
        await asyncio.to_thread(shutil.move, index.with_name("moved"), index)

    async def test_a_question_of_10_000_characters_is_answered(self, studio: LangGraphClient) -> None:
        assert (await run_question(studio, "naive", "Who invented the saxophone? " * 358))["answer"] == "Adolphe Sax"

    async def test_a_question_in_japanese_gets_the_notice_on_english(self, studio: LangGraphClient) -> None:
        state = await run_question(studio, "prune", "ボールペンを発明した人はどこで生まれましたか？")
        assert "reads English only" in " ".join(state["notices"])
