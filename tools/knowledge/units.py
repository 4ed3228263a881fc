"""What is read for names: passages, and units of consecutive passages of one document."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

UNIT_TOKENS = 600
"""Of the seed: a round at 600 finds almost twice the names of one at 2,400."""


class Piece(NamedTuple):
    """A passage: its id, text and document, and what it stands under: its document's title and the headings, the outermost first."""

    id: str
    document: str
    text: str
    titles: tuple[str, ...] = ()


class Unit(NamedTuple):
    """Consecutive passages of one document, read in one call."""

    pieces: tuple[Piece, ...]

    @property
    def title(self) -> str:
        """Name what it is from."""
        return " > ".join(self.pieces[0].titles)

    @property
    def text(self) -> str:
        """Write its passages one after another."""
        return "\n".join(piece.text for piece in self.pieces)


def read_pieces(path: Path) -> list[Piece]:
    """Read the passages of an index that are searched, document by document, in their order; whichever came in first."""
    sql = "SELECT id, document, text, label FROM passages WHERE hidden IS NULL ORDER BY document, row"
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(sql)
        return [Piece(id, document, text, tuple(label.split(" > ")) if label else ()) for id, document, text, label in rows]


def units(pieces: Sequence[Piece], count: Callable[[str], int], tokens: int = UNIT_TOKENS) -> list[Unit]:
    """Group consecutive passages of one document into units of at most so many tokens; one that is longer is a unit of its own."""
    found: list[Unit] = []
    total = 0
    for piece in pieces:
        length = count(piece.text)
        if found and found[-1].pieces[-1].document == piece.document and total + length <= tokens:
            found[-1] = Unit((*found[-1].pieces, piece))
            total += length
        else:
            found.append(Unit((piece,)))
            total = length
    return found


def halves(unit: Unit) -> tuple[Unit, ...]:
    """Cut a unit in two, between passages, or within the one it has; one that cannot be cut comes back alone."""
    middle = len(unit.pieces) // 2
    if middle:
        return Unit(unit.pieces[:middle]), Unit(unit.pieces[middle:])
    piece = unit.pieces[0]
    cut = piece.text.rfind(" ", 0, len(piece.text) // 2 + 1)
    if cut <= 0:
        return (unit,)
    return tuple(Unit((piece._replace(text=part),)) for part in (piece.text[:cut], piece.text[cut:].lstrip()))
