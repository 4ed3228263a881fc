"""Read PowerPoint presentations."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents._text import file_stem
from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.office import open_office_file


def read_pptx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    with open_office_file(path, source, report) as file:
        try:
            for number, slide in enumerate(Presentation(file).slides, start=1):
                yield slide_document(source, report.title or file_stem(path), number, *_slide_texts(slide))
        except (PythonPptxError, XMLSyntaxError, LookupError, ValueError, AttributeError) as error:
            raise UnreadableError(f"not a readable presentation: {type(error).__name__}: {error}") from error


def slide_document(source: str, title: str, number: int, heading: str, parts: Iterable[str]) -> Document:
    """Return a slide as a document; the text of a slide without other text is its title."""
    text = "\n\n".join(part for part in parts if part.strip()) or heading
    metadata = {"source": source, "title": title, "page": number, **({"heading": heading} if heading else {})}
    return Document(text, id=f"{source}#slide-{number}", metadata=metadata)


def _slide_texts(slide: Any) -> tuple[str, list[str]]:
    """Return a slide's title, and the texts on it and in its notes."""
    headline = slide.shapes.title
    heading = " ".join(headline.text_frame.text.split()) if headline is not None else ""
    parts = [text for shape in slide.shapes if headline is None or shape.shape_id != headline.shape_id for text in _shape_texts(shape)]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        parts.append(f"Notes: {notes.text.strip()}")
    return heading, parts


def _shape_texts(shape: Any) -> Iterator[str]:
    from pptx.shapes.group import GroupShape

    if isinstance(shape, GroupShape):
        for inner in shape.shapes:
            yield from _shape_texts(inner)
    elif getattr(shape, "has_table", False):
        yield "\n".join(" | ".join(" ".join(cell.text.split()) for cell in row.cells) for row in shape.table.rows)
    elif shape.has_text_frame:
        yield shape.text_frame.text.replace("\v", "\n").strip()
