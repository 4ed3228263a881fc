"""Read the places and sizes of the characters on a PDF's page, as seen when the page is turned so that its text is upright."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import atan2, hypot, pi
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

_SAMPLED_CHARACTERS = 9
_UNSCALED = 0.01


Box = tuple[float, float, float, float]
"""Left, bottom, right and top edge."""


def turn_box(box: Box, turn: int, limits: Box) -> Box:
    """Return where a box of a page is when the page is turned clockwise by 0, 90, 180 or 270 degrees."""
    left, bottom, right, top = box
    wide, high = limits[0] + limits[2], limits[1] + limits[3]
    if turn == 90:
        return bottom, wide - right, top, wide - left
    if turn == 180:
        return wide - right, high - top, wide - left, high - bottom
    return (high - top, left, high - bottom, right) if turn == 270 else box


def _turn_of(sine: float, cosine: float) -> int:
    return round(atan2(-sine, cosine) / (pi / 2)) % 4 * 90


class Characters:
    """The text of a page and the places of its characters, as seen when the page is turned so that the text is upright."""

    def __init__(self, page: "PdfPage", textpage: "PdfTextPage") -> None:
        import pypdfium2.raw as pdfium

        self._pdfium, self._page = pdfium, textpage.raw
        self._read_box, self._read_origin, self._read_size = (
            pdfium.FPDFText_GetLooseCharBox,
            pdfium.FPDFText_GetCharOrigin,
            pdfium.FPDFText_GetFontSize,
        )
        self._box, self._x, self._y, self._matrix = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double(), pdfium.FS_MATRIX()
        self._get_limits = page.get_mediabox
        count = textpage.count_chars()
        buffer = (ctypes.c_ushort * (2 * count + 2))()
        written = pdfium.FPDFText_GetText(self._page, 0, count, buffer)
        self.text = bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace").replace("\0", "\ufffd")
        self._is_wide = not self.text.isascii() and max(self.text) > "\uffff"
        last = max(written - 2, 0)
        self._is_shifted = pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, last) != last
        matrices = [self._read_matrix(place) for place in range(0, last, max(1, last // _SAMPLED_CHARACTERS))]
        self._is_unscaled = all(abs(hypot(*sides) - 1) < _UNSCALED for sides in matrices if any(sides))
        turns = Counter(_turn_of(sine, cosine) for sine, cosine in matrices if sine or cosine)
        self.turn = max(turns, key=lambda turn: (turns[turn], turn == page.get_rotation())) if turns else page.get_rotation()
        """The rotation that shows most characters upright: 0, 90, 180 or 270 degrees."""

    def length(self, text: str) -> int:
        """Return how many places a text takes."""
        return len(text) + sum(character > "\uffff" for character in text) if self._is_wide else len(text)

    def index(self, place: int) -> int:
        """Return PDFium's index of the character at a place of the text."""
        return int(self._pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, place)) if self._is_shifted else place

    def left(self, place: int) -> float:
        """Return the left edge of a character."""
        self._read_box(self._page, self.index(place) if self._is_shifted else place, self._box)
        return float(self._box.left) if not self.turn else self._turned_box()[0]

    def right(self, place: int) -> float:
        """Return the right edge of a character."""
        self._read_box(self._page, self.index(place) if self._is_shifted else place, self._box)
        return float(self._box.right) if not self.turn else self._turned_box()[2]

    def _turned_box(self) -> Box:
        return turn_box((self._box.left, self._box.bottom, self._box.right, self._box.top), self.turn, self._get_limits())

    def wide_gaps(self, spaces: Iterable[re.Match[str]], places: Sequence[int], least: float) -> Iterator[tuple[int, float]]:
        """Yield where a gap of at least this width ends, and its width."""
        if self.turn or self._is_shifted:
            edges = ((space.end(), self.left(places[space.end()]) - self.right(places[space.start() - 1])) for space in spaces)
            yield from ((end, gap) for end, gap in edges if gap > least)
            return
        read, page, box = self._read_box, self._page, self._box
        for space in spaces:
            start, end = space.span()
            read(page, places[end], box)
            left = box.left
            read(page, places[start - 1], box)
            if left - box.right > least:
                yield end, left - box.right

    def baseline(self, place: int) -> float:
        """Return the height of a character's baseline."""
        self._read_origin(self._page, self.index(place) if self._is_shifted else place, self._x, self._y)
        if not self.turn:
            return self._y.value
        return turn_box((self._x.value, self._y.value) * 2, self.turn, self._get_limits())[1]

    def size(self, place: int) -> float:
        """Return the font size of a character, before its matrix is applied."""
        return float(self._read_size(self._page, self.index(place) if self._is_shifted else place))

    def scale(self, place: int) -> float:
        """Return the height of a character's matrix, 1 if it is that of all characters that were tried."""
        return 1.0 if self._is_unscaled else hypot(*self._read_matrix(place)) or 1.0

    def _read_matrix(self, place: int) -> tuple[float, float]:
        """Return the direction of a character's height; nothing for characters that PDFium adds."""
        index = self.index(place)
        if self.text[place : place + 1].isspace() or not self._pdfium.FPDFText_GetMatrix(self._page, index, self._matrix):
            return 0.0, 0.0
        return self._matrix.c, self._matrix.d

    def is_turned(self, place: int) -> bool:
        """Return whether a character is not upright when most are."""
        sine, cosine = self._read_matrix(place)
        return bool(sine or cosine) and _turn_of(sine, cosine) != self.turn

    def height(self, place: int) -> float:
        """Return the height of a character's box, at least a point."""
        self._pdfium.FPDFText_GetLooseCharBox(self._page, self.index(place), self._box)
        return abs(self._box.top - self._box.bottom) or 1.0
