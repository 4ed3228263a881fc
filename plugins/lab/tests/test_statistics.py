"""Intervals and tests: against scipy's, by their laws, and repeatable."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ramify.lab.metrics import bootstrap_interval, holm_correction, paired_test

scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 1.0]), min_size=1, max_size=30)
SAMPLE = np.random.default_rng(7).random(400)
OTHER = np.clip(SAMPLE + np.random.default_rng(8).normal(0.02, 0.2, 400), 0, 1)


def test_the_interval_is_near_scipys() -> None:
    wanted = stats.bootstrap((SAMPLE,), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
    assert bootstrap_interval(SAMPLE, resamples=4000) == pytest.approx(tuple(wanted), abs=0.004)


def test_the_p_value_is_near_scipys() -> None:
    wanted = stats.permutation_test(
        (SAMPLE, OTHER), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=5000, rng=1
    ).pvalue
    assert paired_test(list(SAMPLE), list(OTHER)) == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("difference", [[1, 1, 1, 0, -1, 0.5], [1, 1, 1, 1, 1], [0.3, -0.2, 0.7]])
def test_the_p_value_is_that_of_all_flips(difference: list[float]) -> None:
    flips = [
        abs(sum(sign * size for sign, size in zip(signs, difference, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(difference))
    ]
    exact = np.mean([flip >= abs(sum(difference)) - 1e-9 for flip in flips])
    assert paired_test(difference, [0.0] * len(difference)) == pytest.approx(exact, abs=0.02)


@settings(deadline=None)
@given(scores, st.integers(0, 5))
def test_laws_of_the_interval(values: list[float], seed: int) -> None:
    low, high = bootstrap_interval(values, seed, 200)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert (low, high) == bootstrap_interval(values, seed, 200)
    assert bootstrap_interval([values[0]] * 3, seed, 50) == pytest.approx((values[0], values[0]))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30))
def test_laws_of_the_paired_test(pairs: list[tuple[float, float]]) -> None:
    a, b = [list(column) for column in zip(*pairs, strict=True)]
    p = paired_test(a, b, 3, 500)
    assert 0 < p <= 1
    assert p == paired_test(a, b, 3, 500) == paired_test(b, a, 3, 500)
    assert paired_test(a, a) == 1


def test_a_clear_difference_is_significant_and_depends_on_the_seed() -> None:
    assert paired_test([1.0] * 40, [0.0] * 40) < 0.001
    assert bootstrap_interval(SAMPLE, seed=1) != bootstrap_interval(SAMPLE, seed=2)


def test_many_questions_are_drawn_in_portions() -> None:
    low, high = bootstrap_interval(np.tile(SAMPLE, 20), resamples=500)
    assert low < SAMPLE.mean() < high
    assert high - low < np.subtract(*reversed(bootstrap_interval(SAMPLE, resamples=500))) / 3


def test_holm_worked_by_hand() -> None:
    assert holm_correction([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_correction([0.6, 0.7]) == [1.0, 1.0]
    assert holm_correction([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_laws_of_holm(p_values: list[float]) -> None:
    adjusted = holm_correction(p_values)
    assert all(p <= after <= 1 for p, after in zip(p_values, adjusted, strict=True))
    assert max(adjusted) <= 1
    assert adjusted[int(np.argmin(p_values))] == pytest.approx(min(1, min(p_values) * len(p_values)))
    order = np.argsort(p_values, kind="stable")
    assert list(np.sort(adjusted)) == [adjusted[place] for place in order]


def test_scores_of_other_questions_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="shorter"):
        paired_test([1, 0], [1])
