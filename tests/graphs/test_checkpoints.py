"""A run in a checkpointer: the tree can be edited and run on, a failure repeats only what was unfinished, threads start anew."""

import warnings
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.river import FIRST, QUESTION, but, model, replies, river

CONFIG: Any = {"configurable": {"thread_id": "1"}}
ROME = "What is the capital of Italy?"


def compiled(strategy: str, chat: FakeModel, **options: Any) -> tuple[Any, Any]:
    """Compile a strategy with a checkpointer."""
    wiring, settings = graphs.configure(strategy, {"model": chat, "index": river(), **options})
    return wiring.compile(checkpointer=InMemorySaver()), settings


async def before(graph: Any, node: str, branch: str = "0") -> Any:
    """Find the first checkpoint before a node in which a branch is to be processed by it."""
    history = [snapshot async for snapshot in graph.aget_state_history(CONFIG) if snapshot.next == (node,)]
    return [snapshot for snapshot in history if branch in snapshot.values["tree"]][-1]


async def test_a_question_edited_in_a_checkpoint_is_asked_instead() -> None:
    chat = model()
    graph, settings = compiled("tor", chat)
    await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings)
    earlier = await before(graph, "retrieve", "0.0")
    edited = {"0.0": {"question": ROME, "status": "open"}}
    fork = await graph.aupdate_state(earlier.config, {"tree": edited}, as_node="decompose")
    result = await graph.ainvoke(None, fork, context=settings)
    assert result["tree"]["0.0"].question == ROME
    assert ROME in [call["question"] for call in chat.asked("answer")]
    assert result["tree"]["0.0"].status == "leaf"


@pytest.mark.parametrize("strategy", ["tor", "prune"])
async def test_a_pruned_branch_is_unpruned_and_run_on(strategy: str) -> None:
    def unsure(slots: Any) -> Any:
        said = replies("answer" if strategy == "tor" else "decide", slots)
        return {**said, "answer": "Unknown"} if slots["question"] == FIRST and len(chat.calls) < 6 else said

    chat = but(answer=unsure, decide=unsure)
    graph, settings = compiled(strategy, chat, max_depth=1)
    first = await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings)
    pruned = next(branch for branch in first["tree"].values() if branch.status == "pruned")
    last = await before(graph, "finalize")
    node = "expand" if strategy == "tor" else "prune"
    again = {pruned.path: {"question": "Which river runs through Paris?", "status": "open"}}
    fork = await graph.aupdate_state(last.config, {"tree": again}, as_node=node)
    result = await graph.ainvoke(None, fork, context=settings)
    assert result["tree"][pruned.path].evidence
    assert result["tree"][pruned.path].status == "leaf"


async def test_a_failure_that_passes_repeats_only_its_branch() -> None:
    failed = []

    def fail_once(slots: Any) -> Any:
        if "river" in slots["question"] and not failed:
            failed.append(slots)
            raise OSError("the wire was cut")
        return replies("answer", slots)

    pair = {"simple": False, "first": FIRST, "second": "Which river runs through Rome?"}
    chat = but(answer=fail_once, decompose=pair)
    graph, settings = compiled("tor", chat, max_depth=1)
    result = await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings)
    assert [call["question"] for call in chat.asked("answer")].count(FIRST) == 1
    assert result["tree"]["0.1"].status == "leaf", "a failure that passes is tried again"


async def test_a_run_that_a_fault_has_ended_resumes_at_the_unfinished_branch_with_its_costs() -> None:
    broken = [True]

    def cut_off(slots: Any) -> Any:
        if "Rome" in slots["question"] and broken:
            raise ValueError("a fault of the program ends the run")
        return replies("answer", slots)

    pair = {"simple": False, "first": FIRST, "second": "Which river runs through Rome?"}
    chat = but(answer=cut_off, decompose=pair)
    graph, settings = compiled("tor", chat, max_depth=1)
    with pytest.raises(ValueError, match="ends the run"):
        await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings)
    broken.clear()
    assert (await graph.aget_state(CONFIG)).next == ("answer",), "it ended in the middle of its work"
    result = await graph.ainvoke(None, CONFIG, context=settings)
    assert [call["question"] for call in chat.asked("answer")].count(FIRST) == 1
    assert result["answer"] == "Seine"
    state = await graph.aget_state(CONFIG)
    assert state.values["usage"].llm_calls == len(chat.calls) - 1, "what was spent before the cut is counted, the call that died is not"


async def test_a_call_on_the_whole_question_is_not_made_again_after_a_run_was_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_off(*given: Any) -> Any:
        raise ValueError("a fault of the program ends the run")

    chat = model()
    graph, settings = compiled("iterative", chat)
    with monkeypatch.context() as broken:
        broken.setattr("ramify.nodes.iterative.cite_reply", cut_off)
        with pytest.raises(ValueError, match="ends the run"):
            await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings)
    result = await graph.ainvoke(None, CONFIG, context=settings)
    assert (result["answer"], len(result["citations"])) == ("Seine", 1)
    assert [name for name, _ in chat.calls] == ["plan", "filter", "compress"]
    state = await graph.aget_state(CONFIG)
    assert state.values["usage"].llm_calls == 3, "what was spent before the cut is counted"


async def test_a_second_question_on_a_thread_grows_a_new_tree() -> None:
    graph, settings = compiled("tor", model())
    await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings)
    second = await graph.ainvoke({"question": FIRST}, CONFIG, context=settings)
    assert list(second["tree"]) == ["0"]
    state = await graph.aget_state(CONFIG)
    assert state.values["usage"].llm_calls == 3, "two for the answer, one for its text"


GOOD: dict[str, Any] = {}
NO_SPLIT = {"decompose": "no JSON"}
NO_FINAL = {"finalize": "no JSON"}


@pytest.mark.parametrize(
    ("earlier", "later", "limits"),
    [(GOOD, NO_SPLIT, {}), (GOOD, NO_FINAL, {}), (NO_SPLIT, GOOD, {}), (GOOD, GOOD, {"max_calls": 2}), (GOOD, NO_SPLIT, {"max_calls": 2})],
)
async def test_nothing_of_an_earlier_question_is_left_on_a_thread(
    earlier: dict[str, Any], later: dict[str, Any], limits: dict[str, Any]
) -> None:
    async def state_of(thread: str, replies: dict[str, Any], **limits: Any) -> dict[str, Any]:
        _, settings = graphs.configure("tor", {"model": but(**replies), "index": library, **limits})
        config: Any = {"configurable": {"thread_id": thread}}
        await graph.ainvoke({"question": QUESTION}, config, context=settings)
        values = (await graph.aget_state(config)).values
        return {name: value for name, value in values.items() if name != "started"}

    graph, _ = compiled("tor", model())
    library = river()
    await state_of("used", earlier, **limits)
    assert await state_of("used", later) == await state_of("new", later)


async def test_checkpoints_are_read_back_without_a_warning() -> None:
    graph, settings = compiled("iterative", model())
    await graph.ainvoke({"question": QUESTION}, CONFIG, context=settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snapshots = [snapshot async for snapshot in graph.aget_state_history(CONFIG)]
    assert snapshots[0].values["search"].facts == ("The Seine runs through Paris.",)
    assert snapshots[0].values["tree"]["0.0"].status == "leaf"


async def test_a_run_without_settings_takes_the_strategy_s_own() -> None:
    wiring = graphs.build("prune")
    graph = wiring.compile()
    state = await graph.ainvoke({"question": FIRST}, context={"model": model(), "index": river(), "tau": 0.99})
    assert state["tree"]["0"].objection == "confidence 0.970, not above tau 0.99"
