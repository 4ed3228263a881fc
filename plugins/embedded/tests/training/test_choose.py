"""Choosing between weights: what an example is worth, by what was read of it, and how relevance is scored."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from scipy.stats import mannwhitneyu

from plugins.embedded.training.choose import ScoredRelevance, accuracy, auc, by_source, format_scores, score_reading
from plugins.embedded.training.example import Example, Kind
from ramify.embedded.reader.reading import PassageReading, TextSpan

CONTEXT = "Solaris: a film directed by Andrei Tarkovsky."
DIRECTOR = (CONTEXT.index("Andrei"), CONTEXT.index("."))
SURNAME = TextSpan(CONTEXT.index("Tarkovsky"), CONTEXT.index("."), 0.9)
TOLD = st.builds(ScoredRelevance, st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]), st.booleans())


@pytest.mark.parametrize(
    ("kind", "reading", "worth"),
    [
        ("span", PassageReading(0.9, 0, 0, (TextSpan(*DIRECTOR, 0.9),)), {"exact match": 1.0, "F1": 1.0}),
        ("span", PassageReading(0.9, 0, 0, (SURNAME,)), {"exact match": 0.0, "F1": pytest.approx(2 / 3)}),
        ("span", PassageReading(0.9, 0, 0, ()), {"exact match": 0.0, "F1": 0.0}),
        ("none", PassageReading(0.3, 0.1, 0.1, (SURNAME,)), {"none": 1.0}),
        ("none", PassageReading(0.6, 0.1, 0.1, (SURNAME,)), {"none": 0.0}),
        ("", PassageReading(0.2, 0.4, 0.3, (SURNAME,)), {}),
        ("yes", PassageReading(0.2, 0.4, 0.3, ()), {"yes or no": 1.0}),
        ("no", PassageReading(0.2, 0.4, 0.3, ()), {"yes or no": 0.0}),
    ],
)
def test_readings_are_scored(kind: Kind, reading: PassageReading, worth: dict[str, float]) -> None:
    example = Example("squad", "d", "Who directed Solaris?", CONTEXT, kind, (DIRECTOR,) if kind == "span" else ())
    assert dict(score_reading(example, reading)) == worth


def test_relevance_is_scored_beside_the_answers() -> None:
    span = Example("squad", "d", "Who directed Solaris?", CONTEXT, "span", (DIRECTOR,), True)
    other = Example("squad_other", "e", "Who directed Solaris?", "Nobody.", "none", (), False)
    readings = [PassageReading(0.9, 0, 0, (TextSpan(*DIRECTOR, 0.9),), 0.7), PassageReading(0.1, 0, 0, (), 0.6)]
    assert [" ".join(line.split()) for line in format_scores([span, other], readings)] == [
        *("squad F1 100.0 of 1", "squad exact match 100.0 of 1", "squad_other none 100.0 of 1"),
        "squad relevance 50.0 of 2, AUC 1.000",
    ]


@given(st.lists(TOLD, min_size=2, max_size=40))
def test_the_area_is_that_of_another_implementation(some: list[ScoredRelevance]) -> None:
    if len({scored.bears for scored in some}) < 2:
        assert auc(some) is None
        return
    bearing, others = ([scored.relevance for scored in some if scored.bears == bears] for bears in (True, False))
    assert auc(some) == pytest.approx(mannwhitneyu(bearing, others, method="asymptotic").statistic / len(bearing) / len(others))


def test_a_half_is_a_yes() -> None:
    assert (
        accuracy([ScoredRelevance(0.5, True), ScoredRelevance(0.49, True), ScoredRelevance(0.2, False), ScoredRelevance(0.9, False)]) == 0.5
    )


def test_passages_that_bear_and_those_that_look_as_if_are_one_source() -> None:
    def example(source: str, bears: bool | None) -> Example:
        return Example(source, "d", "Who?", "Nobody.", "none", (), bears)

    grouped = by_source([(example("squad", None), 0.4), (example("linked", True), 0.8), (example("linked_other", False), 0.3)])
    assert grouped == {"linked": [ScoredRelevance(0.8, True), ScoredRelevance(0.3, False)]}
