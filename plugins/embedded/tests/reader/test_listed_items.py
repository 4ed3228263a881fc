"""Lists: a question for several things is answered by the items, not by their number or by one of them."""

import pytest

from ramify.embedded.reader.listed_items import listed_answer
from ramify.tools.supporting_sentence import QuestionAnswer, quote_support

MARKS = {"dash": "- {}", "star": "* {}", "bullet": "• {}", "number": "{n}. {}", "bracket": "{n}) {}", "letter": "({a}) {}", "none": "{}"}
ITEMS = ["oak", "grey ash", "elm"]


def listing(mark: str, intro: str = "The chair is made of three woods:") -> str:
    lines = [MARKS[mark].format(item, n=number, a="abc"[number - 1]) for number, item in enumerate(ITEMS, 1)]
    return "\n".join([intro, *([""] if mark == "none" else []), *lines, "", "It is sold since May."])


def answer(question: str, text: str, span: str, heading: str = "") -> str | None:
    start = text.index(span)
    return listed_answer(question, text, heading, start, start + len(span))


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("span", ["three", "three woods", "oak", "elm"])
def test_number_or_item_become_the_items(mark: str, span: str) -> None:
    assert answer("Which woods is the chair made of?", listing(mark), span) == "oak, grey ash, elm"


@pytest.mark.parametrize(
    "question",
    [
        "What woods are there?",
        "What are the woods of the chair?",
        "Of which woods is it made?",
        "Name the woods of the chair.",
        "Which of the woods are used?",
        "Which woods make a chair?",
    ],
)
def test_questions_for_several_things(question: str) -> None:
    assert answer(question, listing("dash"), "three") == "oak, grey ash, elm"


@pytest.mark.parametrize(
    "question", ["How many woods are there?", "Which wood is the cheapest?", "What is the chair made of?", "When is it sold?"]
)
def test_other_questions_keep_their_answer(question: str) -> None:
    assert answer(question, listing("dash"), "oak") is None


def test_an_item_of_something_else_stays_alone() -> None:
    assert answer("Which cities sell it?", listing("dash", "The chair is made of these:"), "oak") is None
    assert answer("Which cities sell it?", listing("dash"), "May") is None


def test_a_heading_announces_a_list_and_a_sentence_may_hold_one() -> None:
    assert answer("Which woods are used?", "- oak\n- elm", "oak", "Chair > Woods") == "oak, elm"
    assert answer("Which woods are used?", "It comes in three woods: oak, ash and elm. It is sold.", "three") == "oak, ash and elm"


def test_long_items_are_given_by_their_labels() -> None:
    oak, elm = "oak: hard, heavy, and good for the floors of halls and churches", "elm (which is rare since a fungus came from the east)"
    text = f"There are two woods:\n- {oak}\n- {elm}"
    assert answer("Which woods are there?", text, "two") == "oak, elm"


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("short_answer", ["oak, grey ash, elm", "grey ash", "three"])
def test_the_quotation_shows_the_items_with_the_line_above_them(mark: str, short_answer: str) -> None:
    quote = quote_support(listing(mark), [QuestionAnswer("Which woods is the chair made of?", short_answer)])
    assert [part for part in ("made of three woods:", *ITEMS) if part not in quote] == []
