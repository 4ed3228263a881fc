"""Read OpenDocument texts and slides."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.formats.office.containers import open_container, parse_xml, report_properties
from ramify.formats.opendocument._styles import Styles
from ramify.formats.opendocument._text import TextReader, read_styles
from ramify.formats.opendocument._xml import NAMESPACES, attribute, find_body
from ramify.formats.slides.reader import slide_document
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.sections import Outline, Section, keep_lone_headings, only_main_heading, section_documents, split_sections
from ramify.tools.documents.text import file_stem

if TYPE_CHECKING:
    from lxml.etree import _Element

_FOOTERS = ("footer", "date-time", "header")


def read_odt(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a text document as one document a section."""
    with open_container(path) as archive:
        body = find_body(archive, "office:text")
        report_properties(archive, source, report)
        root, common = body.getroottree().getroot(), _common_styles(archive)
        used = {attribute(style, "style:master-page-name") for style in root.iterfind("office:automatic-styles/style:style", NAMESPACES)}
        reader = TextReader(archive, root, read_styles(root, common), source, report)
        lines = list(reader.lines(body))
        headers, footers = TextReader(archive, common, read_styles(common, None), source, report).margins(common, used)
        reader.close()
    title = report.title or only_main_heading(lines)
    sections = split_sections([*headers, *keep_lone_headings(lines, title), (1, ""), *footers])
    sections += [Section((), "\n".join(texts), role=role) for role, texts in reader.indexes.items()]
    yield from section_documents(Outline(title, sections), source, file_stem(path))


def read_odp(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    with open_container(path) as archive:
        body = find_body(archive, "office:presentation")
        report_properties(archive, source, report)
        root = body.getroottree().getroot()
        styles = read_styles(root, _common_styles(archive))
        reader = TextReader(archive, root, styles, source, report)
        footers = _Footers(body, styles)
        for number, slide in enumerate(body.iterfind("draw:page", NAMESPACES), start=1):
            style = attribute(slide, "draw:style-name")
            if styles.stated("drawing-page", style, "presentation:visibility", "style:drawing-page-properties") == "hidden":
                report.leave_out(source, "hidden slide", [" ".join(slide.itertext())])
            else:
                heading, parts = _slide_texts(slide, reader, report)
                yield slide_document(source, report.title or file_stem(path), number, heading, [*parts, *footers.new_texts(slide)])
        reader.close()


def _slide_texts(slide: "_Element", reader: TextReader, report: ReadReport) -> tuple[str, list[str]]:
    """Return a slide's title, and the texts on it and in its notes."""
    frames = [(attribute(shape, "presentation:class"), reader.block_text(shape)) for shape in slide]
    heading = next((" ".join(text.split()) for kind, text in frames if kind == "title"), "")
    parts = [text for kind, text in frames if kind not in ("title", "page-number")]
    notes = slide.find("presentation:notes", NAMESPACES)
    shapes = (
        [shape for shape in notes if attribute(shape, "presentation:class") not in (*_FOOTERS, "page-number")] if notes is not None else []
    )
    if spoken := "\n".join(filter(None, map(reader.block_text, shapes))).strip():
        report.add("Notes:")
        parts.append(f"Notes: {spoken}")
    return heading, parts


class _Footers:
    """The footers and dates of slides, which a presentation declares once and slides refer to."""

    def __init__(self, body: "_Element", styles: Styles) -> None:
        self._styles = styles
        self._texts = {
            (kind, attribute(element, "presentation:name")): " ".join("".join(element.itertext()).split())
            for kind in _FOOTERS
            for element in body.iterfind(f"presentation:{kind}-decl", NAMESPACES)
        }

    def new_texts(self, slide: "_Element") -> Iterator[str]:
        """Yield the footers of a slide that no slide before it had."""
        for kind in _FOOTERS:
            style = attribute(slide, "draw:style-name")
            is_shown = self._styles.stated("drawing-page", style, f"presentation:display-{kind}", "style:drawing-page-properties")
            if is_shown == "true":
                yield self._texts.pop((kind, attribute(slide, f"presentation:use-{kind}-name")), "")


def _common_styles(archive: ZipFile) -> "_Element":
    from lxml.etree import Element

    return parse_xml(archive.read("styles.xml")) if "styles.xml" in archive.namelist() else Element("none")


TEXT_READER = FormatReader(read_odt, {"lxml.etree": "lxml"})
SLIDE_READER = FormatReader(read_odp, {"lxml.etree": "lxml"})
