"""The embedded reader's weights: checked, small, in the package, and never quietly done without."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given
from safetensors.torch import load_file

import ramify.graphs as graphs
from ramify.embedded.extractive import questions
from ramify.embedded.extractive.model import reply_to
from ramify.embedded.reader import reading, short_answers
from ramify.embedded.reader.reading import read_context
from ramify.tools.errors import ModelError
from ramify.tools.released_weights import dequantize, quantize
from tests.fakes import library

QUESTION = "Who directed Solaris?"
TEXT = "Solaris is a Soviet film of 1972, directed by Andrei Tarkovsky."
REMEDY = r" — reinstall ramify, or name a language model, such as \S+(?m:$)"
BREAKAGES = {
    "missing": ("file", "nowhere.safetensors", r"no weights at '.*nowhere\.safetensors'"),
    "damaged": ("sha256", "0" * 64, rf"have sha256 '{reading.SMALL_WEIGHTS_SHA256}', not '{'0' * 64}'"),
}
READING = sorted(set(graphs.STRATEGIES) - {"closed-book"})
MATRICES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(st.floats(-1e4, 1e4, width=32), min_size=width, max_size=width), min_size=1, max_size=5)
)


@pytest.fixture(params=list(BREAKAGES))
def said(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Break the weights, and give what has to be said about it."""
    name, value, words = BREAKAGES[request.param]
    read_context.cache_clear()
    monkeypatch.setattr(reading.SMALL, "_network", None)
    monkeypatch.setattr(reading.SMALL, name, value)
    return words + REMEDY


@pytest.fixture(autouse=True)
def _single(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every question to ask for one fact: how questions are split is no matter here."""
    for module in (questions, short_answers):
        monkeypatch.setattr(module, "find_splits", lambda question: ())


def answered() -> dict[str, Any]:
    slots = {"question": QUESTION, "above": "", "passages": [{"title": "Solaris", "source": "s", "text": TEXT}]}
    return reply_to("answer", slots)


def test_changed_weights_are_rejected(said: str) -> None:
    with pytest.raises(ModelError, match=said):
        reading.SMALL.load()


@pytest.mark.parametrize(("strategy", "model"), [*((strategy, "extractive") for strategy in READING), ("prune", "auto")])
def test_a_question_fails_with_that_error(strategy: str, model: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=said):
        graphs.ask(QUESTION, strategy, model=model, index=library(TEXT))


def test_a_failure_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    read_context.cache_clear()
    monkeypatch.setattr(reading.SMALL, "_network", None)
    with monkeypatch.context() as broken:
        broken.setattr(reading.SMALL, "file", "nowhere.safetensors")
        with pytest.raises(ModelError):
            answered()
    assert answered()["answer"] == "Andrei Tarkovsky"


def test_the_weights_are_numbers_of_a_byte_and_small() -> None:
    file = Path(str(files("ramify.embedded.reader") / reading.SMALL_WEIGHTS_FILE))
    assert file.stat().st_size <= 24e6
    packed = load_file(file)
    assert {weight.dtype for weight in packed.values()} == {torch.int8, torch.float32}
    assert all(weight.dtype == torch.int8 for name, weight in packed.items() if weight.ndim == 2 and not name.endswith("/scale"))


def test_the_lower_layers_are_the_encoder_s_own() -> None:
    from ramify.tools.embeddings import load_encoder

    encoder: Any = load_encoder("minilm")
    network = reading.SMALL.load()
    assert network.encoder.embeddings is encoder.model.embeddings
    assert not network.training
    assert all(torch.isfinite(parameter).all() for parameter in network.parameters())


@given(MATRICES)
def test_a_matrix_comes_back_within_half_a_step_of_its_row(rows: list[list[float]]) -> None:
    weight = torch.tensor(rows)
    packed = quantize({"layer.weight": weight})
    assert packed["layer.weight"].dtype == torch.int8
    back = dequantize(packed)
    assert list(back) == ["layer.weight"]
    step = weight.abs().amax(dim=1, keepdim=True) / 127
    assert ((back["layer.weight"] - weight).abs() <= 0.5001 * step + 1e-9).all()


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=8))
def test_a_vector_comes_back_as_it_was(numbers: list[float]) -> None:
    vector = torch.tensor(numbers, dtype=torch.float32)
    assert torch.equal(dequantize(quantize({"layer.bias": vector}))["layer.bias"], vector)


@pytest.mark.parametrize("module", ["ramify.graphs", "ramify.embedded.reader.short_answers", "ramify.embedded.reader.reading"])
def test_importing_what_reads_does_not_import_torch(module: str) -> None:
    heavy = ["torch", "transformers", "sentence_transformers", "safetensors"]
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
