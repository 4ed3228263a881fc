"""Read PowerPoint presentations."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from ramify.formats.office.containers import open_office_file
from ramify.formats.slides._shapes import SlideReader
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.text import file_stem

if TYPE_CHECKING:
    from lxml.etree import _Element


def read_pptx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    with open_office_file(path, source, report) as file:
        try:
            reader = SlideReader(source, report)
            for number, slide in enumerate(Presentation(file).slides, start=1):
                if slide.element.get("show") in ("0", "false"):
                    notes = slide.notes_slide.element.itertext() if slide.has_notes_slide else ()
                    report.leave_out(source, "hidden slide", [" ".join([*slide.element.itertext(), *notes])])
                else:
                    yield slide_document(source, report.title or file_stem(path), number, *_slide_texts(slide, reader))
            reader.close()
        except (PythonPptxError, XMLSyntaxError, LookupError, ValueError, AttributeError) as error:
            raise UnreadableError(f"not a readable presentation: {type(error).__name__}: {error}") from error


def slide_document(source: str, title: str, number: int, heading: str, parts: Iterable[str]) -> Document:
    """Return a slide as a document; the text of a slide without other text is its title."""
    text = "\n\n".join(part for part in parts if part.strip()) or heading
    metadata = {"source": source, "title": title, "page": number, **({"heading": heading} if heading else {})}
    return Document(text, id=f"{source}#slide-{number}", metadata=metadata)


def _slide_texts(slide: Any, reader: SlideReader) -> tuple[str, list[str]]:
    """Return a slide's title, and the texts on it and in its notes."""
    heading, parts = reader.read_shapes(slide.part, slide.shapes._spTree)
    if slide.has_notes_slide:
        _, notes = reader.read_shapes(slide.notes_slide.part, slide.notes_slide.shapes._spTree)
        if spoken := "\n".join(notes).strip():
            reader.report.add("Notes:")
            parts.append(f"Notes: {spoken}")
    authors = _author_names(slide.part.package.presentation_part)
    for comments in _related_roots(slide.part, "/comments"):
        parts += _comment_texts(comments, authors, reader.report)
    return heading, parts


def _related_roots(part: Any, kind: str) -> Iterator["_Element"]:
    """Yield the XML of the parts to which a part has a relation of a kind."""
    from lxml.etree import fromstring

    for relation in part.rels.values():
        if relation.reltype.lower().endswith(kind) and not relation.is_external:
            yield fromstring(relation.target_part.blob)


def _author_names(presentation: Any) -> dict[str, str]:
    """Return the names of the authors of comments, by their number."""
    roots = (root for kind in ("/commentauthors", "/authors") for root in _related_roots(presentation, kind))
    return {author.get("id", ""): author.get("name", "") for root in roots for author in root if isinstance(author.tag, str)}


def _comment_texts(comments: "_Element", authors: Mapping[str, str], report: ReadReport) -> Iterator[str]:
    """Yield comments in the classic form (`p:text`) and the modern one (`p188:txBody`), with their replies."""
    for element in comments.iter("{*}text", "{*}txBody"):
        comment = element.getparent()
        text = " ".join("\n".join("".join(run.itertext()) for run in element.iter("{*}p")).split()) or " ".join(
            (element.text or "").split()
        )
        author = authors.get(comment.get("authorId", ""), "") if comment is not None else ""
        label = f"Comment ({author}):" if author else "Comment:"
        if text:
            report.add(label)
            yield f"{label} {text}"


READER = FormatReader(read_pptx, {"pptx": "python-pptx"})
