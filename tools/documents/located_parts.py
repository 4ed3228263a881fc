"""A part of a document that knows where it begins: its page of a PDF, its id in a web page."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from langchain_core.documents import Document

Marks = Sequence[tuple[int, Any]]
"""Places in a text, each with what begins there, in order."""

_MARKS = (("page", "pages"), ("fragment", "fragments"))
"""What a text begins at, and where else it gets to: `pages: [[offset, page], …]`."""


def all_marks(document: Document) -> dict[str, Marks]:
    """Return where a document's pages and ids begin, by the names of what begins."""
    return {name: marks_of(document, name) for name, _ in _MARKS}


def sliced(document: Document, start: int, end: int, marks: Mapping[str, Marks]) -> Document:
    """Return the text from `start` to `end`, without the space around it, with the page and the id, of all marks, that it begins at."""
    piece = document.page_content[start:end]
    start += len(piece) - len(piece.lstrip())
    text = piece.strip()
    metadata = dict(document.metadata)
    for name, list_name in _MARKS:
        first = bisect_right(marks[name], start, key=itemgetter(0))
        last = bisect_left(marks[name], start + len(text), lo=first, key=itemgetter(0))
        within = [(max(offset - start, 0), value) for offset, value in marks[name][max(first - 1, 0) : last]]
        put_marks(metadata, name, list_name, within)
    return document.model_copy(update={"page_content": text, "metadata": metadata})


def placed(metadata: dict[str, Any], start: int) -> dict[str, Any]:
    """Return the metadata of the passage that begins at `start`: one page, one id."""
    if not any(list_name in metadata for _, list_name in _MARKS):
        return metadata
    found = {name: value for name, value in metadata.items() if name not in dict(_MARKS).values()}
    for name, list_name in _MARKS:
        marks = metadata.get(list_name, ())
        before = bisect_right(marks, start, key=itemgetter(0))
        if before or (name == "page" and marks):
            found[name] = marks[max(before - 1, 0)][1]
    return found


def marks_of(document: Document, name: str) -> list[tuple[int, Any]]:
    """Return where a document's pages or ids begin."""
    own = document.metadata.get(name)
    marks = [(int(offset), value) for offset, value in document.metadata.get(dict(_MARKS)[name], ())]
    return marks if own is None or any(offset == 0 for offset, _ in marks) else [(0, own), *marks]


def put_marks(metadata: dict[str, Any], name: str, list_name: str, marks: Marks) -> None:
    """Set where pages or ids begin: the first by itself where it is the text's, a list where there are more."""
    metadata.pop(list_name, None)
    metadata.pop(name, None)
    changes = [mark for place, mark in enumerate(marks) if not place or mark[1] != marks[place - 1][1]]
    if changes and changes[0][0] == 0:
        metadata[name] = changes.pop(0)[1]
    if changes:
        first = [(0, metadata.pop(name))] if name == "page" and name in metadata else []
        metadata[list_name] = [list(mark) for mark in (*first, *changes)]


def joined(documents: Sequence[Document], texts: Sequence[str], offsets: Sequence[int]) -> Document:
    """Return one document of several: each as the text given, its own beginning at an offset within that."""
    metadata = dict(documents[0].metadata)
    start, places = 0, []
    for text in texts:
        places.append(start)
        start += len(text) + 2
    for name, list_name in _MARKS:
        moved = [
            (place + (offset + within if offset else 0), value)
            for document, place, within in zip(documents, places, offsets, strict=True)
            for offset, value in marks_of(document, name)
        ]
        put_marks(metadata, name, list_name, moved)
    return documents[0].model_copy(update={"page_content": "\n\n".join(texts), "metadata": metadata})
