"""What is deep inside or far out in a file of a rich format is found, or the file is named: the files beside it are read."""

from pathlib import Path

import pytest

from plugins.formats.tests.made import docx, opendocument, page, row, sheet, workbook
from tests.faults import fault
from tests.tools.documents.test_beside_a_good_file import beside, folder

__all__ = ["folder"]
CELLS = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>outer</w:t></w:r></w:p>", "</w:tc></w:tr></w:tbl>"
TABLE = "<table:table><table:table-row><table:table-cell>", "</table:table-cell></table:table-row></table:table>"
BOX = "<text:p>around<draw:frame><draw:text-box>", "</draw:text-box></draw:frame></text:p>"


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("deep.html", page("<div>" * 5000 + "<p>all the way down</p>" + "</div>" * 5000 + "<p>below</p>"), "all the way down\n\nbelow"),
        ("deep.html", page("<b>one " * 5000 + "all the way down" + "</b>" * 5000), "one all the way down"),
        ("far.xlsx", workbook({"A1": "near", "XFD1048576": "far away"}), "near\nfar away"),
        ("far.ods", sheet(row("near") + row(empty=16384, rows=1048574) + row("far away", empty=16383)), "near\nfar away"),
        ("deep.docx", docx(CELLS[0] * 60 + "<w:p><w:r><w:t>innermost</w:t></w:r></w:p>" + CELLS[1] * 60), "innermost"),
        ("deep.odt", opendocument("text", TABLE[0] * 70 + "<text:p>innermost</text:p>" + TABLE[1] * 70), "innermost"),
        ("boxes.odt", opendocument("text", BOX[0] * 70 + "<text:p>innermost</text:p>" + BOX[1] * 70), "innermost"),
        ("head.eml", b"To: " + b"(" * 5000 + b"\nSubject: What it is about\n\nWhat it says.\n", "What it says."),
    ],
)
@fault("documents", "text deep inside or far out in a file", sees="found", kept="the files beside it", code=0)
def test_what_is_far_or_deep_is_found(name: str, content: bytes, text: str, folder: Path) -> None:
    (folder / name).write_bytes(content)
    texts, skipped = beside(folder)
    assert "".join(texts.values()).count(text) == 1
    assert not skipped


def test_what_is_nested_too_deeply_is_named(folder: Path) -> None:
    (folder / "deep.docx").write_bytes(docx(CELLS[0] * 1000 + CELLS[1] * 1000))
    texts, skipped = beside(folder)
    assert (texts, skipped) == ({}, {"deep.docx": "too deeply nested"})
