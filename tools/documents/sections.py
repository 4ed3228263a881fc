"""Split texts into sections under headings, and keep track of the pages, ids and headings at each offset."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from langchain_core.documents import Document

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]++(.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BLANK_LINES = re.compile(r"\n{3,}")
_WORD = re.compile(r"\w+")

LeveledLine = tuple[int, str]
"""A line of text (level 0) or a heading (level 1 to 6)."""


class Section(NamedTuple):
    """A piece of text under a path of headings, outermost first."""

    headings: tuple[str, ...]
    text: str
    fragment: str | None = None
    """The id that a link opens."""
    role: str | None = None
    """The kind of a section that is not running text: "contents", "index"."""
    fragments: tuple[tuple[int, str], ...] = ()
    """Ids within it, each with its offset."""


class Outline(NamedTuple):
    """A file's title, if it has one, its sections, and its other metadata."""

    title: str | None
    sections: list[Section]
    stated: Mapping[str, str] = MappingProxyType({})


def section_documents(outline: Outline, source: str, name: str) -> Iterator[Document]:
    """Yield an outline as one document per section; `name` is the title of a file without one."""
    for section in outline.sections:
        at = section.fragment or (heading_anchor(section.headings[-1]) if section.headings else "")
        carried = {
            "heading": " > ".join(section.headings),
            "fragment": section.fragment,
            "fragments": [list(mark) for mark in section.fragments],
            "role": section.role,
        }
        metadata = {"source": source, "title": outline.title or name} | {name: value for name, value in carried.items() if value}
        yield Document(section.text, id=f"{source}#{at}" if at else source, metadata=metadata)


def heading_anchor(heading: str) -> str:
    """Return a heading as a URL fragment."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def word_count(text: str | None) -> int:
    """Return the number of words."""
    return len(_WORD.findall(text)) if text else 0


def markdown_outline(text: str) -> Outline:
    """Split Markdown, without its front matter, at its headings; the title is its heading of level 1, if there is one alone."""
    lines = list(_markdown_lines(text.splitlines(keepends=True)))
    title = only_main_heading(lines)
    return Outline(title, list(_split_sections(keep_lone_headings(lines, title))))


def only_main_heading(lines: Iterable[LeveledLine]) -> str | None:
    """Return the heading of level 1; None if there are several: each is then the title of its own part."""
    headings = [line.strip() for level, line in lines if level == 1]
    return headings[0] if len(headings) == 1 else None


def _markdown_lines(lines: list[str]) -> Iterator[LeveledLine]:
    """Yield lines with their heading level, considering code fences and underlined headings."""
    fence: str | None = None
    is_below_heading = False
    number = 0
    while number < len(lines):
        line, below = lines[number], lines[number + 1] if number + 1 < len(lines) else ""
        mark, atx, underline = _FENCE.match(line), _ATX.match(line), _UNDERLINE.match(below)
        number += 1
        if is_below_heading and not line.strip():
            continue
        is_below_heading = fence is None and not mark and bool(atx or (underline and line.strip()))
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
            yield 0, line
        elif is_below_heading and atx:
            yield len(atx[1]), atx[2].rstrip(" \t").rstrip("#").rstrip(" \t")
        elif is_below_heading and underline:
            number += 1
            yield (1 if underline[1].startswith("=") else 2), line.strip()
        else:
            yield 0, line


def _split_sections(lines: Iterable[LeveledLine]) -> Iterator[Section]:
    """Yield the text under each heading; a heading without text is only part of the path."""
    above: list[LeveledLine] = []
    text: list[str] = []
    for level, line in [*lines, (1, "")]:
        if level == 0:
            text.append(line)
            continue
        body = "".join(text).strip()
        if body:
            yield Section(tuple(heading for _, heading in above if heading), body)
        text = []
        above = [(outer, heading) for outer, heading in above if outer < level] + [(level, line)]


def split_sections(lines: Iterable[LeveledLine]) -> list[Section]:
    """Return the sections of lines of text, which end with line breaks, and the headings between them."""
    return [section._replace(text=_BLANK_LINES.sub("\n\n", section.text)) for section in _split_sections(lines)]


def keep_lone_headings(lines: Sequence[LeveledLine], title: str | None) -> Iterator[LeveledLine]:
    """Yield lines; a heading without text of its own or headings below becomes a line of text, unless it is the title."""
    open_level = 0
    has_text = any(level == 0 for level, _ in lines)
    for (level, line), (following, _) in pairwise([*lines, (1, "")]):
        is_lone = level and 0 < following <= level and not (line == title and has_text)
        if is_lone and open_level >= level:
            yield level, ""  # ends the section of the heading above
        if level:
            open_level = level - 1 if is_lone else level
        yield (0, f"{line}\n\n") if is_lone else (level, line)


Marks = Sequence[tuple[int, Any]]
"""Ascending offsets in a text, each with the page, id or heading that begins there."""

_MARK_LISTS = {"page": "pages", "fragment": "fragments", "heading": "headings_within"}
"""The metadata field of a text's first page, id or heading, and that of the list of all."""
_PART_MARKS = ("page", "heading")
"""Marks that begin a part; an id may be anywhere in one."""
_MIN_QUOTE_WORDS = 3
"""Least words by which a quote is found, unless it has fewer."""


def all_marks(document: Document) -> dict[str, Marks]:
    """Return the marks of a document's pages, ids and headings, by name."""
    return {name: find_marks(document.metadata, name) for name in _MARK_LISTS}


def slice_document(document: Document, start: int, end: int, marks: Mapping[str, Marks]) -> Document:
    """Return the text from `start` to `end`, stripped, as a document with the marks of that range."""
    piece = document.page_content[start:end]
    start += len(piece) - len(piece.lstrip())
    text = piece.strip()
    metadata = dict(document.metadata)
    for name in _MARK_LISTS:
        set_marks(metadata, name, _marks_between(marks[name], start, start + len(text)))
    return document.model_copy(update={"page_content": text, "metadata": metadata})


class PassageSpan(NamedTuple):
    """The start and end of a passage in its document's text, and the lines from above that are put before it."""

    start: int
    end: int
    carried: str = ""


def locate_passages(document: Document, spans: Iterable[PassageSpan]) -> Iterator[Document]:
    """Yield the passages of a document, each with the page, id and heading of the part with most of its words.

    A passage with several parts lists all of them.
    """
    has_parts = any(list_name in document.metadata for list_name in _MARK_LISTS.values())
    marks = all_marks(document)
    for start, end, carried in spans:
        text, metadata = document.page_content[start:end], dict(document.metadata)
        if has_parts:
            for name in _MARK_LISTS:
                set_marks(metadata, name, _marks_between(marks[name], start, end))
            metadata = _metadata_at(metadata, _main_part(metadata, text))
            for list_name in _MARK_LISTS.values() & metadata.keys() if carried else ():
                metadata[list_name] = [[offset and offset + len(carried), value] for offset, value in metadata[list_name]]
        yield Document(carried + text, metadata=metadata)


def metadata_at_quote(metadata: Mapping[str, Any], text: str, quote: str) -> dict[str, Any]:
    """Return a passage's metadata with the page, id and heading of the part in which a quote begins."""
    listed = quote and any(metadata.get(list_name) for list_name in _MARK_LISTS.values())
    place = _find_quote_start(text, quote) if listed else None
    return dict(metadata) if place is None else _metadata_at(metadata, place)


def find_marks(metadata: Mapping[str, Any], name: str) -> list[tuple[int, Any]]:
    """Return the marks of a text's pages, ids or headings; malformed ones are ignored."""
    own, listed = metadata.get(name), metadata.get(_MARK_LISTS[name])
    pairs = [mark for mark in listed if isinstance(mark, list | tuple) and len(mark) == 2] if isinstance(listed, list | tuple) else []
    marks = sorted(((offset, value) for offset, value in pairs if isinstance(offset, int)), key=itemgetter(0))
    return marks if own is None or any(offset == 0 for offset, _ in marks) else [(0, own), *marks]


def set_marks(metadata: dict[str, Any], name: str, marks: Marks) -> None:
    """Set the first page, id or heading of a text, and the list of all if there are several."""
    changes = [mark for place, mark in enumerate(marks) if not place or mark[1] != marks[place - 1][1]]
    metadata.pop(_MARK_LISTS[name], None)
    if len(changes) > 1:
        metadata[_MARK_LISTS[name]] = [list(mark) for mark in changes]
    _set_or_remove(metadata, name, changes[0][1])


def merge_documents(documents: Sequence[Document], texts: Sequence[str], offsets: Sequence[int]) -> Document:
    """Merge documents: each contributes a text, in which its own content begins at an offset."""
    metadata = dict(documents[0].metadata)
    start, places = 0, []
    for text in texts:
        places.append(start)
        start += len(text) + 2
    for name in _MARK_LISTS:
        moved = [
            (place + (offset + within if offset else 0), value)
            for document, place, within in zip(documents, places, offsets, strict=True)
            for offset, value in _marks_between(find_marks(document.metadata, name), 0, len(document.page_content))
        ]
        set_marks(metadata, name, moved)
    return documents[0].model_copy(update={"page_content": "\n\n".join(texts), "metadata": metadata})


def _marks_between(marks: Marks, start: int, end: int) -> list[tuple[int, Any]]:
    """Return the marks of the text from `start` to `end`, as offsets within it: the mark at the start, if any, and the rest."""
    first = bisect_right(marks, start, key=itemgetter(0))
    last = bisect_left(marks, end, first, key=itemgetter(0))
    return [(0, marks[first - 1][1] if first else None), *((offset - start, value) for offset, value in marks[first:last])]


def _metadata_at(metadata: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return the metadata with the page, id and heading in force at an offset."""
    fields = dict(metadata)
    for name in _MARK_LISTS:
        _set_or_remove(fields, name, _marks_between(find_marks(metadata, name), place, place)[0][1])
    return fields


def _set_or_remove(metadata: dict[str, Any], name: str, value: Any) -> None:
    metadata.pop(name, None)
    if value is not None:
        metadata[name] = value


def _main_part(metadata: Mapping[str, Any], text: str) -> int:
    """Return the offset of the part with most words, the first on a tie."""
    begins = sorted({0, *(offset for name in _PART_MARKS for offset, _ in find_marks(metadata, name) if 0 <= offset < len(text))})
    sizes = {begin: len(text[begin:end].split()) for begin, end in pairwise([*begins, len(text)])}
    return max(begins, key=lambda begin: sizes[begin])


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Return start and end of a whole quote in a text, ignoring line breaks; None if it is not found.

    Lines may be omitted between those of the quote.
    """
    start: int | None = None
    end = 0
    for line in quote.splitlines():
        words = [re.escape(word) for word in line.strip("… ").split()]
        match = re.compile(r"\s*".join(words)).search(text, end) if words else None
        if match is None:
            return None
        start, end = match.start() if start is None else start, match.end()
    return None if start is None else (start, end)


def _find_quote_start(text: str, quote: str) -> int | None:
    """Return the offset of a quote, ignoring line breaks; of a quote that omits a heading, that of its first words."""
    words = [re.escape(word) for word in quote.strip("… ").split()]
    for count in range(len(words), max(min(len(words), _MIN_QUOTE_WORDS), 1) - 1, -1):
        if match := re.search(r"\s*".join(words[:count]), text):
            return match.start()
    return None
