"""Read the printed lines of a PDF's page as pieces between wide gaps, upright, with raised and lowered digits kept apart."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.pdf._characters import Characters
from ramify.formats.pdf._lines import HYPHEN, PrintedLine
from ramify.formats.raised import lowered, raised

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

_SAME_BASELINE, _RAISED_BASELINE = 0.45, 0.75
_SAME_LINE = 2.0
_MAX_JOINED_GAP = 0.1
WIDE_GAP, COLUMN_GAP = 0.65, 0.8
"""In multiples of the font size: greatest distances of baselines, of that of a note's number, of parts of one line, of parts without
a space between them; least gap between pieces, and between columns."""
_LEVEL, _MIN_RAISED, _MIN_LOWERED, _CLEARLY = 0.06, 0.15, 0.07, 0.25
"""In multiples of the font size: distances from the baseline that are nothing, that of a raised or lowered character in smaller print,
and of one in any print."""
_BELOW = 0.75
"""Of the height of a character: least distance to one that stands below it."""
_SMALLER = 0.93
_MAX_MARK = 12
"""Most characters of a raised or lowered text that PDFium puts on a line of its own."""
_SUPERSCRIPTS = "0123456789*†‡"
_DIGITS = re.compile(r"[0-9]+")
_DIGIT = re.compile(r"[0-9]")
_SPACES = re.compile(r"(?<!\s)\s++(?![.·…])")
"""Spaces between words, not those within dot leaders."""
_NOTE_NUMBER = re.compile(r"\d{1,3}")
_TESTED_LINES, _NEAR_LINES = 3, 6


class _Part(NamedTuple):
    """A part of a line on one level: 1 raised, -1 lowered, else 0; `gap` is the space before it in multiples of the font size."""

    left: float
    right: float
    base: float
    foot: float
    """The baseline of its end: PDFium puts the halves of a hyphenated word, and the rest of their lines, on one line."""
    size: float
    text: str
    level: int = 0
    gap: float | None = None


def read_pieces(page: "PdfPage") -> tuple[list[list[PrintedLine]], int]:
    """Return a page's lines in the order of the file, each as its pieces, and the rotation that shows most of its text upright."""
    shown = page.get_rotation()
    with closing(page.get_textpage()) as textpage:
        characters = Characters(page, textpage)
        if characters.turn == shown:
            return _write_lines(_part_lines(characters)), shown
    page.set_rotation(characters.turn)
    try:
        with closing(page.get_textpage()) as textpage:
            return _write_lines(_part_lines(Characters(page, textpage))), characters.turn
    finally:
        page.set_rotation(shown)


class _Text(NamedTuple):
    """A line of PDFium: its text, the places of its characters, its font size, and the baselines of its begin and end."""

    text: str
    places: Sequence[int]
    size: float
    base: float
    foot: float
    is_spaced: bool


def _part_lines(characters: Characters) -> list[list[_Part]]:
    """Return the parts of each line; PDFium breaks lines at raised and lowered text, which is put back."""
    written = characters.text.split("\r\n")
    begins = accumulate((characters.length(text) + 2 for text in written), initial=0)
    cells = (cell for begin, text in zip(begins, written, strict=False) if text.strip() for cell in _split_cells(characters, begin, text))
    texts = [_measure(characters, begin, text) for begin, text in cells]
    gaps = _find_gaps(characters, texts)
    lines: list[list[_Part]] = []
    for number, text in enumerate(texts):
        parts = _split_parts(characters, text, gaps.get(number, {}))
        if lines and _continues(lines[-1], parts[0]):
            lines[-1] = _put_back(lines[-1], parts, text.is_spaced)
        else:
            lines.append(parts)
    return lines


def _split_cells(characters: Characters, begin: int, text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a line of PDFium, which joins a single character to the cell above it: "31", "7" to "317"."""
    first, end = begin + len(text) - len(text.lstrip()), begin + characters.length(text.rstrip())
    drop = characters.baseline(first) - characters.baseline(end - 1)
    is_cut = drop > characters.height(first) / 2 and HYPHEN not in text and characters.length(text) == len(text)
    if is_cut and not characters.is_turned(first):
        start = 0
        shown = [place for place in range(first - begin, end - begin) if not text[place].isspace()]
        for before, place in pairwise(shown):
            above, here = begin + before, begin + place
            is_below = characters.baseline(above) - characters.baseline(here) > _BELOW * characters.height(above)
            if is_below and characters.left(here) < characters.right(above):
                yield begin + start, text[start:place]
                start = place
        begin, text = begin + start, text[start:]
    yield begin, text


def _measure(characters: Characters, begin: int, written: str) -> _Text:
    """Return a line of PDFium with its size and baselines; `begin` is the place of its first character."""
    text = written.strip()
    begin += characters.length(written[: len(written) - len(written.lstrip())])
    places: Sequence[int] = range(begin, begin + len(text)) if characters.length(text) == len(text) else _places(begin, text)
    last = len(text) - 1
    scale = characters.scale(places[0])
    sizes = [scale * characters.size(places[place]) for place in (0, last)]
    base = foot = characters.baseline(places[0])
    if HYPHEN not in text and text[0] not in _SUPERSCRIPTS and text[-1] not in _SUPERSCRIPTS and sizes[0] == sizes[1] > 0:
        return _Text(text, places, sizes[0], base, foot, written[0].isspace())
    sizes.insert(1, scale * characters.size(places[last // 2 + text[last // 2].isspace()]))
    size = max(sizes[1], sorted(sizes)[1]) or characters.height(places[0])
    foot = characters.baseline(places[max(0, len(text.rstrip(_SUPERSCRIPTS)) - 1) or last])
    if HYPHEN not in text and abs(foot - base) > _LEVEL * size and sizes[0] < _SMALLER * max(sizes):
        base = characters.baseline(places[last // 2]) if sizes[1] >= sizes[2] else foot
    return _Text(text, places, size, base, foot, written[0].isspace())


def _find_gaps(characters: Characters, texts: Sequence[_Text]) -> dict[int, dict[int, float]]:
    """Return the wide gaps of lines: where each ends, and its width in multiples of the font size.

    They are looked for in each third line, and near those that have one or are not below the line before: a table has several rows.
    """
    beside = [
        number for number, (above, text) in enumerate(pairwise(texts), start=1) if text.base > above.foot - _SAME_BASELINE * text.size
    ]
    waiting = [
        *range(0, len(texts), _TESTED_LINES),
        *(place for number in beside for place in range(number - _NEAR_LINES, number + _NEAR_LINES)),
    ]
    gaps: dict[int, dict[int, float]] = {}
    while waiting:
        number = waiting.pop()
        if number not in gaps and 0 <= number < len(texts):
            text = texts[number]
            wide = characters.wide_gaps(_SPACES.finditer(text.text), text.places, WIDE_GAP * text.size)
            gaps[number] = {end: gap / text.size for end, gap in wide}
            if gaps[number] and max(gaps[number].values()) > COLUMN_GAP:
                waiting += range(number - _TESTED_LINES + 1, number + _TESTED_LINES)
    return gaps


def _split_parts(characters: Characters, line: _Text, gaps: Mapping[int, float]) -> list[_Part]:
    """Split a line of PDFium at wide gaps, and where the level of digits changes."""
    text, places, size, base, foot, _ = line
    levels = dict(_digit_levels(characters, line)) if _DIGIT.search(text) else {}
    if not gaps and not levels:
        left, right = characters.left(places[0]), characters.right(places[-1])
        return [_Part(min(left, right), max(left, right), base, foot, size, text)]
    starts = sorted({0, *gaps, *(place for span in levels for place in span)} - {len(text)})
    heights = {first: level for (first, _), level in levels.items()}
    parts = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = text[start:end]
        if piece.strip():
            is_spaced = piece[0].isspace() or (start > 0 and text[start - 1].isspace())
            start += len(piece) - len(piece.lstrip())
            piece = piece.strip()
            left, right = characters.left(places[start]), characters.right(places[start + len(piece) - 1])
            if HYPHEN in text:
                base = characters.baseline(places[start])
            foot = characters.baseline(places[start + len(piece) - 1]) if HYPHEN in piece else base
            gap = gaps.get(start, WIDE_GAP / 2 if is_spaced else 0.0)
            parts.append(_Part(min(left, right), max(left, right), base, foot, size, piece, heights.get(start, 0), gap))
    return parts


def _places(begin: int, text: str) -> list[int]:
    """Return the place of each character, if some take two places."""
    places = []
    for character in text:
        places.append(begin)
        begin += 1 + (ord(character) > 0xFFFF)
    return places


def _digit_levels(characters: Characters, line: _Text) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the spans of raised and lowered text with digits in it, with their level."""
    text, places, size, base, *_ = line
    done = 0
    for digits in _DIGITS.finditer(text):
        if hyphen := text.rfind(HYPHEN, done, digits.start()) + 1:
            base = characters.baseline(places[hyphen])
        if digits.start() < done or abs(characters.baseline(places[digits.end() - 1]) - base) < _LEVEL * size:
            continue
        first, last = digits.start(), digits.end()
        while first > 0 and not text[first - 1].isspace() and digits.start() - first < _MAX_MARK:
            first -= 1
        while last < len(text) and not text[last].isspace() and last - digits.end() < _MAX_MARK:
            last += 1
        done = last
        heights = [characters.baseline(places[place]) for place in range(first, last)]
        own = base if any(abs(height - base) < _LEVEL * size for height in heights) or last - first < 3 else heights[0]
        scale = characters.scale(places[first])
        marks = [_level(height - own, scale * characters.size(places[place]), size) for place, height in enumerate(heights, start=first)]
        for level, run in groupby(range(first, last), key=lambda place: marks[place - first]):
            span = list(run)
            if level and _DIGIT.search(text[span[0] : span[-1] + 1]):
                yield (span[0], span[-1] + 1), level


def _level(rise: float, size: float, usual: float) -> int:
    """Return the level of a character by its distance from the baseline and its size."""
    if rise > (_MIN_RAISED if size < _SMALLER * usual else _CLEARLY) * usual:
        return 1
    return -1 if -rise > (_MIN_LOWERED if size < _SMALLER * usual else _CLEARLY) * usual else 0


def _continues(line: Sequence[_Part], part: _Part) -> bool:
    """Return whether a part is on the same line, since PDFium breaks lines at superscripts."""
    size = max(line[-1].size, part.size)
    close = line[-1].right - size <= part.left < line[-1].right + _SAME_LINE * size
    is_mark = _NOTE_NUMBER.fullmatch(line[0].text) if len(line) == 1 and part.left < line[0].right + size else None
    return close and abs(part.base - _main_part(line).foot) < (_RAISED_BASELINE if is_mark else _SAME_BASELINE) * size


def _main_part(line: Sequence[_Part]) -> _Part:
    """Return the last part on the baseline."""
    return next((part for part in reversed(line) if not part.level), line[-1])


def _put_back(line: list[_Part], parts: list[_Part], is_spaced: bool) -> list[_Part]:
    """Return a line with the parts that PDFium wrote on the next one; the part in smaller print is the raised or lowered one."""
    main, first = _main_part(line), parts[0]
    rise = first.base - main.foot
    if abs(rise) > _LEVEL * max(main.size, first.size):
        if first.size <= main.size and _is_mark(parts) and (level := _level(rise, first.size, main.size)):
            parts = [part._replace(level=level) for part in parts]
        elif _is_mark(line) and (level := _level(-rise, main.size, first.size)):
            line = [part._replace(level=level) for part in line]
    gap = (first.left - line[-1].right) / main.size
    return [*line, first._replace(level=parts[0].level, gap=max(gap, WIDE_GAP / 2) if is_spaced else max(gap, 0.0)), *parts[1:]]


def _is_mark(parts: Sequence[_Part]) -> bool:
    text = "".join(part.text for part in parts)
    return len(text) <= _MAX_MARK and _DIGIT.search(text) is not None


def _write_lines(lines: Sequence[Sequence[_Part]]) -> list[list[PrintedLine]]:
    """Return the lines as pieces between wide gaps, with raised numbers that refer to a note of the page as `[1]`."""
    marks = Counter(part.text for line in lines if len(line) > 1 or line[0].level for part in line if part.level == 1)
    letters = Counter[int]()
    for part in (part for line in lines if marks for part in line):
        letters[round(part.size)] += len(part.text)
    usual = max(letters, key=lambda size: letters[size], default=0)
    notes = {line[0].text for line in lines if line[0].level == 1 and _begins_note(line, usual)} if marks else set[str]()

    def is_note(line: Sequence[_Part], place: int) -> bool:
        mark = line[place].text
        return mark in notes and (place == 0 or marks[mark] == 2)

    return [_write_pieces(line, is_note) for line in lines]


def _begins_note(line: Sequence[_Part], usual: float) -> bool:
    """Return whether a line begins with the raised number of a note."""
    is_apart = len(line) == 1 or (line[1].gap or 0) > _MAX_JOINED_GAP
    return _NOTE_NUMBER.fullmatch(line[0].text) is not None and (is_apart or _main_part(line).size < _SMALLER * usual)


def _write_pieces(line: Sequence[_Part], is_note: Callable[[Sequence[_Part], int], bool]) -> list[PrintedLine]:
    if len(line) == 1 and not line[0].level:
        return [PrintedLine(*line[0][:6])]
    pieces: list[PrintedLine] = []
    length = 0
    for place, part in enumerate(line):
        gap = part.gap or 0.0
        is_new = not pieces or (gap > WIDE_GAP and not part.level)
        before = "" if is_new else pieces[-1].text + (" " if gap > _MAX_JOINED_GAP else "")
        text = part.text
        if part.level:
            next_part = line[place + 1] if place + 1 < len(line) else None
            after = f"{' ' if (next_part.gap or 0) > _MAX_JOINED_GAP else ''}{next_part.text}" if next_part else ""
            text = raised(before, text, is_note(line, place), after) if part.level > 0 else lowered(before, text, after)
        if is_new:
            pieces.append(PrintedLine(part.left, part.right, part.base, part.foot, part.size, text))
            length = len(part.text) if not part.level else 0
            continue
        if text[0] in "^[" and part.level:
            before = before.rstrip()
        size, top, bottom = pieces[-1].size, pieces[-1].top, pieces[-1].bottom
        if not part.level:
            size, top, bottom = (part.size if len(part.text) > length else size), (top if length else part.base), part.foot
            length = max(length, len(part.text))
        right = max(pieces[-1].right, part.right)
        pieces[-1] = PrintedLine(min(pieces[-1].left, part.left), right, top, bottom, size, before + text)
    return pieces
