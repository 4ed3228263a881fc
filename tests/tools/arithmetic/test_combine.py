"""How the answers of two sub-questions come together, and which names are the same."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ramify.tools.arithmetic.combine import How, as_how, brought_together, labels
from ramify.tools.arithmetic.same_answer import same
from tests.tools.arithmetic.test_arithmetic import LONG

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
    ],
)
def test_two_answers_make_one(how: How, questions: tuple[str, str], answers: tuple[str, str], answer: str) -> None:
    assert brought_together(how, questions, answers) == answer


def test_a_word_for_no_way_leaves_the_question_whole() -> None:
    assert [as_how(text) for text in ("earlier", "", "sideways")] == ["earlier", "single", "single"]


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
    assert labels((one, other)) == named
    assert labels((other, one)) == named[::-1]


@given(st.text(max_size=60), st.text(max_size=60))
def test_names_of_what_is_compared_stand_in_the_questions(one: str, other: str) -> None:
    first, second = labels((one, other))
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
    assert same(one, other) is True
    assert same(other, one) is True


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
    assert same(one, other) is False
    assert same(other, one) is False


def test_nothing_is_the_same_as_nothing_in_particular() -> None:
    assert same("", "Paris") is None
    assert same("…", "…") is None
