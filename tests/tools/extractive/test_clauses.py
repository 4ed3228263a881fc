"""A question for a clause by its number is answered with its lines."""

import pytest

from ramify.tools.extractive.clauses import clause_lines
from ramify.tools.reader.reading import PassageText

CONTRACT = """2.1 The seller delivers.
(a) within 14 days;
(b) within 30 days if imported:
(i) by ship, or
(ii) by rail.
(c) at the gate.
2.2 The buyer collects."""
LIMIT = "(a) The limit is 9 pounds.\n(b) Clause 2.1 (b) is not affected."
STEPS = "1. Open the guard\n4. Press the green button\n5 people watch it."


def passage(title: str, text: str) -> PassageText:
    """Return a passage."""
    return PassageText(title=title, text=text, source=title)


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("What does clause 2.1 (a) say?", ["(a) within 14 days;"]),
        ("What does clause 2.1(b) say?", ["(b) within 30 days if imported:", "(i) by ship, or", "(ii) by rail."]),
        ("What does Clause 2.1 (b)(ii) say", ["(ii) by rail."]),
        ("What is said in clause 2.1?", []),
        ("What does section 2.2 require?", ["2.2 The buyer collects."]),
        ("What is step 4?", ["4. Press the green button", "5 people watch it."]),
        ("What does paragraph 3.1 (a) state?", ["(a) The limit is 9 pounds."]),
        ("What does clause 7 say?", []),
        ("What is step 5?", []),
        ("What does the clause say?", []),
    ],
)
def test_the_lines_of_a_clause(question: str, lines: list[str]) -> None:
    passages = [passage("3 Liability > 3.1 Limit", LIMIT), passage("Contract", CONTRACT), passage("Press", STEPS)]
    assert [line for _, line in clause_lines(question, passages, 8)] == lines
