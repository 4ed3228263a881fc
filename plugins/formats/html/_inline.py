"""Write as text what a page shows in another way: raised digits, formulas, readings, filled-in forms, numbers of lists."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from lxml import etree, html

from ramify.formats.html._styles import Styles
from ramify.formats.numbers import format_number
from ramify.formats.office.equations import equation_text
from ramify.formats.raised import lowered, raised
from ramify.tools.documents.files import ReadReport

_BREAKING = frozenset(
    ["p", "div", "section", "article", "main", "header", "footer", "aside", "ul", "ol", "dl", "table", "blockquote", "pre", "figure", "hr",
     "li", "tr", "td", "th", "br", "caption", "figcaption", "dt", "dd", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "body"]
)  # fmt: skip
_SPACES = re.compile(r"\s+")
_CONTEXT = 80
"""Characters before a raised text that decide how it is written."""
_MAX_MARK_CHARS = 24
"""Longest raised text that is a mark, an exponent or an index."""
_MAX_NOTE_CHARS = 4
_NOTE_NAME = re.compile(r"(?:footnote|endnote|noteref|reference|fnref)", re.IGNORECASE)
_MARK_NEIGHBOURS = frozenset('.,;:!?"”’)')
"""Signs, beside letters and digits, that the mark of a note stands directly behind."""
_GLUED_MARK = re.compile(r"\d{1,3}")
_FORMULA_CLASS = re.compile(r"math|latex|\btex\b|equation", re.IGNORECASE)
_MAX_FORMULA_DEPTH = 60
UNSHOWN_INPUTS = frozenset(["hidden", "password", "submit", "button", "reset", "image", "file"])
"""Types of `input` whose value is no text that someone typed."""
_BOX_PARENTS = frozenset(["label", "li", "td", "th", "p", "dd", "dt"])
_MAX_IMAGE_DEPTH, _MAX_VALUE_WORDS = 3, 3
_FILE_NAME = re.compile(r"\.\w{3,4}$")
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([a-z-]+)", re.IGNORECASE)
_STYLE_TYPES = {
    "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A", "lower-roman": "i", "upper-roman": "I",
    "decimal": "1", "none": "", "disc": "", "circle": "", "square": "",
}  # fmt: skip
_ITEM_STARTS = frozenset(["p", "div", "section", "article", "blockquote", "center", "pre", "h1", "h2", "h3", "h4", "h5", "h6"])
"""Elements at the start of an item, in whose line its number is written."""
_OWN_NUMBER = re.compile(r"[(\[]?(?:\d{1,4}|[A-Za-z]{1,4})[.)\]]")


def write_inline(root: html.HtmlElement, styles: Styles, report: ReadReport) -> None:
    """Replace raised text, formulas, readings of characters and controls of forms by the text that they stand for."""
    for element, text in list(_InlineWalk(root, styles, report).replacements()):
        inner = next((other.get("id") for other in element.iter(etree.Element) if other.get("id")), None)
        if inner and not element.get("id"):
            element.set("id", inner)
        del element[:]
        element.text, element.tag = text, "span"


class _InlineWalk:
    """Walks through a page with the text before each element."""

    def __init__(self, root: html.HtmlElement, styles: Styles, report: ReadReport) -> None:
        self._root = root
        self._styles = styles
        self._report = report
        self._last = ""

    def replacements(self) -> Iterator[tuple[html.HtmlElement, str]]:
        """Yield the elements that are replaced, each with its text."""
        steps = etree.iterwalk(self._root, events=("start", "end"))
        for event, element in steps:
            if not isinstance(element.tag, str):
                continue
            if event == "start":
                text = self._text_of(element)
                if text is not None:
                    yield element, text
                    self._append(text)
                    steps.skip_subtree()
                    continue
                if element.tag in _BREAKING:
                    self._last = ""
                elif element.tag == "q":
                    _quote(element)
                self._append(element.text)
            else:
                if element.tag in _BREAKING:
                    self._last = ""
                self._append(element.tail)

    def _append(self, text: str | None) -> None:
        if text:
            self._last = text if len(text) >= _CONTEXT else (self._last + text)[-_CONTEXT:]

    @property
    def _before(self) -> str:
        """Return the text before an element, within its paragraph."""
        return _SPACES.sub(" ", self._last[-_CONTEXT:])

    def _text_of(self, element: html.HtmlElement) -> str | None:
        """Return the text that an element is replaced by; None if it is read as it is."""
        tag = element.tag
        if tag == "math":
            return self._formula(element)
        if tag == "rp":
            return ""
        if tag == "rt":
            reading = element.text_content().strip()
            return f"({reading})" if reading else ""
        if tag in _CONTROLS:
            return _CONTROLS[tag](element, self._report)
        if tag == "a":
            mark = element.text_content().strip() if element.get("href", "").startswith("#") else ""
            end = self._last[-1:]
            is_glued = bool(_GLUED_MARK.fullmatch(mark)) and (end.isalnum() or end in _MARK_NEIGHBOURS)
            return raised(self._before, mark, True, _text_after(element)) if is_glued else None
        effects = self._styles.effects(element)
        if "raised" not in effects and "lowered" not in effects:
            return None
        mark = " ".join(element.text_content().split())
        if len(mark) > _MAX_MARK_CHARS or any(inner.tag in _BREAKING for inner in element.iter(etree.Element)):
            return None
        if "lowered" in effects:
            return lowered(self._before, mark, _text_after(element))
        return raised(self._before, mark, len(mark) <= _MAX_NOTE_CHARS and _is_note(element, mark), _text_after(element))

    def _formula(self, element: html.HtmlElement) -> str:
        depth = 0
        for event, _ in etree.iterwalk(element, events=("start", "end")):
            depth += 1 if event == "start" else -1
            if depth > _MAX_FORMULA_DEPTH:
                return " ".join(element.text_content().split())
        text = equation_text(element)
        if self._before[-1:].isalnum() and text[:1].isalnum():
            return f" {text}"
        return text


def _is_note(element: html.HtmlElement, mark: str) -> bool:
    """Return whether a raised mark refers to a note: it is a link within the page, or named so."""
    parent = element.getparent()
    around = [parent] if parent is not None and parent.tag == "a" and parent.text_content().strip() == mark else []
    for near in (element, *around, *element.iter("a")):
        names = " ".join((near.get("class", ""), near.get("role", ""), near.get("epub:type", ""), near.get("rel", "")))
        if (near.tag == "a" and "#" in near.get("href", "")) or _NOTE_NAME.search(names):
            return True
    return False


def _text_after(element: html.HtmlElement) -> str:
    """Return the text behind an element, within its paragraph."""
    while not element.tail:
        parent, after = element.getparent(), element.getnext()
        if after is not None:
            return "" if after.tag in _BREAKING or after.tag in ("sup", "sub") else (after.text or "")
        if parent is None or parent.tag in _BREAKING:
            return ""
        element = parent
    return str(element.tail)


def _quote(element: html.HtmlElement) -> None:
    """Write quotation marks around a quotation."""
    element.text = f'"{element.text or ""}'
    if len(element):
        element[-1].tail = f'{element[-1].tail or ""}"'
    else:
        element.text += '"'


def _input(element: html.HtmlElement, report: ReadReport) -> str:
    kind, value = element.get("type", "text").strip().lower(), element.get("value", "").strip()
    if kind in ("checkbox", "radio"):
        parent = element.getparent()
        if not (element.tail or "").strip() and (parent is None or parent.tag not in _BOX_PARENTS):
            return ""  # it only opens and closes a part of the page
        text = "[x]" if "checked" in element.attrib else "[ ]"
    else:
        text = "" if kind in UNSHOWN_INPUTS else value
    report.add(*[text] if text else [])
    return f" {text} " if text else ""


def _select(element: html.HtmlElement, report: ReadReport) -> str:
    """Return the chosen options of a list; the others are left out."""
    options = list(element.iter("option"))
    chosen = [option for option in options if "selected" in option.attrib]
    if not chosen and "multiple" not in element.attrib:
        chosen = options[:1]
    return f" {', '.join(filter(None, (_option_text(option) for option in chosen)))} " if chosen else ""


def _option_text(option: html.HtmlElement) -> str:
    return " ".join(option.text_content().split()) or option.get("label", "")


def _textarea(element: html.HtmlElement, report: ReadReport) -> str:
    return f" {element.text_content().strip()} "


def _image(element: html.HtmlElement, report: ReadReport) -> str:
    """Return the text of a picture that stands for text: a sign such as an emoji, or a formula."""
    alt = " ".join(element.get("alt", "").split())
    names = element.get("class", "")
    if not alt or not (
        _is_value(element, alt)
        or _FORMULA_CLASS.search(names)
        or "emoji" in names
        or not any(sign.isascii() or sign.isalnum() for sign in alt)
    ):
        return ""
    report.add(alt)
    return alt


def _is_value(image: html.HtmlElement, alt: str) -> bool:
    """Return whether a picture is the only content of a cell under a header, such as a tick: "yes"."""
    cell = next((outer for outer in islice(image.iterancestors(), _MAX_IMAGE_DEPTH) if outer.tag == "td"), None)
    if cell is None or len(alt.split()) > _MAX_VALUE_WORDS or cell.text_content().strip() or _FILE_NAME.search(alt):
        return False
    table = next(cell.iterancestors("table"), None)
    row = cell.getparent()
    return table is not None and next(table.iter("th"), None) is not None and bool(row.text_content().strip())


_CONTROLS = {"input": _input, "select": _select, "textarea": _textarea, "img": _image}


def number_lists(content: html.HtmlElement, sizes: Mapping[html.HtmlElement, tuple[int, ...]], report: ReadReport) -> None:
    """Write the numbers of ordered lists in front of their items ("4. Press …"), as a browser shows them."""
    for ordered in content.iter("ol"):
        items = list(ordered.iterchildren("li"))
        step = -1 if "reversed" in ordered.attrib else 1
        number = _whole_number(ordered.get("start"), len(items) if step < 0 else 1)
        for item in items:
            number = _whole_number(item.get("value"), number)
            kind = _list_type(item, _list_type(ordered, "1"))
            if kind and sizes[item][0]:
                _write_marker(item, f"{format_number(number, kind)}.", report)
            number += step


def _whole_number(stated: str | None, otherwise: int) -> int:
    return int(stated.strip()) if stated and re.fullmatch(r"\s*-?\d{1,9}\s*", stated, re.ASCII) else otherwise


def _list_type(element: html.HtmlElement, otherwise: str) -> str:
    """Return the kind of numbers of a list or item: "1", "a", "A", "i", "I", or "" for none."""
    style = _LIST_STYLE.search(element.get("style", ""))
    if style and style[1].lower() in _STYLE_TYPES:
        return _STYLE_TYPES[style[1].lower()]
    stated = element.get("type", "")
    return stated if stated in ("1", "a", "A", "i", "I") else otherwise


def _write_marker(item: html.HtmlElement, marker: str, report: ReadReport) -> None:
    """Write a marker at the start of an item's first paragraph, unless the item begins with it."""
    place = item
    while not (place.text or "").strip() and len(place) and place[0].tag in _ITEM_STARTS:
        place = place[0]
    first = next((text for text in item.itertext() if text.strip()), "")
    own = _OWN_NUMBER.match(first.strip())
    if own and own[0].strip("([]).").casefold() == marker.rstrip(".").casefold():
        return
    place.text = f"{marker} {(place.text or '').lstrip()}"
    report.add(marker)
