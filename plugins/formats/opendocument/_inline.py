"""Read what stands within a paragraph of OpenDocument."""

import re
from collections.abc import Callable
from posixpath import normpath
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ramify.formats.office.containers import parse_xml
from ramify.formats.office.equations import equation_text
from ramify.formats.office.runs import PLACEHOLDER, SOFT_HYPHEN, TICKS, Run
from ramify.formats.opendocument._styles import PLAIN, Look, Styles
from ramify.formats.opendocument._xml import (
    ELEMENT_TEXTS,
    MAX_SPACES,
    NAMESPACES,
    attribute,
    number,
    prefixed_name,
    qualified_name,
    text_of,
)
from ramify.tools.documents.files import UnreadableError

if TYPE_CHECKING:
    from lxml.etree import _Element


_VALUES = ("form:current-value", "form:value")
_TICKS = {"form:checkbox": ("form:current-state", "form:state"), "form:radio": ("form:current-selected", "form:selected")}
_UNREAD_CONTROLS = frozenset(["form:password", "form:hidden", "form:button", "form:image", "form:image-frame", "form:file", "form:grid"])


class Objects:
    """Finds the objects and controls that frames in a text refer to."""

    def __init__(self, archive: ZipFile, root: "_Element", roots: "dict[str, _Element | None]") -> None:
        self._archive, self.roots = archive, roots
        self._parts = set(archive.namelist())
        self._controls = {
            identity: control
            for forms in root.iter(f"{{{NAMESPACES['office']}}}forms")
            for control in forms.iter(f"{{{NAMESPACES['form']}}}*")
            for identity in (attribute(control, "xml:id"), attribute(control, "form:id"))
            if identity
        }

    def root(self, frame: "_Element") -> "_Element | None":
        """Return the content of the object in a frame; None if there is none, or none that can be read."""
        stated = frame.find("draw:object", NAMESPACES)
        if stated is None:
            return None
        if len(stated):
            return next((child for child in stated if isinstance(child.tag, str)), None)
        name = f"{normpath(attribute(stated, 'xlink:href'))}/content.xml"
        if name not in self.roots:
            try:
                self.roots[name] = parse_xml(self._archive.read(name)) if name in self._parts else None
            except UnreadableError:
                self.roots[name] = None
        return self.roots[name]

    def equation(self, frame: "_Element") -> str:
        """Return the equation in a frame, "" if it has none."""
        root = self.root(frame)
        return equation_text(root) if root is not None and prefixed_name(root) == "math:math" else ""

    def control_text(self, shape: "_Element") -> str:
        """Return what a reader sees in a control of a form: its value, the chosen entry, or its tick and label."""
        control = self._controls.get(attribute(shape, "draw:control"))
        if control is None or prefixed_name(control) in _UNREAD_CONTROLS:
            return ""
        label = attribute(control, "form:label")
        if names := _TICKS.get(prefixed_name(control)):
            state = next((value for name in names if (value := attribute(control, name))), "")
            return f"{TICKS[state in ('checked', 'true')]} {label}".strip()
        entries = list(control.iterfind("form:option", NAMESPACES))
        chosen = [
            _entry(entry) for name in ("form:current-selected", "form:selected") for entry in entries if attribute(entry, name) == "true"
        ]
        value = next((value for name in _VALUES if (value := attribute(control, name))), "")
        return value or ", ".join(dict.fromkeys(chosen)) or " ".join("".join(control.itertext()).split()) or label


def _entry(option: "_Element") -> str:
    return attribute(option, "form:label") or attribute(option, "form:value")


_HIDDEN_PARAGRAPH = qualified_name("text:hidden-paragraph")
_SPACE = re.compile(r"[ \t\r\n]+")
_UNSEEN = frozenset(["text:number", "text:hidden-paragraph", "office:forms", "office:annotation-end"])


class InlineReader:
    """Reads the runs of paragraphs; what has a place of its own, such as notes and text boxes, is set aside."""

    def __init__(self, styles: Styles, objects: Objects, add: Callable[[str], None]) -> None:
        self._styles, self._objects, self._add = styles, objects, add
        self._runs: list[Run] = []
        self._aside: list[_Element] = []

    def plain_text(self, paragraph: "_Element") -> str | None:
        """Return the text of a paragraph that contains nothing but text to be read; None of another."""
        if len(paragraph) or self._styles.look("paragraph", attribute(paragraph, "text:style-name"), PLAIN) is not PLAIN:
            return None
        return collapse_spaces(paragraph.text or "").replace(SOFT_HYPHEN, "")

    def read(self, paragraph: "_Element") -> tuple[list[Run], list["_Element"]]:
        """Return the runs of a paragraph or heading, and the elements whose text follows it."""
        self._runs, self._aside = [], []
        look = self._styles.look("paragraph", attribute(paragraph, "text:style-name"), PLAIN)
        if len(paragraph) and any(attribute(element, "text:is-hidden") == "true" for element in paragraph.iter(_HIDDEN_PARAGRAPH)):
            look = look._replace(is_hidden=True)
        self._walk(paragraph, look)
        return self._runs, self._aside

    def _walk(self, element: "_Element", look: Look) -> None:
        if element.text:
            self._write(element.text, look)
        for child in element:
            self._read_child(child, look)
            if child.tail:
                self._write(child.tail, look)

    def _write(self, text: str, look: Look) -> None:
        text = collapse_spaces(text)
        self._runs.append(Run(text) if look is PLAIN else Run(text, look.position or 0, look.left_out))

    def _write_added(self, text: str, look: Look) -> None:
        """Write a text that the file does not contain as text, such as the tick of a box."""
        if text:
            self._add(text)
        self._write(text, look)

    def _read_child(self, child: "_Element", look: Look) -> None:
        name = prefixed_name(child)
        if name in ("text:span", "text:a"):
            self._walk(child, self._styles.look("text", attribute(child, "text:style-name"), look))
        elif name == "text:s":
            self._runs.append(Run(" " * min(number(child, "text:c", 1), MAX_SPACES), 0, look.left_out))
        elif name in ELEMENT_TEXTS:
            self._runs.append(Run(ELEMENT_TEXTS[name], 0, look.left_out))
        elif name in ("text:note", "text:note-ref"):
            mark = child.findtext("text:note-citation", "", NAMESPACES) if name == "text:note" else "".join(child.itertext())
            self._runs.append(Run(f"[{mark.strip()}]", 0, look.left_out))
            if name == "text:note":
                self._set_aside(child, look)
        elif name == "office:annotation":
            self._set_aside(child, look)
        elif name == "text:script":
            self._runs.append(Run("".join(child.itertext()), 0, "script"))
        elif name == "loext:content-control" and attribute(child, "loext:showing-place-holder") == "true":
            self._runs.append(Run("".join(child.itertext()), 0, PLACEHOLDER))
        elif name == "loext:content-control" and attribute(child, "loext:checkbox") == "true":
            self._write_added(TICKS[attribute(child, "loext:checked") == "true" or "☒" in child.itertext()], look)
        elif name == "text:ruby":
            self._read_ruby(child, look)
        elif name == "field:fieldmark":
            self._write_added(_field_mark_text(child), look)
        elif name == "math:math":
            self._runs.append(Run(equation_text(child), 0, look.left_out))
        elif name.startswith("draw:") and name != "draw:a":
            self._read_drawing(child, look)
        elif name in ("text:hidden-text", "text:conditional-text") or attribute(child, "text:display") == "none":
            is_hidden = name != "text:conditional-text" and attribute(child, "text:is-hidden", "true") == "true"
            stated = "".join(child.itertext()) or attribute(child, "text:string-value")
            self._write(stated, look._replace(is_hidden=True) if is_hidden else look)
        elif name and name not in _UNSEEN:
            self._walk(child, look)

    def _read_ruby(self, ruby: "_Element", look: Look) -> None:
        """Read a base text, and behind it its reading in parentheses."""
        for part in ruby:
            is_reading = prefixed_name(part) == "text:ruby-text" and any(text.strip() for text in part.itertext())
            self._write("(" if is_reading else "", look)
            self._walk(part, look)
            self._write(")" if is_reading else "", look)

    def _read_drawing(self, shape: "_Element", look: Look) -> None:
        """Read an equation or a control, which stand on the line; other shapes are set aside."""
        if prefixed_name(shape) == "draw:control":
            self._write_added(self._objects.control_text(shape), look)
        elif equation := self._objects.equation(shape):
            self._runs.append(Run(equation, 0, look.left_out))
        else:
            self._set_aside(shape, look)

    def _set_aside(self, element: "_Element", look: Look) -> None:
        if look.left_out:
            self._runs.append(Run(text_of(element), 0, look.left_out))
        else:
            self._aside.append(element)


def collapse_spaces(text: str) -> str:
    """Return a text with one space for each white space in the file; further spaces are elements."""
    return _SPACE.sub(" ", text) if "  " in text or "\n" in text or "\t" in text else text


def _field_mark_text(mark: "_Element") -> str:
    """Return what a field of Word's forms shows: the tick of a box, or the chosen entry of a list."""
    values: dict[str, list[str]] = {}
    for parameter in mark.iterfind("field:param", NAMESPACES):
        values.setdefault(attribute(parameter, "field:name").rpartition("_")[2], []).append(attribute(parameter, "field:value"))
    kind = attribute(mark, "field:type")
    if kind.endswith("CHECKBOX"):
        return TICKS[values.get("Checked", [""])[0] == "true"]
    entries, chosen = values.get("ListEntry", []), values.get("Selected", ["0"])[0]
    return entries[int(chosen)] if chosen.isdecimal() and int(chosen) < len(entries) else ""
