"""PowerPoint's presentations (pptx): one document a slide, with its tables and the speaker's notes."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents.files import Told, UnreadableError
from ramify.tools.documents.office.container import office_file
from ramify.tools.documents.office.document_properties import state_core
from ramify.tools.documents.text import stem


def read_pptx(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a presentation as one document a slide; `page` is the slide's number."""
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    with office_file(path) as file:
        state_core(file, source, told)
        try:
            for number, slide in enumerate(Presentation(file).slides, start=1):
                yield slide_document(source, told.title or stem(path), number, *_said(slide))
        except (PythonPptxError, XMLSyntaxError, LookupError, ValueError, AttributeError) as error:
            raise UnreadableError(f"not a readable presentation: {type(error).__name__}: {error}") from error


def slide_document(source: str, title: str, number: int, heading: str, parts: Iterable[str]) -> Document:
    """Make a slide's document; a slide with nothing but its title says that."""
    text = "\n\n".join(part for part in parts if part.strip()) or heading
    metadata = {"source": source, "title": title, "page": number, **({"heading": heading} if heading else {})}
    return Document(text, id=f"{source}#slide-{number}", metadata=metadata)


def _said(slide: Any) -> tuple[str, list[str]]:
    """Return a slide's title and what else is said on it and in its notes."""
    headline = slide.shapes.title
    heading = " ".join(headline.text_frame.text.split()) if headline is not None else ""
    parts = [text for shape in slide.shapes if headline is None or shape.shape_id != headline.shape_id for text in _texts(shape)]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        parts.append(f"Notes: {notes.text.strip()}")
    return heading, parts


def _texts(shape: Any) -> Iterator[str]:
    from pptx.shapes.group import GroupShape

    if isinstance(shape, GroupShape):
        for inner in shape.shapes:
            yield from _texts(inner)
    elif getattr(shape, "has_table", False):
        yield "\n".join(" | ".join(" ".join(cell.text.split()) for cell in row.cells) for row in shape.table.rows)
    elif shape.has_text_frame:
        yield shape.text_frame.text.replace("\v", "\n").strip()
