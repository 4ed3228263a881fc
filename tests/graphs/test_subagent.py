"""A strategy as a subagent of deepagents: its answer, confidence and citations reach the calling agent, sync and async."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import ramify.graphs as graphs
from ramify.tools.errors import IndexingError, UsageError
from tests.fakes import FakeModel
from tests.graphs.agents import Ears, thinker, tools_said
from tests.graphs.test_tool_resumes import CONFIG, mortal, saver_of
from tests.river import FINAL, FIRST, QUESTION, but, replies, river

ALONE = {"messages": [HumanMessage(QUESTION)]}


class Delegator(BaseChatModel):
    """Hand the human's question to the subagent, then repeat what came back."""

    @property
    def _llm_type(self) -> str:
        return "delegator"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> "Delegator":
        [task] = [tool for tool in tools if getattr(tool, "name", "") == "task"]
        assert "researcher" in task.description
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        said = tools_said(messages)
        asked = next(str(message.content) for message in messages if isinstance(message, HumanMessage))
        task = {"name": "task", "id": "1", "args": {"description": asked, "subagent_type": "researcher"}}
        reply = AIMessage(str(said[-1].content)) if said else AIMessage("", tool_calls=[task])
        return ChatResult(generations=[ChatGeneration(message=reply)])


def deep_agent(model: FakeModel | None = None, saver: Any = None, **options: Any) -> Any:
    subagent = graphs.research_subagent(model=model or thinker(), index=river(), **options)
    return create_deep_agent(Delegator(), subagents=[subagent], checkpointer=saver)


async def run(agent: Any, sync: bool, given: Any = ALONE, config: Any = None) -> Any:
    return await asyncio.to_thread(agent.invoke, given, config) if sync else await agent.ainvoke(given, config)


@pytest.mark.parametrize("sync", [True, False])
async def test_answer_confidence_and_citations_reach_the_calling_agent(sync: bool) -> None:
    state = await run(deep_agent(), sync)
    [said] = tools_said(state["messages"])
    told = json.loads(said.text)
    assert (told["answer"], told["confidence"]) == ("Seine", pytest.approx(0.94, abs=0.005))
    assert told["citations"] == ["1.txt", "0.txt"]
    assert "Confidence: 0.94 of 1" in told["text"]
    assert "[1] 1.txt: The river Seine runs through Paris." in told["text"]
    assert "structured_response" not in state


async def test_unknown_has_no_confidence_and_says_what_to_do() -> None:
    state = await run(deep_agent(but(finalize={"answer": "Unknown"}), **FINAL), sync=False)
    told = json.loads(tools_said(state["messages"])[0].text)
    assert (told["answer"], told["confidence"]) == ("Unknown", None)
    assert "Do not guess" in told["text"]


@pytest.mark.parametrize("sync", [True, False])
async def test_an_error_is_the_text_that_comes_back(sync: bool) -> None:
    state = await run(deep_agent(), sync, {"messages": [HumanMessage("  ")]})
    assert tools_said(state["messages"])[0].text.startswith("error: the question is empty")


@pytest.mark.parametrize("sync", [True, False])
async def test_the_runnable_alone_gives_the_structured_response_and_its_text(sync: bool) -> None:
    runnable = graphs.research_subagent(model=thinker(), index=river())["runnable"]
    found = runnable.invoke(ALONE) if sync else await runnable.ainvoke(ALONE)
    assert found["structured_response"].answer == "Seine"
    assert found["messages"][-1].text == found["structured_response"].text


async def test_the_caller_s_callbacks_reach_our_calls_and_its_stream_shows_the_progress() -> None:
    ears = Ears()
    events = [event async for event in deep_agent().astream(ALONE, {"callbacks": [ears]}, stream_mode="custom")]
    assert {"decide"} <= set(ears.prompts)
    assert [event["doing"] for event in events if "doing" in event][-1] == "concluding"


async def test_cancelling_the_caller_stops_the_branches() -> None:
    model, begun = thinker(latency=30.0), asyncio.Event()

    async def ask() -> None:
        async for event in deep_agent(model).astream(ALONE, stream_mode="custom"):
            if "deciding" in event.get("doing", ""):
                begun.set()

    running = asyncio.create_task(ask())
    await asyncio.wait_for(begun.wait(), 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert model.calls == []


@pytest.mark.parametrize("sync", [True, False])
async def test_after_a_crash_it_is_resumed(sync: bool, tmp_path: Path) -> None:
    model = mortal("finalize")
    async with saver_of(tmp_path / "kept.sqlite", sync) as saver:
        with pytest.raises(ValueError, match="power cut"):
            await run(deep_agent(model, saver, **FINAL), sync, config=CONFIG)
        before = len(model.calls)
        state = await run(deep_agent(model, saver, **FINAL), sync, None, CONFIG)
    assert [name for name, _ in model.calls[before:]] == ["finalize"]
    assert json.loads(tools_said(state["messages"])[0].text)["answer"] == "Seine"


def slow_after(question: str) -> FakeModel:
    """Make a model that hangs at the call after its answer to this question, until its latency is taken back."""

    def answer(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if slots.get("question") == question:
            model.latency = 60.0
        return replies(prompt, slots)

    model = thinker(replies=answer)
    return model


async def test_cancelled_half_way_it_is_resumed_with_the_calls_that_were_in_progress(tmp_path: Path) -> None:
    undisturbed, model, hung = thinker(), slow_after(FIRST), asyncio.Event()
    await run(deep_agent(undisturbed, **FINAL), sync=False)

    class Heard(Ears):
        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            super().on_chat_model_start(*args, **kwargs)
            if model.latency and self.prompts:
                hung.set()

    async with saver_of(tmp_path / "kept.sqlite", sync=False) as saver:
        running = asyncio.create_task(run(deep_agent(model, saver, **FINAL), False, config={**CONFIG, "callbacks": [Heard()]}))
        await asyncio.wait_for(hung.wait(), 20)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert 0 < len(model.calls) < len(undisturbed.calls)
        model.latency = 0.0
        state = await run(deep_agent(model, saver, **FINAL), False, None, CONFIG)
    assert json.loads(tools_said(state["messages"])[0].text)["answer"] == "Seine"
    assert sorted(model.calls, key=str) == sorted(undisturbed.calls, key=str)


async def test_a_synchronous_stream_that_is_closed_half_way_ends_its_step_and_is_resumed(tmp_path: Path) -> None:
    undisturbed, model = thinker(), thinker(latency=0.05)
    await run(deep_agent(undisturbed, **FINAL), sync=False)

    def half() -> None:
        with closing(deep_agent(model, saver, **FINAL).stream(ALONE, CONFIG, stream_mode="custom")) as events:
            next(event for event in events if event.get("doing", "").startswith("0.0"))

    async with saver_of(tmp_path / "kept.sqlite", sync=True) as saver:
        await asyncio.to_thread(half)
        state = await run(deep_agent(model, saver, **FINAL), True, None, CONFIG)
    assert json.loads(tools_said(state["messages"])[0].text)["answer"] == "Seine"
    assert sorted(model.calls, key=str) == sorted(undisturbed.calls, key=str)


def test_wrong_options_and_messages_are_reported_at_once() -> None:
    with pytest.raises(UsageError, match="leaves"):
        graphs.research_subagent(leaves=3)
    with pytest.raises(IndexingError, match="nowhere"):
        graphs.research_subagent(index="nowhere")
    with pytest.raises(UsageError, match="HumanMessage"):
        graphs.research_subagent(model=thinker(), index=river())["runnable"].invoke({"messages": []})
