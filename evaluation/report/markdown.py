"""The report in Markdown."""

import re
from collections.abc import Sequence

from ramify.evaluation.report.blocks import Block, Cell, Plot, Points, Section, Table, Words
from ramify.tools.quoting import one_line

MARKS = re.compile(r"([\\`*_\[\]<>|~#])")


def markdown(title: str, sections: Sequence[Section]) -> str:
    """Give the whole report; what the columns mean is said once, at its end."""
    parts = [f"# {plain(title)}"]
    for section in sections:
        parts += [f"## {plain(section.title)}", *filter(None, map(_block, section.blocks))]
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    columns = [column for table in tables for column in table.columns if column.meaning]
    if columns:
        told = dict.fromkeys(f"* {plain(column.title)}: {plain(column.meaning)}" for column in columns)
        parts += ["## What the columns mean", "\n".join(told)]
    return "\n\n".join(parts) + "\n"


def plain(text: object) -> str:
    """Write a text so that nothing in it is markup."""
    return MARKS.sub(r"\\\1", one_line(text))


def _block(block: Block) -> str:
    match block:
        case Table():
            return _table(block)
        case Plot():
            return ""  # the page has the drawing, the table beside it has the figures
        case Points():
            return "\n".join(f"* {plain(name)}: {plain(text)}" for name, text in block.items)
        case Words(kind="command"):
            return f"    {one_line(block.text)}"
        case Words():
            return ("**Mind:** " if block.kind == "warning" else "") + plain(block.text)


def _table(table: Table) -> str:
    """Write a table, and the command for its lines."""
    sides = " | ".join("---" if column.words or not place else "---:" for place, column in enumerate(table.columns))
    lines = [" | ".join(plain(column.title) for column in table.columns), sides, *(" | ".join(map(_cell, row)) for row in table.rows)]
    parts = [f"### {plain(table.title)}", "\n".join(f"| {line} |" for line in lines)]
    parts += [plain(table.note)] if table.note else []
    parts += ["Its lines:", f"    {one_line(table.lines)}"] if table.lines else []
    return "\n\n".join(parts)


def _cell(cell: Cell) -> str:
    text = f"**{plain(cell.text)}**" if cell.best else plain(cell.text)
    return f"{text} ({plain(cell.detail)})" if cell.detail else text
