"""Questions to models that think, and to servers that refuse: an answer, and one line in the result that says what was done."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.graphs.run import Result
from ramify.nodes.asking.budget import Budget
from ramify.nodes.settings import Settings
from ramify.nodes.state import Usage
from ramify.tools.errors import BudgetError
from tests.river import QUESTION, river
from tests.tools.ollama_replies import Answer, Fail, Request, Say, tokens_of
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.openai_server import Reply, completion, serving
from tests.tools.questions import fresh

__all__ = ["fresh", "ollama"]

LONG = "Let me see. " * 200
SEINE = '{"answer": "Seine", "confidence": 0.9, "citations": [2]}'
ANYWAY = "ollama:qwen3:8b thinks although thinking is turned off: each reply may take 2048 additional tokens"


@pytest.fixture
def qwen(ollama: Ollama) -> Ollama:
    ollama.models["qwen3:8b"] = 40960
    ollama.thinkers["qwen3:8b"] = "qwen3"
    return ollama


def ask(strategy: str = "naive", **options: Any) -> Result:
    return graphs.ask(QUESTION, strategy, index=river(), **{"model": "ollama:qwen3:8b", "style": "short", **options})


def test_a_model_that_does_as_it_is_asked_is_nothing_to_tell(qwen: Ollama) -> None:
    qwen.when(QUESTION, Say(SEINE))
    result = ask()
    assert (result.answer, result.confidence_source, result.notices) == ("Seine", "logprobs", [])


def test_a_model_that_thinks_all_the_same_answers_and_each_result_says_so(qwen: Ollama) -> None:
    qwen.when(QUESTION, Say(SEINE, thought=LONG))
    first, second = ask(), ask()
    assert (first.answer, first.notices, first.usage.llm_calls) == ("Seine", [ANYWAY], 2)
    assert (second.answer, second.notices, second.usage.llm_calls) == ("Seine", [ANYWAY], 1)


@pytest.mark.parametrize("strategy", ["naive", "prune", "tor", "chain", "ircot", "self-ask", "react", "iterative"])
def test_it_is_said_once_whatever_the_wiring(qwen: Ollama, strategy: str) -> None:
    qwen.when("", Say("I do not know"))
    result = ask(strategy, max_calls=6)
    (told,) = [notice for notice in result.notices if "while thinking is off" in notice]
    assert "ollama:qwen3:8b does not reply in JSON" in told


@pytest.mark.parametrize(
    ("think", "strategy", "told"),
    [("off", "prune", False), ("plan", "prune", True), ("plan", "naive", False), ("on", "naive", True), ("on", "prune", True)],
)
def test_it_thinks_where_that_is_set(qwen: Ollama, think: str, strategy: str, told: bool) -> None:
    decision = '{"action": "answer", "answer": "Seine", "confidence": 0.99, "citations": [2], "questions": [], "entities": []}'
    qwen.when("", Say(decision if strategy == "prune" else SEINE, thought=LONG if told else ""))
    result = ask(strategy, think=think, tau=0.5) if strategy == "prune" else ask(strategy, think=think)
    assert (result.answer, result.confidence_source, result.notices) == ("Seine", "logprobs", [])
    assert qwen.requests[0]["think"] is told
    assert qwen.requests[0]["options"]["num_predict"] == (512 if think == "off" else 512 + 2048)


def test_where_thinking_has_no_option_the_result_says_so(ollama: Ollama) -> None:
    ollama.when(QUESTION, Say(SEINE))
    result = ask(model="ollama:llama3.1:8b", think="on")
    assert result.notices == ["ollama:llama3.1:8b has no option for thinking here: think=on changes nothing"]


def test_a_thought_without_end_is_an_error_that_says_what_to_do(qwen: Ollama) -> None:
    qwen.when(QUESTION, Say(SEINE, thought=LONG * 10))
    result = ask()
    assert (result.answer, result.stopped_by) == ("Unknown", "error")
    assert "it thought until num_predict" in result.explanation
    assert "raise num_predict and num_ctx, or use a model that does not think" in result.explanation


@pytest.mark.parametrize("window", [1024, 4096])
def test_a_thought_fits_into_the_window_beside_the_prompt(qwen: Ollama, window: int) -> None:
    qwen.when(QUESTION, Say(SEINE, thought="Let me see. " * 50))
    assert ask(num_ctx=window, num_predict=128).answer == "Seine"
    assert ask(num_ctx=window, num_predict=128).answer == "Seine"
    assert qwen.requests[-1]["options"]["num_predict"] == 128 + window // 4
    assert all(tokens_of(sent) + sent["options"]["num_predict"] <= window for sent in qwen.requests)


@pytest.mark.parametrize("strategy", ["naive", "closed-book", "chain", "prune"])
@pytest.mark.parametrize("allowed", [1500, 6000])
def test_a_budget_of_tokens_holds_for_thoughts(qwen: Ollama, strategy: str, allowed: int) -> None:
    qwen.thinkers["qwen3:8b"] = "gptoss"
    qwen.when("", Say(SEINE, thought=LONG * 4))
    assert ask(strategy, max_tokens=allowed).usage.tokens <= allowed


def test_the_last_calls_thought_is_reserved_with_it() -> None:
    settings = Settings(max_tokens=10_000)
    kept, last = (Budget.open(settings, Usage(), started=0.0, reserves_final_call=kept) for kept in (True, False))
    last.reserve(10_000, thought=2048)
    before = kept.tokens
    with pytest.raises(BudgetError):
        kept.reserve(int(before) - 1000, thought=2048)
    kept.reserve(int(before) - 1000)


def test_what_a_server_refuses_is_said_in_each_result() -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        for name in ("response_format", "logprobs"):
            if asked.get(name):
                return 400, {"error": {"message": f"{name} is not supported"}}
        return 200, completion(f"Here it is: {SEINE}")

    with serving(reply) as server:
        results = [ask(model="openai:local", base_url=server.address) for _ in range(2)]
    for result in results:
        assert (result.answer, result.confidence, result.confidence_source) == ("Seine", 0.9, "stated")
        assert result.notices == [
            "openai:local does not support structured output: replies are parsed from its text",
            "openai:local provides no log probabilities: the confidence is the model's own statement",
        ]


def test_why_a_question_failed_still_comes_last(qwen: Ollama) -> None:
    def reply(sent: Request) -> Answer:
        return Fail(400, "this model does not support thinking") if "think" in sent else Fail(500, "out of memory")

    qwen.when("", reply)
    result = ask("iterative")
    assert "has no option for thinking" in result.notices[0]
    assert "out of memory" in result.notices[-1]
