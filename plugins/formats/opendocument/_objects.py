"""What OpenDocument keeps outside of its text: embedded objects with equations and charts, and the controls of forms."""

from posixpath import normpath
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ramify.formats.office.containers import parse_xml
from ramify.formats.office.equations import equation_text
from ramify.formats.office.runs import TICKS
from ramify.formats.opendocument._xml import NAMESPACES, attribute, prefixed_name
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
