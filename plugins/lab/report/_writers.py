"""Render a report as Markdown and as a single HTML page."""

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

from ramify.lab.report._blocks import Block, BulletList, Cell, LineDetails, Plot, ReportSection, Table, TextBlock
from ramify.lab.results import ResultLine, Run
from ramify.lab.task import MAX_CITATION_CHARS, RESULTS, Row
from ramify.nodes.tree import Branch, Tree
from ramify.nodes.tree.notes import confidence_figure
from ramify.studio.drawing.page import TreeView, branches_html
from ramify.studio.drawing.phrases import ORIGINS
from ramify.tools.new_files import file_mode, write_atomically
from ramify.tools.pages import read_packaged, render_page, render_template
from ramify.tools.quoting import escape_invisible, map_texts, one_line, pluralize

MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")


def write_files(run: Run, title: str, sections: Sequence[ReportSection], stem: Path) -> Path:
    """Write a report as Markdown and as a page, two files with the same stem; return the page's path."""
    html = stem.with_suffix(".html")
    write_atomically(render_markdown(title, sections), stem.with_suffix(".md"), file_mode(stem.parent))
    write_atomically(render_run_page(run, title, sections), html, file_mode(stem.parent))
    return html


def render_markdown(title: str, sections: Sequence[ReportSection]) -> str:
    """Return the report as Markdown; the meanings of the columns are listed once, at its end."""
    parts = [f"# {escape_markdown(title)}"]
    for section in sections:
        parts += [f"## {escape_markdown(section.title)}", *filter(None, map(_markdown_block, section.blocks))]
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    columns = [column for table in tables for column in table.columns if column.meaning]
    if columns:
        meanings = dict.fromkeys(f"* {escape_markdown(column.title)}: {escape_markdown(column.meaning)}" for column in columns)
        parts += ["## What the columns mean", "\n".join(meanings)]
    return "\n\n".join(parts) + "\n"


def escape_markdown(text: object) -> str:
    """Return a text with all Markdown escaped."""
    return MARKDOWN_SPECIAL.sub(r"\\\1", one_line(text))


def _markdown_block(block: Block) -> str:
    match block:
        case Table():
            return _markdown_table(block)
        case Plot() | LineDetails():
            return ""  # only the page has plots; their figures are in tables
        case BulletList():
            return "\n".join(f"* {escape_markdown(name)}: {escape_markdown(text)}" for name, text in block.items)
        case TextBlock(kind="command"):
            return f"    {one_line(block.text)}"
        case TextBlock():
            return ("**Note:** " if block.kind == "warning" else "") + escape_markdown(block.text)


def _markdown_table(table: Table) -> str:
    """Return a table with the command for its lines."""
    sides = " | ".join("---" if column.is_text or not place else "---:" for place, column in enumerate(table.columns))
    lines = [
        " | ".join(escape_markdown(column.title) for column in table.columns),
        sides,
        *(" | ".join(map(_markdown_cell, row)) for row in table.rows),
    ]
    parts = [f"### {escape_markdown(table.title)}", "\n".join(f"| {line} |" for line in lines)]
    parts += [escape_markdown(table.note)] if table.note else []
    parts += ["Command for its lines:", f"    {one_line(table.lines)}"] if table.lines else []
    return "\n\n".join(parts)


def _markdown_cell(cell: Cell) -> str:
    text = f"**{escape_markdown(cell.text)}**" if cell.best else escape_markdown(cell.text)
    return f"{text} ({escape_markdown(cell.detail)})" if cell.detail else text


LINES_PER_PACK = 120
"""Number of lines per compressed pack."""
LINE_OUTCOMES = ("right", "wrong", "abstained", "failed", "searched", "answered")


def render_run_page(run: Run, title: str, sections: Sequence[ReportSection]) -> str:
    """Return the report as an HTML page."""
    lines = sorted(run.lines, key=lambda line: (line.row["dataset"], line.row["id"], line.row["strategy"], line.row.get("variant") or ""))
    packs = []
    for start in range(0, len(lines), LINES_PER_PACK):
        rendered = [render_line(str(place), line) for place, line in enumerate(lines[start : start + LINES_PER_PACK], start)]
        packs.append(b64encode(gzip.compress(_compact_json(rendered).encode(), mtime=0)).decode())
    index = map_texts(_browser_index(run, lines), escape_invisible)  # the script inserts these texts without escaping control characters
    embedded = Markup(_compact_json(index).replace("<", "\\u003c"))  # so that no text can close the script element
    values = {"title": title, "sections": sections, "index": embedded, "packs": packs}
    return render_page("report.html", read_packaged("report.js"), kind_of=lambda block: type(block).__name__, **values)


def _browser_index(run: Run, lines: Sequence[ResultLine]) -> dict[str, Any]:
    """Return the data of the question browser: each question once, with indexes into lists of repeated values."""
    strategies = run.manifest["strategies"]

    def place(variant: tuple[str, str]) -> tuple[int, str, str]:
        return (strategies.index(variant[0]) if variant[0] in strategies else len(strategies), *variant)

    variants = sorted({line.group[1:] for line in lines}, key=place)
    types = sorted({line.type for line in lines})
    questions = {(line.row["dataset"], line.row["id"]): line for line in lines}
    places = {key: place for place, key in enumerate(questions)}
    question_entries, line_entries = [], []
    for (dataset, name), line in questions.items():
        about = (line.row["question"], line.row.get("gold"), line.row.get("aliases") or [], types.index(line.type), line.hops)
        question_entries.append((run.datasets.index(dataset), name, *about))
    for line in lines:
        fields = (LINE_OUTCOMES.index(line.outcome), line_label(line), line.row.get("answer"), line.row.get("f1"))
        line_entries.append((places[line.row["dataset"], line.row["id"]], variants.index(line.group[1:]), *fields))
    lists = {"datasets": run.datasets, "variants": variants, "types": types, "outcomes": LINE_OUTCOMES, "together": LINES_PER_PACK}
    return {**lists, "questions": question_entries, "lines": line_entries}


def render_line(place: str, line: ResultLine) -> Markup:
    """Return a line with its scores, passages and tree as HTML; `place` prefixes its ids."""
    row: Row = defaultdict(lambda: None, line.row)
    tree = branches_html(_parse_tree(row["tree"] or ()), TreeView(None, f"{place}-"), has_map=False)
    spent = {name: value for name, value in (row["usage"] or {}).items() if value}
    values = {"scores": _score_texts(row), "spent": lambda name: spent.get(name, 0), "many": pluralize, "cut": MAX_CITATION_CHARS}
    return render_template("line.html", line=line, row=row, name=", ".join(filter(None, line.group[1:])), tree=tree, **values)


def line_label(line: ResultLine) -> int | str:
    """Return the label of a line in the question browser: its number, with its file if there are several."""
    return line.number if line.file == RESULTS else f"{line.file}:{line.number}"


def _parse_tree(branches: Iterable[Any]) -> Tree:
    """Return the tree of a line; empty if this version cannot read it."""
    dicts = [branch for branch in branches if isinstance(branch, dict)]
    fields = [{name: branch[name] for name in Branch.model_fields if branch.get(name) is not None} for branch in dicts]
    try:
        return {branch.path: branch for branch in map(Branch.model_validate, fields)}
    except ValidationError:
        return {}


def _score_texts(row: Row) -> list[str]:
    """Return the scores and the confidence of an answer as texts."""
    confidence = "–" if row["confidence"] is None else confidence_figure(row["confidence"])
    known_from = ORIGINS.get(row["confidence_source"] or "", "")
    recall = (row["retrieval"] or {}).get("recall@10")
    texts = [
        f"EM {_format_share(row['em'])}",
        f"F1 {_format_share(row['f1'])}",
        ", ".join(filter(None, [f"confidence {confidence}", known_from])),
    ]
    return texts + ([] if recall is None else [f"recall@10 {_format_share(recall)}"])


def _format_share(value: float | None) -> str:
    """Return a formatted fraction; a value below 1 is not rounded up to 1."""
    return "–" if value is None else f"{min(value, 0.99) if value < 1 else 1:.2f}"


def _compact_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
