"""The styles of OpenDocument that decide what a reader sees: hidden, struck, raised and lowered text, and the numbers of lists."""

import re
from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.numbers import format_number
from ramify.formats.office.runs import HIDDEN, STRUCK
from ramify.formats.opendocument._xml import NAMESPACES, attribute, number, prefixed_name, qualified_name

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_PARENTS = 50
_LEVEL_PART = re.compile(r"%(\d{1,2})%")


class Look(NamedTuple):
    """How a text is shown; None is as the text around it."""

    is_hidden: bool | None = None
    is_struck: bool | None = None
    position: int | None = None

    def within(self, around: "Look") -> "Look":
        """Return how the text is shown within other text."""
        return Look(
            around.is_hidden if self.is_hidden is None else self.is_hidden,
            around.is_struck if self.is_struck is None else self.is_struck,
            around.position if self.position is None else self.position,
        )

    @property
    def left_out(self) -> str:
        """Return as what the text is left out, "" if it is read."""
        return HIDDEN if self.is_hidden else STRUCK if self.is_struck else ""


PLAIN = Look()


class ListLevel(NamedTuple):
    """How the items of a level of a list are numbered; without a form they have bullets."""

    form: str = ""
    prefix: str = ""
    suffix: str = ""
    start: int = 1
    shown_levels: int = 1
    repeats_letters: bool = False
    pattern: str = ""
    """How LibreOffice writes the whole number: "(%1%.%2%)"."""


class Styles:
    """The styles of a part of a file; an automatic style hides a common one of the same name."""

    def __init__(self, *groups: "_Element | None") -> None:
        self._styles: dict[tuple[str, str], _Element] = {}
        self._looks: dict[tuple[str, str], Look] = {}
        self._list_levels: dict[str, dict[int, ListLevel]] = {}
        self.outline: dict[int, ListLevel] = {}
        """The numbering of headings."""
        for group in groups:
            for style in group if group is not None else ():
                name = prefixed_name(style)
                if name == "style:style":
                    self._styles.setdefault((attribute(style, "style:family"), attribute(style, "style:name")), style)
                elif name == "text:list-style":
                    self._list_levels.setdefault(attribute(style, "style:name"), dict(_list_levels(style)))
                elif name == "text:outline-style":
                    self.outline = self.outline or dict(_list_levels(style))

    def list_levels(self, name: str) -> dict[int, ListLevel]:
        """Return the levels of a list style, by number from 1."""
        return self._list_levels.get(name, {})

    def look(self, family: str, name: str, around: Look) -> Look:
        """Return how text of a style is shown within other text; whole paragraphs are neither raised nor lowered."""
        own = self._looks.get((family, name))
        if own is None:
            own = reduce(Look.within, map(_stated_look, self.chain(family, name)), PLAIN)
            own = self._looks[family, name] = PLAIN if own == PLAIN else own._replace(position=None) if family == "paragraph" else own
        return around if own is PLAIN else own.within(around)

    def chain(self, family: str, name: str) -> Iterator["_Element"]:
        """Yield a style and those that it is based on."""
        for _ in range(_MAX_PARENTS):
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = attribute(style, "style:parent-style-name")

    def stated(self, family: str, name: str, stated: str, part: str = "") -> str | None:
        """Return an attribute of a style, or of its properties of a part ("style:drawing-page-properties"); None if no style has it."""
        for style in self.chain(family, name):
            for element in style.iterfind(part, NAMESPACES) if part else (style,):
                if (value := element.get(qualified_name(stated))) is not None:
                    return str(value)
        return None


def _stated_look(style: "_Element") -> Look:
    hidden: bool | None = None
    struck: bool | None = None
    position: int | None = None
    for properties in style.iterfind("style:text-properties", NAMESPACES):
        display = attribute(properties, "text:display")
        lines = [attribute(properties, f"style:text-line-through-{kind}") for kind in ("style", "type")]
        hidden = display == "none" if display else None
        struck = all(line not in ("", "none") for line in lines if line) if any(lines) else None
        if stated := attribute(properties, "style:text-position").split():
            place = stated[0].removesuffix("%")
            position = {"super": 1, "sub": -1}.get(place, 0 if not place.strip("0.-") else -1 if place.startswith("-") else 1)
    return Look(hidden, struck, position)


def _list_levels(style: "_Element") -> Iterator[tuple[int, ListLevel]]:
    for level in style:
        name = prefixed_name(level)
        if name in ("text:list-level-style-number", "text:outline-level-style"):
            yield (
                number(level, "text:level", 1),
                ListLevel(
                    attribute(level, "style:num-format"),
                    attribute(level, "style:num-prefix"),
                    attribute(level, "style:num-suffix"),
                    number(level, "text:start-value", 1),
                    number(level, "text:display-levels", 1),
                    attribute(level, "style:num-letter-sync") == "true",
                    attribute(level, "loext:num-list-format"),
                ),
            )


def number_label(levels: dict[int, ListLevel], level: int, counts: dict[int, int]) -> str:
    """Return the number of an item as a reader sees it: "2.1", "(b)"; "" if its level has none."""
    own = levels.get(level, ListLevel())
    if not own.form:
        return ""

    def written(place: int) -> str:
        shown = levels.get(place, ListLevel())
        return format_number(counts.get(place, shown.start), shown.form, shown.repeats_letters) if shown.form else ""

    if own.pattern:
        return _LEVEL_PART.sub(lambda part: written(int(part[1])), own.pattern).strip()
    first = max(level - own.shown_levels + 1, 1)
    return f"{own.prefix}{'.'.join(filter(None, map(written, range(first, level + 1))))}{own.suffix}".strip()
