"""Bounds on wrong answers: by hand, and by simulation of questions whose risk is known; curves that fit confidences."""

import sys
from pathlib import Path

import numpy as np
import pytest

from ramify.lab.metrics import expected_calibration_error
from ramify.lab.risk_control import (
    Outcomes,
    choose_fit,
    clopper_pearson_interval,
    find_threshold,
    fit_curve,
    further_questions,
    min_answers,
    min_risk,
)
from ramify.tools.profile import apply_curve

sys.path.insert(0, str(Path(__file__).parents[3]))  # benchmarks/ is not installed

import itertools

from plugins.lab.benchmarks.calibration import simulate

RIGHT = [(0.5 + number / 100, True) for number in range(40)]


def test_wrong_answers_among_all_asked_are_bounded_by_conformal_risk_control() -> None:
    answers = [(0.9, True), (0.8, False), (0.7, True), (0.6, False), (0.5, False), (None, True), (None, False), (0.95, True), (0.4, False)]
    outcomes = Outcomes.of(answers)
    assert find_threshold("asked", outcomes, 0.1, 0.1) == 0.8  # (0 wrong + 1) / (9 + 1)
    assert find_threshold("asked", outcomes, 0.2, 0.1) == 0.6
    assert find_threshold("asked", outcomes, 0.5, 0.1) == 0.0  # (4 + 1) / 10: all may be given
    assert find_threshold("asked", outcomes, 0.09, 0.1) is None
    assert min_answers("asked", 0.1, 0.1) == 9
    assert outcomes.count_above(0.8) == (2, 0)


def test_wrong_answers_among_those_given_are_bounded_by_tests_in_a_row() -> None:
    needed = min_answers("answered", 0.1, 0.1)
    assert needed == 36  # the least n with 0.9^n <= 0.1 / 4
    assert find_threshold("answered", Outcomes.of(RIGHT[:needed]), 0.1, 0.1) == 0.0
    assert find_threshold("answered", Outcomes.of(RIGHT[: needed - 1]), 0.1, 0.1) is None
    wrong_below = Outcomes.of([*RIGHT, *((0.3 - number / 1000, False) for number in range(20))])
    threshold = find_threshold("answered", wrong_below, 0.1, 0.1)
    assert threshold is not None
    assert 0.25 < threshold <= 0.5
    assert wrong_below.count_above(threshold)[0] >= 30


def test_equal_confidences_are_given_together_or_not_at_all() -> None:
    outcomes = Outcomes.of([(0.9, number % 2 == 0) for number in range(100)])
    assert find_threshold("asked", outcomes, 0.4, 0.1) is None
    assert find_threshold("answered", outcomes, 0.4, 0.1) is None


def test_the_lowest_possible_risk_is_reported_without_a_threshold() -> None:
    outcomes = Outcomes.of(RIGHT[:20])
    assert find_threshold("answered", outcomes, 0.1, 0.1) is None
    least = min_risk("answered", outcomes, 0.1)
    assert least is not None
    assert find_threshold("answered", outcomes, least, 0.1) is not None
    assert further_questions("answered", outcomes, 0.1, 0.1) == 20
    assert further_questions("answered", Outcomes.of([(0.9, False)] * 20), 0.1, 0.1) is None


def test_the_bounds_hold_in_simulation() -> None:
    measured = list(simulate(100, sizes=(100,), risks=(0.1,)))
    assert [measurement.population for measurement in measured if not measurement.kept(100)] == []
    assert any(measurement.reached > 0.5 for measurement in measured)


@pytest.mark.slow
def test_the_bounds_hold_in_a_thousand_splits() -> None:
    assert [measurement for measurement in simulate(1000, sizes=(200,)) if not measurement.kept(1000)] == []


@pytest.mark.parametrize(("fit", "count"), [("platt", 150), ("isotonic", 400)])
def test_a_curve_brings_confidence_near_to_how_often_answers_are_right(fit: str, count: int) -> None:
    draw = np.random.default_rng(0)
    confidences = draw.random(2 * count)
    right = draw.random(2 * count) < confidences**3
    curve = fit_curve(choose_fit(None, count), list(confidences[:count]), list(right[:count]))
    assert choose_fit(None, count) == fit
    assert all(low[1] <= high[1] for low, high in itertools.pairwise(curve))
    before = expected_calibration_error(list(confidences[count:]), list(right[count:]))
    after = expected_calibration_error([apply_curve(curve, confidence) for confidence in confidences[count:]], list(right[count:]))
    assert after < before / 2


def test_a_confidence_that_misleads_is_fitted_by_one_figure() -> None:
    curve = fit_curve("platt", [0.9] * 20 + [0.1] * 20, [False] * 20 + [True] * 20)
    assert apply_curve(curve, 0.1) == apply_curve(curve, 0.9) == pytest.approx(0.5)
    assert fit_curve("none", [0.5], [True]) == ()


def test_an_interval_of_a_share() -> None:
    assert clopper_pearson_interval(0, 10) == pytest.approx((0, 0.3085), abs=1e-4)
    assert clopper_pearson_interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
