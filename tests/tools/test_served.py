"""What an OpenAI-compatible server tells of its models."""

from typing import Any

import pytest

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
