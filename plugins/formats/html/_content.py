"""Extract the main content of a web page, without navigation, and count the words and links of each element.

The extraction uses structure only: `main`, navigation elements, and blocks of links. On manuals this preserves what content extractors lose
(headings, terms of definition lists), and the ids that citations link to.
"""

import re
from collections.abc import Iterator, Mapping, Set
from itertools import islice, pairwise
from typing import NamedTuple

from lxml import etree, html

from ramify.formats.html._inline import UNSHOWN_INPUTS, number_lists, write_inline
from ramify.formats.html._left_out import SITE_PART, Kind, left_out_kind, remove_elements, words_of
from ramify.formats.html._styles import Styles, name_by_role
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.sections import word_count

HEADING_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
MAX_SHORT_WORDS = 200
"""Longest table cell or description of a term that is written as one piece of text."""
_LISTS = frozenset(["ul", "ol", "dl", "table", "menu"])
_BLOCKS = _LISTS | {"div", "section", "p", "center", "header", "footer", "aside"}
_MIN_INDEX_LINK_SHARE = 0.5
"""Least share of linked words in an index: some terms are outside their links."""
_MIN_LINK_SHARE = 0.8
"""Least share of linked words in a navigation block."""
_MIN_PROSE_WORDS = 12
"""Least words outside links in a paragraph of text."""
_LABELS = frozenset(["p", "div", "span", "strong", "b", *HEADING_LEVELS]) - {"h1"}
_MAX_LABEL_WORDS = 4
_CONTENTS_LABEL = re.compile(
    r"(?:on|in) this (?:page|article|section|document)|(?:table of )?contents|jump to|auf dieser seite|inhalt(?:sverzeichnis)?|sommaire"
    r"|índice|contenido|related (?:articles|posts|pages)|you may also like|read more|more articles",
    re.IGNORECASE,
)
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


def data_tables(content: html.HtmlElement, sizes: Sizes) -> frozenset[html.HtmlElement]:
    """Return the tables of data, not of layout: cells that are long or hold tables or headings need a header."""
    headings, tables = _holders(content, *HEADING_LEVELS), _holders(content, "table")
    selected: list[html.HtmlElement] = []
    for table in content.iter("table"):
        cells = [cell for row in table_rows(table) for cell in row.iterchildren("td", "th")]
        has_header = any(cell.tag == "th" for cell in cells)
        is_long = any(cell in tables or sizes[cell].words > MAX_SHORT_WORDS for cell in cells)
        is_nested_long = any(cell in tables and sizes[cell].words > MAX_SHORT_WORDS for cell in cells)
        is_layout_of_parts = table in headings and (is_long or not has_header or next(table.iter("h1"), None) is not None)
        if cells and not is_layout_of_parts and not is_nested_long and (has_header or not is_long):
            selected.append(table)
    return frozenset(selected)


def table_rows(table: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Yield a table's own rows, not those of tables in its cells."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _holders(content: html.HtmlElement, *tags: str) -> set[html.HtmlElement]:
    """Return the elements that contain an element with one of these tags."""
    holders: set[html.HtmlElement] = set()
    for element in content.iter(*tags):
        for parent in element.iterancestors():
            if parent in holders:
                break
            holders.add(parent)
    return holders


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


def is_contents_label(element: html.HtmlElement, sizes: Sizes) -> bool:
    """Return whether an element names the list of links behind it: "On this page"."""
    after = element.getnext()
    if after is None or element.tag not in _LABELS or not 0 < sizes[element].words <= _MAX_LABEL_WORDS:
        return False
    return _CONTENTS_LABEL.fullmatch(" ".join(element.text_content().split())) is not None and navigation_role(after, sizes) is not None


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
        matches[0][:_SORT_KEY_CHARS] for entry in written if (matches := re.findall(r"[^\W_].*", entry))
    ]  # without leading punctuation
    letters = [entry for entry in entries if entry[0].isalpha()]
    if len(letters) < max(_MIN_INDEX_ENTRIES, len(entries) // 2):
        return False
    ordered = sum(one <= another for one, another in pairwise(letters))
    return ordered >= _MIN_SORTED_SHARE * (len(letters) - 1)


_MAX_DEPTH = 256
"""Depth to which elements are flattened if libxml2 fails on a page (at 2,048)."""
_CONTROL = re.compile(
    r"[\0-\b\v\f\x0e-\x1f\x7f\ufffe\uffff]|&#(?:0{0,6}(?:[0-8]|1[124-9]|2\d|3[01])(?!\d)|x0{0,6}(?:[0-8bcef]|1[\da-f])(?![\da-f]));?", re.I
)  # fmt: skip
_INVISIBLE = re.compile(
    r"[\xad\u200b\u2060\ufeff]|&(?:shy|#173|#[xX]0*[aA][dD]|ZeroWidthSpace|#8203|#[xX]200[bB]|NoBreak|#8288|#[xX]2060|#65279|#[xX][fF][eE][fF][fF]);"
)
"""Places where a word may be divided, and other signs that no one sees."""
_MIN_GROUPED_LINKS = 3
_MIN_SCRIPTED_WORDS = 5
"""A page with fewer words is written by scripts; its text without scripts is read."""
_SITE_ELEMENTS = frozenset(["header", "footer", "aside", "form"])
"""Outside the main content these belong to the site, within it to the text."""
_MIN_FORM_FIELDS = 3
"""Least fields of a form that is content though it is empty: a search or a subscription has fewer."""
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
    styles: Styles


def read_page(text: str, source: str, report: ReadReport, is_site: bool) -> Page:
    """Parse a page and remove everything but its content; one that is not of a site has no parts around it."""
    root = _parse(_INVISIBLE.sub("", text))
    title = root.find(".//title")
    stated = " ".join(title.text_content().split()) if title is not None else ""
    properties = _properties(root)
    styles = Styles(root)
    name_by_role(root)
    for link in [element for element in root.iter("a") if _is_permalink(element)]:
        link.text = None
        del link[:]
    _show_texts_without_scripts(root)
    remove_elements(root, lambda element: left_out_kind(element, styles, is_site), source, report)
    forms = {form for form in root.iter("form") if _is_filled_in(form)}
    write_inline(root, styles, report)
    _group_links(root)
    sizes = _measure(root)
    content = _find_content(root, sizes) if is_site else root.find("body")
    if is_site and content.tag == "body":
        most = sizes[content].words / 2

        def kind_of(element: html.HtmlElement) -> Kind | None:
            return SITE_PART if sizes[element].words < most and _is_site_element(element, forms, sizes) else None

        if remove_elements(content, kind_of, source, report):
            sizes = _measure(content)
    report.leave_out(source, SITE_PART[0], _texts_around(content, sizes), SITE_PART[1])
    number_lists(content, sizes, report)
    return Page(stated or None, content, sizes, properties, styles)


def _show_texts_without_scripts(root: html.HtmlElement) -> None:
    """Read formulas of MathJax, which are scripts, and the text of `noscript` on a page that has no other."""
    for script in root.iter("script"):
        before = script.getprevious()
        if script.get("type", "").startswith("math/tex") and (before is None or "MathJax" not in before.get("class", "")):
            script.tag = "span"
    unscripted = list(root.iter("noscript"))
    if unscripted:
        ignored = {*root.iter("script", "style", "noscript", "head")}
        steps = etree.iterwalk(root, events=("start", "end"))
        words = 0
        for event, element in steps:
            if event == "start" and element in ignored:
                steps.skip_subtree()
            elif isinstance(element.tag, str):
                words += word_count(element.text if event == "start" else element.tail)
        if words < _MIN_SCRIPTED_WORDS:
            for element in unscripted:
                element.tag = "div"


def _group_links(root: html.HtmlElement) -> None:
    """Put links that stand together between blocks, such as a menu without a list, into an element."""
    for parent in list(root.iter("body", "main", "article", "section", "div", "center")):
        run: list[html.HtmlElement] = []
        text_before = parent.text
        for child in [*parent, None]:
            if child is not None and child.tag == "a" and not (not run and word_count(text_before)):
                run.append(child)
                if not word_count(child.tail):
                    continue
            elif len(run) >= _MIN_GROUPED_LINKS and (child is None or child.tag in _BLOCKS or child.tag in HEADING_LEVELS):
                _wrap(run)
            is_block = child is not None and (child.tag in _BLOCKS or child.tag in HEADING_LEVELS or child.tag in ("hr", "br"))
            run, text_before = [], child.tail if is_block else "text"


def _wrap(elements: list[html.HtmlElement]) -> None:
    group = html.Element("div")
    elements[0].addprevious(group)
    group.extend(elements)


def _texts_around(content: html.HtmlElement, sizes: Sizes) -> list[str]:
    """Return the texts of a page outside its content."""
    texts: list[str] = []
    inner = content
    for outer in content.iterancestors():
        texts += [words_of(child) for child in outer if child is not inner and child in sizes and sizes[child].words]
        inner = outer
        if outer.tag == "body":
            break
    return texts


def _properties(root: html.HtmlElement) -> dict[str, str]:
    """Return a page's metadata under the names common to all formats; the first value of each."""
    properties = {"language": root.get("lang", "")}
    for element in root.iter("meta"):
        name = (element.get("name") or element.get("property") or "").lower()
        shared = _META_PROPERTIES.get(name.removeprefix("dc.").removeprefix("dcterms."))
        if shared and element.get("content") and not properties.get(shared):
            properties[shared] = element.get("content")
    return properties


def _parse(text: str) -> html.HtmlElement:
    """Parse a page; if it is too deep for libxml2, parse it again with limited depth."""
    content = _CONTROL.sub(" ", text).encode("utf-8", "replace")
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


def _is_permalink(element: html.HtmlElement) -> bool:
    """Return whether an element is a permalink: a link without words to an anchor."""
    if "#" not in element.get("href", ""):
        return False
    shown = element.text_content().strip()
    return bool(shown) and not word_count(shown)


def _is_site_element(element: html.HtmlElement, forms: Set[html.HtmlElement], sizes: Sizes) -> bool:
    """Return whether an element is a part of the site by its tag or name; `forms` are those that are content, menus have links."""
    if element.tag == "form":
        return element not in forms
    if element.tag in _SITE_ELEMENTS:
        return not has_heading(element)
    names = {name.lower() for name in _NAME.split(f"{element.get('class', '')} {element.get('id', '')}")}
    is_named = any(_SITE_ELEMENT_NAME.fullmatch(name) for name in names if name != "menu" or next(element.iter("a"), None) is not None)
    return is_named and not has_heading(element)


def _is_filled_in(form: html.HtmlElement) -> bool:
    """Return whether a form is content: it has several fields or one that is filled in, and is no search and no login."""
    fields = [field for field in form.iter("input", "select", "textarea") if field.get("type", "").lower() not in UNSHOWN_INPUTS]
    kinds = {field.get("type", "").lower() for field in form.iter("input")}
    if form.get("role") == "search" or kinds & {"search", "password"}:
        return False
    filled = any(field.get("value") or "checked" in field.attrib or (field.tag == "textarea" and field.text) for field in fields)
    return filled or len(fields) >= _MIN_FORM_FIELDS


def _measure(root: html.HtmlElement) -> Sizes:
    """Return the words and links of each element, computed bottom-up."""
    ids = {element.get("id") or element.get("name") for element in root.iter(etree.Element)} - {None}
    sizes: Sizes = {}
    for element in reversed(list(root.iter(etree.Element))):
        words, linked, links, inner = word_count(element.text), 0, 0, 0
        for child in element:
            own = sizes.get(child, EMPTY_SIZE)
            words += own[0] + word_count(child.tail)
            linked += own[1]
            links += own[2]
            inner += own[3]
        address = element.get("href") if element.tag == "a" else None
        # Links to other sites are content: sources and references.
        if address is not None and not _SCHEME.match(address) and words:
            _, within, name = address.partition("#")
            linked, links, inner = words, 1, int(bool(within) and name in ids)
        sizes[element] = Size(words, linked, links, inner)
    return sizes


def _find_content(root: html.HtmlElement, sizes: Sizes) -> html.HtmlElement:
    """Return the page's `main`, its only `article`, or its body; `main` and `article` only if they contain enough of the text."""
    body = root.find("body")
    mains = [element for element in root.iter(etree.Element) if element.tag == "main" or element.get("role") == "main"]
    articles = list(root.iter("article"))
    for candidates, share in ((mains[:1], 0.1), (articles if len(articles) == 1 else [], 0.5)):
        if candidates and sizes[candidates[0]].words > share * sizes[body].words:
            return candidates[0]
    return body
