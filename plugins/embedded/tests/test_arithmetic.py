"""What is reckoned with answers: dates, numbers, names, verdicts; what does not settle a question is left open."""

from datetime import date
from typing import get_args

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ramify.embedded.arithmetic import (
    Combination,
    PartialDate,
    Quantity,
    combine_answers,
    compare_dates,
    compare_quantities,
    compared_names,
    is_same_answer,
    parse_combination,
    parse_date,
    parse_quantity,
)

LONG = ("How long is the Po?", "How long is the Ebro?")


DATES = st.tuples(st.integers(1, 2100) | st.integers(-500, -1), st.integers(0, 12), st.integers(0, 28))


MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


@pytest.mark.parametrize(
    ("text", "parts"),
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
def test_partial_dates_are_parsed(text: str, parts: tuple[int, int, int]) -> None:
    assert parse_date(text) == PartialDate(*parts)


@pytest.mark.parametrize("text", ["", "no", "May 5", "1,200 people", "3.1415", "18", "the 18th century", "12345678", "🎬"])
def test_text_without_a_date_gives_none(text: str) -> None:
    assert parse_date(text) is None


@given(st.dates(min_value=date(1000, 1, 1)))
def test_every_date_is_read_in_each_of_its_forms(day_of: date) -> None:
    year, month, day = (int(part) for part in str(day_of).split("-"))
    for text in (
        str(day_of),
        f"{day} {MONTHS[month - 1]} {year}",
        f"{MONTHS[month - 1]} {day}, {year}",
        f"{MONTHS[month - 1][:3]} {day} {year}",
    ):
        assert parse_date(f"It was on {text}.") == PartialDate(year, month, day)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_no_obstacle(one: str, other: str) -> None:
    for text in (one, other):
        assert parse_date(text) is None or isinstance(parse_date(text), PartialDate)
        assert parse_quantity(text) is None or isinstance(parse_quantity(text), Quantity)
    for how in get_args(Combination):
        if how not in ("agree", "same", "differ"):  # these may ask the encoder
            assert isinstance(combine_answers(how, (one, other), (other, one)), str)


@given(
    DATES,
    DATES,
)
def test_the_order_of_two_dates_turns_with_them(one: tuple[int, int, int], other: tuple[int, int, int]) -> None:
    forth, back = compare_dates(PartialDate(*one), PartialDate(*other)), compare_dates(PartialDate(*other), PartialDate(*one))
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
    read = parse_quantity(text)
    assert read is not None
    assert (read.number, read.unit) == (pytest.approx(number), pytest.approx(unit))


def test_two_dates_with_a_dash_are_the_time_between_them() -> None:
    lived = parse_quantity("7 November 1867 – 4 July 1934")
    assert lived is not None
    assert lived.number * lived.unit / 31557600 == pytest.approx(66.66, abs=0.05)


@pytest.mark.parametrize("text", ["", "none", "many", "Tesla", "🎬"])
def test_text_without_a_number_gives_none(text: str) -> None:
    assert parse_quantity(text) is None


@given(
    st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 2)),
    st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 2)),
)
def test_of_two_plain_numbers_the_larger_is_larger(one: float, other: float) -> None:
    first, second = parse_quantity(f"{one:.2f}"), parse_quantity(f"{other:.2f}")
    assert first is not None
    assert second is not None
    assert compare_quantities(first, second) == pytest.approx(one - other)


def test_what_measures_different_things_is_not_compared() -> None:
    assert combine_answers("more", LONG, ("20 km", "20 kg")) == ""


BORN = ("When was Tesla born?", "When was Thomson born?")


MADE = ("Is Ernani an opera?", "Is Alzira an opera?")


@pytest.mark.parametrize(
    ("how", "questions", "answers", "answer"),
    [
        ("earlier", BORN, ("10 July 1856", "18 December 1856"), "Tesla"),
        ("later", BORN, ("10 July 1856", "18 December 1856"), "Thomson"),
        ("earlier", BORN, ("1857", "18 December 1856"), "Thomson"),
        ("earlier", BORN, ("1856", "18 December 1856"), ""),
        ("earlier", BORN, ("44 BC", "AD 14"), "Tesla"),
        ("later", BORN, ("", "1856"), ""),
        ("later", BORN, ("in his youth", "1856"), ""),
        ("more", LONG, ("652 km", "930 km"), "Ebro"),
        ("more", LONG, ("500 miles", "652 km"), "Po"),
        ("less", LONG, ("652 km", "930 km"), "Po"),
        ("more", LONG, ("652", "930 km"), "Ebro"),
        ("less", LONG, ("652 km", "652 km"), ""),
        ("before", BORN, ("1856", "1857"), "Yes"),
        ("after", BORN, ("1856", "1857"), "No"),
        ("before", BORN, ("1856", "Unknown"), ""),
        ("exceeds", LONG, ("652 km", "930 km"), "No"),
        ("exceeds", LONG, ("652 km", "651 km"), "Yes"),
        ("same", BORN, ("1856", "10 July 1856"), "Yes"),
        ("differ", BORN, ("9 July 1856", "10 July 1856"), "Yes"),
        ("same", BORN, ("", ""), ""),
        ("both", MADE, ("Yes", "yes."), "Yes"),
        ("both", MADE, ("Yes", "No"), "No"),
        ("both", MADE, ("Yes", ""), ""),
        ("both", MADE, ("No", ""), "No"),
        ("either", MADE, ("Yes", ""), "Yes"),
        ("either", MADE, ("No", "No"), "No"),
        ("either", MADE, ("No", ""), ""),
        ("which", MADE, ("Yes", "No"), "Ernani"),
        ("which", MADE, ("No", "Yes"), "Alzira"),
        ("which", MADE, ("Yes", "Yes"), ""),
        ("which", MADE, ("Yes", ""), ""),
        ("bridge", BORN, ("Tesla", "Smiljan"), "Smiljan"),
        ("agree", BORN, ("Steven Spielberg", "Spielberg"), "Steven Spielberg"),
        ("agree", BORN, ("Steven Spielberg", "George Lucas"), ""),
        ("single", BORN, ("1856", "1857"), ""),
        ("each", BORN, ("1856", "1857"), "1856; 1857"),
        ("each", BORN, ("1856", "1856"), "1856"),
        ("each", BORN, ("1856", ""), ""),
    ],
)
def test_two_answers_make_one(how: Combination, questions: tuple[str, str], answers: tuple[str, str], answer: str) -> None:
    assert combine_answers(how, questions, answers) == answer


def test_a_word_for_no_way_leaves_the_question_whole() -> None:
    assert [parse_combination(text) for text in ("earlier", "", "sideways")] == ["earlier", "single", "single"]


@pytest.mark.parametrize(
    ("one", "other", "named"),
    [
        ("When was the director of A born?", "When was the director of B born?", ("A", "B")),
        ("When was John Adams born?", "When was John Quincy Adams born?", ("John Adams", "John Quincy Adams")),
        ("When did Lord of the Rings come out?", "When did Lord of the Flies come out?", ("Lord of the Rings", "Lord of the Flies")),
        ("What is the population of New York?", "What is the population of New Jersey?", ("New York", "New Jersey")),
        ("Is The Wire a series?", "Is The Shield a series?", ("The Wire", "The Shield")),
        ('When was "Jaws" released?', 'When was "Alien" released?', ("Jaws", "Alien")),
        ("Who is Tesla's wife?", "Who is Edison's wife?", ("Tesla", "Edison")),
        ("When was Solaris (1972 film) made?", "When was Solaris (2002 film) made?", ("Solaris (1972 film)", "Solaris (2002 film)")),
        ("When was Paris founded?", "When was Paris Texas founded?", ("Paris", "Paris Texas")),
        ("Who?", "Who?", ("", "")),
        ("", "", ("", "")),
    ],
)
def test_what_is_compared_is_named_where_the_questions_differ(one: str, other: str, named: tuple[str, str]) -> None:
    assert compared_names((one, other)) == named
    assert compared_names((other, one)) == named[::-1]


@given(st.text(max_size=60), st.text(max_size=60))
def test_names_of_what_is_compared_stand_in_the_questions(one: str, other: str) -> None:
    first, second = compared_names((one, other))
    assert first in " ".join(one.split())
    assert second in " ".join(other.split())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("American", "United States"),
        ("British", "United Kingdom"),
        ("French", "France"),
        ("India", "Indian"),
        ("Dutch", "Netherlands"),
        ("Munich, Germany", "German"),
        ("New York", "New York City"),
        ("Spielberg", "Steven Spielberg"),
        ("Kraków", "Krakow"),
        ("3", "3.0"),
        ("7 November 1867", "1867"),
    ],
)
def test_two_names_of_one_thing_are_the_same(one: str, other: str) -> None:
    assert is_same_answer(one, other) is True
    assert is_same_answer(other, one) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("French", "German"),
        ("India", "Indonesia"),
        ("Iran", "Iraq"),
        ("Austria", "Australia"),
        ("North Korea", "South Korea"),
        ("Ulm, Germany", "Paris, France"),
        ("John Smith", "John Brown"),
        ("actor", "director"),
        ("Apollo 11", "Apollo 12"),
        ("7 November 1867", "8 November 1867"),
    ],
)
def test_two_things_are_not_the_same(one: str, other: str) -> None:
    assert is_same_answer(one, other) is False
    assert is_same_answer(other, one) is False


def test_nothing_is_the_same_as_nothing_in_particular() -> None:
    assert is_same_answer("", "Paris") is None
    assert is_same_answer("…", "…") is None
