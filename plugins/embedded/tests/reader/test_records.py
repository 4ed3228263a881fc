"""Tables and records in a passage: the cell that a question asks for, and when none is."""

import pytest

from ramify.embedded.reader.short_answers import find_asked_cell, find_cells, is_empty_value

TABLE = (
    "Prices without tax.\n\nNo. | Part | Shelf | Price\n80-11 | V-belt set, SM 80 | B2 | 57.00\n80-90 | Scraper blades, DV 12 | C3 | 9.70\n"
)
FORMS = "Name: Ada Reed\nRole: boss\nPhone: 4711\n\nName: Bob Mu\nRole: cook\nPhone: 12"

MARKDOWN = """\
| Product | Price | Weight |
|---|---:|---|
| Pump A | 80 EUR | 2 kg |
| Pump B | 95 EUR | |
| Valve C | 12 EUR | 0.4 kg |
"""


CORNER = " | May | June | July | \nBergen | 48 |  | 34 | \nMoss | 51 | 7 |  | wet\n"
JOINED = "Agent: Clarex\nRetail price of the small bottle, from 1 April (EUR): 12\nRetail price of the large bottle, from 1 May (EUR): 31\n"
COLUMNS = "Pump      Torque of the lid  Weight\nPX-1490   240                9\nPX-1497   277                8\n"


@pytest.mark.parametrize(
    ("text", "question", "value"),
    [
        (CORNER, "How much rain did Bergen have in July?", "34"),
        (CORNER.strip(), "How much rain did Bergen have in May?", "48"),
        (CORNER, "How much rain did Moss have in June?", "7"),
        (CORNER.replace("July", "Mar"), "How much rain did Bergen have in March?", "34"),
        (JOINED, "What is the price of the large bottle of Clarex from May?", "31"),
        (COLUMNS, "What is the torque of the lid of PX-1497?", "277"),
        (COLUMNS, "What is the weight of PX-1490?", "9"),
        (TABLE, "Which shelf are the scraper blades for the DV 12 on?", "C3"),
        (TABLE, "What is the price of a V-belt set?", "57.00"),
        (MARKDOWN, "What does Valve C weigh?", "0.4 kg"),
        (MARKDOWN, "What does Pump B weigh?", ""),
        (MARKDOWN, "What does Pump B cost?", "95 EUR"),
        (FORMS, "What is the role of Ada Reed?", "boss"),
        (FORMS, "What's Bob Mu's phone number?", "12"),
    ],
)
def test_the_cell_in_the_named_row_under_the_nearest_field_is_asked_for(text: str, question: str, value: str) -> None:
    cell = find_asked_cell(question, find_cells(text))
    assert cell is not None
    assert (cell.text, text[cell.start : cell.end]) == (value, value)


@pytest.mark.parametrize("question", ["What does Ada Reed weigh?", "What is the role of Carla Diaz?", "Who wrote the list?"])
def test_no_cell_is_asked_for_where_the_row_or_the_field_is_not_there(question: str) -> None:
    assert find_asked_cell(question, find_cells(FORMS)) is None


PARTED = "Name: Ada Reed\nRole: boss\n---\nProduct: Pump A1\nPrice: 80 EUR\n"


@pytest.mark.parametrize("question", ["What is the price of Ada Reed?", "What role does the Pump A1 have?"])
def test_a_rule_parts_records(question: str) -> None:
    assert find_asked_cell(question, find_cells(PARTED)) is None
    assert find_asked_cell("What is the price of the Pump A1?", find_cells(PARTED)) is not None


def test_prose_with_a_colon_and_a_single_row_are_no_records() -> None:
    assert find_cells("He said: come in.\nThen he left.") == []
    assert find_cells("one | two") == []


def test_a_cell_has_its_span() -> None:
    assert all(TABLE[cell.start : cell.end] == cell.text for cell in find_cells(TABLE))
    assert {cell.field for cell in find_cells(TABLE)} == {"No.", "Part", "Shelf", "Price"}


def test_a_title_before_a_table_is_no_column_of_it() -> None:
    context = f"Prices: {MARKDOWN}"
    cells = find_cells(context, len("Prices: "))
    assert [cell.text for cell in cells] == [cell.text for cell in find_cells(MARKDOWN)]
    assert all(context[cell.start : cell.end] == cell.text for cell in cells)


def test_a_cell_without_a_value_is_empty() -> None:
    assert all(map(is_empty_value, ("n/a", "–", "", "Vacant")))
    assert not is_empty_value("0")
