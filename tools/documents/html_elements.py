"""What single elements of a web page are to its text: how much they hold, how far apart they stand, and which only lead elsewhere."""

import re
from itertools import islice, pairwise
from typing import NamedTuple

from lxml import etree, html

from ramify.tools.documents.sections import word_count

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
SHORT = 200
"""Up to so many words a cell or what is said of a term is one piece of text."""
_LISTS = frozenset(["ul", "ol", "dl", "table"])
_BLOCKS = _LISTS | {"div", "section", "p"}
_INDEXED = 0.5
"""Share of an index's words in links: some terms stand beside their links."""
_MOSTLY = 0.8
"""Share of a block's words in links from which it only leads elsewhere."""
_PROSE = 12
"""Words outside links from which a paragraph says something."""
_ROWS = 2
"""A table of more rows is no layout: each says what belongs together."""
_FEW, _FEW_IN_PROSE = 2, 3
_KEY = 8
_IN_ORDER = 0.75
_ENTRIES = 20
"""Entries in alphabetical order from which a list of links is an index."""


class Size(NamedTuple):
    """How much an element holds: words, those of them in links, links, and links within the page."""

    words: int
    linked: int
    links: int
    inner: int

    def __add__(self, other: "Size") -> "Size":  # type: ignore[override]  # a sum, not a longer tuple
        return Size(*(one + another for one, another in zip(self, other, strict=True)))


NOTHING = Size(0, 0, 0, 0)
Sizes = dict[html.HtmlElement, Size]


def distance(block: html.HtmlElement) -> int:
    """Return the line ends around a block: a list within an entry of another stays close to it."""
    parent = block.getparent()
    return 1 if block.tag in ("ul", "ol") and parent is not None and parent.tag == "li" else 2


def anchor(term: html.HtmlElement) -> str | None:
    """Return the id that an element or an anchor in it has."""
    ids = (inner.get("id") or (inner.get("name") if inner.tag == "a" else None) for inner in term.iter(etree.Element))
    return next(filter(None, ids), None)


def is_layout(cell: html.HtmlElement) -> bool:
    """Tell a cell that holds a part of the page from one of a table of facts."""
    return any(True for _ in cell.iter("table", *HEADINGS)) or word_count(cell.text_content()) > SHORT


def has_heading(element: html.HtmlElement) -> bool:
    """Tell whether a heading stands in an element."""
    return any(True for _ in element.iter(*HEADINGS))


def leads_elsewhere(element: html.HtmlElement, sizes: Sizes) -> str | None:
    """Return the role of a block that is links and little else: "index" where it is sorted, else "contents"."""
    size = sizes[element]
    if element.tag not in _BLOCKS or not size.links or size.linked < _INDEXED * size.words or _belongs_to_text(element):
        return None
    if any(sizes[prose].words - sizes[prose].linked >= _PROSE for prose in element.iter("p")):
        return None
    enough = size.links >= (_FEW_IN_PROSE if element.tag == "p" else _FEW) or (size.inner == size.links and element.tag != "p")
    if size.links >= _ENTRIES and element.tag in _LISTS and _is_sorted(element):
        return "index"
    return "contents" if enough and size.linked >= _MOSTLY * size.words else None


def _belongs_to_text(element: html.HtmlElement) -> bool:
    """Tell whether links say something: side by side in rows, as part of an entry, or after a sentence that ends in a colon."""
    if element.tag == "table" and sum(1 for _ in islice(element.iter("tr"), _ROWS + 1)) > _ROWS:
        return True
    before = element.getprevious()
    if before is not None and "".join(before.itertext()).rstrip().endswith(":"):
        return True
    return has_heading(element) or any(parent.tag in ("li", "dd", "td", "th") for parent in element.iterancestors())


def _is_sorted(element: html.HtmlElement) -> bool:
    """Tell whether a list's entries are in alphabetical order but for a few, as sub-entries are; those of chapters are by number."""
    written = ("".join(entry.itertext()).casefold() for entry in element.iter("li", "dt", "tr"))
    entries: list[str] = [found[0][:_KEY] for entry in written if (found := re.findall(r"[^\W_].*", entry))]  # without signs before them
    letters = [entry for entry in entries if entry[0].isalpha()]
    if len(letters) < max(_ENTRIES, len(entries) // 2):
        return False
    ordered = sum(one <= another for one, another in pairwise(letters))
    return ordered >= _IN_ORDER * (len(letters) - 1)
