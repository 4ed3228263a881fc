"""Records in a passage: rows of tables and fields of forms, and the one cell that a question asks for."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from ramify.tools.embeddings.named import similarities
from ramify.tools.english import content

_LINE: Final = re.compile(r"[^\n]*(?:\n|$)")
_RULE: Final = re.compile(":?-{3,}:?")
"""Stands below the head of a table in Markdown, in each column."""
_BETWEEN: Final = re.compile(r"[ \t]*(?:\||\t)[ \t]*")
_FIELD: Final = re.compile(r"[ \t]*(?P<field>[^\n:=|]{1,40}?)[ \t]*[:=][ \t]+(?P<value>\S[^\n]*?)[ \t]*")
_EMPTY: Final = frozenset(("", "-", "–", "n/a", "none", "not known", "unknown", "tbd", "vacant"))
_NAMED: Final = 0.5
"""Share of the words of a cell that a question has to hold for it to name that row."""
_LIKE: Final = 0.3
_LEAD: Final = 0.05
"""How similar the field's name has to be to what is asked, and by how much more than the next one's."""


class Cell(NamedTuple):
    """A value of a record: where its row begins, the field's name, the value, and where it stands in the passage."""

    row: int
    field: str
    text: str
    start: int
    end: int


Line = list[tuple[str, int, int]]


def cells(text: str, begin: int = 0) -> list[Cell]:
    """Return the values of all tables with a head, and of all records of two fields and more, from `begin` on."""
    found: list[Cell] = []
    table: list[Line] = []
    record: list[tuple[str, str, int, int]] = []
    for line in _LINE.finditer(text, begin):
        row = _cells_of(line[0].rstrip("\n"), line.start())
        if row and all(_RULE.fullmatch(cell) for cell, _, _ in row):
            continue
        field = None if len(row) > 1 else _FIELD.fullmatch(line[0].rstrip("\n"))
        if table and len(row) != len(table[0]):
            head, *rows = table
            for one in rows:
                found += [Cell(one[0][1], name, *cell) for (name, _, _), cell in zip(head, one, strict=True)]
            table = []
        if len(row) > 1:
            table.append(row)
        if record and (field is None or field["field"] in {name for name, *_ in record}):
            found += [Cell(record[0][2], *one) for one in record if len(record) > 1]
            record = []
        if field is not None:
            start, end = field.span("value")
            record.append((field["field"], field["value"], line.start() + start, line.start() + end))
    return found


def asked_cell(question: str, some: Sequence[Cell]) -> Cell | None:
    """Return the cell in the row that a question names, under the field nearest to what it asks for; None where that is not plain."""
    words = content(question)
    naming: dict[int, tuple[float, int, Cell]] = {}
    for cell in some:
        if held := content(cell.text) & words:
            share = len(held) / len(content(cell.text))
            naming[cell.row] = max(naming.get(cell.row, (0.0, 0, cell)), (share, len(held), cell), key=lambda one: one[:2])
    best = max((one[:2] for one in naming.values()), default=(0.0, 0))
    named = [row for row, one in naming.items() if one[:2] == best]
    if best[0] < _NAMED or len(named) != 1:
        return None
    by = naming[named[0]][2]
    row = [cell for cell in some if cell.row == by.row and cell != by]
    asked = " ".join(word for word in re.findall(r"[^\s?.,]+", question) if not content(word) & content(by.text)) or question
    likely = similarities(asked, [cell.field for cell in row])
    order = sorted(range(len(row)), key=lambda number: -likely[number])
    if not order or likely[order[0]] < _LIKE or (len(order) > 1 and likely[order[0]] - likely[order[1]] < _LEAD):
        return None
    return row[order[0]]


def is_empty(value: str) -> bool:
    """Return whether a cell says that there is nothing."""
    return value.strip().casefold() in _EMPTY


def _cells_of(line: str, begin: int) -> Line:
    borders = [0, *(place for found in _BETWEEN.finditer(line) for place in found.span()), len(line)]
    spans = list(zip(borders[::2], borders[1::2], strict=True))
    made = [(line[start:end].strip(), begin + start, begin + end) for start, end in spans]
    if len(made) > 1 and not made[0][0]:  # a border at the line's left edge, and often one at the right
        return made[1 : -1 if line.rstrip().endswith("|") else None]
    return made
