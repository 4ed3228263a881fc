"""Requests for information that hang (the tokenizer, the list of models, the properties) count against the seconds of a question."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.tools.errors import ModelError
from ramify.tools.models import clear_cache, server_info
from tests.faults import fault
from tests.river import QUESTION, river
from tests.tools.ollama_replies import Hang
from tests.tools.openai_server import Reply, completion, serving

WRITTEN = {"thought": "t", "action": "answer", "text": "The Seine [1].", "answer": "Seine", "confidence": 0.99, "citations": [1]}
MODELS: Reply = (200, {"data": [{"id": "local", "max_model_len": 8192}]})
LLAMACPP: Reply = (200, {"data": [{"id": "local", "meta": {"n_ctx_train": 8192}}]})
TOKENS: Reply = (200, {"tokens": [1] * 50})


def hanging_from(number: int, otherwise: Reply = TOKENS) -> Callable[[dict[str, Any]], Reply]:
    """Return what answers some requests and hangs at the others."""
    asked = 0

    def reply(body: dict[str, Any]) -> Reply:
        nonlocal asked
        asked += 1
        return otherwise if asked < number else Hang()

    return reply


HANGING: dict[str, Callable[[], dict[str, Callable[[dict[str, Any]], Reply]]]] = {
    "the tokenizer": lambda: {"tokenize": lambda body: Hang(), "v1_models": lambda body: MODELS},
    "the tokenizer in the middle of a prompt": lambda: {"tokenize": hanging_from(3), "v1_models": lambda body: MODELS},
    "the list of models": lambda: {"v1_models": lambda body: Hang()},
    "the properties": lambda: {"props": lambda body: Hang(), "v1_models": lambda body: LLAMACPP},
    "all": lambda: {name: lambda body: Hang() for name in ("tokenize", "v1_models", "props")},
}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_info, "INFO_TIMEOUT_S", 60.0)
    monkeypatch.setattr(server_info, "OLLAMA_TIMEOUT_S", 60.0)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    clear_cache()


@pytest.mark.parametrize("strategy", ["prune", "naive"])
@pytest.mark.parametrize("what", HANGING)
@fault("budgets", "request for information that hangs", sees="an answer; its tokens are estimated", kept="all", code=0)
def test_a_request_that_hangs_leaves_time_for_the_answer(what: str, strategy: str) -> None:
    with serving(lambda body: (200, completion(json.dumps(WRITTEN))), **HANGING[what]()) as server:
        result = graphs.ask(QUESTION, strategy, model="openai:local", base_url=server.address, index=river(), max_seconds=8.0)
    assert result.answer == "Seine"
    assert result.usage.wall_s < 15, "each of the requests would have taken 60 s"


def test_the_seconds_of_requests_count_and_those_of_loading_do_not() -> None:
    with serving(
        lambda body: (200, completion(json.dumps(WRITTEN))), v1_models=lambda body: Hang(), tokenize=lambda body: Hang()
    ) as server:
        result = graphs.ask(QUESTION, "naive", model="openai:local", base_url=server.address, index=river(), max_seconds=0.8)
    assert result.usage.wall_s - result.usage.loading_s < 10


def test_what_was_not_learned_in_time_is_asked_anew_for_the_next_question() -> None:
    hangs = True

    def tokens(body: dict[str, Any]) -> Reply:
        return Hang() if hangs else TOKENS

    with serving(lambda body: (200, completion(json.dumps(WRITTEN))), v1_models=lambda body: MODELS, tokenize=tokens) as server:
        options: dict[str, Any] = {"model": "openai:local", "base_url": server.address, "index": river()}
        graphs.ask(QUESTION, "naive", max_seconds=2.0, **options)
        hangs, counted = False, []
        server.paths["/tokenize"] = lambda body: counted.append(body) or TOKENS  # type: ignore[func-returns-value]
        deadline = time.monotonic() + 20
        while not counted and time.monotonic() < deadline:
            graphs.ask(QUESTION, "naive", **options)
        assert counted


def test_without_an_answer_in_time_there_is_no_ollama() -> None:
    with serving(lambda body: (404, {}), api_show=lambda body: Hang()) as server, pytest.raises(ModelError):
        graphs.ask(QUESTION, "naive", model="ollama:local", base_url=server.address.removesuffix("/v1"), index=river(), max_seconds=1.0)
