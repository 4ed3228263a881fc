"""Reranking is a setting: it changes the order of what is read, and nothing else."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes import retrieve
from ramify.nodes.settings import Settings
from ramify.tools.errors import ModelError
from ramify.tools.passage import Passage
from tests.river import QUESTION, model, river


@pytest.fixture
def backwards(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str, int]]:
    """Let reranking turn the order round; list how many passages it was given, by which name, and how many are kept."""
    seen: list[tuple[int, str, int]] = []

    def turned(query: str, hits: list[Passage], name: str, k: int) -> list[Passage]:
        seen.append((len(hits), name, k))
        return hits[::-1][:k]

    monkeypatch.setattr(retrieve, "rerank_passages", turned)
    monkeypatch.setattr(retrieve, "load_reranker", lambda name: 0.0)
    monkeypatch.setattr("ramify.nodes.init_tree.load_reranker", lambda name: 0.0)
    return seen


def evidence(**options: Any) -> tuple[tuple[str, ...], dict[str, float]]:
    """Give the texts that the root has found, in order, and their scores."""
    result = graphs.ask(QUESTION, "naive", model=model(), index=river(), **options)
    found = [result.passages[key] for key in result.tree["0"].evidence]
    return tuple(passage.text for passage in found), {passage.text: passage.score for passage in found}


def test_the_order_changes_and_the_scores_do_not(backwards: list[tuple[int, str, int]]) -> None:
    plain, scores = evidence(k=4, rerank="none")
    turned, same = evidence(k=4, rerank="reader")
    assert turned == plain[::-1]
    assert same == scores
    best, _ = evidence(k=2, rerank="reader", rerank_k=3)
    assert best == plain[2:0:-1], "of the three best, the last two"
    assert backwards == [(4, "reader", 4), (3, "reader", 2)], "without a reranker nothing is read twice"


def test_what_was_found_is_read_as_it_was_found_unless_said_otherwise(backwards: list[tuple[int, str, int]]) -> None:
    assert evidence(k=2) == evidence(k=2, rerank=None)
    assert backwards == []


def test_mmr_picks_what_is_reranked(backwards: list[tuple[int, str, int]]) -> None:
    evidence(k=1, rerank="reader", rerank_k=3, mmr=0.5)
    assert backwards == [(3, "reader", 1)]


@pytest.mark.parametrize("strategy", ["prune", "tor", "chain", "ircot", "self-ask", "react", "naive"])
def test_every_strategy_that_reads_what_it_found_reranks_it(strategy: str, backwards: list[tuple[int, str, int]]) -> None:
    graphs.ask(QUESTION, strategy, model=model(), index=river(), rerank="reader")
    assert {name for _, name, _ in backwards} == {"reader"}


def test_iterative_rag_leaves_that_to_its_filter(backwards: list[tuple[int, str, int]]) -> None:
    graphs.ask(QUESTION, "iterative", model=model(), index=river(), rerank="reader")
    assert backwards == []


def test_a_name_is_read_without_the_spaces_around_it() -> None:
    assert [Settings(rerank=name).rerank for name in ("none", " some/model ")] == ["none", "some/model"]


@pytest.mark.parametrize("strategy", ["prune", "tor", "naive"])
def test_a_bad_name_is_one_error_before_anything_is_asked(strategy: str) -> None:
    asked = model()
    with pytest.raises(ModelError, match="'no/such' is not on this machine"):
        graphs.ask(QUESTION, strategy, model=asked, index=river(), rerank="no/such")
    assert asked.calls == []
