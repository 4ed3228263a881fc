"""PDF: what stands raised, side by side, turned, or in the rows of a table is read as a person reads it."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from plugins.formats.tests.made import at, drawn
from tests.tools.documents.shown import shown

STORY = (
    "The ferry to the island of Senja leaves the quay of Lorn at seven in the morning, and comes back when the post has been "
    "sorted. In winter it carries coal for the school, whose two teachers live above the shop of the harbour master, and in "
    "summer it carries guests. The captain has never missed a day, except for the great storm, when the quay was under water "
    "for a week and nobody could leave the house. His logbook lies in the library of the town, where it can be read."
)


def text(tmp_path: Path, *pages: list[str], rotate: int = 0) -> str:
    (tmp_path / "made.pdf").write_bytes(drawn(*pages, rotate=rotate))
    return "\n".join(document.page_content for document in shown(tmp_path / "made.pdf").documents)


def lines(width: int, story: str = STORY) -> list[str]:
    """Return a text in lines of so many characters."""
    broken = [""]
    for word in story.split():
        if len(broken[-1]) + len(word) > width:
            broken.append("")
        broken[-1] = f"{broken[-1]} {word}".strip()
    return broken


def table(rows: Sequence[Sequence[str]], top: float = 700, lefts: Sequence[float] = (72, 220, 300, 380), pitch: float = 18) -> list[str]:
    return [at(left, top - pitch * row, cell) for row, cells in enumerate(rows) for left, cell in zip(lefts, cells, strict=False) if cell]


PRICES = [
    ["Article", "Unit", "Price", "Stock"],
    ["Oak board", "metre", "12.50", "140"],
    ["Ash board", "metre", "", "35"],
    ["Pine batten", "piece", "1.20", "2,300"],
    ["Wood glue", "litre", "8.90", ""],
]
PRICES_READ = ["Article | Unit | Price | Stock", "Oak board | metre | 12.50 | 140", "Ash board | metre |  | 35"]
PRICES_READ += ["Pine batten | piece | 1.20 | 2,300", "Wood glue | litre | 8.90 | "]


def raised(number: str, mark: str, rise: float = 4, height: float = 700) -> list[str]:
    """Return the drawing of a sentence with a number and a raised mark behind it."""
    return [
        f"BT /F1 10 Tf 72 {height} Td (The harbour was dredged for {number}) Tj {rise} Ts /F1 7 Tf ({mark}) Tj 0 Ts /F1 10 Tf "
        f"( of its usual units, it was said.) Tj ET"
    ]


@pytest.mark.parametrize(
    ("number", "mark", "read"),
    [
        ("10", "5", "10^5"),
        ("2", "64", "2^64"),
        ("12 m", "2", "12 m^2"),
        ("10", "-3", "10^-3"),
        ("1911", "1", "1911[1]"),
        ("250", "12", "250[12]"),
    ],
)
@pytest.mark.parametrize("rise", [2.2, 3.5, 5])
def test_a_raised_digit_never_extends_a_number(tmp_path: Path, number: str, mark: str, read: str, rise: float) -> None:
    assert f"dredged for {read} of its usual units" in text(tmp_path, raised(number, mark, rise))


def test_a_raised_number_refers_to_the_note_that_begins_with_it(tmp_path: Path) -> None:
    note = "BT /F1 6 Tf 72 80 Td 2.5 Ts (1) Tj 0 Ts /F1 8 Tf ( By the dredger Saturn, as the register of the port says.) Tj ET"
    body = [at(72, 700 - 12 * number, line) for number, line in enumerate(lines(90))]
    read = text(tmp_path, [*raised("1911", "1", height=720), *body, note])
    assert "1911[1] of its usual units" in read
    assert "[1] By the dredger Saturn" in read


def test_lowered_digits_join_letters_but_no_digits(tmp_path: Path) -> None:
    lowered = (
        "BT /F1 10 Tf 72 700 Td (The dose is 3 mol of H) Tj -2 Ts /F1 7 Tf (2) Tj 0 Ts /F1 10 Tf (O and of CO) Tj -2 Ts /F1 7 Tf (2) Tj ET"
    )
    assert "3 mol of H2O and of CO2" in text(tmp_path, [lowered])


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("order", ["across", "from the right", "one after the other"])
def test_columns_are_read_one_after_the_other(tmp_path: Path, columns: int, order: str) -> None:
    width = 480 / columns
    written = lines(int(width / 5.6))
    length = -(-len(written) // columns)
    places = [(column, row, 72 + column * width, 700 - 12 * row) for column in range(columns) for row in range(length)]
    words = {(column, row): line for (column, row, *_), line in zip(places, written, strict=False)}
    if order == "across":
        places.sort(key=lambda place: place[1])
    elif order == "from the right":
        places.sort(key=lambda place: -place[0])
    page = [at(left, top, words[column, row]) for column, row, left, top in places if (column, row) in words]
    read = text(tmp_path, [at(72, 740, "A ferry to the north, and the man who has been its captain for thirty years", 12), *page])
    assert " ".join(STORY.split()) in " ".join(read.split())


@pytest.mark.parametrize("turn", [90, 180, 270])
@pytest.mark.parametrize("flag", [True, False])
def test_turned_pages_are_read_line_by_line(tmp_path: Path, turn: int, flag: bool) -> None:
    matrix = {90: "0 1 -1 0 612 0", 180: "-1 0 0 -1 612 792", 270: "0 -1 1 0 0 792"}[turn]
    page = ["q", f"{matrix} cm", *(at(60, 500 - 13 * row, line) for row, line in enumerate(lines(80))), "Q"]
    assert STORY in text(tmp_path, page, rotate=turn if flag else 0)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_text_that_lies_on_its_side_is_read_line_by_line(tmp_path: Path, turn: int) -> None:
    assert STORY in text(tmp_path, [at(60, 700 - 13 * row, line) for row, line in enumerate(lines(80))], rotate=turn)


@pytest.mark.parametrize("pitch", [12, 18, 26])
@pytest.mark.parametrize("is_ruled", [True, False])
def test_aligned_rows_are_read_as_rows_of_a_table(tmp_path: Path, pitch: float, is_ruled: bool) -> None:
    rules = [f"66 {700 + pitch * 0.7 - pitch * row} m 450 {700 + pitch * 0.7 - pitch * row} l S" for row in range(6)] if is_ruled else []
    above = [at(72, 760, "The prices of the timber yard of Lorn hold until the end of the month, and for whoever fetches the goods.")]
    below = [at(72, 560, "Whoever orders more than ten metres of one kind of board gets it for a tenth less, if he pays at once.")]
    read = text(tmp_path, [*above, *rules, *table(PRICES, pitch=pitch), *below])
    assert "\n".join(PRICES_READ) in read
    assert read.count(" | ") == 15


def test_a_cell_of_several_lines_is_one_cell(tmp_path: Path) -> None:
    rows = [
        ["Lamp", "brass, with a shade", "49.00"],
        ["", "of green glass", ""],
        ["Chair", "beech", "120.00"],
        ["Bench", "teak, for gardens", "310.00"],
    ]
    drawings = [at(left, 700 - place, cell) for place, cells in zip((0, 12, 36, 60), rows, strict=True)
                for left, cell in zip((72, 200, 380), cells, strict=True) if cell]  # fmt: skip
    read = text(tmp_path, [*table([["Article", "Description", "Price"]], top=724, lefts=(72, 200, 380)), *drawings])
    assert "Article | Description | Price\nLamp | brass, with a shade of green glass | 49.00\nChair | beech | 120.00" in read


def test_a_table_goes_on_over_the_end_of_a_page_with_its_header_once(tmp_path: Path) -> None:
    rows = [[f"Halt {number}", f"{6 + number // 60:02}:{number % 60:02}", f"{number}.50"] for number in range(60)]
    header = [["Station", "Departure", "Fare"]]
    read = text(tmp_path, table([*header, *rows[:34]]), table([*header, *rows[34:]]))
    assert read.count("Station | Departure | Fare") == 1
    assert "Halt 33 | 06:33 | 33.50\nHalt 34 | 06:34 | 34.50" in read


def test_a_header_over_two_columns_belongs_to_both(tmp_path: Path) -> None:
    rows = [["", "Soft water", "", "Hard water", ""], ["Agent", "Summer", "Winter", "Summer", "Winter"], ["Clarex", "10", "12", "14", "16"]]
    rows += [["Purol", "20", "22", "24", "26"], ["Aquafin", "30", "32", "34", "36"]]
    edges = [66, 144, 204, 264, 324, 384]
    rules = [f"66 {713 - 18 * row} m 384 {713 - 18 * row} l S" for row in range(6)]
    rules += [f"{edge} {713 if edge in (66, 144, 264, 384) else 695} m {edge} 623 l S" for edge in edges]
    read = text(tmp_path, [*rules, *table(rows, lefts=(72, 150, 210, 270, 330))])
    assert read.splitlines()[-3:] == ["Clarex | 10 | 12 | 14 | 16", "Purol | 20 | 22 | 24 | 26", "Aquafin | 30 | 32 | 34 | 36"]
    assert read.count("Soft water") == read.count("Hard water") == 2


ADDRESSES = [["Velder and Sons", "Bakery Lindqvist"], ["Harbour Street 4", "Market Square 12"], ["5003 Bergen", "5700 Voss"]]
CONTENTS = [
    [f"{number}. The chapter of the {name}", str(7 * number)] for number, name in enumerate(("sea", "coast", "isles", "rocks", "bay"), 1)
]
STEPS = [["1.", "Open the guard of the saw"], ["2.", "Take out the worn blade"], ["3.", "Put in the new one"], ["4.", "Close the guard"]]
EQUATIONS = [["E = m c + p", "\\(1.1\\)"], ["F = m a", "\\(1.2\\)"], ["U = R I", "\\(1.3\\)"], ["W = F s", "\\(1.4\\)"]]
SOURCES = [["[1]", "A. Moe. Harbours of the south."], ["[2]", "B. Lund. Dredging."], ["[3]", "D. Berg. Tides."], ["[14]", "E. Vik. Ropes."]]
MATRIX = [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]


@pytest.mark.parametrize(
    "rows",
    [ADDRESSES, CONTENTS, STEPS, EQUATIONS, SOURCES, MATRIX],
    ids=["addresses", "contents", "steps", "equations", "sources", "matrix"],
)
def test_other_things_side_by_side_are_no_table(tmp_path: Path, rows: list[list[str]]) -> None:
    lefts = {2: (72, 96) if rows in (STEPS, SOURCES) else (72, 360)}.get(len(rows[0]), (72, 92, 112))
    assert " | " not in text(tmp_path, table(rows, lefts=lefts, pitch=12))


def test_a_program_is_no_table(tmp_path: Path) -> None:
    program = [
        "x = 3        # the number of piers",
        "y = x + 2    # with the new ones",
        "print\\(x, y\\)  # both of them",
        "z = 4        # more",
    ]
    assert " | " not in text(tmp_path, [at(72, 700 - 12 * row, line, font="F2") for row, line in enumerate(program)])


def test_no_text_of_a_page_is_lost_or_doubled(tmp_path: Path) -> None:
    side_by_side = [*table(PRICES, top=690), *table(ADDRESSES, top=580, lefts=(72, 330)), *table(STEPS, top=500, lefts=(72, 96))]
    tall = [at(72 + 16 * number, 400 - 3 * number, f"w{number}", 6) for number in range(30)]
    words = sorted(word for page in (side_by_side, tall) for drawing in page for word in drawing.split("(", 1)[1].rsplit(")", 1)[0].split())
    assert sorted(text(tmp_path, [*side_by_side, *tall]).replace("|", " ").split()) == words


def test_a_record_that_ends_a_page_early_is_not_joined_to_the_next(tmp_path: Path) -> None:
    records = [("Anna Lund", "Net pay in May: 2,310.50 euros"), ("Per Dahl", "He is paid in June"), ("Maria Voss", "Paid by cheque")]
    pages = [[at(72, 700, f"{name}, clerk of the port"), at(72, 686, last)] for name, last in records]
    read = text(tmp_path, *pages)
    assert all(f"{above}\n\n{below}, clerk" in read for (_, above), (below, _) in pairwise(records))


def test_the_size_of_scaled_letters_is_the_size_that_is_seen(tmp_path: Path) -> None:
    page = [f"BT /F1 1 Tf 10 0 0 10 72 {700 - 12 * row} Tm ({line}) Tj ET" for row, line in enumerate(lines(80))]
    assert STORY in text(tmp_path, page)


def test_a_heading_without_text_is_read_as_text(tmp_path: Path) -> None:
    large = [at(72, 730, "Winter tariff", 14), *(at(72, 700 - 12 * place, line) for place, line in enumerate(lines(80)))]
    last = [at(72, 600, "P.O. Box 4444, Janesville", 14)]
    assert text(tmp_path, large + last).endswith("P.O. Box 4444, Janesville")


def test_the_number_of_a_heading_that_a_bookmark_names_is_read(tmp_path: Path) -> None:
    drawings = [at(72, 730, "7.1 Winter tariff", 10), *(at(72, 700 - 12 * place, line) for place, line in enumerate(lines(80)))]
    outlines = "/Outlines << /First << /Title (Winter tariff) /Dest [3 0 R /Fit] >> /Count 1 >> /Lang"
    (tmp_path / "marked.pdf").write_bytes(drawn(drawings).replace(b"/Type /Catalog", f"/Type /Catalog {outlines} (en)".encode()))
    (document,) = shown(tmp_path / "marked.pdf").documents
    assert document.metadata["heading"] == "7.1 Winter tariff"


def test_a_hyphen_of_an_address_stays_at_the_end_of_a_line(tmp_path: Path) -> None:
    begun = [
        at(72, 700 - 12 * place, line)
        for place, line in enumerate([*lines(80), "It is sent to https://lorn.example/online-", "application.html and read there."])
    ]
    assert "https://lorn.example/online-application.html" in text(tmp_path, begun)


def test_each_labelled_line_of_a_record_is_a_line(tmp_path: Path) -> None:
    record = ["Order 7731", "Date: 3 May 2024", "Delivered to: Anna Berg", "The goods: oak boards"]
    assert text(tmp_path, [at(72, 700 - 14 * row, line) for row, line in enumerate(record)]).splitlines() == record


def test_rows_that_begin_with_codes_are_a_table_below_their_header(tmp_path: Path) -> None:
    rows = [["Pump", "Flow", "Head", "Price"], *([f"PX-{number}", str(number % 7), "", f"{number}.50"] for number in range(100, 106))]
    assert "PX-104 | 6 |  | 104.50" in text(tmp_path, table(rows)).splitlines()


def test_a_table_drawn_column_by_column_keeps_single_characters_in_their_rows(tmp_path: Path) -> None:
    columns = [["Tree", "Oak", "Ash", "Elm"], ["Count", "31", "7", "12"], ["Tall", "yes", "x", "yes"], ["Price", "4.50", "3.20", "5.10"]]
    drawing = [
        at(left, 700 - 18 * row, cell) for left, cells in zip((72, 220, 300, 380), columns, strict=True) for row, cell in enumerate(cells)
    ]
    read = text(tmp_path, drawing)
    assert "Tree | Count | Tall | Price\nOak | 31 | yes | 4.50\nAsh | 7 | x | 3.20\nElm | 12 | yes | 5.10" in read


def test_short_rows_below_cells_of_several_lines_belong_to_the_table(tmp_path: Path) -> None:
    rows = [
        ("Valve", ["brass, with a", "long handle", "and a seal"], "12.50"),
        ("Pump", ["cast iron, for", "wells of up", "to eight m"], "9"),
    ]
    drawing, top = table([["Part", "Description", "Price"]]), 680.0
    for part, description, price in [*rows, ("Rod", ["steel"], "7")]:
        drawing += [at(72, top, part), *(at(220, top - 11 * number, line) for number, line in enumerate(description)), at(300, top, price)]
        top -= 45
    read = text(tmp_path, drawing)
    assert "Valve | brass, with a long handle and a seal | 12.50\nPump | cast iron, for wells of up to eight m | 9\nRod | steel | 7" in read


def test_a_cell_with_a_raised_mark_belongs_to_its_row(tmp_path: Path) -> None:
    rows = [["Tree", "Height"], ["Oak", "120"], ["Ash", "95"], ["Elm", "88"], ["Fir", "210"]]
    marks = [f"BT /F1 6 Tf 1 0 0 1 {left} {height} Tm ({mark}) Tj ET" for left, height, mark in ((237, 686, "1"), (231.5, 650, "2"))]
    drawn_rows = [table([row], 700 - 18 * number) for number, row in enumerate(rows)]
    read = text(tmp_path, [*drawn_rows[0], *drawn_rows[1], marks[0], *drawn_rows[2], *drawn_rows[3], marks[1], *drawn_rows[4]])
    assert "Tree | Height\nOak | 120[1]\nAsh | 95\nElm | 88[2]\nFir | 210" in read


def test_items_of_a_list_are_lines_also_on_the_next_page(tmp_path: Path) -> None:
    pages = [[at(72, 780 - 55 * item, f"{item}. Close the valve number {item}") for item in range(1, 13)]]
    pages += [[at(72, 780 - 16 * row, f"{row + 13}. Close the valve number {row + 13}") for row in range(6)]]
    read = text(tmp_path, *pages).splitlines()
    assert [line for line in read if line] == [f"{item}. Close the valve number {item}" for item in range(1, 19)]


def test_short_records_that_fill_a_page_are_not_joined_to_those_of_the_next(tmp_path: Path) -> None:
    def record(number: int, top: float) -> list[str]:
        return [at(72, top, f"Ada Moe {number}"), at(72, top - 14, f"Harbour Street {number}"), at(72, top - 28, f"Tel. 555 {number:04}")]

    first = [drawing for number in range(10) for drawing in record(number, 800 - 75 * number)]
    read = text(tmp_path, first, record(10, 800)).splitlines()
    assert {"Tel. 555 0009", "Ada Moe 10"} <= set(read)


def test_a_sentence_that_is_broken_early_behind_a_comma_goes_on(tmp_path: Path) -> None:
    rows = [
        "The turbine of Halden has three blades of steel,",
        "and was built in the year 2016 by Norvind. It stands on a high and",
        "slender tower.",
    ]
    assert "blades of steel, and was built" in text(tmp_path, [at(72, 700 - 14 * row, line) for row, line in enumerate(rows)])


def test_letters_of_a_turned_line_stay_together(tmp_path: Path) -> None:
    page = [at(72, 700 - 14 * row, line) for row, line in enumerate(lines(80))]
    read = text(tmp_path, [*page, "BT /F1 11 Tf 0 -1 1 0 540 500 Tm (Number of characteristics) Tj ET"])
    assert "Number of characteristics" in read
