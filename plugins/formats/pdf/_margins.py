"""Find the running heads, footers and page numbers of a PDF.

Only what says nothing about a page's content is one: a number that counts the pages, and a line that is the same on all pages, or on
the pages of a chapter. Most documents run on from page to page, and their pages are cut anywhere. In others each page begins anew, such
as an invoice, a question or a day's entry: there a line is only taken for a head or footer in the outer margin, and a number that
follows a word counts the records, not the pages.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from heapq import nlargest, nsmallest
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

from ramify.formats.pdf._lines import PrintedLine

_MAX_LINES = 2
"""Most lines of a head or footer."""
_MIN_REPETITIONS = 3
_MIN_SHARE, _MIN_HEAD_SHARE = 0.4, 0.2
"""Least share of the pages with a line: with the same one, and with one of several at this position."""
_MIN_AGREEING = 0.75
"""Least share of the lines at a position that have the same text."""
_MIN_RECURRING_SHARE = 0.5
"""Least share of the lines at a position that are heads; below it, the position belongs to the text."""
_MIN_GAP, _MAX_LINE_GAP, _SAME_BASELINE = 1.4, 2.0, 0.45
"""In multiples of the font size: least gap between head and text, greatest gaps between lines of a head, and between pieces of a line."""
_TOP, _BOTTOM = attrgetter("top"), attrgetter("bottom")
_PIECE = "\t"
"""What separates the pieces of a line."""
_MAX_WORDS = 60
"""Most words and signs of a line with a page number."""
_OUTER_MARGIN, _FOOT = 0.08, 0.14
"""Shares of a page's height: where a head or footer may stand, and a page number alone below the text."""
_MIN_RUNNING_SHARE = 0.15
"""Least share of the page ends within a sentence, in a document that runs on from page to page."""
_FULL_LINE = 0.85
_ROW_SPACING = 1.2
_MAX_HEADING_LINES, _KEY_BEGIN = 3, 3
"""Most lines of a heading, and the letters of its first line by which it is looked for."""
_MAX_NUMBERS_BEYOND = 500
"""A page number exceeds the number of pages by this much at most, as in a part of a book; a year or a code by more."""

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
_COUNTING = re.compile(r"[1-9]\d{0,3}")
_ROMAN = re.compile(r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_PAGE_WORDS = frozenset(
    "page pages p pg seite s blatt folie slide página pagina pág pag side sida sivu strona str стр страница 页 頁 ページ 쪽".split()  # noqa: SIM905
)
_TOTAL_WORDS = frozenset("of von de sur di av van z из /".split())  # noqa: SIM905
_APART, _AROUND = frozenset("-–—|·•"), frozenset("-–—|·•.()[]<>~*")
"""Signs between a page number and the rest of a line, and directly around one."""
_NUMBER = re.compile(r"\d+")
_NON_WORD = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"(?:chapter|part|section|appendix|kapitel|teil|abschnitt|chapitre)?\d+")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’»)\]]*$")


class Margins(NamedTuple):
    """The lines of each page between its head and its foot, and those of the head and the foot."""

    pages: list[list[PrintedLine]]
    heads: list[list[PrintedLine]]
    feet: list[list[PrintedLine]]

    def numbers_and_texts(self) -> tuple[list[str], list[str]]:
        """Return the page numbers, and the other lines of heads and feet."""
        lines = [line.text for page in (*self.heads, *self.feet) for line in page]
        return [text for text in lines if _is_number(text)], [text for text in lines if not _is_number(text)]


class _Edge(NamedTuple):
    """The outermost line of a page: its index, the line, whole and in pieces, and whether it is in the outer margin, or at the foot."""

    page: int
    line: PrintedLine
    pieces: list[PrintedLine]
    outer: bool
    low: bool


class _Count(NamedTuple):
    """A number at a line's end: its difference to the page's index, and the rest of the line; and what makes it a page number."""

    offset: int
    rest: str
    roman: bool
    is_named: bool
    """Whether a word or a total says that it is a page number ("Page 3", "3 of 10")."""
    is_apart: bool
    """Whether a sign, or nothing, is between it and the rest."""


def split_margins(pages: Sequence[list[PrintedLine]], heights: Sequence[float] = ()) -> Margins:
    """Separate running heads, footers and page numbers; heights: of the pages, in points."""
    remaining, above, below = [list(lines) for lines in pages], [list[PrintedLine]() for _ in pages], [list[PrintedLine]() for _ in pages]
    for upper in (True, False):
        edges = [_edge_row(lines, upper) for lines in remaining]
        for _ in range(_MAX_LINES):
            heads = _Heads(remaining, edges, upper, heights).rows()
            for number, row in enumerate(heads):
                for line in row:
                    remaining[number].remove(line)
                above[number] += row if upper else []
                below[number][:0] = [] if upper else row
            edges = [_next_edge(lines, row, upper) for lines, row in zip(remaining, heads, strict=True)]
    return Margins(remaining, above, below)


def without_headers_and_footers(pages: Sequence[list[PrintedLine]]) -> list[list[PrintedLine]]:
    """Return the pages without recurring lines at the top and bottom."""
    return split_margins(pages).pages


def _edge_row(lines: Sequence[PrintedLine], upper: bool) -> list[PrintedLine]:
    """Return the outermost line of a page, which may be in several pieces; none if it is a row of a table."""
    if not lines:
        return []
    edge = max(lines, key=_TOP) if upper else min(lines, key=_BOTTOM)
    row = [line for line in lines if abs(line.top - edge.top) < _SAME_BASELINE * edge.size]
    return [] if any(line.cells for line in row) else sorted(row, key=lambda line: line.left)


def _next_edge(lines: Sequence[PrintedLine], removed: Sequence[PrintedLine], upper: bool) -> list[PrintedLine]:
    """Return the next edge line if it is close enough to a removed one to belong to the same head."""
    row = _edge_row(lines, upper) if removed else []
    return row if row and abs(row[0].top - removed[0].top) < _MAX_LINE_GAP * row[0].size else []


class _Heads:
    """The heads (or footers) among the outermost lines of all pages."""

    def __init__(
        self, pages: Sequence[list[PrintedLine]], edges: Sequence[list[PrintedLine]], upper: bool, heights: Sequence[float]
    ) -> None:
        self._pages = pages
        self._upper = upper
        self._runs_on = _runs_on(pages)
        self._edges = [
            _Edge(page, _one_line(row), row, *_position(row[0], heights[page] if heights else 0.0, upper))
            for page, row in enumerate(edges)
            if row
        ]
        self._rows = Counter(_row(edge.line) for edge in self._edges)
        self._sides = Counter((_row(edge.line), edge.page % 2) for edge in self._edges)
        counts = {edge.page: _counts(edge) for edge in self._edges}
        frequent = [edge for edge in self._edges if self._is_frequent(_row(edge.line))]
        wanted = {_heading_key(text) for edge in frequent for text in (edge.line.text, *(count.rest for count in counts[edge.page]))} - {""}
        self._headings = _count_headings(pages, {edge.page: edge.pieces for edge in frequent}, frozenset(wanted))
        self._offsets = Counter(
            (count.offset, count.roman) for ends in counts.values() for count in {(c.offset, c.roman): c for c in ends}.values()
        )
        self._rests = Counter((count.offset, count.rest) for ends in counts.values() for count in ends)
        self._number = {edge.page: self._page_number(edge, counts[edge.page]) for edge in self._edges}
        self._numbered = Counter(_row(edge.line) for edge in self._edges if self._number[edge.page])
        self._number |= {edge.page: self._number[edge.page] or self._restarted_number(edge, counts[edge.page]) for edge in self._edges}
        self._text = {edge.page: self._without_number(edge) for edge in self._edges}
        self._same: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._digits: dict[tuple[str, int], set[str]] = defaultdict(set)
        for edge in self._edges:
            text, row = self._text[edge.page], _row(edge.line)
            self._same[text, row].append(edge.page)
            self._digits[_NUMBER.sub("#", text), row].add(text)

    def rows(self) -> list[list[PrintedLine]]:
        """Return for each page the pieces of its head, none if it has no head."""
        heads = [edge for edge in self._edges if self._is_head(edge)]
        rows = Counter(_row(edge.line) for edge in heads)
        kept = {edge.page: edge.pieces for edge in heads if rows[_row(edge.line)] >= _MIN_RECURRING_SHARE * self._rows[_row(edge.line)]}
        return [kept.get(page, []) for page in range(len(self._pages))]

    def _page_number(self, edge: _Edge, counts: Sequence[_Count]) -> _Count | None:
        """Return the page number in a line."""
        pages = len(self._pages)
        some, most = min(_MIN_REPETITIONS, pages), max(_MIN_REPETITIONS, _MIN_SHARE * pages)
        for count in counts:
            is_heading = self._is_heading(count.rest, self._rests[count.offset, count.rest])
            alone = not _NON_WORD.sub("", count.rest)
            placed = self._runs_on or is_heading or (edge.low if alone else edge.outer and count.offset == 1)
            if self._offsets[count.offset, count.roman] < some or self._rows[_row(edge.line)] < some or count.offset > _MAX_NUMBERS_BEYOND:
                continue
            if count.is_named or ((self._runs_on or is_heading) and self._offsets[count.offset, count.roman] >= most):
                return count
            if (
                count.is_apart
                and placed
                and (pages >= _MIN_REPETITIONS or count.offset == 1)
                and self._rests[count.offset, count.rest] >= some
            ):
                return count
        return None

    def _restarted_number(self, edge: _Edge, counts: Sequence[_Count]) -> _Count | None:
        """Return a number that stands alone where most lines are page numbers, as on a few pages that are counted on their own."""
        row = _row(edge.line)
        alone = next((count for count in counts if not _NON_WORD.sub("", count.rest) and count.offset <= 1), None)
        return alone if self._numbered[row] >= max(_MIN_REPETITIONS, _MIN_RECURRING_SHARE * self._rows[row]) else None

    def _without_number(self, edge: _Edge) -> str:
        number = self._number[edge.page]
        return edge.line.text.casefold() if number is None else " ".join(_NON_WORD.sub(" ", number.rest).split())

    def _is_head(self, edge: _Edge) -> bool:
        text, row = self._text[edge.page], _row(edge.line)
        if not self._is_frequent(row):
            return False
        others = [line for line in self._pages[edge.page] if not any(line is piece for piece in edge.pieces)]
        apart = _is_set_apart(edge.line, others, self._upper)
        if not _NON_WORD.sub("", text):
            return apart and self._number[edge.page] is not None
        varies = len(self._digits[_NUMBER.sub("#", text), row]) > 1
        pages = self._same[text, row]
        is_heading = self._is_heading(text, len(pages))
        if not varies and self._is_on_all_pages(text, row) and (self._runs_on or edge.outer or is_heading):
            return apart or not _heads_table(edge.line, others, self._upper)
        if not apart:
            return False
        if is_heading:
            return len(pages) >= _MIN_REPETITIONS or self._number[edge.page] is not None
        return self._runs_on and not varies and len(pages) >= _MIN_REPETITIONS and edge.page != pages[0]

    def _is_heading(self, text: str, heads: int) -> bool:
        """Return whether the text of so many heads is also a heading in the text; on few pages, unless the document runs on."""
        pages = self._headings[_heading_key(text)]
        return pages > 0 and (self._runs_on or pages <= max(heads // 2, 1))

    def _is_frequent(self, row: int) -> bool:
        return self._rows[row] >= _MIN_HEAD_SHARE * len(self._pages)

    def _is_on_all_pages(self, text: str, row: int) -> bool:
        """Return whether a text is on many pages, or many left or right ones, and nearly no other one is at this position there."""
        pages = self._same[text, row]
        if len(pages) < _MIN_REPETITIONS:
            return False
        sides = {page % 2 for page in pages}
        lines = sum(self._sides[row, side] for side in sides)
        return len(pages) >= _MIN_SHARE / 2 * len(sides) * len(self._pages) and len(pages) >= _MIN_AGREEING * lines


def _one_line(pieces: Sequence[PrintedLine]) -> PrintedLine:
    """Return the pieces of a line as one."""
    text = _PIECE.join(piece.text for piece in pieces)
    return pieces[0]._replace(right=pieces[-1].right, bottom=min(piece.bottom for piece in pieces), text=text)


def _counts(edge: _Edge) -> list[_Count]:
    """Return the numbers of a line that may be page numbers, surer ones first: at its ends, in a piece alone, or with a word for pages."""
    tokens = list(_TOKEN.finditer(edge.line.text))[:_MAX_WORDS]
    words = [token[0].casefold() for token in tokens]
    counts = (_count(edge, tokens, words, place) for place in range(len(words)) if _number_value(words[place]))
    return sorted((count for count in counts if count), key=lambda count: not count.is_named)


def _count(edge: _Edge, tokens: Sequence[re.Match[str]], words: Sequence[str], place: int) -> _Count | None:
    """Return a number as a page number, None if it cannot be one."""
    has_total = place + 2 < len(words) and words[place + 1] in _TOTAL_WORDS and _COUNTING.fullmatch(words[place + 2]) is not None
    begin, end = place, place + 2 * has_total
    begin -= begin > 1 and words[begin - 1] == "." and words[begin - 2] in _PAGE_WORDS
    has_word = begin > 0 and words[begin - 1] in _PAGE_WORDS
    before, after = edge.line.text[: tokens[begin - has_word].start()].casefold(), edge.line.text[tokens[end].end() :].casefold()
    if not _is_free(before[::-1]) or not _is_free(after):
        return None
    first, last = not _NON_WORD.sub("", before), not _NON_WORD.sub("", after)
    in_piece = before[-1:] in ("", _PIECE) and after[:1] in ("", _PIECE)
    value, is_roman = _number_value(words[place]) or (0, False)
    if not (first or last or in_piece or has_word) or (is_roman and not (has_word or in_piece or (first and last))):
        return None
    beside = before.rstrip()[-1:] if last else after.lstrip()[:1]
    is_named = has_word or (has_total and first and last and words[place + 1] != "/")
    return _Count(value - edge.page, f"{before}#{after}", is_roman, is_named, (first and last) or beside in _APART)


def _is_free(beside: str) -> bool:
    """Return whether a number ends, or begins, before a text: there is a space, or a sign and a space."""
    return beside[:1] in ("", " ", _PIECE) or (beside[0] in _AROUND and beside[1:2] in ("", " ", _PIECE))


def _number_value(word: str) -> tuple[int, bool] | None:
    """Return a number, and whether it is a Roman one."""
    if _COUNTING.fullmatch(word):
        return int(word), False
    if not _ROMAN.fullmatch(word):
        return None
    values = [_ROMAN_VALUES[letter] for letter in word]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0])), True


def _is_number(text: str) -> bool:
    """Return whether a line consists of a page number, its total and words for pages."""
    words = [token[0].casefold() for token in _TOKEN.finditer(text) if token[0].isalnum()]
    return all(word in _PAGE_WORDS or word in _TOTAL_WORDS or _number_value(word) for word in words)


def _runs_on(pages: Sequence[list[PrintedLine]]) -> bool:
    """Return whether sentences run on from page to page: a full line without a full stop, then a page that begins in lower case."""
    both = [(above, below) for above, below in pairwise(pages) if above and below]
    ends = 0
    for above, below in both:
        right = max(line.right for line in above)
        highest = nlargest(_MAX_LINES, below, key=_TOP)
        if any(_continues_sentence(line.text) for line in highest):
            lowest = nsmallest(_MAX_LINES, above, key=_BOTTOM)
            ends += any(line.right >= _FULL_LINE * right and not _SENTENCE_END.search(line.text) for line in lowest)
    return ends > 0 and ends >= _MIN_RUNNING_SHARE * len(both)


def _continues_sentence(text: str) -> bool:
    word = text.split(maxsplit=1)[0].rstrip(",;.")
    return word.isalpha() and not word[0].isupper() and word.casefold() not in _PAGE_WORDS


def _count_headings(pages: Sequence[list[PrintedLine]], heads: dict[int, list[PrintedLine]], wanted: frozenset[str]) -> Counter[str]:
    """Return the number of pages on which each wanted heading stands, on one line that is no head, or on two or three."""
    begins = {key[:_KEY_BEGIN] for key in wanted}
    counts = Counter[str]()
    for page, lines in enumerate(pages):
        written = [_heading_key(line.text) for line in lines if line not in heads.get(page, ())]
        headings = set[str]()
        for place, key in enumerate(written):
            if len(key) < _KEY_BEGIN or key[:_KEY_BEGIN] in begins:
                headings.update(wanted.intersection(accumulate(written[place : place + _MAX_HEADING_LINES])))
        counts.update(headings)
    return counts


@lru_cache(maxsize=1 << 16)
def _heading_key(text: str) -> str:
    """Return the letters and digits of a heading without its number."""
    key = _NON_WORD.sub("", text.casefold())
    return key[match.end() :] if (match := _NUMBERING.match(key)) else key


def _row(line: PrintedLine) -> int:
    return round(line.top / 4)


def _position(line: PrintedLine, height: float, upper: bool) -> tuple[bool, bool]:
    """Return whether a line is in the outer margin, and whether a page number may be there; True if the page's height is unknown."""
    share = (height - line.bottom if upper else line.top) / height if height else 0.0
    return share < _OUTER_MARGIN, share < (_OUTER_MARGIN if upper else _FOOT)


def _is_row(line: PrintedLine) -> bool:
    """Return whether a line is a table row: few characters, wide apart."""
    return line.right - line.left > _ROW_SPACING * line.size * len(line.text)


def _heads_table(line: PrintedLine, others: Sequence[PrintedLine], upper: bool) -> bool:
    """Return whether a line is directly followed by a row of a table."""
    after = max(others, key=lambda line: line.top) if upper else min(others, key=lambda line: line.bottom)
    return _is_row(line) or _is_row(after) or after.cells > 0 or len(_NUMBER.findall(after.text)) > 1


def _is_set_apart(line: PrintedLine, others: Sequence[PrintedLine], upper: bool) -> bool:
    if not others:
        return True
    gap = line.bottom - max(other.top for other in others) if upper else min(other.bottom for other in others) - line.top
    return gap > _MIN_GAP * line.size
