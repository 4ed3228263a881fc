"""A conversation: a follow-up is made self-contained, each turn grows a tree of its own, and what fails leaves no trace."""

import asyncio
from typing import Any, ClassVar

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

import ramify.graphs as graphs
from ramify.nodes.tree import WORKING
from ramify.prompts import CONTEXTUALIZE
from ramify.tools.errors import ModelError, UsageError
from tests.fakes import FakeModel
from tests.graphs.wirings import Wiring, cases
from tests.river import QUESTION, but, model, river

FOLLOW_UP = "and how long is it?"
UNDERSTOOD = "How long is the Seine?"


def listener(**changes: Any) -> FakeModel:
    """Make a model that understands the follow-up."""
    return but(contextualize={"question": UNDERSTOOD}, **changes)


@pytest.mark.parametrize("wiring", cases(*graphs.STRATEGIES))
def test_every_strategy_holds_a_conversation(wiring: Wiring) -> None:
    talk, chat = graphs.Conversation(), listener()
    name, arguments = wiring
    first = talk.ask(QUESTION, name, model=chat, index=river(), **arguments)
    assert not chat.asked("contextualize"), "the first turn refers to nothing"
    second = talk.ask(FOLLOW_UP, name, model=chat, index=river(), **arguments)
    (asked,) = chat.asked("contextualize")
    assert asked["question"] == FOLLOW_UP
    assert [{**turn, "sure": None} for turn in asked["turns"]] == [{"asked": QUESTION, "answer": first.answer, "sure": None}]
    assert second.question == second.tree["0"].question == UNDERSTOOD
    assert f"asked as {FOLLOW_UP!r}" in second.tree["0"].note
    assert not {branch.status for branch in second.tree.values()} & WORKING
    assert [message.type for message in talk.messages] == ["human", "ai", "human", "ai"]


@pytest.mark.parametrize("strategy", ["naive", "prune"])
@pytest.mark.parametrize(("confidence", "sure"), [(0.97, True), (0.6, True), (0.55, False), (0.1, False)])
def test_an_answer_that_was_not_sure_is_shown_as_that(strategy: str, confidence: float, sure: bool) -> None:
    talk, given = graphs.Conversation(), {"answer": "Oise", "confidence": confidence}
    chat = listener(answer=given, decide=given, finalize=given)
    options: dict[str, Any] = {"max_depth": 0} if strategy == "prune" else {}
    first = talk.ask("Which river is it?", strategy, model=chat, index=river(), **options)
    talk.ask(FOLLOW_UP, strategy, model=chat, index=river(), **options)
    (asked,) = chat.asked("contextualize")
    assert first.answer == "Oise"
    assert asked["turns"] == [{"asked": "Which river is it?", "answer": "Oise", "sure": sure}]
    told = CONTEXTUALIZE.render(asked)[1].text.replace(CONTEXTUALIZE.task, "")
    assert ("Oise" in told) is sure
    assert ("(not sure)" in told) is not sure


def test_the_embedded_model_keeps_the_topic_of_an_answer_that_is_not_sure() -> None:
    talk = graphs.Conversation()
    asked = ("Where was the inventor of the ballpoint pen born?", "When was he born?", "How do I sharpen it?")
    results = [talk.ask(question, model="extractive") for question in asked]
    assert [result.question for result in results] == [
        asked[0],
        "When was the inventor of the ballpoint pen born?",
        "How do I sharpen the ballpoint pen?",
    ]
    assert "1899" in results[1].answer
    assert results[2].answer == "Unknown"


def test_the_cost_of_understanding_is_booked() -> None:
    talk, chat = graphs.Conversation(), listener()
    talk.ask(QUESTION, "naive", model=chat, index=river(), style="short")
    second = talk.ask(FOLLOW_UP, "naive", model=chat, index=river(), style="short")
    assert (second.usage.llm_calls, second.usage.critical_path_calls) == (2, 2)


def test_the_earlier_trees_stay_in_the_messages() -> None:
    talk, chat = graphs.Conversation(), listener()
    results = [talk.ask(question, "tor", model=chat, index=river()) for question in (QUESTION, FOLLOW_UP)]
    told = [message.additional_kwargs["ramify"] for message in talk.messages if isinstance(message, AIMessage)]
    assert [one["question"] for one in told] == [QUESTION, UNDERSTOOD]
    for one, result in zip(told, results, strict=True):
        assert one["tree"] == result.to_json()["tree"]
        assert one["citations"] == [citation.model_dump() for citation in result.citations]
    assert "[1]" in talk.messages[1].text
    assert results[0].citations[0].source in talk.messages[1].text


def test_a_turn_that_fails_leaves_no_trace_and_the_conversation_continues() -> None:
    def down(slots: Any) -> Any:
        raise ModelError("the server is gone", "start it")

    talk = graphs.Conversation()
    talk.ask(QUESTION, "naive", model=model(), index=river())
    before = list(talk.messages)
    with pytest.raises(ModelError, match="the server is gone"):
        talk.ask(FOLLOW_UP, "naive", model=but(contextualize=down), index=river())
    with pytest.raises(UsageError, match="the question is empty"):
        talk.ask("  ", "naive", model=model(), index=river())
    assert talk.messages == before
    assert talk.ask(FOLLOW_UP, "naive", model=listener(), index=river()).question == UNDERSTOOD


async def test_a_cancelled_turn_leaves_no_trace() -> None:
    talk = graphs.Conversation()
    turn = asyncio.create_task(talk.ask_async(QUESTION, "naive", model=model(latency=60), index=river()))
    await asyncio.sleep(0.2)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert talk.messages == []


CUT = {"question": "Which river runs through Rome, and " + "x" * 565}
"""As long as a grammar lets it be."""


@pytest.mark.parametrize("reply", ["not JSON", {"question": "  "}, CUT])
def test_a_follow_up_that_the_model_cannot_rewrite_is_asked_as_it_is(reply: Any) -> None:
    talk = graphs.Conversation()
    talk.ask(QUESTION, "naive", model=model(), index=river())
    second = talk.ask("Which river runs through Rome?", "naive", model=but(contextualize=lambda slots: reply), index=river())
    assert second.question == "Which river runs through Rome?"
    assert second.answer != "Unknown"
    assert second.stopped_by == "finished"
    assert any("asked unchanged" in notice for notice in second.notices) == (reply in ("not JSON", CUT))


class TestOnAThread:
    """A graph that holds a conversation, with a checkpointer, as LangGraph Studio runs it."""

    config: ClassVar[Any] = {"configurable": {"thread_id": "1"}}

    async def turn(self, graph: Any, given: Any, chat: FakeModel) -> Any:
        return await graph.ainvoke(given, self.config, context={"model": chat, "index": river()})

    def graph(self) -> Any:
        return graphs.with_conversation(graphs.build("naive")).compile(checkpointer=InMemorySaver())

    async def test_the_question_may_come_as_a_message_or_by_its_name(self) -> None:
        graph, chat = self.graph(), listener()
        await self.turn(graph, {"messages": [HumanMessage(QUESTION)]}, chat)
        second = await self.turn(graph, {"question": FOLLOW_UP}, chat)
        third = await self.turn(graph, {"messages": [{"role": "user", "content": "And now?"}]}, chat)
        assert [slots["question"] for slots in chat.asked("contextualize")] == [FOLLOW_UP, "And now?"]
        assert second["question"] == UNDERSTOOD
        assert [message.text for message in third["messages"] if message.type == "human"] == [QUESTION, FOLLOW_UP, "And now?"]

    async def test_a_question_that_failed_is_not_asked_again_instead_of_the_next(self) -> None:
        def down(slots: Any) -> Any:
            raise ModelError("the server is gone", "start it")

        graph = self.graph()
        with pytest.raises(ModelError):
            await self.turn(graph, {"messages": [HumanMessage("Is it up?")]}, but(answer=down))
        state = await self.turn(graph, {"question": QUESTION}, model())
        assert state["question"] == QUESTION

    async def test_its_forms_ask_for_a_question_and_keep_messages(self) -> None:
        graph = self.graph()
        assert set(graph.get_input_jsonschema()["properties"]) == {"question", "messages"}
        assert "messages" in graph.get_output_jsonschema()["properties"]


def test_the_plain_graph_s_drawing_has_no_conversation() -> None:
    graphs.Conversation().ask(QUESTION, "naive", model=model(), index=river())
    assert set(graphs.build("naive").steps) == {"init_tree", "retrieve", "answer", "finalize"}
