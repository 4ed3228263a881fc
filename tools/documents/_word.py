"""Read Word documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

from langchain_core.documents import Document

from ramify.tools.documents._text import file_stem
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.office import open_office_file
from ramify.tools.documents.sections import section_documents

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_REFERENCES = ".//a[starts-with(@id, 'footnote-ref-') or starts-with(@id, 'endnote-ref-')]"


def read_docx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a Word document as one document per section."""
    import mammoth

    from ramify.tools.documents._html import html_outline

    with open_office_file(path, source, report) as file:
        try:
            html = mammoth.convert_to_html(file, style_map=_STYLES, convert_image=mammoth.images.img_element(lambda _: {"src": ""})).value
        except (ExpatError, LookupError, OSError, ValueError, AttributeError) as error:
            raise UnreadableError(f"not a readable document: {type(error).__name__}: {error}") from error
    if html.strip():
        yield from section_documents(html_outline(_tidy_html(html)), source, report.title or file_stem(path))


def _tidy_html(html: str) -> str:
    """Move notes behind the paragraph that refers to them, and put each table cell on one line."""
    from lxml.etree import strip_tags
    from lxml.html import fragment_fromstring, tostring

    body = fragment_fromstring(html, create_parent="body")
    named = {element.get("id"): element for element in body.xpath(".//*[@id]")}
    for reference in body.xpath(_REFERENCES):
        note = named.pop(reference.get("href", "#").removeprefix("#"), None)
        if note is not None:
            _append_note(reference, note)
    for paragraph in body.xpath(".//td//p | .//th//p"):
        paragraph.tail = f" {paragraph.tail or ''}"
        paragraph.tag = "within-cell"
    strip_tags(body, "within-cell")
    return str(tostring(body, encoding="unicode"))


def _append_note(reference: "HtmlElement", note: "HtmlElement") -> None:
    from lxml.html import Element

    block = next((above for above in reference.iterancestors() if above.tag in ("p", "li", "table", "h1", "h2", "h3")), reference)
    paragraph = Element("p")
    paragraph.text = f"{reference.text_content()} {' '.join(note.text_content().removesuffix('↑').split())}"
    paragraph.tail, block.tail = block.tail, None
    block.addnext(paragraph)
    note.drop_tree()
