"""Choosing between weights: what an example is worth, by what was read of it."""

import pytest

from ramify.tools.reader.reading import Reading, Spot
from training.choose import lines, scored
from training.example import Example, Kind

CONTEXT = "Solaris: a film directed by Andrei Tarkovsky."
DIRECTOR = (CONTEXT.index("Andrei"), CONTEXT.index("."))
SURNAME = Spot(CONTEXT.index("Tarkovsky"), CONTEXT.index("."), 0.9)


@pytest.mark.parametrize(
    ("kind", "reading", "worth"),
    [
        ("span", Reading(0.9, 0, 0, (Spot(*DIRECTOR, 0.9),)), {"exact match": 1.0, "F1": 1.0}),
        ("span", Reading(0.9, 0, 0, (SURNAME,)), {"exact match": 0.0, "F1": pytest.approx(2 / 3)}),
        ("span", Reading(0.9, 0, 0, ()), {"exact match": 0.0, "F1": 0.0}),
        ("none", Reading(0.3, 0.1, 0.1, (SURNAME,)), {"none": 1.0}),
        ("none", Reading(0.6, 0.1, 0.1, (SURNAME,)), {"none": 0.0}),
        ("", Reading(0.2, 0.4, 0.3, (SURNAME,)), {}),
        ("yes", Reading(0.2, 0.4, 0.3, ()), {"yes or no": 1.0}),
        ("no", Reading(0.2, 0.4, 0.3, ()), {"yes or no": 0.0}),
    ],
)
def test_a_reading_is_worth_what_it_says(kind: Kind, reading: Reading, worth: dict[str, float]) -> None:
    example = Example("squad", "d", "Who directed Solaris?", CONTEXT, kind, (DIRECTOR,) if kind == "span" else ())
    assert dict(scored(example, reading)) == worth


def test_relevance_is_scored_beside_the_answers() -> None:
    span = Example("squad", "d", "Who directed Solaris?", CONTEXT, "span", (DIRECTOR,), True)
    other = Example("squad_other", "e", "Who directed Solaris?", "Nobody.", "none", (), False)
    readings = [Reading(0.9, 0, 0, (Spot(*DIRECTOR, 0.9),), 0.7), Reading(0.1, 0, 0, (), 0.6)]
    assert [" ".join(line.split()) for line in lines([span, other], readings)] == [
        *("squad F1 100.0 of 1", "squad exact match 100.0 of 1", "squad_other none 100.0 of 1"),
        "squad relevance 50.0 of 2, AUC 1.000",
    ]
