"""Text as it was written before UTF-8, and tables however their columns are parted."""

from pathlib import Path

import pytest

from tests.tools.documents.shown import shown


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Die Brücke über die Arda bei Köln wurde 1958 eröffnet – für „alle“ Fußgänger."),
        ("cp1251", "Мост через реку Арду был открыт в тысяча девятьсот пятьдесят восьмом году."),
        ("koi8_r", "Мост через реку Арду был открыт в тысяча девятьсот пятьдесят восьмом году."),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy na mostě přes řeku."),
        ("gb18030", "这座桥于一九五八年通车，是河上最古老的桥梁之一。"),
        ("cp932", "この橋は千九百五十八年に開通しました。川で最も古い橋の一つです。"),
        ("cp949", "이 다리는 천구백오십팔 년에 개통되었습니다. 강에서 가장 오래된 다리입니다."),
    ],
)
def test_legacy_encodings_are_read_and_named(encoding: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(text.encode(encoding))
    found = shown(tmp_path / "old.txt")
    assert [document.page_content for document in found.documents] == [text]
    assert found.remarks == [("old.txt", f"read as {encoding}")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_read_without_a_remark(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_bytes("ort;höhe\nKöln;53\nZürich;408\n".encode(encoding))
    found = shown(tmp_path / "new.csv")
    assert [document.page_content for document in found.documents] == ["ort: Köln\nhöhe: 53", "ort: Zürich\nhöhe: 408"]
    assert not found.remarks


@pytest.mark.parametrize("suffix", ["txt", "csv"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_without_a_byte_order_mark_is_read_and_named(encoding: str, suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"new.{suffix}").write_bytes("ort,höhe\nKöln am Rhein,53\n".encode(encoding))
    found = shown(tmp_path / f"new.{suffix}")
    assert ["Köln am Rhein" in document.page_content for document in found.documents] == [True]
    assert found.remarks == [(f"new.{suffix}", f"read as {encoding}")]


def test_a_few_bytes_that_are_no_utf_8_do_not_change_the_rest(tmp_path: Path) -> None:
    text = "Die Brücke über die Arda bei Köln wurde für Fußgänger eröffnet. " * 10
    (tmp_path / "new.txt").write_bytes(text.encode() + b"\xff.")
    found = shown(tmp_path / "new.txt")
    assert found.documents[0].page_content == text + "\N{REPLACEMENT CHARACTER}."
    assert [name for name, _ in found.remarks] == ["new.txt"]


@pytest.mark.parametrize("content", [b"\x7fELF\x02\x01\x01\0\0", b"\x00\x01\x02\x03" * 100])
def test_binary_files_are_rejected(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "program.txt").write_bytes(content)
    assert shown(tmp_path / "program.txt").skipped == [("program.txt", "binary, not text")]


@pytest.mark.parametrize(
    "table",
    [
        'name,built,note\nLorn,1958,"two towers, one ""new"""\nKell,1712,\n',
        'name;built;note\nLorn;1958;"two towers, one ""new"""\nKell;1712;\n',
        'name\tbuilt\tnote\nLorn\t1958\ttwo towers, one "new"\nKell\t1712\t\n',
        "name|built|note\nLorn|1958|'two towers, one \"new\"'\nKell|1712|\n".replace("'", ""),
    ],
)
def test_tables_are_read_however_their_columns_are_parted(table: str, tmp_path: Path) -> None:
    (tmp_path / "bridges.csv").write_text(table, encoding="utf-8")
    first, second = shown(tmp_path / "bridges.csv").documents
    assert first.page_content == 'name: Lorn\nbuilt: 1958\nnote: two towers, one "new"'
    assert second.page_content == "name: Kell\nbuilt: 1712"


def test_a_table_without_a_header_keeps_its_first_row(tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text("Lorn,1958,2\nKell,1712,3\n", encoding="utf-8")
    assert [one.page_content.splitlines()[0] for one in shown(tmp_path / "plain.csv").documents] == ["column 1: Lorn", "column 1: Kell"]


def test_years_may_name_columns(tmp_path: Path) -> None:
    (tmp_path / "years.csv").write_text("gauge,2019,2020\nKell,812.5,640\nLorn,700,655.1\n", encoding="utf-8")
    assert shown(tmp_path / "years.csv").documents[0].page_content == "gauge: Kell\n2019: 812.5\n2020: 640"


def test_lines_may_end_as_they_did_on_old_machines_and_cells_may_be_long(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes(b"name,text\rLorn," + b"long " * 50_000 + b"\rKell,short\r")
    assert [document.id for document in shown(tmp_path / "old.csv").documents] == ["old.csv#1", "old.csv#2"]
