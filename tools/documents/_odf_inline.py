"""Read what stands within a paragraph of OpenDocument."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ramify.tools.documents._equations import equation_text
from ramify.tools.documents._odf_objects import TICKED, UNTICKED, Objects
from ramify.tools.documents._odf_styles import Look, Styles
from ramify.tools.documents._odf_xml import ELEMENT_TEXTS, MAX_SPACES, NAMESPACES, attribute, number, prefixed_name
from ramify.tools.documents._runs import Run

if TYPE_CHECKING:
    from lxml.etree import _Element

_SPACE = re.compile(r"[ \t\r\n]+")
_LEFT_OUT = {"office:annotation": "comment", "text:script": "script"}
_UNSEEN = frozenset(["text:number", "text:hidden-paragraph", "office:forms"])
COMMENT_TEXTS = frozenset(["text:p", "text:list"])


class InlineReader:
    """Reads the runs of paragraphs; what has a place of its own, such as notes and text boxes, is set aside."""

    def __init__(self, styles: Styles, objects: Objects) -> None:
        self._styles, self._objects = styles, objects

    def paragraph_runs(self, paragraph: "_Element", aside: list["_Element"]) -> Iterator[Run]:
        """Yield the runs of a paragraph or heading; elements whose text follows it are appended to `aside`."""
        look = self._styles.look("paragraph", attribute(paragraph, "text:style-name"), Look())
        hidden = paragraph.iter(f"{{{NAMESPACES['text']}}}hidden-paragraph")
        if any(attribute(element, "text:is-hidden") == "true" for element in hidden):
            look = look._replace(is_hidden=True)
        yield from self._runs(paragraph, look._replace(position=0), aside)

    def _runs(self, element: "_Element", look: Look, aside: list["_Element"]) -> Iterator[Run]:
        yield self._run(element.text, look)
        for child in element:
            yield from self._child_runs(child, look, aside)
            yield self._run(child.tail, look)

    def _run(self, text: str | None, look: Look) -> Run:
        return Run(_SPACE.sub(" ", text or ""), look.position or 0, look.left_out)

    def _child_runs(self, child: "_Element", look: Look, aside: list["_Element"]) -> Iterator[Run]:
        name = prefixed_name(child)
        if name in ("text:span", "text:a"):
            yield from self._runs(child, self._styles.look("text", attribute(child, "text:style-name"), look), aside)
        elif name == "text:s":
            yield self._run(" ", look)._replace(text=" " * min(number(child, "text:c", 1), MAX_SPACES))
        elif name in ELEMENT_TEXTS:
            yield self._run("", look)._replace(text=ELEMENT_TEXTS[name])
        elif name in ("text:note", "text:note-ref"):
            mark = child.findtext("text:note-citation", "", NAMESPACES) if name == "text:note" else "".join(child.itertext())
            yield Run(f"[{mark.strip()}]", 0, look.left_out)
            aside += [child] if name == "text:note" and not look.left_out else []
        elif name in _LEFT_OUT:
            texts = child.iterchildren() if name == "office:annotation" else [child]
            shown = [part for part in texts if name != "office:annotation" or prefixed_name(part) in COMMENT_TEXTS]
            yield Run(" ".join(" ".join(part.itertext()) for part in shown), 0, _LEFT_OUT[name])
        elif name == "text:ruby":
            yield from self._ruby_runs(child, look, aside)
        elif name == "field:fieldmark":
            yield self._run(_field_mark_text(child), look)
        elif name == "math:math":
            yield Run(equation_text(child), 0, look.left_out)
        elif name.startswith("draw:") and name != "draw:a":
            yield from self._drawing_runs(child, look, aside)
        elif name in ("text:hidden-text", "text:conditional-text") or attribute(child, "text:display") == "none":
            is_hidden = name != "text:conditional-text" and attribute(child, "text:is-hidden", "true") == "true"
            stated = "".join(child.itertext()) or attribute(child, "text:string-value")
            yield self._run(stated, look._replace(is_hidden=True) if is_hidden else look)
        elif name and name not in _UNSEEN:
            yield from self._runs(child, look, aside)

    def _ruby_runs(self, ruby: "_Element", look: Look, aside: list["_Element"]) -> Iterator[Run]:
        for part in ruby:
            runs = list(self._runs(part, look, aside))
            if prefixed_name(part) == "text:ruby-text" and any(run.text.strip() for run in runs):
                runs = [Run("(", 0, look.left_out), *runs, Run(")", 0, look.left_out)]
            yield from runs

    def _drawing_runs(self, shape: "_Element", look: Look, aside: list["_Element"]) -> Iterator[Run]:
        """Yield an equation or a control, which stand on the line; other shapes are set aside."""
        if prefixed_name(shape) == "draw:control":
            yield self._run(self._objects.control_text(shape), look)
        elif equation := self._objects.equation(shape):
            yield Run(equation, 0, look.left_out)
        elif not look.left_out:
            aside.append(shape)


def _field_mark_text(mark: "_Element") -> str:
    """Return what a field of Word's forms shows: the tick of a box, or the chosen entry of a list."""
    values: dict[str, list[str]] = {}
    for parameter in mark.iterfind("field:param", NAMESPACES):
        values.setdefault(attribute(parameter, "field:name").rpartition("_")[2], []).append(attribute(parameter, "field:value"))
    kind = attribute(mark, "field:type")
    if kind.endswith("CHECKBOX"):
        return TICKED if values.get("Checked", [""])[0] == "true" else UNTICKED
    entries, chosen = values.get("ListEntry", []), values.get("Selected", ["0"])[0]
    return entries[int(chosen)] if chosen.isdecimal() and int(chosen) < len(entries) else ""
