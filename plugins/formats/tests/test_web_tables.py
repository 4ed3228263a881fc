"""Tables of web pages: merged cells are filled, headers of several rows joined, empty cells stay in place."""

from pathlib import Path

import pytest

from ramify.tools.documents.load import load_files


def lines(tmp_path: Path, table: str) -> list[str]:
    (tmp_path / "page.html").write_text(f"<main><h1>Doses</h1>{table}</main>", encoding="utf-8")
    (document,) = load_files(tmp_path / "page.html", clean=False)
    return document.page_content.splitlines()


TWO_HEADS = """<thead><tr><th rowspan=2>Agent</th><th colspan=2>Soft</th><th colspan=2>Hard</th></tr>
<tr><th>Summer</th><th>Winter</th><th>Summer</th><th>Winter</th></tr></thead>"""


def test_merged_cells_are_filled_and_the_rows_of_the_header_joined(tmp_path: Path) -> None:
    body = """<tbody><tr><td rowspan=2>Clarex</td><td>10</td><td>12</td><td>14</td><td>16</td></tr>
    <tr><td>20</td><td>22</td><td>24</td><td>26</td></tr><tr><td>Algidol</td><td></td><td>32</td><td>34</td><td>36</td></tr></tbody>"""
    assert lines(tmp_path, f"<table>{TWO_HEADS}{body}</table>") == [
        "Agent | Soft, Summer | Soft, Winter | Hard, Summer | Hard, Winter",
        "Clarex | 10 | 12 | 14 | 16",
        "Clarex | 20 | 22 | 24 | 26",
        "Algidol |  | 32 | 34 | 36",
    ]


@pytest.mark.parametrize("span", ["0", "2", "99999999999", " 2 ", "two"])
def test_a_cell_spans_no_more_than_its_part_of_the_table(tmp_path: Path, span: str) -> None:
    table = f"<tbody><tr><td rowspan='{span}'>A</td><td>b</td></tr><tr><td>c</td></tr></tbody><tbody><tr><td>d</td><td>e</td></tr></tbody>"
    second = "c |" if span == "two" else "A | c"
    assert lines(tmp_path, f"<table>{table}</table>") == ["A | b", second, "d | e"]


def test_a_title_over_all_columns_is_a_line_and_no_column(tmp_path: Path) -> None:
    table = """<tr><th colspan=1000>Prices in euro</th></tr><tr><th>Model</th><th>Price</th></tr><tr><td>Kestrel</td><td>1345</td></tr>
    <tr><td colspan=2>Discontinued</td></tr><tr><td>Merlin</td><td>99</td></tr>"""
    assert lines(tmp_path, f"<table>{table}</table>") == [
        "Prices in euro",
        "Model | Price",
        "Kestrel | 1345",
        "Discontinued",
        "Merlin | 99",
    ]


def test_the_name_of_a_row_is_no_header(tmp_path: Path) -> None:
    table = "<tr><th scope=row>Weight</th><td>40</td></tr><tr><th scope=row>Length</th><td>12</td></tr>"
    assert lines(tmp_path, f"<table>{table}</table>") == ["Weight | 40", "Length | 12"]


def test_the_foot_comes_last_and_the_caption_first(tmp_path: Path) -> None:
    table = """<caption>Costs</caption><thead><tr><td>Name</td><td>Cost</td></tr></thead><tfoot><tr><td>Sum</td><td>9</td></tr></tfoot>
    <tbody><tr><td>Lid</td><td>4</td></tr><tr><td>Seal</td><td>5</td></tr></tbody>"""
    assert lines(tmp_path, f"<table>{table}</table>") == ["Costs", "Name | Cost", "Lid | 4", "Seal | 5", "Sum | 9"]


def test_lines_lists_and_tables_in_a_cell_are_one_line(tmp_path: Path) -> None:
    table = """<tr><th>Part</th><th>Sizes</th></tr><tr><td>Nut<br>steel</td><td><ul><li>small</li><li>large</li></ul></td></tr>
    <tr><td>Bolt</td><td><table><tr><td>M4</td><td>10</td></tr><tr><td>M5</td><td>12</td></tr></table></td></tr>"""
    assert lines(tmp_path, f"<table>{table}</table>") == ["Part | Sizes", "Nut steel | small large", "Bolt | M4, 10; M5, 12"]


def test_ids_within_cells_open_their_place(tmp_path: Path) -> None:
    table = (
        """<tr><th>Model</th><th colspan=2>Price</th></tr><tr id=kestrel><td>Kestrel</td><td id=old>1249</td><td id=new>1345</td></tr>"""
    )
    (tmp_path / "page.html").write_text(f"<main><h1>Doses</h1><table>{table}</table></main>")
    (document,) = load_files(tmp_path / "page.html", clean=False)
    placed = {name: document.page_content[offset:].split()[0] for offset, name in document.metadata["fragments"]}
    assert placed == {"kestrel": "Kestrel", "old": "1249", "new": "1345"}


def test_a_table_for_layout_keeps_its_sections(tmp_path: Path) -> None:
    page = "<table><tr><td>Side</td><td><h2>Pumps</h2><p>The pump weighs 40 kg.</p></td></tr></table>"
    (tmp_path / "page.html").write_text(f"<body>{page}</body>")
    assert "Pumps" in [document.metadata.get("heading") for document in load_files(tmp_path / "page.html", clean=False)]


def test_a_heading_or_a_picture_in_a_cell_under_a_header_is_its_text(tmp_path: Path) -> None:
    head = "<tr><th>Plan</th><th>Price</th><th>Export</th></tr>"
    rows = (
        "<tr><td><h3>Gold</h3></td><td>10</td><td><img alt=yes></td></tr><tr><td><h3>Silver</h3></td><td>5</td><td><img alt=no></td></tr>"
    )
    assert lines(tmp_path, f"<table>{head}{rows}</table>") == ["Plan | Price | Export", "Gold | 10 | yes", "Silver | 5 | no"]
