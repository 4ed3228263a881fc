"""How likely an answer of a known language model is right, as against what its tokens say."""

import pytest

import ramify.graphs as graphs
from ramify.nodes.step import likelihood
from ramify.nodes.step.likelihood import find_fits
from tests.river import QUESTION, model, river

ALMOST_SURE = 0.97
"""The confidence of each hop in the replies."""


def test_a_model_is_known_by_its_name_in_any_spelling() -> None:
    fits = find_fits("gguf:qwen2.5-coder-1.5b")
    assert fits is not None
    assert fits == find_fits("ollama:qwen2.5-coder:1.5b") == find_fits("gguf:/models/Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf")
    assert find_fits("ollama:llama3.1:8b") is find_fits("extractive") is None


def test_a_calibration_of_a_model_does_not_hold_with_an_adapter_for_which_it_was_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    adapted = "gguf:qwen2.5-coder-1.5b+adapter-0123456789ab"
    assert find_fits(adapted) is None
    fits = likelihood.Fits(*[likelihood.Fit(-1.0, 2.0, 0.5)] * 2)
    monkeypatch.setitem(likelihood.FITS, "qwen2.5-coder-1.5b+adapter-0123456789ab", fits)
    assert find_fits(adapted) is fits
    assert find_fits("gguf:qwen2.5-coder-1.5b") not in (fits, None)
    assert find_fits("gguf:qwen2.5-coder-1.5b+adapter-ba9876543210") is None


def test_a_small_model_is_believed_less_than_its_tokens_say_and_more_where_dates_are_compared() -> None:
    fits = find_fits("gguf:qwen2.5-coder-1.5b")
    assert fits is not None
    for fit in fits:
        assert 0.0 < fit.likelihood(0.3, False) < fit.likelihood(0.9, False) < fit.likelihood(0.9, True) < 0.9
        assert fit.likelihood(1.0, False) < 0.75
    assert fits.seconded.likelihood(0.9, False, 0.0) < fits.seconded.likelihood(0.9, False, 0.5) < fits.seconded.likelihood(0.9, False, 1.0)


def test_the_answer_has_the_likelihood_and_the_branches_keep_what_their_tokens_say(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = graphs.ask(QUESTION, "tor", model=model(), index=river(), style="short")
    monkeypatch.setattr(likelihood, "FITS", {"fake": likelihood.Fits(*[likelihood.Fit(-6.0, 7.0, 1.5)] * 2)})
    fitted = graphs.ask(QUESTION, "tor", model=model(), index=river(), style="short")
    assert raw.confidence is not None
    assert fitted.confidence is not None
    assert fitted.confidence < raw.confidence
    assert fitted.answer == raw.answer
    assert [branch.confidence for branch in fitted.tree.values()] == [branch.confidence for branch in raw.tree.values()]
