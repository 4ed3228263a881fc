"""Codes, versions, lists and full-width digits, from files to the answer of the embedded model."""

from pathlib import Path

import pytest

from ramify import graphs
from ramify.graphs.tool import format_answer
from ramify.tools.index import Index

CODES = """# Fault codes

## F012
The drum is locked. Turn the key and wait for the lamp to go out.

## F021
The tray is empty. Fill the tray with paper before the next job.

## F102
The fan is blocked. Take the dust out of the fan with a brush.

## F120
The clock is wrong. Set the clock by the two buttons at the back.

## F201
The cable is torn. Ask the workshop for another cable of this kind.
"""
ORDERS = "order,buyer,price\n31870045,Kim Lund,40 euros\n31870054,Ida Berg,75 euros\n31780045,Jon Hall,12 euros\n"
STAY = "---\ndate: {date}\n---\n# Rules of stay\n\nA guest pays {price} euros a night for a bed. The rules are kept by the porter.\n"
CHAIR = "# The Lise chair\n\nThe chair comes in three colours:\n\n- slate\n- birch\n- white\n\nIt was built in ２０２６ by Odda Works.\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("exact")
    files = {
        "codes.md": CODES,
        "orders.csv": ORDERS,
        "stay_a.md": STAY.format(date="2021-03-01", price=20),
        "stay_b.md": STAY.format(date="2024-02-15", price=26),
        "chair.md": CHAIR,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    Index.build([folder], folder / "index")
    return str(folder / "index")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does fault F021 mean?", "tray is empty"),
        ("What does fault F201 mean?", "cable is torn"),
        ("What does fault F-102 mean?", "fan is blocked"),
        ("What does fault Ｆ１２０ mean?", "clock is wrong"),
        ("Who is the buyer of order 31870045?", "Kim Lund"),
        ("Who is the buyer of order 31870054?", "Ida Berg"),
        ("Who is the buyer of order ３１７８００４５?", "Jon Hall"),
    ],
)
def test_the_code_in_the_question_stands_in_what_is_answered_from(index: str, question: str, answer: str) -> None:
    assert answer in graphs.ask(question, model="extractive", index=index).answer


@pytest.mark.parametrize("question", ["What does fault F999 mean?", "Who is the buyer of order 31879999?"])
def test_a_code_that_occurs_nowhere_is_unknown_and_says_so(index: str, question: str) -> None:
    result = graphs.ask(question, model="extractive", index=index)
    assert result.answer == "Unknown"
    code = question.split()[-2] if "F999" in question else "31879999"
    assert f"{code!r} occurs in none" in result.explanation


@pytest.mark.parametrize(("question", "answer", "other"), [
    ("How much does a guest pay a night in 2021?", "20 euros", "26 euros"),
    ("How much does a guest pay a night?", "26 euros", "20 euros"),
])  # fmt: skip
def test_the_version_asked_for_answers_and_the_other_one_is_told(index: str, question: str, answer: str, other: str) -> None:
    result = graphs.ask(question, model="extractive", index=index)
    assert result.answer == answer
    (remark,) = [notice for notice in result.to_json()["notices"] if other in notice]
    assert remark in format_answer(result)
    assert {"20 euros": "stay_b.md", "26 euros": "stay_a.md"}[answer] in remark


def test_a_list_answers_with_its_items(index: str) -> None:
    result = graphs.ask("Which colours does the Lise chair come in?", model="extractive", index=index)
    assert [word for word in ("slate", "birch", "white") if word not in result.answer or word not in result.citations[0].quote] == []
    assert "three colours:" in result.citations[0].quote


@pytest.mark.parametrize("query", ["2026", "２０２６"])
def test_full_width_digits_are_found(index: str, query: str) -> None:
    (hits,) = Index.open(index).search([query], k=1, dense=False)
    assert [hit.source for hit in hits] == ["chair.md"]
    assert "２０２６" in hits[0].text


@pytest.mark.parametrize("query", ["What was mended in 3.10.2?", "What was mended in v3.10.2?", "What was mended in ３.１０.２?"])
def test_search_puts_the_section_of_a_version_first(tmp_path: Path, query: str) -> None:
    numbers = [f"{major}.{minor}.{patch}" for major in (2, 3, 10) for minor in (2, 3, 10) for patch in (2, 3, 10)]
    notes = "\n\n".join(
        f"## {number}\nA fault of the printer was mended, and {count} words were changed." for count, number in enumerate(numbers)
    )
    (tmp_path / "notes.md").write_text(f"# Releases\n\n{notes}\n", encoding="utf-8")
    Index.build([tmp_path / "notes.md"], tmp_path / "index")
    (hits,) = Index.open(tmp_path / "index").search([query], k=3, mmr=0.5)
    assert hits[0].metadata["heading"].endswith("3.10.2")
