"""The time to go: from the answers so far, each variant at its own speed."""

import pytest

from ramify.lab._variants import Variant
from ramify.lab.answering import TimeEstimate
from ramify.lab.task import Row


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def variant(strategy: str, name: str = "") -> Variant:
    return Variant(strategy=strategy, name=name)


def row(strategy: str, name: str, seconds: float, error: str | None = None) -> Row:
    return {"strategy": strategy, "variant": name, "usage": None if error else {"wall_s": seconds}, "error": error}


def test_what_takes_long_counts_for_more_and_the_first_answers_not_at_all() -> None:
    clock = Clock()
    pace = TimeEstimate([*[variant("naive")] * 12, *[variant("prune")] * 12, *[variant("prune", "tau=0")] * 3], clock)
    assert (pace.seconds_per_answer, pace.remaining_seconds()) == (None, None)
    for strategy, seconds in (("naive", 50.0), ("prune", 90.0)):  # they have waited for the model
        clock.now += seconds
        pace.add(row(strategy, "", seconds))
    assert (pace.seconds_per_answer, pace.remaining_seconds()) == (None, None)
    for strategy, seconds in (("naive", 1.0), ("prune", 5.0)):
        clock.now += seconds
        pace.add(row(strategy, "", seconds))
    assert pace.seconds_per_answer == 3
    assert pace.remaining_seconds() == pytest.approx(10 * 1 + 10 * 5 + 3 * 5), "a variant that is new takes as long as its strategy"


def test_the_estimate_allows_for_concurrency_and_ignores_failures() -> None:
    clock = Clock()
    pace = TimeEstimate([variant("naive")] * 11, clock)
    for seconds, passed, error in ((9.0, 9.0, None), (2.0, 1.0, None), (2.0, 1.0, None), (0.0, 0.0, "no wire")):
        clock.now += passed
        pace.add(row("naive", "", seconds, error))
    assert pace.remaining_seconds() == pytest.approx(7 * 2 / 2), "two at a time"
