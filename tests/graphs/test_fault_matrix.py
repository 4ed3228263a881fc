"""A fault of the model's server in one call of a question, at each place of the tree, in either protocol, with each strategy."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.graphs.run import Result, failure_reason
from ramify.tools.errors import ModelError
from tests.faults import fault
from tests.graphs.faulty_servers import PROTOCOLS, Faulty, faulty
from tests.river import QUESTION, river
from tests.tools.ollama_replies import Fail, Hang, Raw, Reset
from tests.tools.questions import fresh

__all__ = ["fresh"]

STRATEGIES = ["prune", "tor", "mcts", "chain", "ircot", "self-ask", "react", "iterative", "naive", "closed-book"]
PLACES: Mapping[str, Callable[[int], int]] = {"root": lambda calls: 1, "branch": lambda calls: min(2, calls), "final": lambda calls: calls}
"""Which call fails, of those that an undisturbed question makes."""
SAID = {"Seine", "Paris", "The Seine is a river.", "Unknown"}
"""What the model says somewhere, and what is said without it: no answer is anything else."""
WORDS = "not like that"


def ollama_line(**changed: Any) -> Raw:
    return Raw(json.dumps({"model": "m", "message": {"role": "assistant", "content": "{}"}, "done": True, **changed}))


def openai_body(choice: Mapping[str, Any], **changed: Any) -> Raw:
    whole = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}, **choice}
    return Raw(json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [whole], **changed}))


def spoken(content: Any) -> dict[str, Raw]:
    """The same content in each protocol's envelope."""
    message = {"role": "assistant", "content": content}
    return {"ollama": ollama_line(message=message), "openai": openai_body({"message": message})}


def both(one: Any) -> dict[str, Any]:
    return dict.fromkeys(PROTOCOLS, one)


PASSING: Mapping[str, Mapping[str, Any]] = {
    "too many requests (429)": both(Fail(429, WORDS)),
    "server error (500)": both(Fail(500, WORDS)),
    "gateway error (502, 503, 504)": both(Fail(503, WORDS)),
    "connection reset": both(Reset()),
    "reply cut off": both(Raw('{"model": "m", ', cut=True)),
    "empty body": both(Raw("")),
    "null instead of a reply": both(Raw("null")),
    "envelope of another protocol": both(Raw('{"weather": "fine"}')),
    "HTML page instead of a reply": both(Raw("<html><body>Bad Gateway</body></html>", "text/html")),
    "reply that is not JSON": spoken("I would rather not say."),
    "reply with other fields": spoken('{"weather": "fine"}'),
    "empty reply": spoken(""),
    "half of a surrogate pair": spoken('{"\\ud800": "\\ud83d"}'),
    "reply of a megabyte": spoken('{"a":' * 200_000),
    "log probabilities that are not numbers": {
        "ollama": ollama_line(logprobs=[{"token": "{}", "logprob": -1e308}]),
        "openai": openai_body({"logprobs": {"content": [{"token": "{}", "logprob": -1e308, "bytes": None, "top_logprobs": []}]}}),
    },
    "token counts below zero or with a fraction": {
        "ollama": ollama_line(prompt_eval_count=-5, eval_count=2.5),
        "openai": openai_body({}, usage={"prompt_tokens": -5, "completion_tokens": 2.5, "total_tokens": 0}),
    },
}
REFUSED = {
    "call refused (400)": Fail(400, WORDS),
    "call refused (413)": Fail(413, WORDS),
    "call refused (422)": Fail(422, WORDS),
    "call redirected (302)": Fail(302, WORDS),
    "call redirected (307)": Fail(307, WORDS),
    "no reply at all": Hang(),
}
LOCKED = {f"model refused ({status})": Fail(status, WORDS) for status in (401, 403, 404)}
AGAIN = "nothing: the call is repeated, same answer"
TOLD = "the branch is marked failed, with the server's words; the others go on"
ENDED = "one error with its remedy, beside what was found"


def cases(faults: Mapping[str, Any], sees: str, kept: str, code: int = 0) -> Any:
    """Every fault with every strategy, and every place and protocol with each of these at least once."""
    found = [
        pytest.param(
            strategy,
            name,
            places[(row + column) % 3],
            PROTOCOLS[(row + column // 3) % 2],
            marks=fault("models", name, sees=sees, kept=kept, code=code),
        )
        for places in [list(PLACES)]
        for row, name in enumerate(faults)
        for column, strategy in enumerate(STRATEGIES)
    ]
    return pytest.mark.parametrize(("strategy", "name", "place", "protocol"), found)


def ask(strategy: str, protocol: str, broken: Any = None, at: int = 0) -> tuple[Result, Faulty]:
    """Ask with a fault at one call; give the result, of which what holds for each fault is checked, and the server."""
    options: dict[str, Any] = {"batch": 2} if strategy == "iterative" else {}
    if isinstance(broken, Hang):
        options["timeout"] = 1.0
    with faulty(protocol, lambda number, name: broken if number == at else None) as server:
        try:
            result = graphs.ask(QUESTION, strategy, index=river(), style="short", **server.options, **options)
        finally:
            assert not server.elsewhere, "a redirect is not followed"
    assert result.usage.llm_calls == len(server.requests), "each request is counted"
    assert result.answer in SAID, "an error's text is no answer"
    return result, server


@cache
def undisturbed(strategy: str, protocol: str) -> tuple[str, int]:
    """Return the answer of a question without a fault, and how many calls it takes."""
    result, _ = ask(strategy, protocol)
    return result.answer, result.usage.llm_calls


def told_of(result: Result) -> str:
    return "\n".join([*result.notices, result.explanation, *(branch.note for branch in result.tree.values())])


@cases(PASSING, AGAIN, "all; the request counts")
def test_a_fault_that_passes_costs_a_call(strategy: str, name: str, place: str, protocol: str) -> None:
    answer, calls = undisturbed(strategy, protocol)
    result, _ = ask(strategy, protocol, PASSING[name][protocol], PLACES[place](calls))
    assert (result.answer, result.stopped_by, result.error) == (answer, "finished", "")


@cases(REFUSED, "the branch is marked failed and says why", "the other branches, and an answer from them")
def test_a_call_that_is_refused_fails_its_branch(strategy: str, name: str, place: str, protocol: str) -> None:
    broken = REFUSED[name]
    result, _ = ask(strategy, protocol, broken, PLACES[place](undisturbed(strategy, protocol)[1]))
    words = "no reply within" if isinstance(broken, Hang) else WORDS if broken.status >= 400 else f"status {broken.status}"
    assert words in told_of(result)
    assert not result.error


@cases(LOCKED, "one error with its remedy", "the tree and the passages found so far", code=1)
def test_a_model_that_is_refused_ends_the_question(strategy: str, name: str, place: str, protocol: str) -> None:
    at = PLACES[place](undisturbed(strategy, protocol)[1])
    if at == 1:
        with pytest.raises(ModelError, match=" — "):
            ask(strategy, protocol, LOCKED[name], at)
    else:
        result, server = ask(strategy, protocol, LOCKED[name], at)
        assert len(server.requests) == at
        assert failure_reason(result) == result.error
        assert " — " in result.error
        assert result.stopped_by == "error"
        assert result.tree
