"""Tidy a file's documents: what is no text to read gets a role, what is too short to stand alone goes to its neighbour."""

from collections.abc import Iterator, Sequence

from langchain_core.documents import Document

from ramify.tools.documents.contents_and_indexes import contents_spans, page_listing
from ramify.tools.documents.legal_notices import is_notice
from ramify.tools.documents.located_parts import marks_of, sliced
from ramify.tools.documents.sections import word_count
from ramify.tools.documents.short_sections import with_small_ones_merged

_NOTICES = 0.1
"""A file of which more is legal is about that: a licence, which a person may ask for."""

Part = tuple[int, int, str | None]
"""Where a part of a text begins and ends, and its role."""


def tidy(documents: Sequence[Document]) -> list[Document]:
    """Return a file's documents with `role` on what only lists or licenses, cut out by page, and short ones merged."""
    words = sum(word_count(document.page_content) for document in documents)
    parts = [part for document in documents for part in _parts(document)]
    legal = sum(word_count(part.page_content) for part in parts if part.metadata.get("role") == "legal")
    if legal > _NOTICES * words:
        parts = [_unmarked(part) for part in parts]
    return with_small_ones_merged(parts)


def _unmarked(document: Document) -> Document:
    """Return a legal text of a file about legal matters as the text that it is."""
    if document.metadata.get("role") != "legal":
        return document
    metadata = {name: value for name, value in document.metadata.items() if name != "role"}
    return document.model_copy(update={"metadata": metadata})


def _parts(document: Document) -> Iterator[Document]:
    """Cut a document where its role changes; one that is all text stays as it is."""
    if document.metadata.get("role"):
        yield document
        return
    parts = _merged([part for start, end in _pages(document) for part in _roles(document, start, end)])
    for number, (start, end, role) in enumerate(parts, start=1):
        part = document if len(parts) == 1 else sliced(document, start, end)
        if not part.page_content:
            continue
        metadata = part.metadata | {"role": role} if role else part.metadata
        identity = f"{document.id}@{number}" if number > 1 else document.id
        yield Document(part.page_content, id=identity, metadata=metadata)


def _pages(document: Document) -> list[tuple[int, int]]:
    starts = sorted({0, *(offset for offset, _ in marks_of(document, "page"))})
    return list(zip(starts, [*starts[1:], len(document.page_content)], strict=True))


def _roles(document: Document, start: int, end: int) -> list[Part]:
    text = document.page_content[start:end]
    if is_notice(text):
        return [(start, end, "legal")]
    if marks_of(document, "page") and (role := page_listing(text)):
        return [(start, end, role)]
    parts: list[Part] = []
    done = start
    for first, last, role in contents_spans(text):
        parts += [(done, start + first, None), (start + first, start + last, role)]
        done = start + last
    return [*parts, (done, end, None)]


def _merged(parts: Sequence[Part]) -> list[Part]:
    merged: list[Part] = []
    for start, end, role in parts:
        if merged and merged[-1][2] == role:
            merged[-1] = (merged[-1][0], end, role)
        elif start < end or not merged:
            merged.append((start, end, role))
    return merged
