"""A strategy as a solver in the real inspect_ai: `make inspect-test`, in an environment of its own."""

from pathlib import Path

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install 'ramify-rag[inspect]'")

from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.scorer import includes  # noqa: E402

from ramify.lab.inspect import solver  # noqa: E402

QUESTION = "In which city was the inventor of the ballpoint pen born?"


def test_a_strategy_answers_a_sample_and_keeps_its_tree(tmp_path: Path) -> None:
    task = inspect_ai.Task(
        dataset=[Sample(input=QUESTION, target="Budapest")], solver=solver("prune", index="demo", model="extractive"), scorer=includes()
    )
    [log] = inspect_ai.eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    [sample] = log.samples
    assert sample.output.completion == "Budapest"
    assert sample.scores["includes"].value == "C"
    recorded = sample.metadata["ramify"]
    assert recorded["strategy"] == "prune"
    assert 0 < recorded["confidence"] <= 1
    assert recorded["tree"][0]["path"] == "0"
    assert recorded["citations"]
    assert sample.store["ramify"] == recorded


def test_a_model_that_is_not_there_fails_the_sample(tmp_path: Path) -> None:
    missing = solver("naive", index="demo", model="gguf:/no/such/file.gguf")
    task = inspect_ai.Task(dataset=[Sample(input=QUESTION, target="Budapest")], solver=missing, scorer=includes())
    [log] = inspect_ai.eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "error"
    assert "no/such/file.gguf" in log.error.message
