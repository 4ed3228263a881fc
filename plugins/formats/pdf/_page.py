"""Read the lines of a PDF's page in the order of reading: columns one after the other, tables row by row."""

from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING

from ramify.formats.pdf._layout import find_blocks, is_running_text, order_columns, read_columns
from ramify.formats.pdf._lines import PrintedLine
from ramify.formats.pdf._pieces import read_pieces
from ramify.formats.pdf._tables import find_rulings, read_block

if TYPE_CHECKING:
    from pypdfium2 import PdfPage


def read_page_lines(page: "PdfPage") -> list[PrintedLine]:
    """Return a page's lines in the order of reading."""
    lines, turn = read_pieces(page)
    if all(len(line) == 1 for line in lines) and all(above[0].bottom > below[0].top for above, below in pairwise(lines)):
        return [line[0] for line in lines]
    read: list[PrintedLine] = []
    rulings = cache(partial(find_rulings, page, turn))
    done = 0
    for block in find_blocks(lines):
        if block.numbers.start < done:
            continue
        if is_running_text(block):
            numbers, ordered = read_columns(block, lines)
            rows = [_join(line) for line in ordered]
        else:
            numbers, rows = block.numbers, read_block(block, rulings)
        if rows:
            read += [*(_join(line) for line in lines[done : numbers.start]), *rows]
            done = numbers.stop
    return order_columns([*read, *(_join(line) for line in lines[done:])])


def _join(pieces: Sequence[PrintedLine]) -> PrintedLine:
    """Return the pieces of a line as one."""
    if len(pieces) == 1:
        return pieces[0]
    longest = max(pieces, key=lambda piece: len(piece.text))
    text = " ".join(piece.text for piece in pieces)
    return longest._replace(left=pieces[0].left, right=pieces[-1].right, top=pieces[0].top, bottom=pieces[-1].bottom, text=text)
