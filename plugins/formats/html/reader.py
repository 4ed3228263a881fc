"""Read web pages, and pieces of HTML within other formats."""

from collections.abc import Iterator
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.sections import section_documents
from ramify.tools.documents.text import file_stem, read_decoded


def read_html(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a web page as one document per section."""
    from ramify.formats.html.page import html_outline

    outline = html_outline(read_decoded(path, source, report), source, report)
    report.state(source, outline.stated)
    yield from section_documents(outline, source, file_stem(path))


def html_text(text: str, source: str, report: ReadReport) -> str:
    """Return the text of a page's sections, each under its heading."""
    from ramify.formats.html.page import html_outline

    return "\n\n".join("\n".join((*section.headings[-1:], section.text)) for section in html_outline(text, source, report).sections)


READER = FormatReader(read_html, {"lxml.html": "lxml"})
