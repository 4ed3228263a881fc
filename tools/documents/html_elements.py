"""What single elements of a web page are to its text."""

from lxml import etree, html

from ramify.tools.documents.sections import word_count

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
SHORT = 200
"""Up to so many words a cell or what is said of a term is one piece of text."""


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
