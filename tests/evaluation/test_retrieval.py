"""Scores of rankings: worked by hand, by ir_measures, and MultiHop-RAG's own."""

import sys
from collections.abc import Collection

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.evaluation.metrics import (
    all_gold_at,
    fact_scores,
    held_facts,
    map_multihop_rag,
    recall_at,
    retrieval_scores,
    score_at,
    supporting_facts_f1,
)
from ramify.tools.errors import UsageError

names = st.sampled_from([f"d{number}" for number in range(15)])
rankings = st.lists(names, unique=True, max_size=14)
golds = st.sets(names, min_size=1, max_size=5)


def test_a_ranking_worked_by_hand() -> None:
    ranking, gold = ["x", "a", "y", "z", "b", "w"], {"a", "b", "c"}
    assert score_at("recall", 1, ranking, gold) == 0
    assert score_at("recall", 2, ranking, gold) == pytest.approx(1 / 3)
    assert score_at("recall", 5, ranking, gold) == pytest.approx(2 / 3)
    assert [score_at("hits", k, ranking, gold) for k in (1, 2)] == [0, 1]
    assert score_at("mrr", 10, ranking, gold) == 1 / 2
    assert score_at("mrr", 1, ranking, gold) == 0
    assert score_at("map", 10, ranking, gold) == pytest.approx((1 / 2 + 2 / 5) / 3)
    assert all_gold_at(ranking, gold, 6) == 0
    assert all_gold_at(ranking, gold - {"c"}, 5) == 1
    assert all_gold_at(ranking, gold - {"c"}, 4) == 0
    assert map_multihop_rag(ranking, gold) == pytest.approx((1 / 2 + 1 / 5) / 3)


@pytest.mark.parametrize(("golds", "worked"), [(1, 1.0), (2, 0.75), (3, 0.611), (4, 0.521)])
def test_the_official_map_of_a_perfect_ranking(golds: int, worked: float) -> None:
    ranking = [f"gold {number}" for number in range(golds)]
    assert map_multihop_rag(ranking, set(ranking)) == pytest.approx(worked, abs=5e-4)
    assert map_multihop_rag([frozenset({one}) for one in ranking], set(ranking)) == pytest.approx(worked, abs=5e-4)
    assert score_at("map", 10, ranking, set(ranking)) == 1


def test_the_official_map_looks_at_ten_ranks_and_divides_by_ten_golds_at_most() -> None:
    for rank, worked in ((1, 1), (10, 1 / 10), (11, 0)):
        assert map_multihop_rag(["x"] * (rank - 1) + ["gold"], {"gold"}) == pytest.approx(worked)
    assert map_multihop_rag(["gold 0"], {f"gold {number}" for number in range(12)}) == 1 / 10


def test_a_document_counts_where_it_comes_first() -> None:
    once, again = retrieval_scores(["a", "x", "b"], {"a", "b"}), retrieval_scores(["a", "a", "b"], {"a", "b"})
    assert once == again
    assert again["map@10"] == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize("odd", ["a\0b", "a b", "", "ü\n", "x" * 5000])
def test_ids_may_hold_anything(odd: str) -> None:
    assert retrieval_scores(["x", odd], {odd})["mrr@10"] == 1 / 2


def test_nothing_found_scores_nothing() -> None:
    assert set(retrieval_scores([], {"a"}).values()) == {0.0}
    assert set(fact_scores([], {"a"}).values()) == {0.0}


@settings(deadline=None)
@given(rankings, golds)
def test_each_passage_holding_one_gold_sentence_scores_as_ir_measures_does(ranking: list[str], gold: set[str]) -> None:
    measures = {
        **{f"recall@{k}": ir_measures.R @ k for k in (5, 10)},
        **{f"hits@{k}": ir_measures.Success @ k for k in (1, 4, 10)},
        "precision@5": ir_measures.P @ 5,
        "mrr@10": ir_measures.RR @ 10,
        "map@10": ir_measures.AP @ 10,
    }
    run = {"q": {document: 100.0 - rank for rank, document in enumerate(ranking)}}
    told = ir_measures.calc_aggregate(list(measures.values()), {"q": dict.fromkeys(gold, 1)}, run)
    by_document, by_fact = retrieval_scores(ranking, gold), fact_scores([frozenset({one} & gold) for one in ranking], gold)
    assert by_document == pytest.approx(by_fact)
    assert {name: by_fact[name] for name in measures} == pytest.approx({name: told[measure] for name, measure in measures.items()})
    assert set(by_document) == set(by_fact)


@settings(deadline=None)
@given(st.lists(st.frozensets(names, max_size=3), max_size=12), golds)
def test_bounds_and_order_of_the_scores(held: list[frozenset[str]], gold: set[str]) -> None:
    told = fact_scores([one & frozenset(gold) for one in held], gold)
    assert all(0 <= value <= 1 for value in told.values())
    assert told["recall@5"] <= told["recall@10"]
    assert told["all_gold@10"] <= told["recall@10"] <= told["hits@10"]
    assert (told["mrr@10"] > 0) == (told["hits@10"] == 1)
    assert told["map@10"] <= told["recall@10"]


@settings(deadline=None)
@given(rankings, golds)
def test_gold_before_all_else_is_perfect(ranking: list[str], gold: set[str]) -> None:
    told = retrieval_scores([*gold, *(one for one in ranking if one not in gold)], gold)
    assert told.pop("precision@5") == min(len(gold), 5) / 5
    assert {value for name, value in told.items() if "official" not in name} == {1.0}


def test_a_passage_holds_a_sentence_whatever_its_spaces_and_newlines() -> None:
    gold = ["The price was not disclosed.", "It rained."]
    assert held_facts("He bought it. The price was\nnot  disclosed. More", gold) == {"The price was not disclosed."}
    assert held_facts("the price was not disclosed.", gold) == frozenset(), "letters have to agree"


def test_a_passage_may_hold_several_sentences() -> None:
    held = [frozenset[str](), frozenset({"a", "b"}), frozenset({"b"}), frozenset({"c"})]
    told = fact_scores(held, ["a", "b", "c", "d"])
    assert told["recall@5"] == 3 / 4
    assert told["mrr@10"] == 1 / 2
    assert told["map@10_official"] == pytest.approx((2 / 2 + 1 / 4) / 4)
    assert told["map@10"] == pytest.approx((1 + 1 + 3 / 4) / 4)
    assert recall_at(held, 4, 1) == 0


@given(st.sets(names), golds)
def test_supporting_f1_is_the_harmonic_mean(cited: set[str], gold: set[str]) -> None:
    shared = len(cited & gold)
    precision, recall = (shared / len(cited) if cited else 0), shared / len(gold)
    wanted = 2 * precision * recall / (precision + recall) if shared else 0
    assert supporting_facts_f1(list(cited) * 2, gold) == pytest.approx(wanted)
    assert supporting_facts_f1(gold, gold) == 1


@pytest.mark.parametrize("score", [lambda gold: retrieval_scores(["a"], gold), lambda gold: fact_scores([], gold)])
def test_no_gold_is_an_error_not_a_score(score: "Collection[str]") -> None:
    with pytest.raises(UsageError, match="there is no gold to be found"):
        score([])  # type: ignore[operator]


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(UsageError, match=r"pip install 'ramify-rag\[eval\]'"):
        retrieval_scores(["a"], {"a"})
