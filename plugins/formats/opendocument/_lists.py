"""Number the items of lists and the headings of OpenDocument texts."""

from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.opendocument._styles import ListLevel, Styles, number_label
from ramify.formats.opendocument._xml import attribute, number

if TYPE_CHECKING:
    from lxml.etree import _Element

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
