"""How relevance is scored: the share that is right, and the area under the ROC curve."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from scipy.stats import mannwhitneyu

from training.example import Example
from training.ranking import Told, auc, by_source, right

TOLD = st.builds(Told, st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]), st.booleans())


@given(st.lists(TOLD, min_size=2, max_size=40))
def test_the_area_is_that_of_another_implementation(some: list[Told]) -> None:
    if len({told.bears for told in some}) < 2:
        assert auc(some) is None
        return
    bearing, others = ([told.relevance for told in some if told.bears == bears] for bears in (True, False))
    assert auc(some) == pytest.approx(mannwhitneyu(bearing, others, method="asymptotic").statistic / len(bearing) / len(others))


def test_a_half_is_a_yes() -> None:
    assert right([Told(0.5, True), Told(0.49, True), Told(0.2, False), Told(0.9, False)]) == 0.5


def test_passages_that_bear_and_those_that_look_as_if_are_one_source() -> None:
    def example(source: str, bears: bool | None) -> Example:
        return Example(source, "d", "Who?", "Nobody.", "none", (), bears)

    told = by_source([(example("squad", None), 0.4), (example("linked", True), 0.8), (example("linked_other", False), 0.3)])
    assert told == {"linked": [Told(0.8, True), Told(0.3, False)]}
