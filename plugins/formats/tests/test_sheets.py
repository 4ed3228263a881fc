"""Sheets of workbooks are read as they are shown: formats, merged cells, headers, what is hidden, and what stands beside the cells."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

from plugins.formats.tests.made import cells, excel, row, sheet
from tests.faults import fault
from tests.tools.documents.shown import Shown, shown

STYLES = (
    '<numFmts><numFmt numFmtId="170" formatCode="{code}"/></numFmts><fonts><font/><font><b/></font><font><strike/></font></fonts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="170" fontId="0"/><xf numFmtId="0" fontId="1"/><xf numFmtId="0" fontId="2"/></cellXfs>'
)


def read(content: bytes, folder: Path, name: str = "s.xlsx") -> Shown:
    (folder / name).write_bytes(content)
    return shown(folder / name)


def texts(result: Shown) -> list[str]:
    """Return the texts of documents, each on one line."""
    return [document.page_content.replace("\n", " / ") for document in result.documents]


def remarks(result: Shown) -> list[str]:
    return [remark for _, remark in result.remarks]


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def filled(*rows: Sequence[Any]) -> tuple[Workbook, Worksheet]:
    """Return a workbook with a sheet of these rows."""
    book = Workbook()
    page = book.active
    assert isinstance(page, Worksheet)
    for values in rows:
        page.append(list(values))
    return book, page


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.125, "0.0%", "12.5%"),
        (1249.5, "#,##0.00&quot; €&quot;", "1,249.50 €"),
        (1249.5, "#,##0.00 [$€-407]", "1,249.50 €"),
        (42, "00000", "00042"),
        (1.5, "[h]:mm", "36:00"),
        (-3400, "#,##0;(#,##0)", "(3,400)"),
        (4200000, "0.0,,&quot;M&quot;", "4.2M"),
        (2.25, "# ?/?", "2 1/4"),
        (0.3125, "h:mm AM/PM", "7:30 AM"),
        (12345, "0.00E+00", "1.23E+04"),
        (1, "[=1]&quot;yes&quot;;[=0]&quot;no&quot;;0", "yes"),
        (1500, "[>=1000]0.0,&quot;k&quot;;0", "1.5k"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (45358, "dd.mm.yyyy", "2024-03-07"),
        (45672.753472222, "m/d/yy h:mm", "2025-01-15 18:05"),
        (45672, "mmm-yy", "Jan-25"),
        (0.1 + 0.2, "General", "0.3"),
        (12345678901234, "General", "12345678901234"),
        (4.8929002400518298e17, "0", "489290024005183000"),
        (1234567890123456, "0", "1234567890123456"),
    ],
)
def test_numbers_are_written_as_their_format_shows_them(value: float, code: str, text: str, tmp_path: Path) -> None:
    data = cells(["name", "value"], ["Lamp", f'<c r="B2" s="1"><v>{value!r}</v></c>'])
    result = read(excel({"S": data}, styles=STYLES.format(code=code.replace(">=", "&gt;="))), tmp_path)
    assert texts(result) == [f"name: Lamp / value: {text}"]
    assert not result.remarks


def test_built_in_formats_booleans_and_days_from_1904(tmp_path: Path) -> None:
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="10"/><xf numFmtId="14"/></cellXfs>'
    data = cells(
        ["share", "day", "paid"], ['<c r="A2" s="1"><v>0.07</v></c>', '<c r="B2" s="2"><v>43896</v></c>', '<c r="C2" t="b"><v>1</v></c>']
    )
    result = read(excel({"S": data}, styles=styles, book='<workbookPr date1904="1"/>'), tmp_path)
    assert texts(result) == ["share: 7.00% / day: 2024-03-07 / paid: TRUE"]


def test_values_without_text_in_opendocument_are_read_and_texts_are_as_shown(tmp_path: Path) -> None:
    shown_cell = '<table:table-cell office:value-type="percentage" office:value="0.125"><text:p>12.5%</text:p></table:table-cell>'
    bare = '<table:table-cell office:value-type="float" office:value="42"/>'
    result = read(sheet(f"{row('share', 'count')}<table:table-row>{shown_cell}{bare}</table:table-row>"), tmp_path, "s.ods")
    assert texts(result) == ["share: 12.5% / count: 42"]


@fault("documents", "workbook without the values of its formulas", sees="a remark with the cells", kept="the formulas as text")
@pytest.mark.parametrize("full", [False, True])
def test_formulas_without_a_value_are_shown_and_named(full: bool, tmp_path: Path) -> None:
    value = "<v>0</v>" if full else ""
    shared = [f'<c r="B{number}"><f t="shared" si="0">{"A2*$A$1" if number == 2 else ""}</f>{value}</c>' for number in (2, 3)]
    data = cells(["price", "twice"], [3, shared[0]], [4, shared[1]])
    result = read(excel({"S": data}, book=f'<calcPr fullCalcOnLoad="{int(full)}"/>'), tmp_path)
    assert texts(result) == ["price: 3 / twice: =A2*$A$1", "price: 4 / twice: =A3*$A$1"]
    (remark,) = remarks(result)
    assert "B2, B3" in remark


def test_a_formula_with_a_value_is_its_value_and_errors_are_named(tmp_path: Path) -> None:
    formula = '<c r="B2"><f>A2*0</f><v>0</v></c>'
    error = '<c r="B3" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
    result = read(excel({"S": cells(["price", "twice"], [3, formula], [4, error])}), tmp_path)
    assert texts(result) == ["price: 3 / twice: 0", "price: 4 / twice: #DIV/0!"]
    (remark,) = remarks(result)
    assert "B3" in remark


def test_what_is_hidden_is_left_out_and_named(tmp_path: Path) -> None:
    data = cells(["name", "room", "pay"], ["Ines", 204, 51000], ["Otmar", 205, 48000], ["Pia", 206, 47000]).replace(
        '<row r="3"', '<row r="3" hidden="1"'
    )
    columns = '<cols><col min="3" max="3" hidden="1"/></cols>'
    other = cells(["key", "value"], ["password", "hunter"])
    result = read(excel({"S": columns + data, "Old": other, "Very": other}, states={"Old": "hidden", "Very": "veryHidden"}), tmp_path)
    assert texts(result) == ["name: Ines / room: 204", "name: Pia / room: 206"]
    assert sorted(remarks(result)) == ["left out: 1 hidden column", "left out: 1 hidden row", "left out: 2 hidden sheets"]


def test_rows_without_height_and_columns_without_width_are_hidden(tmp_path: Path) -> None:
    data = cells(["name", "room"], ["Ines", 204], ["Otmar", 205]).replace('<row r="3"', '<row r="3" ht="0" customHeight="1"')
    result = read(excel({"S": f'<cols><col min="2" max="2" width="0"/></cols>{data}'}), tmp_path)
    assert "Ines" in "".join(texts(result))
    assert not {"Otmar", "204"} & set("".join(texts(result)).split())
    assert len(result.remarks) == 2


def test_rows_that_a_filter_hides_are_named_as_such(tmp_path: Path) -> None:
    data = cells(["name", "team"], ["Ida", "red"], ["Bo", "blue"], ["Cy", "red"]).replace('<row r="3"', '<row r="3" hidden="1"')
    chosen = '<autoFilter ref="A1:B4"><filterColumn colId="1"><filters><filter val="red"/></filters></filterColumn></autoFilter>'
    result = read(excel({"S": data + chosen}), tmp_path)
    assert texts(result) == ["name: Ida / team: red", "name: Cy / team: red"]
    assert remarks(result) == ["left out: 1 row hidden by a filter"]


def test_hidden_rows_columns_and_sheets_of_opendocument(tmp_path: Path) -> None:
    columns = '<table:table-column/><table:table-column table:visibility="collapse"/>'
    hidden = row("Otmar", "48000").replace("<table:table-row", '<table:table-row table:visibility="collapse"')
    result = read(sheet(columns + row("name", "pay", "room") + row("Ines", "51000", "204") + hidden), tmp_path, "s.ods")
    assert texts(result) == ["name: Ines / room: 204"]
    assert sorted(remarks(result)) == ["left out: 1 hidden column", "left out: 1 hidden row"]


def test_values_that_a_format_hides_are_left_out(tmp_path: Path) -> None:
    data = cells(["name", "pin"], ["Ida", '<c r="B2" s="1"><v>1234</v></c>'])
    result = read(excel({"S": data}, styles=STYLES.format(code=";;;")), tmp_path)
    assert "1234" not in "".join(texts(result))
    assert "left out: 1 value that its format hides" in remarks(result)


def test_struck_cells_and_struck_passages_are_left_out(tmp_path: Path) -> None:
    book, page = filled(["item", "price"], ["Lamp", None], ["Sofa", 99])
    struck, plain = InlineFont(strike=True), InlineFont(b=True)
    page["B2"] = CellRichText(TextBlock(struck, "40 euros"), TextBlock(plain, " 55 euros"))
    page.append(["Stool", 20])
    page["A4"].font = page["B4"].font = Font(strike=True)
    result = read(saved(book), tmp_path)
    assert texts(result) == ["item: Lamp / price: 55 euros", "item: Sofa / price: 99"]
    assert remarks(result) == ["left out: 3 struck passages"]


def test_notes_are_read_with_their_row(tmp_path: Path) -> None:
    book, page = filled(["item", "price"], ["Lamp", 49], ["Sofa", 99])
    page["B2"].comment = Comment("without bulb", "Ida")
    page["D9"].comment = Comment("far away", "Ida")
    assert texts(read(saved(book), tmp_path)) == ["item: Lamp / price: 49 / Note: without bulb", "item: Sofa / price: 99", "Note: far away"]


def test_a_sheet_that_is_a_chart_is_named(tmp_path: Path) -> None:
    book, _ = filled(["a", "b"], [1, 2])
    book.create_chartsheet("Diagram")
    (remark,) = remarks(read(saved(book), tmp_path))
    assert "'Diagram'" in remark


def test_strict_files_and_files_without_the_names_of_cells_are_read(tmp_path: Path) -> None:
    data = cells(["name", "room"], ["Ines", 204]).replace(' r="A1"', "").replace(' r="B2"', "")
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    assert texts(read(excel({"S": data}, main=strict), tmp_path)) == ["name: Ines / room: 204"]


def test_merged_cells_are_filled_and_headers_of_two_rows_are_joined(tmp_path: Path) -> None:
    data = cells(
        ["Prices of 2024"],
        ["Item", "Retail price", None, "Trade price"],
        [None, "until 31 March", "from 1 April", "until 31 March", "from 1 April"],
        ["Lamp", 1200, 1345, 900, 950],
        [None, 1201, 1346, 901, 951],
    )
    spans = "".join(f'<mergeCell ref="{place}"/>' for place in ("A1:E1", "A2:A3", "B2:C2", "D2:E2", "A4:A5"))
    title, first, second = read(excel({"S": f"{data}<mergeCells>{spans}</mergeCells>"}), tmp_path).documents
    assert title.page_content == "Prices of 2024"
    assert first.metadata["heading"] == "Prices of 2024"
    assert "Retail price, from 1 April: 1345" in first.page_content
    assert "Trade price, until 31 March: 901" in second.page_content
    assert second.page_content.startswith("Item: Lamp\n")


def test_merged_cells_of_opendocument(tmp_path: Path) -> None:
    top = (
        "<table:table-row><table:table-cell/>"
        + "".join(
            f'<table:table-cell table:number-columns-spanned="2"><text:p>{name}</text:p></table:table-cell><table:covered-table-cell/>'
            for name in ("Soft water", "Hard water")
        )
        + "</table:table-row>"
    )
    result = read(
        sheet(top + row("Agent", "Summer", "Winter", "Summer", "Winter") + row("Clarex", "20", "22", "24", "26")), tmp_path, "s.ods"
    )
    (line,) = texts(result)
    assert line == "Agent: Clarex / Soft water, Summer: 20 / Soft water, Winter: 22 / Hard water, Summer: 24 / Hard water, Winter: 26"


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (["Plant", 2022, 2023, 2024], ["2022", "2023", "2024"]),
        (["Plant", 1, 2, 3], ["1", "2", "3"]),
        ([None, "Q1", "Q2", "Q3"], ["Q1", "Q2", "Q3"]),
        (["Plant", "2024-01-01", "2024-02-01", "2024-03-01"], ["2024-01-01", "2024-02-01", "2024-03-01"]),
        (["Plant", "score", "score", "sum"], ["score", "score", "sum"]),
    ],
)
def test_years_numbers_dates_and_equal_words_are_names_and_empty_cells_keep_their_place(
    header: list[Any], names: list[str], tmp_path: Path
) -> None:
    result = read(excel({"S": cells(header, ["Oak", 3, None, 5], ["Elm", 7, 8, 9], ["Ash", None, None, 4])}), tmp_path)
    oak, _, ash = texts(result)
    assert oak.endswith(f"Oak / {names[0]}: 3 / {names[2]}: 5")
    assert ash.endswith(f"Ash / {names[2]}: 4")


def test_rows_without_a_header_keep_empty_cells(tmp_path: Path) -> None:
    result = read(excel({"S": cells(["Oak", 3, 8, 5], ["Ash", None, None, 4])}), tmp_path)
    assert texts(result) == ["Oak | 3 | 8 | 5 / Ash |  |  | 4"]


def test_several_tables_have_their_own_titles_and_headers(tmp_path: Path) -> None:
    data = cells(
        ["Sales"], [], ["region", "jan", "feb"], ["North", 1, 2], [], ["Total", 1, 2], [],
        ["Costs"], ["kind", "amount", "note"], ["rent", 500, "flat"], [], ["All amounts in EUR."],
    )  # fmt: skip
    result = read(excel({"S": data}), tmp_path)
    assert texts(result) == [
        "Sales", "region: North / jan: 1 / feb: 2", "region: Total / jan: 1 / feb: 2",
        "Costs", "kind: rent / amount: 500 / note: flat", "All amounts in EUR.",
    ]  # fmt: skip
    assert [document.metadata.get("heading") for document in result.documents] == [None, "Sales", "Sales", None, "Costs", None]
    assert len({document.id for document in result.documents}) == len(result.documents)


def test_tables_of_words_with_titles_have_their_own_headers(tmp_path: Path) -> None:
    data = cells(["Stock"], ["Item", "Colour"], ["bolt", "red"], ["nut", "blue"], [], ["Towns"], ["Town", "Mayor"], ["Moss", "Ida"])
    assert texts(read(excel({"S": data}), tmp_path)) == [
        "Stock", "Item: bolt / Colour: red", "Item: nut / Colour: blue", "Towns", "Town: Moss / Mayor: Ida",
    ]  # fmt: skip


@pytest.mark.parametrize("odd", ["n/a", "#DIV/0!", "=SUM(B2:B3)"])
def test_names_are_a_header_where_a_value_is_missing(odd: str, tmp_path: Path) -> None:
    lines = texts(read(excel({"S": cells(["Part", "Count"], ["bolt", 12], ["nut", odd], ["pin", 14])}), tmp_path))
    assert lines == ["Part: bolt / Count: 12", f"Part: nut / Count: {odd}", "Part: pin / Count: 14"]


def test_tables_side_by_side_are_read_one_after_the_other(tmp_path: Path) -> None:
    data = cells(["name", "height", None, "person", "room"], ["Oak", 20, None, "Ida", 204], ["Elm", 18, None, "Bo", 205])
    result = read(excel({"S": data}), tmp_path)
    assert texts(result) == ["name: Oak / height: 20", "name: Elm / height: 18", "person: Ida / room: 204", "person: Bo / room: 205"]
    assert len({document.id for document in result.documents}) == 4


@pytest.mark.parametrize(
    "rows",
    [
        [["Project", "Harbour"], ["Budget", 1200000], ["Owner", "Ida Keller"], ["Start", "2024-03-01"]],
        [["Company:", "Ramify"], ["City:", "Oslo"], ["Contact:", "Ida"]],
        [["Length", 12], ["Width", 5]],
    ],
)
def test_labels_with_values_are_lines_of_one_text(rows: list[list[Any]], tmp_path: Path) -> None:
    (line,) = texts(read(excel({"S": cells(*rows)}), tmp_path))
    assert line == " / ".join(f"{label.rstrip(':')}: {value}" for label, value in rows)


def test_labels_above_a_table_are_no_header(tmp_path: Path) -> None:
    data = cells(["Station", "Halden"], ["Date", "2024-05-01"], [], ["Hour", "Level", "Flow"], ["08:00", 1.2, 30], ["09:00", 1.3, 31])
    assert texts(read(excel({"S": data}), tmp_path)) == [
        "Station: Halden / Date: 2024-05-01", "Hour: 08:00 / Level: 1.2 / Flow: 30", "Hour: 09:00 / Level: 1.3 / Flow: 31",
    ]  # fmt: skip


def test_parts_of_a_table_are_its_headings_and_its_header_is_not_read_again(tmp_path: Path) -> None:
    data = cells(["Item", "Price"], ["Lamps"], ["Desk lamp", 49], ["Item", "Price"], ["Floor lamp", 99], ["* without tax"])
    result = read(excel({"S": f'{data}<mergeCells><mergeCell ref="A2:B2"/></mergeCells>'}), tmp_path)
    assert texts(result) == ["Lamps", "Item: Desk lamp / Price: 49", "Item: Floor lamp / Price: 99", "* without tax"]
    assert result.documents[1].metadata["heading"] == "Lamps"


def test_units_below_names_belong_to_them(tmp_path: Path) -> None:
    result = read(excel({"S": cells(["Part", "Length", "Weight"], [None, "m", "kg"], ["Bolt", 1.2, 3], ["Nut", 2.2, 4])}), tmp_path)
    assert texts(result)[0] == "Part: Bolt / Length, m: 1.2 / Weight, kg: 3"


@pytest.mark.parametrize("name", ["s.xlsx", "s.ods"])
def test_an_id_is_text_and_names_the_row(name: str, tmp_path: Path) -> None:
    content = (
        excel({"S": cells(["id", "price"], ["TB-42", 210])}) if name.endswith("xlsx") else sheet(row("id", "price") + row("TB-42", "210"))
    )
    (document,) = read(content, tmp_path, name).documents
    assert document.page_content == "id: TB-42\nprice: 210"
    assert "TB-42" in document.metadata["source"]
