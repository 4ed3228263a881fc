"""Choosing between weights: what an example is worth, by what was read of it."""

import pytest

from ramify.tools.reader.reading import Reading, Spot
from training.choose import scored
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
        ("yes", Reading(0.2, 0.4, 0.3, ()), {"yes or no": 1.0}),
        ("no", Reading(0.2, 0.4, 0.3, ()), {"yes or no": 0.0}),
    ],
)
def test_a_reading_is_worth_what_it_says(kind: Kind, reading: Reading, worth: dict[str, float]) -> None:
    example = Example("squad", "d", "Who directed Solaris?", CONTEXT, kind, (DIRECTOR,) if kind == "span" else ())
    assert dict(scored(example, reading)) == worth
