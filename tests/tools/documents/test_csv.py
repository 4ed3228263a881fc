"""Tables of separated values: their separator, header, what stands above it, and quotes that do not fit."""

from pathlib import Path

import pytest

from tests.faults import fault
from tests.tools.documents.shown import Shown, shown


def read(content: str | bytes, folder: Path, name: str = "t.csv") -> Shown:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return shown(folder / name)


def texts(found: Shown) -> list[str]:
    return [document.page_content.replace("\n", " / ") for document in found.documents]


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;", "\ufeffsep=;", "sep=;;", "\r\nsep=;", "sep=|"])
def test_a_line_that_names_the_separator_is_no_header(first: str, tmp_path: Path) -> None:
    assert texts(read(f"{first}\r\nname;city\r\nÅsa;Malmö, Sweden\r\n", tmp_path)) == ["name: Åsa / city: Malmö, Sweden"]


def test_a_separator_may_be_named_that_is_not_guessed(tmp_path: Path) -> None:
    assert texts(read("sep=:\nname:city\nÅsa:Malmö\n", tmp_path)) == ["name: Åsa / city: Malmö"]


@pytest.mark.parametrize(
    ("above", "text"),
    [
        ("Report of the water works\nCreated: 2024-05-01\n\n", "Report of the water works / Created: 2024-05-01"),
        ("Report of 2024;;\nCreated;2024-05-01;\n;;\n", "Report of 2024 / Created;2024-05-01"),
        ("# exported by a tool\n# on Monday\n", "# exported by a tool / # on Monday"),
    ],
)
def test_titles_and_comments_above_a_header_are_text(above: str, text: str, tmp_path: Path) -> None:
    found = read(f"{above}Station;Level m;Date\nA;1,2;2024-04-30\nB;3,4;2024-04-30\n", tmp_path)
    assert texts(found) == [
        text,
        "Station: A / Level m: 1,2 / Date: 2024-04-30",
        "Station: B / Level m: 3,4 / Date: 2024-04-30",
    ]
    assert len({document.id for document in found.documents}) == 3


def test_a_comment_may_be_the_header(tmp_path: Path) -> None:
    assert texts(read("# run 7\n# time,temp\n0.1,20\n0.2,21\n", tmp_path)) == ["# run 7", "time: 0.1 / temp: 20", "time: 0.2 / temp: 21"]


@pytest.mark.parametrize("table", ["#name,city\nÅsa,Malmö\nBo,Lund\n", "# all members\n#name,city\nÅsa,Malmö\n"])
def test_a_commented_header_may_have_words_below_it(table: str, tmp_path: Path) -> None:
    assert "name: Åsa / city: Malmö" in texts(read(table, tmp_path))


@pytest.mark.parametrize(
    "header",
    [
        "Agent,Soft water,,Hard water,\n,Summer,Winter,Summer,Winter\n",
        ",Soft water,,Hard water,\nAgent,Summer,Winter,Summer,Winter\n",
        "Results,,,,\n,Soft water,,Hard water,\nAgent,Summer,Winter,Summer,Winter\n",
    ],
)
def test_a_header_of_two_rows_is_joined(header: str, tmp_path: Path) -> None:
    found = texts(read(f"{header}Clarex,10,12,14,16\nBlanco,20,,24,26\n", tmp_path))
    assert found[-2] == "Agent: Clarex / Soft water, Summer: 10 / Soft water, Winter: 12 / Hard water, Summer: 14 / Hard water, Winter: 16"
    assert found[-1] == "Agent: Blanco / Soft water, Summer: 20 / Hard water, Summer: 24 / Hard water, Winter: 26"


def test_tables_below_each_other_have_their_own_titles_and_headers(tmp_path: Path) -> None:
    found = read("Stock\nitem,count\nbolt,12\n\nnut,14\n\nPrices\nitem,price,unit\nbolt,3,EUR\n", tmp_path)
    assert texts(found) == [
        "Stock", "item: bolt / count: 12", "item: nut / count: 14", "Prices", "item: bolt / price: 3 / unit: EUR",
    ]  # fmt: skip
    assert len({document.id for document in found.documents}) == 5


@pytest.mark.parametrize("table", ["Name:;Sea Otter\nBuilt:;1987\n", "Name;Sea Otter\nBuilt;1987\nPort;Halden\nLength;11.4 m\n"])
def test_labels_with_values_are_lines_of_one_text(table: str, tmp_path: Path) -> None:
    (line,) = texts(read(f"Boats of 2024\n{table}", tmp_path))
    assert line.startswith("Boats of 2024 / Name: Sea Otter / Built: 1987")


def test_columns_with_names_are_not_labels_where_values_are_missing(tmp_path: Path) -> None:
    assert texts(read("name,age\nÅsa,3\nBo,n/a\nCy,5\n", tmp_path))[0] == "name: Åsa / age: 3"


def test_columns_with_one_name_are_all_read_in_order(tmp_path: Path) -> None:
    assert texts(read("name,score,name,score\nAsa,3,Bo,4\n", tmp_path)) == ["name: Asa / score: 3 / name: Bo / score: 4"]


@pytest.mark.parametrize(
    ("table", "first"),
    [
        ("name,tags\nA,x;y\nB,z;w\nC,q;r\n", "name: A / tags: x;y"),
        ("a;b;c\n1,2;3,4;5,6\n1,3;3,5;5,7\n", "a: 1,2 / b: 3,4 / c: 5,6"),
        ("1,2;3,4;5,6\n1,3;3,5;5,7\n", "column 1: 1,2 / column 2: 3,4 / column 3: 5,6"),
        ("note\nHello, world\nI like tea, coffee, and milk\nYes, sir\n", "note: Hello, world"),
        ("depth\n1,5\n-2,7\n", "depth: 1,5"),
        ("name\twords\nA\tone, two\nB\tthree, four\n", "name: A / words: one, two"),
        ("name|words\nA|one,two\nB|three,four\n", "name: A / words: one,two"),
        ("a~b~c\n1~x, y~3\n2~z~4\n", "a: 1 / b: x, y / c: 3"),
        ("name, city\nAsa, Malmö\nBo, Oslo\n", "name: Asa / city: Malmö"),
        ('name,note\nA,"said \\"hi\\", ok"\n', 'name: A / note: said "hi", ok'),
    ],
)
def test_the_separator_is_what_all_rows_agree_on(table: str, first: str, tmp_path: Path) -> None:
    assert texts(read(table, tmp_path))[0] == first


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (",2019,2020\nOak,3,\nAsh,,4\n", ["Oak / 2019: 3", "Ash / 2020: 4"]),
        ("plant,1,2,3\nOak,3,,5\n", ["plant: Oak / 1: 3 / 3: 5"]),
        ("plant,2024-01-01,2024-02-01\nOak,,5\n", ["plant: Oak / 2024-02-01: 5"]),
        ("1,2,3\n4,5,6\n", ["column 1: 1 / column 2: 2 / column 3: 3", "column 1: 4 / column 2: 5 / column 3: 6"]),
        ("Ann,Oslo\nBo,Oslo\n", ["column 1: Ann / column 2: Oslo", "column 1: Bo / column 2: Oslo"]),
        ("week,1,2,3\nNorth,10,20,30\nSouth,11,21,31\n", ["week: North / 1: 10 / 2: 20 / 3: 30", "week: South / 1: 11 / 2: 21 / 3: 31"]),
        ("depth,10,20,50\nHorten,4.1,4.0,3.9\n", ["depth: Horten / 10: 4.1 / 20: 4.0 / 50: 3.9"]),
        ("alloy;10 %;20 %;50 %\nbrass;1;;3\n", ["alloy: brass / 10 %: 1 / 50 %: 3"]),
        ("A,10,20,50\nB,4,40,90\n", ["column 1: A / column 2: 10 / column 3: 20 / column 4: 50",
                                    "column 1: B / column 2: 4 / column 3: 40 / column 4: 90"]),
        ("a,b\n1,2,3\n4\n", ["a: 1 / b: 2 / column 3: 3", "a: 4"]),
        ("a,b,\n1,2,\n", ["a: 1 / b: 2"]),
        ("x,y\nr1,1,2\nr2,3,4\n", ["r1 / x: 1 / y: 2", "r2 / x: 3 / y: 4"]),
        ("a,b\n1,2\na,b\n3,4\n", ["a: 1 / b: 2", "a: 3 / b: 4"]),
        ("a,b\nx,null\n", ["a: x / b: null"]),
        ("part,length,weight\n,m,kg\nbolt,1.2,3\n", ["part: bolt / length, m: 1.2 / weight, kg: 3"]),
    ],
)  # fmt: skip
def test_values_stay_under_their_names(table: str, rows: list[str], tmp_path: Path) -> None:
    assert texts(read(table, tmp_path)) == rows


@fault(
    "documents", "quotes in a table that do not enclose a cell", sees="a remark with the lines", kept="all rows, with the quotes as text"
)
def test_quotes_that_do_not_fit_are_text_and_named(tmp_path: Path) -> None:
    found = read('name,note\nA,"said "hi" to me"\nB,"two\nlines"\nC,"never closed\nD,fine\n', tmp_path)
    assert texts(found) == [
        'name: A / note: "said "hi" to me"',
        "name: B / note: two / lines",
        'name: C / note: "never closed',
        "name: D / note: fine",
    ]
    assert not found.skipped
    ((_, remark),) = found.remarks
    assert "line 2, 5" in remark


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"])
def test_wide_characters_are_read_with_and_without_a_mark(encoding: str, tmp_path: Path) -> None:
    found = read("name;city\nÅsa;Malmö\nJörg;Köln\n".encode(encoding), tmp_path)
    assert texts(found) == ["name: Åsa / city: Malmö", "name: Jörg / city: Köln"]
    assert [remark for _, remark in found.remarks] == ([] if encoding == "utf-32" else [f"read as {encoding}"])


def test_a_header_without_rows_is_named(tmp_path: Path) -> None:
    ((_, reason),) = read("station,level\n", tmp_path).skipped
    assert "station, level" in reason


def test_an_id_is_text_and_the_citation_names_it(tmp_path: Path) -> None:
    (document,) = read("id,product,price\nTB-0042,Round table,210\n", tmp_path).documents
    assert document.page_content == "id: TB-0042\nproduct: Round table\nprice: 210"
    assert document.metadata["source"] == "t.csv#TB-0042"


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_numbers_names_and_nested_values_of_json_are_as_in_the_file(name: str, tmp_path: Path) -> None:
    record = (
        '{"id": 7, "price": 1.10, "big": 12345678901234567890, "far": 1e400, "score": 3, "score": 4, "in": {"a": 2.50, "b": [true, null]}}'
    )
    (document,) = read(record, tmp_path, name).documents
    assert document.page_content.splitlines() == [
        "id: 7", "price: 1.10", "big: 12345678901234567890", "far: 1e400", "score: 3", "score: 4", 'in: {"a": 2.50, "b": [true, null]}',
    ]  # fmt: skip
    assert document.metadata["source"] == f"{name}#7"


def test_words_in_nested_values_stay_apart_at_line_breaks(tmp_path: Path) -> None:
    (document,) = read('{"at": {"note": "first line\\r\\nnext\\tline"}}', tmp_path, "t.json").documents
    assert document.page_content == 'at: {"note": "first line next line"}'


def test_fields_beside_a_list_of_records_are_read(tmp_path: Path) -> None:
    assert texts(read('{"updated": "2024-05-01", "items": [{"name": "A"}, {"name": "B"}]}', tmp_path, "t.json")) == [
        "name: A",
        "name: B",
        "updated: 2024-05-01",
    ]


def test_a_column_without_values_is_named(tmp_path: Path) -> None:
    found = read("name,note,city\nAsa,,Malmö\nBo,,Oslo\n", tmp_path)
    assert texts(found) == ["name: Asa / city: Malmö", "name: Bo / city: Oslo"]
    assert [remark for _, remark in found.remarks] == ["left out: 1 name of an empty column"]
