"""What is reckoned with answers: dates, numbers, names, verdicts; what does not settle a question is left open."""

from datetime import date
from typing import get_args

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ramify.tools.arithmetic.combine import How, brought_together
from ramify.tools.arithmetic.dates_and_numbers import Quantity, When, in_order, larger, quantity, when

LONG = ("How long is the Po?", "How long is the Ebro?")


DATES = st.tuples(st.integers(1, 2100) | st.integers(-500, -1), st.integers(0, 12), st.integers(0, 28))


MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("4 April 1932", (1932, 4, 4)),
        ("April 4th, 1932", (1932, 4, 4)),
        ("12th of May, 1880", (1880, 5, 12)),
        ("Sept. 1939", (1939, 9, 0)),
        ("1932-04-04", (1932, 4, 4)),
        ("the 1990s", (1990, 0, 0)),
        ("c. 1850", (1850, 0, 0)),
        ("25 December 800", (800, 12, 25)),
        ("44 BC", (-44, 0, 0)),
        ("300 B.C.", (-300, 0, 0)),
        ("120–80 BC", (-120, 0, 0)),
        ("27 BC – AD 14", (-27, 0, 0)),
        ("AD 14", (14, 0, 0)),
        ("14 CE", (14, 0, 0)),
        ("1914–1918", (1914, 0, 0)),
        ("born 7 November 1867; died 4 July 1934", (1867, 11, 7)),
    ],
)
def test_a_date_is_read_as_far_as_it_is_told(text: str, told: tuple[int, int, int]) -> None:
    assert when(text) == When(*told)


@pytest.mark.parametrize("text", ["", "no", "May 5", "1,200 people", "3.1415", "18", "the 18th century", "12345678", "🎬"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert when(text) is None


@given(st.dates(min_value=date(1000, 1, 1)))
def test_every_date_is_read_in_each_of_its_forms(day_of: date) -> None:
    year, month, day = (int(part) for part in str(day_of).split("-"))
    for text in (
        str(day_of),
        f"{day} {MONTHS[month - 1]} {year}",
        f"{MONTHS[month - 1]} {day}, {year}",
        f"{MONTHS[month - 1][:3]} {day} {year}",
    ):
        assert when(f"It was on {text}.") == When(year, month, day)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_no_obstacle(one: str, other: str) -> None:
    for text in (one, other):
        assert when(text) is None or isinstance(when(text), When)
        assert quantity(text) is None or isinstance(quantity(text), Quantity)
    for how in get_args(How):
        if how not in ("agree", "same", "differ"):  # these may ask the encoder
            assert isinstance(brought_together(how, (one, other), (other, one)), str)


@given(
    DATES,
    DATES,
)
def test_the_order_of_two_dates_turns_with_them(one: tuple[int, int, int], other: tuple[int, int, int]) -> None:
    forth, back = in_order(When(*one), When(*other)), in_order(When(*other), When(*one))
    assert (forth is None) == (back is None)
    assert forth is None or back is None or forth == -back
    if one[0] != other[0]:
        assert forth == one[0] - other[0]


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1.2 million", 1_200_000, 1),
        ("1,200,000 people", 1_200_000, 1),
        ("three thousand", 3000, 1),
        ("a hundred", 100, 1),
        ("twenty-one", 21, 1),
        ("two dozen", 24, 1),
        ("−5 °C", -5, 1),
        ("$1.2 billion", 1.2e9, 1),
        ("45%", 45, 1),
        ("652 km", 652, 1000),
        ("10–12 km", 10, 1000),
        ("5 square kilometres", 5, 1e6),
        ("90 minutes", 90, 60),
        ("5-year", 5, 31557600),
        ("30 in 1990", 30, 1),
        ("6 ft 2 in", 6 + 2 / 12, 0.3048),
        ("2 hours and 30 minutes", 2.5, 3600),
        ("12 km (7.5 miles)", 12, 1000),
    ],
)
def test_a_number_is_read_with_its_scale_and_unit(text: str, number: float, unit: float) -> None:
    read = quantity(text)
    assert read is not None
    assert (read.number, read.unit) == (pytest.approx(number), pytest.approx(unit))


def test_two_dates_with_a_dash_are_the_time_between_them() -> None:
    lived = quantity("7 November 1867 – 4 July 1934")
    assert lived is not None
    assert lived.number * lived.unit / 31557600 == pytest.approx(66.66, abs=0.05)


@pytest.mark.parametrize("text", ["", "none", "many", "Tesla", "🎬"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert quantity(text) is None


@given(
    st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 2)),
    st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 2)),
)
def test_of_two_plain_numbers_the_larger_is_larger(one: float, other: float) -> None:
    first, second = quantity(f"{one:.2f}"), quantity(f"{other:.2f}")
    assert first is not None
    assert second is not None
    assert larger(first, second) == pytest.approx(one - other)


def test_what_measures_different_things_is_not_compared() -> None:
    assert brought_together("more", LONG, ("20 km", "20 kg")) == ""
