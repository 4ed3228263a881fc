"""Write a report as Markdown and as one HTML page."""

import gzip
import json
import re
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import ValidationError

from ramify.evaluation.report._blocks import Block, Cell, DrawnLine, Plot, Points, ReportSection, Table, Words
from ramify.evaluation.results import ResultLine, Run
from ramify.evaluation.task import PRINTED, RESULTS, Row
from ramify.nodes.tree import Branch, Tree
from ramify.nodes.tree.cards import Look, cards
from ramify.nodes.tree.phrases import ORIGINS, figure
from ramify.tools.new_files import file_mode, write_atomically
from ramify.tools.pages import render_page, render_template
from ramify.tools.quoting import escape_invisible, map_texts, one_line, pluralize

MARKS = re.compile(r"([\\`*_\[\]<>|~#])")


def write(run: Run, title: str, sections: Sequence[ReportSection], stem: Path) -> Path:
    """Write a report as Markdown and as a page, two files that differ in their endings; return the page's path."""
    html = stem.with_suffix(".html")
    write_atomically(markdown(title, sections), stem.with_suffix(".md"), file_mode(stem.parent))
    write_atomically(page(run, title, sections), html, file_mode(stem.parent))
    return html


def markdown(title: str, sections: Sequence[ReportSection]) -> str:
    """Return the report as Markdown; the meanings of the columns are listed once, at its end."""
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
    """Return a text with all Markdown escaped."""
    return MARKS.sub(r"\\\1", one_line(text))


def _block(block: Block) -> str:
    match block:
        case Table():
            return _table(block)
        case Plot() | DrawnLine():
            return ""  # the page has the drawing, the table beside it has the figures
        case Points():
            return "\n".join(f"* {plain(name)}: {plain(text)}" for name, text in block.items)
        case Words(kind="command"):
            return f"    {one_line(block.text)}"
        case Words():
            return ("**Note:** " if block.kind == "warning" else "") + plain(block.text)


def _table(table: Table) -> str:
    """Return a table with the command for its lines."""
    sides = " | ".join("---" if column.words or not place else "---:" for place, column in enumerate(table.columns))
    lines = [" | ".join(plain(column.title) for column in table.columns), sides, *(" | ".join(map(_cell, row)) for row in table.rows)]
    parts = [f"### {plain(table.title)}", "\n".join(f"| {line} |" for line in lines)]
    parts += [plain(table.note)] if table.note else []
    parts += ["Command for its lines:", f"    {one_line(table.lines)}"] if table.lines else []
    return "\n\n".join(parts)


def _cell(cell: Cell) -> str:
    text = f"**{plain(cell.text)}**" if cell.best else plain(cell.text)
    return f"{text} ({plain(cell.detail)})" if cell.detail else text


TOGETHER = 120
"""Lines per pack."""
OUTCOMES = ("right", "wrong", "abstained", "failed", "searched", "answered")


def page(run: Run, title: str, sections: Sequence[ReportSection]) -> str:
    """Return the report as an HTML page."""
    lines = sorted(run.lines, key=lambda line: (line.row["dataset"], line.row["id"], line.row["strategy"], line.row.get("variant") or ""))
    packs = []
    for start in range(0, len(lines), TOGETHER):
        shown = [line_html(str(place), line) for place, line in enumerate(lines[start : start + TOGETHER], start)]
        packs.append(b64encode(gzip.compress(_json(shown).encode(), mtime=0)).decode())
    index = map_texts(_index(run, lines), escape_invisible)  # the script shows these texts as they are
    embedded = Markup(_json(index).replace("<", "\\u003c"))  # no text in it can end its element
    told = {"title": title, "sections": sections, "index": embedded, "packs": packs}
    return render_page("report.html", ["report.js"], kind_of=lambda block: type(block).__name__, **told)


def _index(run: Run, lines: Sequence[ResultLine]) -> dict[str, Any]:
    """Return the data of the browser's list, each question once, repeated words as indexes into lists."""
    strategies = run.manifest["strategies"]

    def place(variant: tuple[str, str]) -> tuple[int, str, str]:
        return (strategies.index(variant[0]) if variant[0] in strategies else len(strategies), *variant)

    variants = sorted({line.group[1:] for line in lines}, key=place)
    types = sorted({line.type for line in lines})
    questions = {(line.row["dataset"], line.row["id"]): line for line in lines}
    places = {key: place for place, key in enumerate(questions)}
    asked, given = [], []
    for (dataset, name), line in questions.items():
        about = (line.row["question"], line.row.get("gold"), line.row.get("aliases") or [], types.index(line.type), line.hops)
        asked.append((run.datasets.index(dataset), name, *about))
    for line in lines:
        told = (OUTCOMES.index(line.outcome), line_name(line), line.row.get("answer"), line.row.get("f1"))
        given.append((places[line.row["dataset"], line.row["id"]], variants.index(line.group[1:]), *told))
    listed = {"datasets": run.datasets, "variants": variants, "types": types, "outcomes": OUTCOMES, "together": TOGETHER}
    return {**listed, "questions": asked, "lines": given}


def line_html(place: str, line: ResultLine) -> Markup:
    """Return a line with its scores, passages and tree as HTML; `place` prefixes its ids."""
    row: Row = defaultdict(lambda: None, line.row)
    tree = cards(_tree(row["tree"] or ()), Look(None, f"{place}-"))
    spent = {name: value for name, value in (row["usage"] or {}).items() if value}
    told = {"scores": _scores(row), "spent": lambda name: spent.get(name, 0), "many": pluralize, "cut": PRINTED}
    return render_template("line.html", line=line, row=row, name=", ".join(filter(None, line.group[1:])), tree=tree, **told)


def line_name(line: ResultLine) -> int | str:
    """Return what the browser calls a line: its number, with its file where there are several."""
    return line.number if line.file == RESULTS else f"{line.file}:{line.number}"


def _tree(branches: Iterable[Any]) -> Tree:
    """Return the tree of a line; empty if this version cannot read it."""
    dicts = [branch for branch in branches if isinstance(branch, dict)]
    told = [{name: branch[name] for name in Branch.model_fields if branch.get(name) is not None} for branch in dicts]
    try:
        return {branch.path: branch for branch in map(Branch.model_validate, told)}
    except ValidationError:
        return {}


def _scores(row: Row) -> list[str]:
    """Return the scores and the confidence of an answer as texts."""
    sure = "–" if row["confidence"] is None else figure(row["confidence"])
    known_from = ORIGINS.get(row["confidence_source"] or "", "")
    recall = (row["retrieval"] or {}).get("recall@10")
    told = [f"EM {_share(row['em'])}", f"F1 {_share(row['f1'])}", ", ".join(filter(None, [f"confidence {sure}", known_from]))]
    return told + ([] if recall is None else [f"recall@10 {_share(recall)}"])


def _share(value: float | None) -> str:
    """Format a share; below 1 it never rounds up to 1."""
    return "–" if value is None else f"{min(value, 0.99) if value < 1 else 1:.2f}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
