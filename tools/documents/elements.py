"""What single elements of a web page are to its text."""

from lxml import html

from ramify.tools.documents.sections import word_count

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
SHORT = 200
"""Up to so many words a cell or what is said of a term is one piece of text."""


def distance(block: html.HtmlElement) -> int:
    """Return the line ends around a block: a list within an entry of another stays close to it."""
    parent = block.getparent()
    return 1 if block.tag in ("ul", "ol") and parent is not None and parent.tag == "li" else 2


def signature(term: html.HtmlElement) -> str:
    """Return a term's name: of a function, without its arguments."""
    shown = " ".join("".join(term.itertext()).split())
    return shown.partition("(")[0].strip() or shown


def anchor(term: html.HtmlElement) -> str | None:
    """Return the id that an element or an anchor in it has."""
    return next((inner.get("id") or inner.get("name") for inner in term.iter() if _names(inner)), None)


def _names(element: html.HtmlElement) -> bool:
    return isinstance(element.tag, str) and bool(element.get("id") or (element.tag == "a" and element.get("name")))


def is_layout(cell: html.HtmlElement) -> bool:
    """Tell a cell that holds a part of the page from one of a table of facts."""
    return any(True for _ in cell.iter("table", *HEADINGS)) or word_count(cell.text_content()) > SHORT
