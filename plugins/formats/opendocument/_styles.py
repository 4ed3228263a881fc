"""The styles of OpenDocument, and the numbers of its lists."""

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


_MAX_LEVEL = 10


class OpenList(NamedTuple):
    """A list that is being read: its style, its level, and the numbers reached on each level."""

    style: str
    level: int
    counts: dict[int, int]


class ListNumbers:
    """Counts the items of lists, which may continue an earlier list, and headings."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._by_identity: dict[str, dict[int, int]] = {}
        self._by_style: dict[str, dict[int, int]] = {}
        self._headings: dict[int, int] = {}

    def begin(self, element: "_Element", outer: OpenList | None, is_first: bool = True) -> OpenList:
        """Return the list that an element begins; `is_first` is whether it is the first one within its item."""
        continues = attribute(element, "text:continue-numbering")
        if outer is not None:
            if not is_first and continues != "true":
                _restart(outer.counts, outer.level + 1)
            return OpenList(attribute(element, "text:style-name", outer.style), outer.level + 1, outer.counts)
        style = attribute(element, "text:style-name")
        counts: dict[int, int] = {}
        if continued := attribute(element, "text:continue-list"):
            counts = self._by_identity.get(continued, counts)
        elif continues == "true":
            counts = self._by_style.get(style, counts)
        self._by_style[style] = counts
        if identity := attribute(element, "xml:id") or attribute(element, "text:id"):
            self._by_identity[identity] = counts
        return OpenList(style, 1, counts)

    def begin_paragraph(self, element: "_Element") -> OpenList:
        """Return the list of a paragraph that is numbered by itself (`text:numbered-paragraph`)."""
        identity = attribute(element, "text:list-id") or attribute(element, "text:style-name")
        counts = self._by_identity.setdefault(identity, {})
        return OpenList(attribute(element, "text:style-name"), number(element, "text:level", 1), counts)

    def next_label(self, opened: OpenList, item: "_Element", paragraph: "_Element") -> str:
        """Return the number of the next item, "" if it has a bullet."""
        named = attribute(item, "text:style-override") or opened.style or self._paragraph_list_style(paragraph)
        levels = self._styles.list_levels(named)
        _advance(levels, opened.level, opened.counts, number(item, "text:start-value", -1))
        return number_label(levels, opened.level, opened.counts)

    def heading_label(self, heading: "_Element", level: int) -> str:
        """Return the number of the next heading that is not in a list, "" if headings have none."""
        levels = self._styles.outline
        if self._paragraph_list_style(heading, "none") == "" or attribute(heading, "text:is-list-header") == "true" or level > _MAX_LEVEL:
            return ""
        restarts = attribute(heading, "text:restart-numbering") == "true"
        start = number(heading, "text:start-value", levels.get(level, ListLevel()).start if restarts else -1)
        _advance(levels, level, self._headings, start)
        return number_label(levels, level, self._headings)

    def _paragraph_list_style(self, paragraph: "_Element", default: str = "") -> str:
        stated = self._styles.stated("paragraph", attribute(paragraph, "text:style-name"), "style:list-style-name")
        return default if stated is None else stated


def _advance(levels: dict[int, ListLevel], level: int, counts: dict[int, int], start: int) -> None:
    """Count an item; levels above that have no item yet begin with it."""
    for above in range(1, min(level, _MAX_LEVEL)):
        counts.setdefault(above, levels.get(above, ListLevel()).start)
    usual = counts[level] + 1 if level in counts else levels.get(level, ListLevel()).start
    counts[level] = start if start >= 0 else usual
    _restart(counts, level + 1)


def _restart(counts: dict[int, int], level: int) -> None:
    for below in [place for place in counts if place >= level]:
        del counts[below]
