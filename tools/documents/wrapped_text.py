"""Join the lines of paragraphs that were wrapped by hand, so that sentences are whole; code, tables, lists and verse stay lines."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import pairwise

_MIN_WIDTH, _MAX_WIDTH = 45, 140
"""Least and greatest length of the longest line of a wrapped paragraph."""
_SLACK_SHARE = 1 / 7
"""Share of the width by which a line may be shorter than where the next word would not fit."""
_MIN_LINE_SHARE = 0.6
"""Least length of each line but the last, as a share of the width."""
_MAX_SHORT_SHARE = 0.15
"""Largest share of lines to which the next word could be appended."""
_MIN_LOWER_SHARE = 0.3
"""Least share of continued lines that begin in lower case, as in prose but not in verse, lists of names or logs."""
_FULL_SHARE = 0.95
"""Least length of a full line, as a share of the width: that a sentence ends there is chance."""
_MAX_CODE_SHARE = 0.04
_CODE_SIGNS = frozenset("{}[]<>=|\\;&$#@^~_*/+")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_QUOTE_MARKS = re.compile(r"(?:> ?)+(?=\S|$)")
_MARKER = re.compile(r"(?:[-*+•◦▪‣–—o]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\[[^\]]{1,20}\]|\d+(?:\.\d+)+\.?)\s+\S")
"""Begins an item of a list."""
_STRUCTURED = re.compile(
    r"(?:[>|#$%!;]|\.\. |//|/\*|--|==|__|\*\*\*|~~|\+[-=]|<[a-zA-Z/!]|:\w[^:\s]{0,30}:|@\w|https?://\S+$|\[[^\]]{1,40}\]:)"
    r"|[\W_]+$|[\w.-]+@[\w.-]+$|\d{4}-\d\d-\d\d|\d{1,2}:\d\d|[A-Z][\w-]{0,15}(?: [A-Z]?[\w-]{1,15})?:\s"
)
"""Begins a line that is never joined: quotations, tables, comments, underlines, directives, fields, logs."""
_COLUMNS = re.compile(r"[^\s.!?:;,)\"'”’](?: {2,}|\t)\S|\S {4,}\S")
_BREAK_ENDS = ("  ", "\\", "<br>", "<br/>", "<br />", "|")
"""Ends a line that is broken on purpose, as in Markdown, or a row of a table."""
_MAX_FIRST_INDENTATION = 8
"""Most spaces by which the first line of a paragraph is indented."""
_NEXT_WORD = re.compile(r"\S+")
_DIVIDED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-$")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_WORD_REST = re.compile(r"[^\W\d_]+")
_JOINING_WORDS = frozenset(["and", "or", "to", "und", "oder", "bis", "bzw", "et", "ou", "y", "o", "e"])
"""After a hyphen at the end of a line these continue an enumeration ("two- or three-fold")."""


def join_wrapped(text: str) -> str:
    """Return a text in which each paragraph that was wrapped at about the same width is one line."""
    written = text.split("\n")
    marks, lines = _split_quote_marks(written) if "\n>" in text or text.startswith(">") else ([""] * len(written), written)
    blocks = list(_blocks(lines, marks))
    usual = _usual_width(lines, blocks)
    words = lru_cache(maxsize=1)(lambda: frozenset(_WORD.findall(text)))
    joined: list[str] = []
    done = 0
    for start, end in blocks:
        joined += written[done:start]
        done = start
        for paragraph in _paragraphs(lines[start:end], usual):
            after = done + len(paragraph)
            joined += [marks[done] + _joined_lines(paragraph, words)] if _is_wrapped(paragraph, usual) else written[done:after]
            done = after
    return "\n".join(joined + written[done:])


def _split_quote_marks(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the marks of quotations (">") before lines, and the lines without them."""
    marks = [match[0] if (match := _QUOTE_MARKS.match(line)) else "" for line in lines]
    return marks, [line[len(mark) :] for mark, line in zip(marks, lines, strict=True)]


def _blocks(lines: Sequence[str], marks: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield start and end of the runs of two and more lines that may be one paragraph or item of a list, quoted alike."""
    fence: str | None = None
    literal: int | None = None
    """Indentation of the line before a literal block, which ends in two colons."""
    start, before = 0, ""
    for number, line in enumerate([*lines, ""]):
        mark = _FENCE.match(line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
        if literal is not None and line.strip() and _indentation(line) <= literal:
            literal = None
        is_text = bool(line.strip()) and not mark and fence is None and literal is None and _is_text(line)
        if not is_text or not before or marks[number].count(">") != marks[number - 1].count(">") or _begins_paragraph(lines, start, number):
            if number - start > 1 and before:
                yield start, number
            start = number
        before = line if is_text else ""
        if line.rstrip().endswith("::"):
            literal = _indentation(line)


def _is_text(line: str) -> bool:
    text = line.strip()
    has_gap = "  " in text or "\t" in text
    return not _STRUCTURED.match(text) and not (has_gap and _COLUMNS.search(text))


def _begins_paragraph(lines: Sequence[str], start: int, number: int) -> bool:
    """Return whether a line begins a paragraph: by a marker, by its indentation, or after a line that is broken on purpose."""
    line, before = lines[number], lines[number - 1]
    if _MARKER.match(line.lstrip()) or before.endswith(_BREAK_ENDS):
        return True
    indented = _indentation(line)
    hanging = indented - _indentation(before)
    if number - start > 1:
        return hanging != 0
    marker = _MARKER.match(before.lstrip())
    return not -_MAX_FIRST_INDENTATION <= hanging <= 0 if marker is None else not 0 <= hanging <= marker.end()


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _usual_width(lines: Sequence[str], blocks: Sequence[tuple[int, int]]) -> int | None:
    """Return the most common width of the paragraphs of three and more lines; None if there are none."""
    widths = Counter(width for start, end in blocks if end - start > 2 and (width := max(map(len, lines[start:end]))) >= _MIN_WIDTH)
    return max(widths, key=lambda width: (sum(widths[width + step] for step in range(-3, 4)), width), default=None)


def _paragraphs(lines: Sequence[str], usual: int | None) -> Iterator[list[str]]:
    """Yield the lines in parts, each of which ends where a sentence, or the first line as a title, ends before the line is full."""
    width = max(*(len(line.rstrip()) for line in lines), usual or 0)
    start = 0
    for number in range(1, len(lines)):
        before = lines[number - 1].rstrip()
        is_title = number == 1 and len(before) < _MIN_LINE_SHARE * width and not lines[number].lstrip()[0].islower()
        if is_title or (before[-1] in ".!?:" and _is_short(before, lines[number], width)):
            yield list(lines[start:number])
            start = number
    yield list(lines[start:])


def _is_short(line: str, below: str, width: int) -> bool:
    """Return whether the first word below would fit on a line with much room to spare."""
    word = _NEXT_WORD.search(below)
    return len(line.rstrip()) + 1 + (len(word[0]) if word else 0) <= width - width * _SLACK_SHARE


def _is_wrapped(lines: Sequence[str], usual: int | None) -> bool:
    """Return whether lines are one paragraph: each but the last is as long as the width allows, and they read on as prose."""
    width = max(len(line.rstrip()) for line in lines)
    if len(lines) < 2:
        return False
    if len(lines) == 2:
        if usual is None and (len(lines[0]) < 60 or lines[0].rstrip()[-1] in ".!?:" or not lines[1].lstrip()[0].islower()):
            return False
        width = max(width, usual or 0)
    if not _MIN_WIDTH <= width <= _MAX_WIDTH:
        return False
    short = lower = 0
    for line, below in pairwise(lines):
        word = _NEXT_WORD.search(below)
        length = len(line.rstrip())
        if word is None or length < _MIN_LINE_SHARE * width:
            return False
        short += _is_short(line, below, width)
        lower += word[0].lstrip("(\"'“‘«„")[:1].islower()
    pairs = len(lines) - 1
    if short > pairs * _MAX_SHORT_SHARE:
        return False
    if lower < pairs * _MIN_LOWER_SHARE and not (pairs <= 2 and usual is not None and _reads_on(lines, width)):
        return False
    content = "".join(lines)
    return sum(sign in _CODE_SIGNS for sign in content) <= _MAX_CODE_SHARE * len(content)


def _reads_on(lines: Sequence[str], width: int) -> bool:
    """Return whether no line but the last ends a sentence or a part of one, unless it is full, and not all begin with the same word."""
    ends = all(line.rstrip()[-1] not in ".!?:;," or len(line) >= _FULL_SHARE * width for line in lines[:-1])
    return ends and len({line.split(maxsplit=1)[0] for line in lines}) > 1


def _joined_lines(lines: Sequence[str], words: Callable[[], Set[str]]) -> str:
    """Return lines as one; a word that was divided is whole again if it stands elsewhere in the text, else it keeps its hyphen."""
    joined = [lines[0].rstrip()]
    for line in lines[1:]:
        line = line.strip()
        divided, rest = _DIVIDED.search(joined[-1][-40:]), _WORD_REST.match(line)
        if divided is None or rest is None or not rest[0][0].islower() or rest[0] in _JOINING_WORDS:
            joined.append(f" {line}")
            continue
        whole = divided[1] + rest[0]
        if whole in words() and f"{divided[1]}-{rest[0]}" not in words():
            joined[-1] = joined[-1][:-1]
        joined.append(line)
    return "".join(joined)
