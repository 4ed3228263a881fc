"""Extract the main content of a web page, without navigation, and count the words and links of each element.

The extraction uses structure only: `main`, navigation elements, and blocks of links. On manuals this preserves what content extractors lose
(headings, terms of definition lists), and the ids that citations link to.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import NamedTuple

from lxml import etree, html

from ramify.tools.documents.sections import word_count

HEADING_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
MAX_SHORT_WORDS = 200
"""Longest table cell or description of a term that is written as one piece of text."""
_LISTS = frozenset(["ul", "ol", "dl", "table"])
_BLOCKS = _LISTS | {"div", "section", "p"}
_MIN_INDEX_LINK_SHARE = 0.5
"""Least share of linked words in an index: some terms are outside their links."""
_MIN_LINK_SHARE = 0.8
"""Least share of linked words in a navigation block."""
_MIN_PROSE_WORDS = 12
"""Least words outside links in a paragraph of text."""
_MAX_LAYOUT_ROWS = 2
"""Tables with more rows are data, not layout."""
_MIN_LINKS, _MIN_LINKS_IN_PROSE = 2, 3
_SORT_KEY_CHARS = 8
_MIN_SORTED_SHARE = 0.75
_MIN_INDEX_ENTRIES = 20
"""Least entries of an alphabetical index."""


class Size(NamedTuple):
    """The contents of an element: words, words in links, links, and links within the page."""

    words: int
    linked: int
    links: int
    inner: int

    def __add__(self, other: "Size") -> "Size":  # type: ignore[override]  # a sum, not a longer tuple
        return Size(*(one + another for one, another in zip(self, other, strict=True)))


EMPTY_SIZE = Size(0, 0, 0, 0)
Sizes = dict[html.HtmlElement, Size]


def line_breaks_around(block: html.HtmlElement) -> int:
    """Return the number of line breaks around a block: 1 for a nested list, else 2."""
    parent = block.getparent()
    return 1 if block.tag in ("ul", "ol") and parent is not None and parent.tag == "li" else 2


def find_anchor(term: html.HtmlElement) -> str | None:
    """Return the id of an element or of the first anchor in it."""
    ids = (inner.get("id") or (inner.get("name") if inner.tag == "a" else None) for inner in term.iter(etree.Element))
    return next(filter(None, ids), None)


def is_layout(cell: html.HtmlElement) -> bool:
    """Return whether a table cell is used for page layout rather than data."""
    return any(True for _ in cell.iter("table", *HEADING_LEVELS)) or word_count(cell.text_content()) > MAX_SHORT_WORDS


def has_heading(element: html.HtmlElement) -> bool:
    """Return whether an element contains a heading."""
    return any(True for _ in element.iter(*HEADING_LEVELS))


def navigation_role(element: html.HtmlElement, sizes: Sizes) -> str | None:
    """Return the role of a block that is mostly links: "index" if it is sorted, else "contents"; None for other blocks."""
    size = sizes[element]
    if element.tag not in _BLOCKS or not size.links or size.linked < _MIN_INDEX_LINK_SHARE * size.words or _belongs_to_text(element):
        return None
    if any(sizes[prose].words - sizes[prose].linked >= _MIN_PROSE_WORDS for prose in element.iter("p")):
        return None
    enough = size.links >= (_MIN_LINKS_IN_PROSE if element.tag == "p" else _MIN_LINKS) or (size.inner == size.links and element.tag != "p")
    if size.links >= _MIN_INDEX_ENTRIES and element.tag in _LISTS and _is_sorted(element):
        return "index"
    return "contents" if enough and size.linked >= _MIN_LINK_SHARE * size.words else None


def _belongs_to_text(element: html.HtmlElement) -> bool:
    """Return whether links are part of the text: in table rows, in a list entry, or after a sentence that ends in a colon."""
    if element.tag == "table" and sum(1 for _ in islice(element.iter("tr"), _MAX_LAYOUT_ROWS + 1)) > _MAX_LAYOUT_ROWS:
        return True
    before = element.getprevious()
    if before is not None and "".join(before.itertext()).rstrip().endswith(":"):
        return True
    return has_heading(element) or any(parent.tag in ("li", "dd", "td", "th") for parent in element.iterancestors())


def _is_sorted(element: html.HtmlElement) -> bool:
    """Return whether most of a list's entries are in alphabetical order, unlike chapters."""
    written = ("".join(entry.itertext()).casefold() for entry in element.iter("li", "dt", "tr"))
    entries: list[str] = [
        found[0][:_SORT_KEY_CHARS] for entry in written if (found := re.findall(r"[^\W_].*", entry))
    ]  # without leading punctuation
    letters = [entry for entry in entries if entry[0].isalpha()]
    if len(letters) < max(_MIN_INDEX_ENTRIES, len(entries) // 2):
        return False
    ordered = sum(one <= another for one, another in pairwise(letters))
    return ordered >= _MIN_SORTED_SHARE * (len(letters) - 1)


_DROPPED_ELEMENTS = frozenset(
    ["script", "style", "noscript", "template", "nav", "head", "svg", "iframe", "object", "canvas", "audio", "video", "button", "input",
     "select", "textarea", "datalist"]
)  # fmt: skip
_REMOVED_TAG = "taken-out"
_MAX_DEPTH = 256
"""Depth to which elements are flattened if libxml2 fails on a page (at 2,048)."""
_DROPPED_ROLES = frozenset(["navigation", "search", "banner", "contentinfo", "menu", "menubar", "toolbar", "button", "dialog"])
_SITE_ELEMENTS = frozenset(["header", "footer", "aside", "form"])
"""Outside the main content these belong to the site, within it to the text."""
_SITE_ELEMENT_NAME = re.compile(r"(?:nav(?:bar|igation|header|footer|links|menu)?|footer|breadcrumbs?|sidebar|menu)", re.IGNORECASE)
_META_PROPERTIES = {
    "author": "author", "creator": "author", "date": "date", "created": "date", "article:published_time": "date", "modified": "modified",
    "article:modified_time": "modified", "keywords": "tags", "subject": "subject", "description": "description", "language": "language",
}  # fmt: skip
_NAME = re.compile(r"[\s_-]+")
_SCHEME = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


class Page(NamedTuple):
    """A page's title, the element with its content, the sizes of all elements, and the values of its `meta` elements."""

    title: str | None
    content: html.HtmlElement
    sizes: Sizes
    stated: dict[str, str]


def read_page(text: str) -> Page:
    """Parse a page and remove everything but its content."""
    root = _parse(text)
    title = root.find(".//title")
    stated = " ".join(title.text_content().split()) if title is not None else ""
    properties = _properties(root)
    for link in [element for element in root.iter("a") if _is_permalink(element)]:
        link.text = None
        del link[:]
    _remove_elements(root, (element for element in root.iter(etree.Element) if element.tag in _DROPPED_ELEMENTS or _is_hidden(element)))
    sizes = _measure(root)
    content = _find_content(root, sizes)
    if content.tag == "body":
        most = sizes[content].words / 2
        _remove_elements(
            content, (element for element in content.iter(etree.Element) if sizes[element].words < most and _is_site_element(element))
        )
        sizes = _measure(content)
    return Page(stated or None, content, sizes, properties)


def _properties(root: html.HtmlElement) -> dict[str, str]:
    """Return a page's metadata under the names common to all formats; the first value of each."""
    found = {"language": root.get("lang", "")}
    for element in root.iter("meta"):
        name = (element.get("name") or element.get("property") or "").lower()
        shared = _META_PROPERTIES.get(name.removeprefix("dc.").removeprefix("dcterms."))
        if shared and element.get("content") and not found.get(shared):
            found[shared] = element.get("content")
    return found


def _parse(text: str) -> html.HtmlElement:
    """Parse a page; if it is too deep for libxml2, parse it again with limited depth."""
    content = text.encode("utf-8", "replace")
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(content, parser=parser, ensure_head_body=True)
        if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
            flat = html.HTMLParser(encoding="utf-8", huge_tree=True, target=_DepthLimitedTarget())
            root = html.document_fromstring(content, parser=flat, ensure_head_body=True)
    except etree.ParserError:  # nothing in it
        root = html.document_fromstring("<html></html>", ensure_head_body=True)
    return root


class _DepthLimitedTarget:
    """A parser target that limits the depth of the tree: deeper elements become siblings, with their text in order."""

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder(parser=html.html_parser)
        self._depth = 0
        self._deep: str | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self._end_deep()
        if self._depth > _MAX_DEPTH:
            self._deep = tag
        self._builder.start(tag, dict(attributes))

    def end(self, tag: str) -> None:
        self._end_deep()
        if self._depth <= _MAX_DEPTH:
            self._builder.end(tag)
        self._depth -= 1

    def data(self, text: str) -> None:
        self._builder.data(text)

    def close(self) -> html.HtmlElement:
        return self._builder.close()

    def _end_deep(self) -> None:
        if self._deep is not None:
            self._builder.end(self._deep)
            self._deep = None


def _remove_elements(root: html.HtmlElement, elements: Iterator[html.HtmlElement]) -> None:
    """Remove elements together; one by one would be quadratic, since the text after each is joined to the text before it."""
    for element in list(elements):
        if element is not root and element.tag != "body":
            element.tag = _REMOVED_TAG
    etree.strip_elements(root, _REMOVED_TAG, with_tail=False)


def _is_hidden(element: html.HtmlElement) -> bool:
    role = element.get("role")
    return role in _DROPPED_ROLES or "hidden" in element.attrib or (element.get("aria-hidden") == "true" and element.tag != "body")


def _is_permalink(element: html.HtmlElement) -> bool:
    """Return whether an element is a permalink: a link without words to an anchor."""
    if "#" not in element.get("href", ""):
        return False
    shown = element.text_content().strip()
    return bool(shown) and not word_count(shown)


def _is_site_element(element: html.HtmlElement) -> bool:
    if element.tag in _SITE_ELEMENTS:
        return not has_heading(element) or element.tag == "form"
    names = f"{element.get('class', '')} {element.get('id', '')}"
    return any(_SITE_ELEMENT_NAME.fullmatch(name) for name in _NAME.split(names) if name) and not has_heading(element)


def _measure(root: html.HtmlElement) -> Sizes:
    """Return the words and links of each element, computed bottom-up."""
    ids = {element.get("id") or element.get("name") for element in root.iter(etree.Element)} - {None}
    sizes: Sizes = {}
    for element in reversed(list(root.iter(etree.Element))):
        words = word_count(element.text)
        total = Size(words, 0, 0, 0)
        for child in element:
            total += sizes.get(child, EMPTY_SIZE) + Size(word_count(child.tail), 0, 0, 0)
        address = element.get("href") if element.tag == "a" else None
        # Links to other sites are content: sources and references.
        if address is not None and not _SCHEME.match(address) and total.words:
            _, within, name = address.partition("#")
            total = Size(total.words, total.words, 1, int(bool(within) and name in ids))
        sizes[element] = total
    return sizes


def _find_content(root: html.HtmlElement, sizes: Sizes) -> html.HtmlElement:
    """Return the page's `main`, its only `article`, or its body; `main` and `article` only if they contain enough of the text."""
    body = root.find("body")
    mains = [element for element in root.iter(etree.Element) if element.tag == "main" or element.get("role") == "main"]
    articles = list(root.iter("article"))
    for found, share in ((mains[:1], 0.1), (articles if len(articles) == 1 else [], 0.5)):
        if found and sizes[found[0]].words > share * sizes[body].words:
            return found[0]
    return body
