"""Calibration and majority baselines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.lab.metrics import (
    covers_passage,
    exact_match,
    expected_calibration_error,
    majority_by_type,
    most_frequent_answer,
    reliability_bins,
    risk_coverage,
)
from ramify.tools.errors import UsageError

judged = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def test_a_passage_with_three_quarters_of_the_words_counts_as_gold() -> None:
    assert covers_passage("It is known: one two three, and more.", "One two three four")
    assert not covers_passage("one two", "one two three")
    assert not covers_passage("one", "one one one one"), "a word counts as often as it is there"
    assert not covers_passage("anything", "")


def test_calibration_worked_by_hand() -> None:
    confidences, right = [0.05, 0.95, 0.95, 0.85], [False, True, False, True]
    assert expected_calibration_error(confidences, right) == pytest.approx((0.05 + 2 * 0.45 + 0.15) / 4)
    assert [(interval.low, interval.high, interval.size) for interval in reliability_bins(confidences, right)] == [
        (0.0, pytest.approx(0.1), 1),
        (pytest.approx(0.8), pytest.approx(0.9), 1),
        (pytest.approx(0.9), 1.0, 2),
    ]


def test_the_ends_of_the_scale_lie_in_the_outer_bins() -> None:
    assert [(interval.low, interval.size) for interval in reliability_bins([0.0, 1.0, 0.5], [0, 1, 1], bins=2)] == [(0.0, 2), (0.5, 1)]


@given(judged)
def test_laws_of_calibration(answers: list[tuple[float, bool]]) -> None:
    confidences, right = [list(column) for column in zip(*answers, strict=True)]
    assert 0 <= expected_calibration_error(confidences, right) <= 1
    assert sum(interval.size for interval in reliability_bins(confidences, right)) == len(answers)
    overall = abs(sum(confidences) - sum(right)) / len(answers)
    assert expected_calibration_error(confidences, right, bins=1) == pytest.approx(overall)
    assert expected_calibration_error([float(outcome) for outcome in right], right) == 0


@given(judged, st.randoms())
def test_laws_of_risk_and_coverage(answers: list[tuple[float, bool]], order: object) -> None:
    curve = risk_coverage(*zip(*answers, strict=True))
    assert curve.coverage[-1] == 1
    assert curve.risk[-1] == pytest.approx(1 - sum(right for _, right in answers) / len(answers))
    assert list(curve.coverage) == sorted(curve.coverage)
    assert 0 <= curve.area <= 1
    shuffled = sorted(answers, key=lambda _: order.random())  # type: ignore[attr-defined]
    assert risk_coverage(*zip(*shuffled, strict=True)) == curve


def test_risk_and_coverage_worked_by_hand() -> None:
    curve = risk_coverage([0.9, 0.5, 0.7, 0.7], [True, False, True, False])
    assert curve.coverage == (0.25, 0.75, 1.0)
    assert curve.risk == pytest.approx((0, 1 / 3, 1 / 2))
    assert curve.area == pytest.approx(0.5 * 1 / 3 + 0.25 * 1 / 2)
    same = risk_coverage([0.5] * 4, [True, False, False, False])
    assert (same.coverage, same.area) == ((1.0,), 0.75)


@pytest.mark.parametrize(("confidences", "right"), [([], []), ([0.5], []), ([1.5], [True]), ([float("nan")], [True])])
def test_confidences_that_are_none(confidences: list[float], right: list[bool]) -> None:
    with pytest.raises(UsageError, match="confidence"):
        expected_calibration_error(confidences, right)


def test_a_prior_answers_every_question_of_a_type_alike() -> None:
    golds = ["Yes", "no", "yes", "Ada Venn", "Yes"]
    assert majority_by_type(golds, ["a", "b", "a", "c", "b"]) == ["Yes", "no", "Yes", "Ada Venn", "no"]


def test_the_most_frequent_answer_is_counted_after_normalisation() -> None:
    assert most_frequent_answer(["Unknown", "Insufficient information.", "Paris", "Paris"]) == "Insufficient information."
    assert most_frequent_answer(["the Cat", "cat", "dog", "cat"]) == "cat"
    assert most_frequent_answer(["b", "a"]) == "a"


@given(st.lists(st.tuples(st.sampled_from(["yes", "Yes.", "no", "A cat", ""]), st.sampled_from("xy")), min_size=1, max_size=30))
def test_to_know_the_type_never_hurts(questions: list[tuple[str, str]]) -> None:
    golds, types = [list(column) for column in zip(*questions, strict=True)]

    def score(answers: list[str]) -> float:
        return sum(exact_match(answer, [gold]) for answer, gold in zip(answers, golds, strict=True))

    assert score(majority_by_type(golds, types)) >= score([most_frequent_answer(golds)] * len(golds)) > 0
