"""What an OpenAI-compatible server tells of its models."""

from typing import Any

import pytest

from ramify.nodes.asking.fit import fit
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Passage
from ramify.prompts.answer import ANSWER
from ramify.tools.models import ModelOptions, resolve
from tests.tools.openai_server import completion, serving
from tests.tools.questions import fresh

__all__ = ["fresh"]

VLLM = {"id": "local", "owned_by": "vllm", "max_model_len": 2048}
OTHER = {"id": "other", "owned_by": "vllm", "max_model_len": 1024}
LLAMACPP = {"id": "/models/local.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 4096}}


@pytest.mark.parametrize(
    ("listed", "props", "expected"),
    [
        ({"data": [OTHER, VLLM]}, {}, 2048),
        ({"data": [{**VLLM, "max_model_len": 1_000_000}]}, {}, 8192),
        ({"data": [{**OTHER, "id": "renamed"}]}, {}, 1024),
        ({"data": [OTHER, OTHER]}, {}, 8192),
        ({"data": [LLAMACPP]}, {"default_generation_settings": {"n_ctx": 512}}, 512),
        ({"data": [LLAMACPP]}, {"default_generation_settings": None}, 4096),
        ({"data": [LLAMACPP]}, [], 4096),
        ({"data": [{"id": "local"}]}, {}, 8192),
        ({"data": [{**VLLM, "max_model_len": "x"}]}, {}, 8192),
        ({"data": [{**VLLM, "max_model_len": 0}]}, {}, 8192),
        ({"data": [None, 7, []]}, {}, 8192),
        ({"data": None}, {}, 8192),
        ([], {}, 8192),
        ("<html>", {}, 8192),
    ],
)
def test_the_window_is_no_larger_than_the_servers(listed: Any, props: Any, expected: int) -> None:
    with serving(lambda asked: (200, completion()), v1_models=lambda _: (200, listed), props=lambda _: (200, props)) as server:
        model = resolve("openai:local", ModelOptions(base_url=server.address))
    assert model.num_ctx == expected


# --- Counting


def words(asked: dict[str, Any]) -> tuple[int, Any]:
    """vLLM's answer, with a token for each word."""
    tokens = list(range(len(asked["prompt"].split())))
    return 200, {"count": len(tokens), "max_model_len": 2048, "tokens": tokens, "token_strs": None}


def test_tokens_are_counted_by_the_servers_tokenizer_and_a_text_once() -> None:
    asked: list[dict[str, Any]] = []

    def tokenize(request: dict[str, Any]) -> tuple[int, Any]:
        asked.append(request)
        return words(request)

    with serving(lambda _: (200, completion()), tokenize=tokenize) as server:
        model = resolve("openai:local", ModelOptions(base_url=server.address))
        assert [model.count("one two three") for _ in range(3)] == [3, 3, 3]
    assert [request["prompt"] for request in asked].count("one two three") == 1
    assert {request["model"] for request in asked} == {"local"}
    assert {request["add_special_tokens"] for request in asked} == {False}


def test_of_several_servers_one_that_has_a_tokenizer_counts() -> None:
    with serving(lambda _: (200, completion())) as plain, serving(lambda _: (200, completion()), tokenize=words) as counting:
        for order in ([plain, counting], [counting, plain]):
            model = resolve("openai:local", ModelOptions(base_url=" ".join(server.address for server in order)))
            assert model.count("antidisestablishmentarianism indeed") == 2


def test_passages_that_do_not_fit_cost_few_counts() -> None:
    counted: list[str] = []

    def tokenize(request: dict[str, Any]) -> tuple[int, Any]:
        counted.append(request["prompt"])
        return words(request)

    passages = tuple(Passage(id=f"p{n}", text=f"{n} {'word ' * 40}", source="a.txt", score=1 - n / 100) for n in range(60))
    settings = Settings(num_ctx=2048, num_predict=200, context_tokens=100_000)
    with serving(lambda _: (200, completion()), v1_models=lambda _: (200, {"data": [VLLM]}), tokenize=tokenize) as server:
        model = resolve("openai:local", ModelOptions(base_url=server.address, num_ctx=2048, num_predict=200))
        request = fit(ANSWER, passages, {"question": "Who discovered polonium?"}, settings, model)
        more = fit(ANSWER, passages[: len(request.shown) + 1], {"question": "Who discovered polonium?"}, settings, model)
    assert [passage.id for passage in request.shown] == [f"p{n}" for n in range(len(request.shown))]
    assert 10 < len(request.shown) == len(more.shown) < 60, "as many as fit"
    assert len([text for text in counted if "<passage" in text]) < 20
