"""Read the parts of Excel workbooks that all sheets share: the list of sheets, styles and strings."""

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple
from zipfile import ZipFile

from ramify.formats.office.containers import iterate_xml, parse_xml
from ramify.formats.sheets._number_format import built_in_format
from ramify.tools.documents.properties import replace_surrogates

if TYPE_CHECKING:
    from lxml.etree import _Element

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


class Style(NamedTuple):
    """The style of a cell: the code of its number format, and whether its text is struck through or bold."""

    code: str = "General"
    struck: bool = False
    bold: bool = False


class Part(NamedTuple):
    """A sheet of a workbook: its name, the path of its part, the kind of sheet and whether it is hidden."""

    name: str
    path: str
    kind: str
    is_hidden: bool


class String(NamedTuple):
    """A text in a workbook, and the passages of it that are struck through, which the text is without."""

    text: str
    struck: tuple[str, ...] = ()


class Workbook:
    """A workbook: the parts that all its sheets share."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._names = {name.lower(): name for name in archive.namelist()}
        main = next((path for kind, path in self.related("") if kind == "officeDocument"), "xl/workbook.xml")
        workbook, targets = self.part(main), self.targets(main)
        properties, calculation = workbook.find("{*}workbookPr"), workbook.find("{*}calcPr")
        self.from_1904 = properties is not None and is_on(properties.get("date1904"))
        self.is_computed = calculation is None or not is_on(calculation.get("fullCalcOnLoad"))
        self.parts = []
        for sheet in workbook.iterfind("{*}sheets/{*}sheet"):
            kind, path = targets.get(next((value for name, value in sheet.items() if name.endswith("}id")), ""), ("", ""))
            kind = kind if path.lower() in self._names else ""
            self.parts.append(Part(sheet.get("name", ""), path, kind, sheet.get("state", "visible") != "visible"))
        paths = dict(self.related(main))
        self.styles = self._read_styles(paths.get("styles", ""))
        self.strings = self._read_strings(paths.get("sharedStrings", ""))

    def part(self, path: str) -> "_Element":
        """Return the root of a part."""
        return parse_xml(self.content(path))

    def content(self, path: str) -> bytes:
        """Return the bytes of a part, whatever the case of its name."""
        return self._archive.read(self._names.get(path.lower(), path))

    def targets(self, path: str) -> dict[str, tuple[str, str]]:
        """Return what a part refers to: the kind and path by the id of the relationship."""
        folder, name = dirname(path), path.rpartition("/")[2]
        relations = join(folder, "_rels", f"{name}.rels")
        if relations.lower() not in self._names:
            return {}
        return {
            relation.get("Id", ""): (
                relation.get("Type", "").rpartition("/")[2],
                normpath(join("/", folder, relation.get("Target", ""))).lstrip("/"),
            )
            for relation in self.part(relations).iterfind("{*}Relationship")
            if relation.get("TargetMode") != "External"
        }

    def related(self, path: str, *kinds: str) -> Iterator[tuple[str, str]]:
        """Yield kind and path of the existing parts that a part refers to, of these kinds or all."""
        for kind, target in self.targets(path).values():
            if target.lower() in self._names and (not kinds or kind in kinds):
                yield kind, target

    def _read_strings(self, path: str) -> list[String]:
        return [read_string(entry) for entry in iterate_xml(self.content(path), "si")] if path else []

    def _read_styles(self, path: str) -> list[Style]:
        if not path:
            return []
        root = self.part(path)
        codes = {
            number_format.get("numFmtId"): number_format.get("formatCode", "") for number_format in root.iterfind("{*}numFmts/{*}numFmt")
        }
        fonts = [(is_set(font.find("{*}strike")), is_set(font.find("{*}b"))) for font in root.iterfind("{*}fonts/{*}font")]
        styles = []
        for style in root.iterfind("{*}cellXfs/{*}xf"):
            number, font = style.get("numFmtId", "0"), int(style.get("fontId") or 0)
            code = codes.get(number) or (built_in_format(int(number)) if number.isdigit() else "General")
            styles.append(Style(unescape(code), *(fonts[font] if font < len(fonts) else (False, False))))
        return styles


def read_string(element: "_Element") -> String:
    """Return the text of a string, without how it is pronounced and without struck passages."""
    texts, struck = list[str](), list[str]()
    for child in element:
        if local_name(child) == "t":
            texts.append(child.text or "")
        elif local_name(child) == "r":
            is_struck = is_set(child.find("{*}rPr/{*}strike"))
            (struck if is_struck else texts).append(child.findtext("{*}t") or "")
    return String(unescape("".join(texts)), tuple(text for text in map(unescape, struck) if text.strip()))


def unescape(text: str) -> str:
    """Return a text with its escaped characters (`_x000D_`), and line ends as they are elsewhere."""
    if "_x" in text:
        text = replace_surrogates(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)).replace("\0", "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def local_name(element: "_Element") -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def is_set(element: "_Element | None") -> bool:
    """Return whether an element such as `<strike/>` is there and not switched off."""
    return element is not None and is_on(element.get("val", "1"))


def is_on(value: str | None) -> bool:
    return value in ("1", "true", "on")
