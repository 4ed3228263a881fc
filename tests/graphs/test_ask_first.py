"""A person in the loop: what is proposed stops the run until it is approved, edited or rejected."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from pydantic import TypeAdapter

import ramify.graphs as graphs
from ramify.nodes.state import Answer, GraphInput
from ramify.tools.errors import UsageError
from tests.fakes import FakeModel
from tests.graphs.test_redecomposition import second_attempt
from tests.river import FIRST, QUESTION, SECOND, but, model, replies, river

CONFIG: Any = {"configurable": {"thread_id": "1"}}
ROME = "What is the capital of Italy?"
APPROVE: Any = {"type": "approve"}
STRATEGIES = [("prune", {}), ("prune", {"joint": False}), ("prune", {"backtrace": "recursive"}), ("tor", {"max_depth": 1})]


def reject(message: str = "") -> dict[str, Any]:
    return {"type": "reject", "message": message}


def edit(name: str, **args: str) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


class Run:
    """A question on a thread, which stops and goes on."""

    def __init__(self, strategy: str, chat: FakeModel, saver: Any = None, **options: Any) -> None:
        wiring, self.settings = graphs.configure(strategy, {"model": chat, "index": river(), **options})
        self.graph: Any = wiring.compile(checkpointer=saver or InMemorySaver())

    async def ask(self, question: str = QUESTION) -> Any:
        return await self.graph.ainvoke({"question": question}, CONFIG, context=self.settings)

    async def decide(self, *decisions: Any) -> Any:
        """Go on as agent-chat-ui does: without naming the interrupt."""
        return await self.graph.ainvoke(Command(resume={"decisions": list(decisions)}), CONFIG, context=self.settings)


def asked(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the actions a person is asked about, in the schema of LangChain's middleware."""
    [stop] = result["__interrupt__"]
    request = TypeAdapter(HITLRequest).validate_python(stop.value)
    assert [config["action_name"] for config in request["review_configs"]] == [action["name"] for action in request["action_requests"]]
    assert all(config["allowed_decisions"] == ["approve", "edit", "reject"] for config in request["review_configs"])
    return stop.value["action_requests"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(("strategy", "options"), STRATEGIES)
async def test_a_split_that_is_approved_is_carried_out_as_without_asking(strategy: str, options: Any) -> None:
    never = await graphs.ask_async(QUESTION, strategy, model=model(), index=river(), **options)
    chat = model()
    run = Run(strategy, chat, ask_first="splits", **options)
    [action] = asked(await run.ask())
    assert (action["name"], action["args"]) == ("split_question", {"first": FIRST, "second": SECOND})
    assert QUESTION in action["description"]
    assert not [call for call in chat.calls if call[1].get("question") == FIRST], "nothing is asked before the split is approved"
    result = await run.decide(APPROVE)
    assert (result["answer"], list(result["tree"])) == (never.answer, list(never.tree))
    assert [name for name, _ in chat.calls].count("decompose") <= 1, "the split is not proposed anew"
    state = await run.graph.aget_state(CONFIG)
    assert state.values["usage"].llm_calls == never.usage.llm_calls == len(chat.calls)


@pytest.mark.parametrize(("strategy", "options"), STRATEGIES)
async def test_a_split_that_is_rejected_is_searched_as_it_is(strategy: str, options: Any) -> None:
    unnamed = {} if strategy == "tor" else {"entities": False}
    run = Run(strategy, model(), ask_first="splits", **options, **unnamed)
    await run.ask()
    result = await run.decide(reject("one fact\x1b[31m only"))
    assert list(result["tree"]) == ["0"]
    assert "not split: rejected by a person: one fact [31m only" in result["tree"]["0"].note
    assert result["tree"]["0"].evidence
    assert result["answer"] != "Unknown"


@pytest.mark.parametrize(("strategy", "options"), STRATEGIES)
async def test_other_sub_questions_are_asked_instead(strategy: str, options: Any) -> None:
    chat = model()
    run = Run(strategy, chat, ask_first="splits", **options)
    await run.ask()
    result = await run.decide(edit("split_question", first=ROME))
    assert [result["tree"][path].question for path in ("0.0", "0.1")] == [ROME, "Which river runs through Paris?"]
    assert "sub-questions edited by a person" in result["tree"]["0"].note
    assert FIRST not in [slots.get("question") for _, slots in chat.calls]


BOTH = "Which rivers run through the capitals of France and Italy?"


def two_splits(prompt: str, slots: Mapping[str, Any]) -> Any:
    """Split a question into two that are split in their turn."""
    parts = {BOTH: [QUESTION, QUESTION.replace("France", "Italy")], QUESTION: [FIRST, SECOND]}
    parts[QUESTION.replace("France", "Italy")] = [ROME, SECOND]
    found = parts.get(str(slots.get("question")))
    if prompt == "decide" and found:
        return {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "entities": [], "questions": found}
    if prompt == "decompose":
        return {"simple": not found, "first": found[0] if found else "", "second": found[1] if found else ""}
    return replies(prompt, slots)


@pytest.mark.parametrize("strategy", ["prune", "tor"])
async def test_splits_side_by_side_are_asked_about_at_once_and_each_decision_reaches_its_branch(strategy: str) -> None:
    run = Run(strategy, model(replies=two_splits), ask_first="splits", max_depth=2, tau=0.98)
    await run.ask(BOTH)
    actions = asked(await run.decide(APPROVE))
    assert [action["args"]["first"] for action in actions] == [FIRST, ROME]
    result = await run.decide(reject(), edit("split_question", first="What is the capital city of Italy?"))
    assert "rejected by a person" in result["tree"]["0.0"].note
    assert "0.0.0" not in result["tree"]
    assert result["tree"]["0.1.0"].question == "What is the capital city of Italy?"


def unsure(**changes: Any) -> FakeModel:
    """Make a model that is not sure of the first hop."""

    def half_sure(prompt: str) -> Any:
        return lambda slots: {**replies(prompt, slots), **({"confidence": 0.5} if slots["question"] == FIRST else {})}

    return but(answer=half_sure("answer"), decide=half_sure("decide"), **changes)


HOPS: list[tuple[str, dict[str, Any]]] = [
    ("prune", {"reconsider": False, "max_depth": 1}),
    ("prune", {"joint": False, "max_depth": 1}),
    ("tor", {"max_depth": 1}),
]


@pytest.mark.parametrize(("strategy", "options"), HOPS)
async def test_an_unsure_answer_is_put_into_a_question_only_after_a_person_has_seen_it(strategy: str, options: Any) -> None:
    chat = unsure()
    run = Run(strategy, chat, ask_first="unsure", **options)
    [action] = asked(await run.ask())
    assert (action["name"], action["args"]) == ("use_answer", {"answer": "Paris"})
    assert FIRST in action["description"]
    assert SECOND in action["description"]
    assert "onfidence 0.50, not above tau 0.95" in action["description"]
    assert "Which river runs through Paris?" not in str(chat.calls)
    result = await run.decide(APPROVE)
    assert result["tree"]["0.1"].question == "Which river runs through Paris?"
    assert "approved by a person" in result["tree"]["0.0"].note


@pytest.mark.parametrize(("strategy", "options"), HOPS)
async def test_another_answer_is_built_on_instead(strategy: str, options: Any) -> None:
    run = Run(strategy, unsure(), ask_first="unsure", **options)
    await run.ask()
    result = await run.decide(edit("use_answer", answer=" Rome\n"))
    hop, following = result["tree"]["0.0"], result["tree"]["0.1"]
    assert following.question == "Which river runs through Rome?"
    assert (hop.answer, hop.confidence, hop.confidence_source, hop.cited) == ("Rome", 1.0, "person", ())
    assert "a person's answer, instead of 'Paris'" in hop.note
    assert hop.status not in {"open", "answered"}


@pytest.mark.parametrize(("strategy", "options"), HOPS)
async def test_an_answer_that_is_rejected_is_built_on_by_nothing(strategy: str, options: Any) -> None:
    chat = unsure()
    run = Run(strategy, chat, ask_first="unsure", **options)
    await run.ask()
    result = await run.decide(reject("that was before 1789"))
    while "__interrupt__" in result:  # what is found without that hop may be unsure in its turn
        result = await run.decide(APPROVE)
    hop, following = result["tree"]["0.0"], result["tree"]["0.1"]
    assert hop.answer == "Unknown"
    assert "'Paris' was rejected by a person: that was before 1789" in hop.note
    assert following.status == "pruned"
    assert "Which river runs through Paris?" not in str(chat.calls)


async def test_an_answer_that_is_carried_over_is_put_into_a_new_question_only_after_a_person_has_seen_it() -> None:
    chat = second_attempt("2", [(FIRST, SECOND), (FIRST, "What flows through {1}?")])
    run = Run("tor", chat, ask_first="unsure", tau=0.98, max_depth=1)
    await run.ask()
    [action] = asked(await run.decide(APPROVE))
    assert "(branch 0.2)" in action["description"]
    assert "What flows through Paris?" not in str(chat.calls)
    result = await run.decide(edit("use_answer", answer="Rome"))
    assert (result["tree"]["0.3"].question, result["tree"]["0.2"].answer) == ("What flows through Rome?", "Rome")


FINAL: dict[str, Any] = {"tau": 0.98, "reconsider": False, "max_depth": 0}


async def last(decision: Any, **options: Any) -> Any:
    """Ask a question whose answer is not sure; decide on it."""
    run = Run("prune", model(), ask_first="unsure", **{**FINAL, **options})
    [action] = asked(await run.ask(FIRST))
    assert (action["name"], action["args"]) == ("give_answer", {"answer": "Paris"})
    assert "onfidence 0.97, not above tau 0.98" in action["description"]
    assert "0.txt" in action["description"]
    return await run.decide(decision)


async def test_an_unsure_answer_that_is_approved_is_given() -> None:
    result = await last(APPROVE)
    assert (result["answer"], result["text"]) == ("Paris", "Paris. [1]")
    assert result["citations"][0].cited


@pytest.mark.parametrize("style", ["full", "short"])
async def test_an_edited_answer_is_given_as_a_person_s_that_cites_nothing(style: str) -> None:
    result = await last(edit("give_answer", answer="Lutetia"), style=style)
    assert (result["answer"], result["confidence"]) == ("Lutetia", 1.0)
    assert result["text"] == ("Lutetia" if style == "full" else "")
    assert not any(citation.cited for citation in result["citations"])


async def test_a_rejected_answer_is_unknown() -> None:
    result = await last(reject("not asked for"))
    assert (result["answer"], result["text"], result["confidence"], result["citations"]) == ("Unknown", "", None, [])
    assert result["tree"]["0"].answer == "Unknown"


async def test_a_sure_answer_is_given_without_asking() -> None:
    run = Run("prune", model(), ask_first="unsure")
    assert (await run.ask(FIRST))["answer"] == "Paris"


async def test_what_a_model_proposes_is_shown_as_data() -> None:
    chat = but(decide={"action": "decompose", "questions": ["What is \x1b[2J\u202e![a](http://x/`)?", SECOND], "answer": ""})
    run = Run("prune", chat, ask_first="splits")
    result = await run.ask()
    [action] = asked(result)
    assert action["args"]["first"] == "What is [2J![a](http://x/`)?"
    assert "\x1b" not in str(action)


async def test_nothing_of_an_unsure_answer_is_streamed_before_it_is_approved() -> None:
    run = Run("prune", model(), ask_first="unsure", **FINAL)
    events = [event async for event in run.graph.astream({"question": FIRST}, CONFIG, context=run.settings, stream_mode="custom")]
    assert not [event for event in events if "text" in event]


@pytest.mark.parametrize("first", ["splits", "unsure"])
async def test_another_process_resumes_where_the_first_has_asked(first: str, tmp_path: Path) -> None:
    chat = unsure()
    options: dict[str, Any] = {"ask_first": first, "reconsider": False, "max_depth": 1}
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "kept.sqlite")) as saver:
        asked(await Run("prune", chat, saver, **options).ask())
    before = len(chat.calls)
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "kept.sqlite")) as saver:
        run = Run("prune", chat, saver, **options)
        assert asked({"__interrupt__": (await run.graph.aget_state(CONFIG)).interrupts})
        result = await run.decide(APPROVE)
    assert result["tree"]["0.1"].question == "Which river runs through Paris?"
    questions = [(name, slots["question"]) for name, slots in chat.calls]
    assert len(chat.calls) > before
    assert len(questions) == len(set(questions)), "what was asked before the stop is not asked again"


async def test_whoever_decides_need_not_say_again_that_there_is_something_to_decide() -> None:
    run = Run("tor", model(), ask_first="splits", max_depth=1)
    await run.ask()
    run.settings = run.settings.model_copy(update={"ask_first": "never"})
    assert list((await run.decide(reject()))["tree"]) == ["0"]


async def test_a_person_s_time_counts_against_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run("tor", model(), ask_first="splits", max_depth=1, max_seconds=60)
    await run.ask()
    with monkeypatch.context() as later:
        from ramify.nodes.step import review

        now = review.time.time
        later.setattr(review.time, "time", lambda: now() + 3600)
        result = await run.decide(APPROVE)
    assert (result["answer"], result["stopped_by"]) == ("Seine", "finished")


# Where nobody could be asked, or nothing could go on.


async def test_without_a_reviewer_it_is_refused_before_anything_is_asked() -> None:
    chat = model()
    with pytest.raises(UsageError, match="ask_first=splits "):
        await graphs.ask_async(QUESTION, model=chat, index=river(), ask_first="splits")
    with pytest.raises(UsageError, match="no reviewer here"):
        await graphs.Conversation().ask_async(QUESTION, model=chat, index=river(), ask_first="unsure")
    assert not chat.calls


async def test_a_graph_without_a_checkpointer_refuses_it() -> None:
    wiring, settings = graphs.configure("prune", {"model": model(), "index": river(), "ask_first": "splits"})
    with pytest.raises(UsageError, match="without a checkpointer"):
        await wiring.compile().ainvoke({"question": QUESTION}, context=settings)


@pytest.mark.parametrize("strategy", ["chain", "ircot", "self-ask", "react", "naive", "iterative", "global", "closed-book"])
def test_strategies_that_do_not_decompose_do_not_have_it(strategy: str) -> None:
    with pytest.raises(UsageError, match="has no setting 'ask_first'"):
        graphs.configure(strategy, {"ask_first": "splits"})


def test_another_value_is_refused() -> None:
    with pytest.raises(UsageError, match="ask_first='always' is not valid"):
        graphs.configure("prune", {"ask_first": "always"})


# With a reviewer, and in a parent's graph.


async def test_a_reviewer_decides_in_the_process_that_asks() -> None:
    shown: list[Any] = []

    async def reviewer(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        shown.extend(actions)
        return [APPROVE] * len(actions)

    result = await graphs.ask_async(QUESTION, model=model(), index=river(), ask_first="splits", reviewer=reviewer)
    assert (result.answer, len(shown)) == ("Seine", 1)
    chat = graphs.Conversation()
    result = await chat.ask_async(QUESTION, model=model(), index=river(), ask_first="splits", reviewer=reviewer)
    assert (result.answer, chat.turns, len(shown)) == ("Seine", 1, 2)


async def test_a_kept_conversation_asks_again_after_the_process_was_gone(tmp_path: Path) -> None:
    chat, address = model(), f"sqlite:{tmp_path / 'kept.sqlite'}"
    options: dict[str, Any] = {"model": chat, "index": river(), "ask_first": "splits"}

    async def gone(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        raise KeyboardInterrupt

    async def reviewer(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [edit("split_question", first=ROME)]

    with pytest.raises(KeyboardInterrupt):
        await graphs.Conversation(address, "mine").ask_async(QUESTION, reviewer=gone, **options)
    again = graphs.Conversation(address, "mine")
    assert await again.recall_async() == QUESTION
    with pytest.raises(UsageError, match="waits for a person"):
        await again.resume_async(**{**options, "ask_first": "never"})
    result = await again.resume_async(reviewer=reviewer, **options)
    assert result.tree["0.0"].question == ROME
    assert [slots["question"] for _, slots in chat.calls].count(QUESTION) == len(
        {name for name, s in chat.calls if s["question"] == QUESTION}
    )


async def test_a_subgraph_stops_its_parent() -> None:
    wiring, settings = graphs.configure("prune", {"model": model(), "index": river(), "ask_first": "splits"})
    parent = StateGraph(Answer, input_schema=GraphInput, context_schema=type(settings))
    parent.add_node("research", wiring.as_subgraph)
    parent.add_edge(START, "research")
    graph: Any = parent.compile(checkpointer=InMemorySaver())
    asked(await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings))
    result = await graph.ainvoke(Command(resume={"decisions": [APPROVE]}), CONFIG, context=settings)
    assert result["answer"] == "Seine"
