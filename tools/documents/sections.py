"""Sections of Markdown: each with the path of headings above it."""

import re
from collections.abc import Iterable, Iterator

from ramify.tools.documents.outline import Outline, Section

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BLANK_LINES = re.compile(r"\n{3,}")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
_TITLE_FIELD = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)

Line = tuple[int, str]
"""A line of text (level 0) or a heading (level 1 to 6)."""


def markdown_outline(text: str) -> Outline:
    """Cut Markdown at its headings; the title is the front matter's, else that of the first heading of level 1."""
    front = _FRONT_MATTER.match(text)
    stated = _TITLE_FIELD.search(front[1]) if front else None
    body = text[front.end() :] if front else text
    lines = list(_markdown_lines(body.splitlines(keepends=True)))
    first = next((line for level, line in lines if level == 1), None)
    return Outline(stated[1].strip("\"'") if stated else first, list(_sections(lines)))


def _markdown_lines(lines: list[str]) -> Iterator[Line]:
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


def _sections(lines: Iterable[Line]) -> Iterator[Section]:
    """Gather the text under each heading; a heading without text is only part of the path."""
    above: list[Line] = []
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


def sections_of(lines: Iterable[Line]) -> list[Section]:
    """Gather lines of text, each with its own line break, under the headings between them."""
    return [section._replace(text=_BLANK_LINES.sub("\n\n", section.text)) for section in _sections(lines)]
