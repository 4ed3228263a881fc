"""The cells of workbooks as they are stored and as they are shown, without the readers' code."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ramify.formats.fidelity._numbers import number_forms
from ramify.formats.fidelity._office import attribute, local_name, parse
from ramify.formats.fidelity._text import RawText, optional

if TYPE_CHECKING:
    from lxml.etree import _Element

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "mm-dd-yy",
    15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
    37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss",
    47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
_MAX_REPETITIONS = 1000


def raw_xlsx(content: bytes) -> Iterator[RawText]:
    """Yield each cell of a workbook, the texts of its drawings, and its comments."""
    with ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        book_name = next((name for name in _related(archive, "_rels/.rels", "officeDocument") if name in names), "xl/workbook.xml")
        book, folder = parse(archive.read(book_name)), dirname(book_name)
        relations = f"{folder}/_rels/{book_name.rpartition('/')[2]}.rels"
        shared = [
            _string(item) for name in _related(archive, relations, "sharedStrings") if name in names for item in parse(archive.read(name))
        ]
        formats = next((_formats(parse(archive.read(name))) for name in _related(archive, relations, "styles") if name in names), [])
        is_1904 = any(attribute(part, "date1904") in ("1", "true") for part in book.iter("{*}workbookPr"))
        targets = dict(_relations(archive, relations))
        for sheet in book.iter("{*}sheet"):
            name = targets.get(attribute(sheet, "id"), "")
            if name in names:
                place = f"sheet {sheet.get('name')!r}"
                yield optional(sheet.get("name", ""), place)
                root = parse(archive.read(name))
                yield from (text for cell in root.iter("{*}c") if (text := _cell_text(cell, shared, formats, is_1904, place)))
        for name in sorted(names):
            if re.search(r"/comments?[^/]*\.xml$|/threadedComments/|/drawings/drawing\d+\.xml$|/charts/chart\d+\.xml$", name):
                texts = (
                    "".join(part.itertext("{*}t", "{*}text"))
                    for part in parse(archive.read(name)).iter("{*}p", "{*}comment", "{*}threadedComment")
                )
                yield from (RawText(text, name) for text in texts if text.strip())


def _related(archive: ZipFile, relations: str, kind: str) -> Iterator[str]:
    """Yield the names of the parts of a kind."""
    if relations in archive.namelist():
        wanted = {part.get("Id") for part in parse(archive.read(relations)) if part.get("Type", "").endswith(f"/{kind}")}
        yield from (name for identity, name in _relations(archive, relations) if identity in wanted)


def _relations(archive: ZipFile, relations: str) -> Iterator[tuple[str, str]]:
    folder = dirname(dirname(relations))
    for relation in parse(archive.read(relations)) if relations in archive.namelist() else ():
        target = relation.get("Target", "")
        yield relation.get("Id", ""), target.lstrip("/") if target.startswith("/") else normpath(join(folder, target))


def _string(item: "_Element") -> str:
    """Return a stored string without its phonetic reading."""
    return "".join(part.text or "" for part in item.iter("{*}t") if local_name(part.getparent()) != "rPh")


def _formats(styles: "_Element") -> list[str]:
    """Return the number format of each cell style."""
    own = {int(part.get("numFmtId", "0")): part.get("formatCode", "") for part in styles.iter("{*}numFmt")}
    known = {**_BUILT_IN, **own}
    return [known.get(int(style.get("numFmtId", "0")), "General") for styled in styles.iter("{*}cellXfs") for style in styled]


def _cell_text(cell: "_Element", shared: Sequence[str], formats: Sequence[str], is_1904: bool, sheet: str) -> RawText | None:
    """Return a cell's value, shown or stored; None for an empty one."""
    kind, place = cell.get("t", "n"), f"{sheet}, {cell.get('r', '')}"
    if kind == "inlineStr":
        return RawText(_string(cell), place)
    stored = cell.findtext("{*}v")
    if not stored:
        return optional(f"={cell.findtext('{*}f')}", place) if cell.find("{*}f") is not None else None
    if kind == "s":
        return RawText(shared[int(stored)], place) if int(stored) < len(shared) else None
    if kind == "b":
        return RawText("TRUE" if stored == "1" else "FALSE", place, ("True" if stored == "1" else "False", stored))
    style = int(cell.get("s", "0"))
    if kind != "n":
        return RawText(stored, place, (stored[:10], stored.replace("T", " ")))
    return RawText(*number_forms(stored, formats[style] if style < len(formats) else "General", is_1904, place))


def raw_ods(content: bytes) -> Iterator[RawText]:
    """Yield each cell of an OpenDocument workbook, as it is shown or stored, and its comments."""
    with ZipFile(BytesIO(content)) as archive:
        root = parse(archive.read("content.xml"))
    for table in root.iter("{*}table"):
        place = f"sheet {attribute(table, 'name')!r}"
        yield optional(attribute(table, "name"), place)
        for row in table.iter("{*}table-row"):
            times = _repetitions(attribute(row, "number-rows-repeated"))
            for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
                repeated = times * _repetitions(attribute(cell, "number-columns-repeated"))
                shown = "\n".join("".join(_odf_text(part)) for part in cell.iterchildren("{*}p"))
                stored = [attribute(cell, name) for name in ("value", "date-value", "time-value", "string-value", "boolean-value")]
                others = tuple(value for value in (*stored, stored[1].replace("T", " "), stored[1][:10]) if value)
                if shown.strip() or (others and local_name(cell) == "table-cell"):
                    yield from [RawText(shown or others[0], place, others)] * min(repeated, _MAX_REPETITIONS)
    for note in root.iter("{*}annotation", "{*}custom-shape", "{*}text-box"):
        yield from (RawText("".join(_odf_text(part)), local_name(note)) for part in note.iter("{*}p"))


def _odf_text(element: "_Element") -> Iterator[str]:
    """Yield the text of a paragraph without its notes."""
    yield element.text or ""
    for child in element:
        name = local_name(child)
        yield " " if name in ("s", "tab", "line-break") else ""
        if name not in ("annotation", "frame", "note"):
            yield from _odf_text(child)
        yield child.tail or ""


def _repetitions(text: str) -> int:
    """Return a number of repetitions; cells that fill the sheet are read once."""
    times = int(text or 1)
    return times if times <= _MAX_REPETITIONS else 1
