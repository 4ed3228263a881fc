"""Scores of rankings: worked by hand, by ir_measures, and MultiHop-RAG's own."""

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.lab.metrics import citation_scores, contained_facts, retrieval_scores

names = st.sampled_from([f"d{number}" for number in range(15)])
rankings = st.lists(names, unique=True, max_size=14)
golds = st.sets(names, min_size=1, max_size=5)


def ranked(ranking: list[str], gold: set[str]) -> dict[str, float]:
    """Score a ranking of documents."""
    return retrieval_scores([frozenset({document} & gold) for document in ranking], gold)


def test_a_ranking_worked_by_hand() -> None:
    scores = ranked(["x", "a", "y", "z", "w", "b"], {"a", "b", "c"})
    assert (scores["recall@5"], scores["recall@10"]) == pytest.approx((1 / 3, 2 / 3))
    assert (scores["hits@1"], scores["hits@4"]) == (0, 1)
    assert scores["mrr@10"] == 1 / 2
    assert scores["map@10"] == pytest.approx((1 / 2 + 2 / 6) / 3)
    assert scores["map@10_official"] == pytest.approx((1 / 2 + 1 / 6) / 3)
    assert scores["all_gold@10"] == 0
    both = ranked(["x", "a", "y", "z", "w", "b"], {"a", "b"})
    assert (both["all_gold@5"], both["all_gold@10"]) == (0, 1)


@pytest.mark.parametrize(("golds", "worked"), [(1, 1.0), (2, 0.75), (3, 0.611), (4, 0.521)])
def test_the_official_map_of_a_perfect_ranking(golds: int, worked: float) -> None:
    ranking = [f"gold {number}" for number in range(golds)]
    scores = ranked(ranking, set(ranking))
    assert scores["map@10_official"] == pytest.approx(worked, abs=5e-4)
    assert scores["map@10"] == 1


def test_the_official_map_looks_at_ten_ranks_and_divides_by_ten_golds_at_most() -> None:
    for rank, worked in ((1, 1), (10, 1 / 10), (11, 0)):
        assert ranked(["x"] * (rank - 1) + ["gold"], {"gold"})["map@10_official"] == pytest.approx(worked)
    assert ranked(["gold 0"], {f"gold {number}" for number in range(12)})["map@10_official"] == 1 / 10


def test_nothing_found_scores_nothing() -> None:
    assert set(retrieval_scores([], {"a"}).values()) == {0.0}


@settings(deadline=None)
@given(rankings, golds)
def test_each_passage_holding_one_gold_scores_as_ir_measures_does(ranking: list[str], gold: set[str]) -> None:
    measures = {
        **{f"recall@{k}": ir_measures.R @ k for k in (5, 10)},
        **{f"hits@{k}": ir_measures.Success @ k for k in (1, 4, 10)},
        "precision@5": ir_measures.P @ 5,
        "mrr@10": ir_measures.RR @ 10,
        "map@10": ir_measures.AP @ 10,
    }
    run = {"q": {document: 100.0 - rank for rank, document in enumerate(ranking)}}
    theirs = ir_measures.calc_aggregate(list(measures.values()), {"q": dict.fromkeys(gold, 1)}, run)
    ours = ranked(ranking, gold)
    assert {name: ours[name] for name in measures} == pytest.approx({name: theirs[measure] for name, measure in measures.items()})


@settings(deadline=None)
@given(st.lists(st.frozensets(names, max_size=3), max_size=12), golds)
def test_bounds_and_order_of_the_scores(ranks: list[frozenset[str]], gold: set[str]) -> None:
    scores = retrieval_scores([rank & frozenset(gold) for rank in ranks], gold)
    assert all(0 <= value <= 1 for value in scores.values())
    assert scores["recall@5"] <= scores["recall@10"]
    assert scores["all_gold@10"] <= scores["recall@10"] <= scores["hits@10"]
    assert (scores["mrr@10"] > 0) == (scores["hits@10"] == 1)
    assert scores["map@10"] <= scores["recall@10"]


@settings(deadline=None)
@given(rankings, golds)
def test_gold_before_all_else_is_perfect(ranking: list[str], gold: set[str]) -> None:
    scores = ranked([*gold, *(document for document in ranking if document not in gold)], gold)
    assert scores.pop("precision@5") == min(len(gold), 5) / 5
    assert {value for name, value in scores.items() if "official" not in name} == {1.0}


def test_a_passage_contains_a_sentence_regardless_of_white_space() -> None:
    gold = ["The price was not disclosed.", "It rained."]
    assert contained_facts("He bought it. The price was\nnot  disclosed. More", gold) == {"The price was not disclosed."}
    assert contained_facts("the price was not disclosed.", gold) == frozenset(), "letters have to agree"


def test_a_passage_may_hold_several_sentences() -> None:
    ranks = [frozenset[str](), frozenset({"a", "b"}), frozenset({"b"}), frozenset({"c"})]
    scores = retrieval_scores(ranks, ["a", "b", "c", "d"])
    assert scores["recall@5"] == 3 / 4
    assert scores["mrr@10"] == 1 / 2
    assert scores["map@10_official"] == pytest.approx((2 / 2 + 1 / 4) / 4)
    assert scores["map@10"] == pytest.approx((1 + 1 + 3 / 4) / 4)
    assert scores["hits@1"] == 0


@given(st.sets(names), golds)
def test_supporting_f1_is_the_harmonic_mean(cited: set[str], gold: set[str]) -> None:
    shared = len(cited & gold)
    precision, recall = (shared / len(cited) if cited else 0), shared / len(gold)
    wanted = 2 * precision * recall / (precision + recall) if shared else 0
    assert citation_scores(list(cited) * 2, gold)["supporting_f1"] == pytest.approx(wanted)
    assert citation_scores(gold, gold)["supporting_f1"] == 1
