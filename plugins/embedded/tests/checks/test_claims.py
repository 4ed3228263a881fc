"""A sentence of an answer against passages: its names and figures stand together in one statement, however they are written."""

import pytest

from ramify.embedded.relevance import check_support, find_source
from ramify.tools.reader import Material
from ramify.tools.supporting_sentence import QuestionAnswer

DATES = (
    "3 March 1852", "March 3, 1852", "1852-03-03", "3.3.1852", "03/03/1852", "1852.03.03", "3rd of March, 1852", "Mar 3, 1852",
    "1852년 3월 3일", "3. März 1852", "le 3 mars 1852",
)  # fmt: skip


def verdict(sentence: str, text: str, subject: str = "") -> bool | None:
    return check_support(sentence, [Material(subject, text)])


@pytest.mark.parametrize("written", DATES)
def test_a_date_is_the_same_in_any_order(written: str) -> None:
    text = f"The bridge opened: {written}."
    for right in ("on 3 March 1852", "on March 3, 1852", "in March 1852", "in 1852"):
        assert verdict(f"The bridge opened {right}.", text) is True
    for wrong in ("on 4 March 1852", "on 3 May 1852", "on 3 March 1853", "in May 1852"):
        assert verdict(f"The bridge opened {wrong}.", text) is False


@pytest.mark.parametrize("written", ["1,000", "1000", "1 000", "1.000", "1\u202f000", "one thousand", "１000"])
def test_a_number_is_the_same_in_any_format(written: str) -> None:
    text = f"The hall has {written} seats."
    assert [verdict(f"The hall has {number} seats.", text) for number in ("1,000", "1000", "1 000")] == [True] * 3
    assert [verdict(f"The hall has {number} seats.", text) for number in ("1,001", "100", "10,000")] == [False] * 3


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("It weighs 2.5 kg and costs €12.50.", "It weighs 2.50 kilograms.", "It weighs 2.5 g."),
        ("It weighs 2.5 kg and costs €12.50.", "It costs 12.5 euros.", "It costs 12.50 dollars."),
        ("It ran for twenty-five years.", "It ran for 25 years.", "It ran for 20 years."),
        ("Over six hundred people died.", "Over 600 people died.", "Over 500 people died."),
        ("Badges are returned by 18:00.", "Badges are returned by 6 pm.", "Badges are returned by 8 pm."),
        (
            "The motor starts again after 10 minu-\ntes.",
            "The motor starts again after ten minutes.",
            "The motor starts again after 10 hours.",
        ),
        (
            "The organ was built by the German- born Caspar Thiel.",
            "The German-born Thiel built the organ.",
            "The French-born Thiel built it.",
        ),
        ("The firm moved to Germany in 1990.", "The German firm moved in 1990.", "The Austrian firm moved in 1990."),
        ("Her husband, a Pole, was from France.", "The husband was Polish.", "The husband was Italian."),
        ("Zoë Müller-Łącka won in 2011.", "Zoe Muller-Lacka won in 2011.", "Zoe Muller-Lacka won in 2012."),
        ("The valve must not be closed before the pump stops.", "The valve must not be closed.", "The valve must be closed."),
        ("The contract is not renewed, except by the board.", "The contract is renewed only by the board.", "The contract lasts 3 years."),
        ("E07 | Inlet blocked\nE12 | Motor too hot", "E12: the motor is too hot.", "E07: the motor is too hot."),
        ("port: The default is 8080.\nqueue: The default is 511.", "The default of queue is 511.", "The default is 512."),
        ("The guarantee of the drill is two years.", "The guarantee is 2 years.", "The guarantee is three years."),
        ("The Heron 16 may be towed. The Heron 45 may not.", "The Heron 45 may not be towed.", "The Heron 45 may be towed in 1990."),
        ("IPv6 came in 1901. The following year the office closed.", "The office closed in 1902.", "The office closed in 1904."),
    ],
)
def test_facts_are_compared_by_what_they_say(text: str, right: str, wrong: str) -> None:
    assert verdict(right, text) is not False
    assert verdict(wrong, text) is False


GATE = "Ann Lee designed the gate in 1899. Bob Ray built the tower in 1901; Cy Orr painted it in 1903."


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("Bob Ray built the tower in 1901 and Cy Orr painted it in 1903.", True),
        ("Ray built the tower in 1901.", True),
        ("In 1903 Orr painted the tower.", True),
        ("Ann Lee built the tower in 1901.", False),
        ("Bob Ray built the tower in 1903.", False),
        ("Cy Orr painted the tower in 1901.", False),
        ("Bob Ray painted the tower in 1903, and Cy Orr built it in 1901.", False),
    ],
)
def test_a_figure_stands_with_its_name_in_one_statement(sentence: str, holds: bool) -> None:
    assert verdict(sentence, GATE, "Old gate") is holds


def test_a_conclusion_is_not_marked_unless_the_answer_is_another() -> None:
    materials = [Material("Ann Lee", "Ann Lee died in 1921."), Material("Bob Ray", "Bob Ray died in 1934.")]
    asked = [
        QuestionAnswer("Who lived longer, Ann Lee or Bob Ray?", "Bob Ray"),
        QuestionAnswer("When did Ann Lee die?", "1921"),
        QuestionAnswer("When did Bob Ray die?", "1934"),
    ]
    right = (
        "So Ray lived longer.",
        "Bob Ray lived longer than Ann Lee.",
        "Ray outlived Lee.",
        "Ray died thirteen years later.",
        "They differ.",
    )
    assert [text for text in right if check_support(text, materials, asked) is False] == []
    assert [check_support(text, materials, asked) for text in ("So Lee lived longer.", "Lee lived longer than Ray.")] == [False, False]
    yes = [QuestionAnswer("Are both painters?", "Yes")]
    assert [check_support(text, materials, yes) for text in ("Yes.", "No.")] == [None, False]


def test_the_passage_that_says_a_sentence_is_found() -> None:
    materials = [Material("Old gate", GATE), Material("New gate", "The new gate is of oak."), Material("Moat", "The moat is dry.")]
    sentences = (
        "The new gate is of oak.",
        "The tower was built by Bob Ray in 1901.",
        "The moat holds pike.",
        "The new gate is not of oak.",
    )
    assert [find_source(sentence, materials) for sentence in sentences] == [1, 0, None, None]
