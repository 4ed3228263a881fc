"""The parts of a Word document: XML by its relationships, in both namespaces of the standard, and the styles of paragraphs and runs."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple
from zipfile import ZipFile

from ramify.formats.office.containers import parse_xml
from ramify.tools.documents.files import ReadReport, UnreadableError

if TYPE_CHECKING:
    from lxml.etree import _Element

_OPEN, _STRICT, _MICROSOFT = "http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/", "http://schemas.microsoft.com/office/"
_PREFIXES = {
    f"{_OPEN}wordprocessingml/2006/main": "w", f"{_STRICT}wordprocessingml/main": "w",
    f"{_OPEN}officeDocument/2006/math": "m", f"{_STRICT}officeDocument/math": "m",
    f"{_OPEN}drawingml/2006/chart": "c", f"{_STRICT}drawingml/chart": "c",
    f"{_OPEN}drawingml/2006/diagram": "dgm", f"{_STRICT}drawingml/diagram": "dgm",
    f"{_OPEN}drawingml/2006/main": "a", f"{_STRICT}drawingml/main": "a",
    f"{_OPEN}drawingml/2006/picture": "pic", f"{_STRICT}drawingml/picture": "pic",
    f"{_OPEN}markup-compatibility/2006": "mc", f"{_MICROSOFT}word/2010/wordml": "w14",
    "urn:schemas-microsoft-com:vml": "v", "urn:schemas-microsoft-com:office:office": "o",
}  # fmt: skip
PARAGRAPH = f"{{{_OPEN}wordprocessingml/2006/main}}p"
_VALUE = f"{{{_OPEN}wordprocessingml/2006/main}}val"
_OFF = frozenset(["0", "false", "off", "none"])
_HEADING_STYLE = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_TOGGLES = ("vanish", "strike", "dstrike", "b")
_MAX_CHAIN = 50
"""Styles that a style is based on, one on the other."""
_MIN_RAISED = 4
"""Half points by which text is moved up or down to count as raised or lowered."""


@lru_cache(maxsize=4096)
def _prefixed(tag: str) -> str:
    address, _, local = tag.rpartition("}")
    return f"{_PREFIXES.get(address[1:], '')}:{local}"


def name_of(element: "_Element") -> str:
    """Return an element's name with the usual prefix of its namespace ("w:p"), "" for a processing instruction."""
    return _prefixed(element.tag) if isinstance(element.tag, str) else ""


def find_value(element: "_Element", path: str, name: str = "val") -> str:
    """Return an attribute of an element below another ("." for itself), "" if there is none; its namespace is ignored."""
    holder = element if path == "." else element.find(path)
    if holder is None:
        return ""
    if name == "val" and (value := holder.get(_VALUE)) is not None:
        return str(value)
    return next((str(value) for key, value in holder.attrib.items() if str(key).rpartition("}")[2] == name), "")


def number_value(element: "_Element", path: str, name: str = "val") -> int:
    """Return an attribute as a number, 0 if it is none."""
    value = find_value(element, path, name)
    return int(value) if value.lstrip("-").isdecimal() and len(value) < 10 else 0


def is_on(element: "_Element | None") -> bool:
    """Return whether a property is there and not switched off."""
    return element is not None and find_value(element, ".").lower() not in _OFF


class Relation(NamedTuple):
    """A relationship of a part: its kind, the name of the other part."""

    kind: str
    target: str


class Package:
    """The parts of a document; one that is damaged is reported, and read as if it were not there."""

    def __init__(self, archive: ZipFile, source: str, report: ReadReport) -> None:
        self._archive, self._source, self._report = archive, source, report
        self._names = set(archive.namelist())
        self._relations: dict[str, dict[str, Relation]] = {}
        main = self.related("", "officeDocument")
        self.main = main if main in self._names else "word/document.xml"

    def document(self) -> "_Element":
        """Return the main part."""
        return parse_xml(self._archive.read(self.main))

    def part(self, name: str) -> "_Element | None":
        """Return a part, None if it is missing or damaged."""
        if name not in self._names:
            return None
        try:
            return parse_xml(self._archive.read(name))
        except UnreadableError as error:
            self._report.remark(self._source, f"its part {name!r} cannot be read: {error}")
            return None

    def content(self, name: str) -> bytes | None:
        """Return the bytes of a part, None if it is missing."""
        return self._archive.read(name) if name in self._names else None

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return the relationships of a part ("" for the package) by their ids, without those to other files."""
        if part not in self._relations:
            folder, _, file = part.rpartition("/")
            root = self.part(f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels")
            self._relations[part] = {} if root is None else {
                relation.get("Id", ""): Relation(
                    relation.get("Type", "").rpartition("/")[2], normpath(join("/", dirname(part), relation.get("Target", ""))).lstrip("/")
                )
                for relation in root.iterfind("{*}Relationship")
                if relation.get("TargetMode") != "External"
            }  # fmt: skip
        return self._relations[part]

    def related(self, part: str, kind: str) -> str:
        """Return the name of the first part of a kind that a part refers to, "" if there is none."""
        return next((relation.target for relation in self.relations(part).values() if relation.kind == kind), "")


class RunFormat(NamedTuple):
    """How the text of a run is shown: as a number or a note mark above the line, say."""

    is_hidden: bool = False
    is_struck: bool = False
    is_bold: bool = False
    is_note: bool = False
    """Whether it is the mark of a note."""
    place: str = ""
    """"superscript", "subscript", or ""."""
    font: str = ""


class Styles:
    """The styles of a document."""

    def __init__(self, root: "_Element | None") -> None:
        styles = [] if root is None else list(root.iterfind("{*}style"))
        self._by_name = {find_value(style, ".", "styleId"): style for style in styles}
        defaults = (style for style in styles if find_value(style, ".", "type") == "paragraph" and is_default(style))
        self._default = next((find_value(style, ".", "styleId") for style in defaults), "")
        self._chains: dict[str, list[str]] = {}
        self._values: dict[tuple[str, str], str] = {}
        self._formats: dict[str, dict[str, bool | str]] = {}

    def names_of_chain(self, style: str | None) -> list[str]:
        """Return the ids of a style and of those that it is based on; without a style, those of the usual one."""
        style = style or self._default
        if style not in self._chains:
            chain: list[str] = []
            name = style
            while name in self._by_name and name not in chain and len(chain) < _MAX_CHAIN:
                chain.append(name)
                name = find_value(self._by_name[name], "{*}basedOn")
            self._chains[style] = chain
        return self._chains[style]

    def own_value(self, style: str, path: str) -> str:
        """Return the value of a property in a style itself."""
        return find_value(self._by_name[style], path)

    def value(self, style: str | None, path: str) -> str:
        """Return the value of a property in a style, or in the nearest that it is based on; "" if none has it."""
        key = (style or self._default, path)
        if key not in self._values:
            values = (self.own_value(name, path) for name in self.names_of_chain(style))
            self._values[key] = next((value for value in values if value), "")
        return self._values[key]

    def name(self, style: str | None) -> str:
        """Return a style's name in lower case, as in the English version of Word."""
        element = self._by_name.get(style or "")
        return (find_value(element, "{*}name") if element is not None else style or "").lower()

    def heading_level(self, properties: "_Element | None", style: str | None) -> int:
        """Return a paragraph's level as a heading, from its own properties or its styles; 0 for text."""
        own = find_value(properties, "{*}outlineLvl") if properties is not None else ""
        level = own or self.value(style, "{*}pPr/{*}outlineLvl")
        if level.isdecimal():
            return int(level) + 1 if int(level) < 9 else 0
        names = (self.name(name) for name in self.names_of_chain(style) or ([style] if style else []))
        return next((int(match[1]) for name in names if (match := _HEADING_STYLE.fullmatch(name))), 0)

    def run_format(self, style: str | None, properties: "_Element | None") -> RunFormat:
        """Return how a run is shown in a paragraph of a style. Where two styles switch a property on, it is off, as in Word."""
        direct = {} if properties is None else dict(_formats(properties))
        paragraph, character = self._style_formats(style or self._default), self._style_formats(str(direct.get("rStyle", "")))
        is_set = {name: bool(direct.get(name, paragraph.get(name, False) != character.get(name, False))) for name in _TOGGLES}
        others = {**paragraph, **character, **direct}
        is_struck, place, font = is_set["strike"] or is_set["dstrike"], str(others.get("place", "")), str(others.get("font", ""))
        return RunFormat(is_set["vanish"], is_struck, is_set["b"], place=place, font=font)

    def _style_formats(self, style: str) -> dict[str, bool | str]:
        if style not in self._formats:
            formats: dict[str, bool | str] = {}
            for name in reversed(self.names_of_chain(style) if style else []):
                properties = self._by_name[name].find("{*}rPr")
                formats |= {} if properties is None else dict(_formats(properties))
            self._formats[style] = formats
        return self._formats[style]


def is_default(style: "_Element") -> bool:
    """Return whether a style is that of paragraphs without one."""
    return find_value(style, ".", "default").lower() in ("1", "true", "on")


def _formats(properties: "_Element") -> Iterator[tuple[str, bool | str]]:
    """Yield the properties of a run that change what is read."""
    for child in properties:
        name = name_of(child).removeprefix("w:")
        if name in _TOGGLES:
            yield name, is_on(child)
        elif name == "vertAlign":
            yield "place", find_value(child, ".").replace("baseline", "")
        elif name == "position" and abs(moved := number_value(child, ".")) >= _MIN_RAISED:
            yield "place", "superscript" if moved > 0 else "subscript"
        elif name == "rFonts" and (font := find_value(child, ".", "ascii")):
            yield "font", font
        elif name == "rStyle":
            yield name, find_value(child, ".")
