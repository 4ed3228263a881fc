"""A message of a model in Markdown, taken apart: its sentences with the numbers that they name, and what states nothing.

Nothing of it is changed but what is asked for: numbers are taken out, and texts are put behind sentences.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ramify.agents.sentences import Span, sentence_spans
from ramify.tools.supporting_sentence import is_wrapped

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_DELIMITERS = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*+\|?\s*$")
"""The row below the head of a table."""
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HIDDEN = re.compile(r"<[/!a-zA-Z][^<>\n]{0,200}>|(?<!\w)[*_~]+|[*_~]+(?!\w)|\*+|^[ \t]*>+", re.MULTILINE)
"""Tags, emphasis and marks of quotations, which a reader does not see."""
_CLOSING = re.compile(r"(?:[*_~]+|</[a-zA-Z]{1,20}>)+")
_CODE = re.compile(r"`[^`\n]+`")
_MARK = re.compile(
    r"""[ \t]*[\[【［](?:passages?\ |sources?\ )?(?P<numbers>\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*+)(?:†[^\]】］\n]{0,40})?[\]】］]
    (?![(\w]|\[[^\d\]]|:\s)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Numbers of quotations; no link, definition of a link or index of a variable."""
_ONLY_MARKS = re.compile(r"\s*(?:[\[【［][\d,;– -]{1,20}[\]】］]\s*)+$")
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_MAY_PRECEDE = re.compile(r"[^\W\d_]{4,}$|[^\w\s\]]$|\d[\]】］]$")
"""A word, a stop or another number directly before a number; a short name has an index there, and a text in brackets a link."""
_WORD = re.compile(r"\w")
_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?…。！？])")
_AT_END = re.compile(r"\s*(?:[.,;:!?…。！？]|[\[【［]\d|$)")
_STOP = re.compile(r"[.!?…。！？][\"'”’»)]*$")


class Statement(NamedTuple):
    """A sentence, an item or a row of a message."""

    text: str
    """Without numbers and emphasis, on one line."""
    numbers: tuple[int, ...]
    """The numbers of quotations that it names."""
    marks: tuple[Span, ...]
    """Where these stand."""
    end: int
    """Where they belong."""


def split_message(text: str, largest: int) -> list[Statement]:
    """Return the sentences of a text, without those of code and headings; `largest` is the largest number that a quotation has."""
    return [statement for span in _paragraphs(text) for statement in _statements(text, span, largest)]


def put_behind(text: str, statements: Mapping[Statement, str]) -> str:
    """Return a text without the numbers that its sentences name, and with another text behind each."""
    edits = [(begin, end, "") for statement in statements for begin, end in statement.marks]
    edits += [(statement.end, statement.end, added) for statement, added in statements.items() if added]
    for begin, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1]), reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def _paragraphs(text: str) -> Iterator[Span]:
    """Yield the places of paragraphs, items of lists and rows of tables, without code, headings and the heads of tables."""
    lines = [(match.start(), match.end(), match[0]) for match in re.finditer(r"[^\n]+|(?<=\n)(?=\n)|^(?=\n)", text)]
    skipped = _code_lines([line for _, _, line in lines])
    in_table, first, last = False, -1, -1

    def paragraph() -> Iterator[Span]:
        if first >= 0:
            yield first, last

    for number, (begin, end, line) in enumerate(lines):
        after = lines[number + 1][2] if number + 1 < len(lines) else ""
        is_head = "|" in line and "|" in after and _DELIMITERS.match(after) is not None
        is_delimiter = in_table and _DELIMITERS.match(line) is not None
        in_table = is_head or (in_table and "|" in line)
        is_title = bool(line.strip()) and first < 0 and _UNDERLINE.match(after) is not None and not _BULLET.match(line)
        separate = number in skipped or not line.strip() or is_head or is_delimiter or is_title
        if separate or _HEADING.match(line) or _UNDERLINE.match(line):
            yield from paragraph()
            first = -1
            continue
        goes_on = is_wrapped(text[first:last].rpartition("\n")[2].strip()) or _ONLY_MARKS.match(line) is not None
        if in_table or first < 0 or _BULLET.match(line) or not goes_on:
            yield from paragraph()
            bullet = None if in_table else _BULLET.match(line)
            first = begin + (bullet.end() if bullet else 0)
        last = end
    yield from paragraph()


def _code_lines(lines: list[str]) -> set[int]:
    """Return the numbers of the lines of code between fences; a fence that is not closed begins none."""
    code: set[int] = set()
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match and opened is None and not (match["fence"][0] == "`" and "`" in match["info"]):
            opened = number, match["fence"]
        elif match and opened and match["fence"].startswith(opened[1]) and not match["info"].strip():
            code.update(range(opened[0], number + 1))
            opened = None
    return code


def _statements(text: str, span: Span, largest: int) -> Iterator[Statement]:
    """Yield the sentences of a paragraph."""
    offset, paragraph = span[0], text[slice(*span)]
    visible = _HIDDEN.sub(lambda match: " " * len(match[0]), paragraph)
    code = [match.span() for match in _CODE.finditer(visible)]
    found = [(match, _numbers(visible, match, code, largest)) for match in _MARK.finditer(visible)]
    marks = [(match, numbers) for match, numbers in found if numbers is not None]
    blank = visible
    for match, _ in marks:  # so that a number before or behind a stop ends no sentence of its own
        blank = blank[: match.start()] + " " * len(match[0]) + blank[match.end() :]
    row = paragraph.rstrip().endswith("|") and paragraph.lstrip().startswith("|")
    spans = [(0, len(paragraph))] if row else sentence_spans(blank)
    for place, (begin, end) in enumerate(spans):
        limit = spans[place + 1][0] if place + 1 < len(spans) else len(paragraph)
        begin = begin if place else 0
        own = [(match, numbers) for match, numbers in marks if begin <= match.start() < limit]
        said = _BEFORE_STOP.sub("", " ".join(blank[begin:end].split()))
        if not _WORD.search(said):
            if own:  # numbers alone
                yield Statement("", (), ((offset + begin, offset + limit),), offset + limit)
            continue
        places = tuple((offset + match.start(), offset + match.end()) for match, _ in own)
        stop = offset + (paragraph.rstrip().rindex("|") if row else _seen_end(paragraph, end, limit))
        yield Statement(said.strip("| ") if row else said, tuple(number for _, numbers in own for number in numbers), places, stop)


def _seen_end(paragraph: str, end: int, limit: int) -> int:
    """Return the end of a sentence behind the emphasis and tags that close with it."""
    closing = _CLOSING.match(paragraph, end, limit)
    return closing.end() if closing else end


def _numbers(text: str, match: re.Match[str], code: list[Span], largest: int) -> list[int] | None:
    """Return the numbers of a mark that quotations have; None where it is none: in code, behind a short name as an index, or an interval.

    At the end of a sentence, a number that no quotation has is a mark, too.
    """
    before = text[: match.start()]
    is_index = match[0][0] in "[【［" and bool(before) and _MAY_PRECEDE.search(before[-8:]) is None
    pairs = [(int(first), int(last or first)) for first, last in _RANGE.findall(match["numbers"])]
    if is_index or any(begin < match.end() and match.start() < end for begin, end in code) or any(first == 0 for first, _ in pairs):
        return None
    numbers = [number for first, last in pairs for number in range(first, min(last, largest) + 1)]
    is_known = all(first <= largest for first, _ in pairs)
    return numbers if is_known or _STOP.search(before.rstrip()) or _AT_END.match(text, match.end()) else None
