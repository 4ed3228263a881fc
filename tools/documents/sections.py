"""Sections of a text, each under the headings above it: what structured formats are read as, Markdown among them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from langchain_core.documents import Document

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
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
    """The id that opens it."""
    role: str | None = None
    """What it is where it is no text to read: "contents", "index"."""
    fragments: tuple[tuple[int, str], ...] = ()
    """Ids within it, each with the place where what it names begins."""


class Outline(NamedTuple):
    """A file's title, where it states one, its sections, and what else it says of itself."""

    title: str | None
    sections: list[Section]
    stated: Mapping[str, str] = MappingProxyType({})


def section_documents(outline: Outline, source: str, name: str) -> Iterator[Document]:
    """Turn an outline into a document a section; `name` is the title of a file that states none."""
    for section in outline.sections:
        at = section.fragment or (anchor(section.headings[-1]) if section.headings else "")
        carried = {
            "heading": " > ".join(section.headings),
            "fragment": section.fragment,
            "fragments": [list(mark) for mark in section.fragments],
            "role": section.role,
        }
        metadata = {"source": source, "title": outline.title or name} | {name: value for name, value in carried.items() if value}
        yield Document(section.text, id=f"{source}#{at}" if at else source, metadata=metadata)


def anchor(heading: str) -> str:
    """Turn a heading into what can stand behind a `#`."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def word_count(text: str | None) -> int:
    """Count words."""
    return len(_WORD.findall(text)) if text else 0


def markdown_outline(text: str) -> Outline:
    """Cut Markdown, without its front matter, at its headings; the title is the first heading of level 1."""
    lines = list(_markdown_lines(text.splitlines(keepends=True)))
    return Outline(next((line for level, line in lines if level == 1), None), list(_sections(lines)))


def _markdown_lines(lines: list[str]) -> Iterator[LeveledLine]:
    """Tell headings from text, minding code fences and underlined headings."""
    fence: str | None = None
    number = 0
    while number < len(lines):
        line, below = lines[number], lines[number + 1] if number + 1 < len(lines) else ""
        mark, atx, underline = _FENCE.match(line), _ATX.match(line), _UNDERLINE.match(below)
        number += 1
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
            yield 0, line
        elif fence is None and atx:
            yield len(atx[1]), atx[2]
        elif fence is None and underline and line.strip():
            number += 1
            yield (1 if underline[1].startswith("=") else 2), line.strip()
        else:
            yield 0, line


def _sections(lines: Iterable[LeveledLine]) -> Iterator[Section]:
    """Gather the text under each heading; a heading without text is only part of the path."""
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


def sections_of(lines: Iterable[LeveledLine]) -> list[Section]:
    """Gather lines of text, each with its own line break, under the headings between them."""
    return [section._replace(text=_BLANK_LINES.sub("\n\n", section.text)) for section in _sections(lines)]
