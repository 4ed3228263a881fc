"""A server that refuses a call, or all of them: whose failure that is, what is kept of the question, and what it cost."""

from collections.abc import Mapping
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

import ramify.graphs as graphs
from ramify.graphs.run import Result, failure_reason
from ramify.tools.errors import ModelError
from tests.combinations import parametrize_pairwise
from tests.fakes import FakeModel
from tests.faults import fault
from tests.graphs.faulty_servers import PROTOCOLS, Fault, Faulty, faulty
from tests.graphs.test_tool import call
from tests.river import QUESTION, replies, river
from tests.tools.ollama_replies import Fail, Raw, Reset
from tests.tools.questions import fresh

__all__ = ["fresh"]

STRATEGIES = ["prune", "tor", "chain", "ircot", "react", "iterative"]
LAST = {"finalize", "compress"}
OF_THE_CALL = [400, 413, 422, 307]
OF_THE_MODEL = [401, 403, 404]
WORDS = "not like that"
FAULTS: dict[str, Fault] = {
    **{str(status): Fail(status, WORDS) for status in (400, 429, 500, 503)},
    "reset": Reset(),
    "cut": Raw('{"model": "m", ', cut=True),
    "empty": Raw(""),
    "wrong envelope": Raw('{"weather": "fine"}'),
    "no log probabilities": Fail(400, "logprobs are not supported"),
    "no form": Fail(400, "response_format is not supported"),
    "malformed": Raw('{"message": {"role": "assistant", "content": "?"}, "choices": [{"message": {"content": "?"}}], "done": true}'),
}
protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


def ask(server: Faulty, strategy: str, **options: Any) -> Result:
    more = {"batch": 2} if strategy == "iterative" else {}  # something is left to be read after a round that was lost
    return graphs.ask(QUESTION, strategy, index=river(), **server.options, **more, **options)


def told_of(result: Result) -> str:
    return "\n".join([*result.notices, result.explanation, *(branch.note for branch in result.tree.values())])


@parametrize_pairwise(status=OF_THE_CALL, strategy=STRATEGIES, protocol=PROTOCOLS)
def test_a_call_that_is_refused_fails_its_branch_alone(protocol: str, strategy: str, status: int) -> None:
    with faulty(protocol, lambda number, name: Fail(status, WORDS) if number == 2 else None) as server:
        result = ask(server, strategy)
    assert len(server.requests) == result.usage.llm_calls > 2
    # Without its first hop ToR-RAG has nothing to judge: the whole question is answered itself, as the model does.
    assert (result.answer, result.stopped_by, result.error) == ("Paris" if strategy == "tor" else "Seine", "finished", "")
    assert (WORDS if status >= 400 else f"status {status}") in told_of(result)
    assert server.elsewhere == []


@parametrize_pairwise(status=OF_THE_MODEL, strategy=STRATEGIES, protocol=PROTOCOLS)
def test_a_model_that_is_refused_ends_the_question_with_what_was_found(protocol: str, strategy: str, status: int) -> None:
    with faulty(protocol, lambda number, name: Fail(status, WORDS) if number == 2 else None) as server:
        result = ask(server, strategy)
    assert len(server.requests) == result.usage.llm_calls == 2
    assert len(result.tree) > 1
    assert result.stopped_by == "error"
    assert " — " in result.error
    assert any(result.error in notice for notice in result.notices)
    assert failure_reason(result) == result.error


@parametrize_pairwise(status=OF_THE_MODEL, strategy=["naive", "tor"], protocol=PROTOCOLS)
def test_a_model_that_is_refused_at_once_is_an_error(protocol: str, strategy: str, status: int) -> None:
    with faulty(protocol, lambda number, name: Fail(status, WORDS)) as server, pytest.raises(ModelError):
        ask(server, strategy)
    assert len(server.requests) == 1


@protocols
@pytest.mark.parametrize("status", [*OF_THE_CALL, 302])
def test_the_only_call_that_is_refused_leaves_no_answer(protocol: str, status: int) -> None:
    with faulty(protocol, lambda number, name: Fail(status, WORDS)) as server:
        result = ask(server, "naive")
    assert (result.answer, result.stopped_by, result.error) == ("Unknown", "error", "")
    assert failure_reason(result)
    assert len(server.requests) == result.usage.llm_calls == 1
    assert server.elsewhere == []


@parametrize_pairwise(status=[400, 307, 401, 404], strategy=["prune", "tor", "iterative"], protocol=PROTOCOLS)
def test_at_the_last_call_the_tree_is_kept(protocol: str, strategy: str, status: int) -> None:
    options: dict[str, Any] = {"prune": {"tau": 0.99, "reconsider": False}, "tor": {"tau": 0.99}}.get(strategy, {})
    with faulty(protocol, lambda number, name: Fail(status, WORDS) if name in LAST else None) as server:
        result = ask(server, strategy, **options)
    assert server.requests[-1] in LAST
    assert len(server.requests) == result.usage.llm_calls
    assert result.stopped_by == "error"
    assert bool(result.error) == (status in OF_THE_MODEL)
    assert len(result.tree) > 1
    assert result.passages


@parametrize_pairwise(fault=FAULTS, strategy=["naive", "iterative"], protocol=PROTOCOLS)
@fault(
    "budgets",
    "server that fails at every call",
    sees="at most the allowed number of requests, and the same number in the result",
    kept="the tree so far",
    code=0,
)
def test_a_budget_counts_what_the_server_saw(protocol: str, strategy: str, fault: str) -> None:
    with faulty(protocol, lambda number, name: FAULTS[fault]) as server:
        result = ask(server, strategy, max_calls=3)
    assert 1 <= len(server.requests) == result.usage.llm_calls <= 3
    assert result.usage.critical_path_calls == result.usage.llm_calls


@protocols
@pytest.mark.parametrize("allowed", [1, 2])
@fault("budgets", "last allowed call fails", sees="which budget ended it, and why the call failed", kept="the tree so far", code=0)
def test_a_call_that_may_not_be_repeated_is_reported_with_what_befell_it(protocol: str, allowed: int) -> None:
    with faulty(protocol, lambda number, name: Fail(503, WORDS)) as server:
        result = ask(server, "naive", max_calls=allowed)
    assert (result.stopped_by, len(server.requests)) == ("calls", allowed)
    assert WORDS in told_of(result)


@pytest.mark.parametrize("strategy", ["naive", "prune"])
@pytest.mark.parametrize(("protocol", "said"), [("ollama", ""), ("openai", "null"), ("openai", "[1]"), ("openai", "{")])
@fault("budgets", "last allowed reply cannot be read", sees="which budget ended it", kept="the tree so far", code=0)
def test_a_budget_that_ends_at_a_reply_that_cannot_be_read_is_a_budget(strategy: str, protocol: str, said: str) -> None:
    with faulty(protocol, lambda number, name: Raw(said)) as server:
        result = ask(server, strategy, max_calls=2)
    assert (result.stopped_by, len(server.requests)) == ("calls", 2)
    assert "BudgetError" not in told_of(result)
    assert "the budget of 2 calls is used up, after a call that failed" in told_of(result)


@fault("budgets", "client with retries of its own", sees="never more requests than allowed", kept="the tree so far", code=0)
def test_an_openai_client_handed_over_does_not_repeat_calls_by_itself() -> None:
    from langchain_openai import ChatOpenAI

    with faulty("openai", lambda number, name: Fail(500, WORDS)) as server:
        chat = ChatOpenAI(model="local", base_url=server.options["base_url"], api_key=SecretStr("none"))
        result = graphs.ask(QUESTION, "naive", index=river(), model=chat, max_calls=2)
    assert len(server.requests) == result.usage.llm_calls == 2


@pytest.mark.parametrize("strategy", ["prune", "tor", "naive"])
def test_the_calls_of_a_task_that_is_tried_again_count(strategy: str) -> None:
    asked: list[str] = []

    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(prompt)
        if (prompt in {"decide", "answer"} and len(asked) > 1) or strategy == "naive":
            raise OSError("the wire was cut")
        return replies(prompt, slots)

    result = graphs.ask(QUESTION, strategy, index=river(), model=FakeModel(replies=reply))
    assert len(asked) == result.usage.llm_calls > 1


def test_tokens_of_a_call_that_was_refused_are_not_spent_and_those_of_one_that_broke_off_are() -> None:
    spent = {}
    for name in ("503", "reset"):
        with faulty("ollama", lambda number, prompt, name=name: FAULTS[name] if number == 1 else None) as server:
            spent[name] = ask(server, "naive", style="short").usage
    assert spent["503"].llm_calls == spent["reset"].llm_calls == 2
    assert spent["reset"].completion_tokens == spent["503"].completion_tokens + 512
    assert spent["reset"].prompt_tokens > spent["503"].prompt_tokens


# At every door


def test_a_tool_gives_what_was_found_and_says_so() -> None:
    with faulty("ollama", lambda number, name: Fail(404, WORDS) if number == 3 else None) as server:
        said = call(graphs.research_tool("chain", index=river(), **server.options), question=QUESTION)
    assert (said.status, said.artifact["stopped_by"]) == ("success", "error")
    assert "Found on the way:" in str(said.content)
    assert "ollama pull" in str(said.content)


async def test_a_graph_ends_with_its_state_and_one_that_never_began_is_resumed_when_the_model_is_there() -> None:
    graph, config = graphs.build("chain").compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    faults: list[Fault | None] = [Fail(403, WORDS), None, Fail(403, WORDS)]
    with faulty("ollama", lambda number, name: faults[number - 1]) as server:
        context = {"index": river(), **server.options}
        with pytest.raises(ModelError):
            await graph.ainvoke({"question": QUESTION}, config, context=context)
        state = await graph.ainvoke(None, config, context=context)
    assert (state["stopped_by"], len(state["tree"]), len(server.requests)) == ("error", 2, 3)
