"""Read Word documents: the sections of the text, with its lists, tables, notes and comments, and the headers and footers."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from langchain_core.documents import Document

from ramify.formats.numbers import PAGE_WORDS
from ramify.formats.office.containers import open_office_file
from ramify.formats.office.runs import PAGE_LINE, UNSHOWN_MARGIN
from ramify.formats.word._blocks import BlockReader
from ramify.formats.word._parts import Package, Styles, find_value, is_on, name_of
from ramify.formats.word._runs import plain_text
from ramify.formats.word._tables import Block
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.sections import (
    LeveledLine,
    Outline,
    Section,
    keep_lone_headings,
    only_main_heading,
    section_documents,
    split_sections,
    word_count,
)
from ramify.tools.documents.text import file_stem

if TYPE_CHECKING:
    from lxml.etree import _Element

_VARIANTS = frozenset(["default", "first", "even"])
"""Of headers and footers."""
_LETTERS = re.compile(r"[^\W\d_]+")
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)
_BOLD_LEVEL = 2
"""The level of bold lines that are headings."""
_MAX_BOLD_WORDS, _MIN_WORDS_BELOW = 10, 4
"""Most words of such a line, and least words of the text below it."""
_MAX_HEADING_WORDS = 30
"""A longer paragraph in the style of a heading is a numbered clause, and read as text."""
_SENTENCE_END = re.compile(r"[.!?:;,…。！？：；，]$")
_HEADING_START = re.compile(r"(?:\d+(?:\.\d+)*+[.)]?\s+)?[^\W\d_]")
_LABELS = frozenset(["attention", "caution", "danger", "example", "hint", "important", "note", "remark", "tip", "warning"])
"""Bold words above a text that say how to take it, not what it is about."""


def read_docx(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a Word document as one document per section."""
    with open_office_file(path, source, report) as file, ZipFile(file) as archive:
        package = Package(archive, source, report)
        root = package.document()
        styles = Styles(package.part(package.related(package.main, "styles")))
        reader = BlockReader(package, styles, source, report)
        headers, footers = _read_margins(root, package, reader, source, report)
        blocks = _with_headings([block for body in root.iterfind("{*}body") for block in reader.read(body, package.main)])
        reader.close()
    yield from section_documents(_outline(blocks, headers, footers, report), source, report.title or file_stem(path))


def _outline(blocks: Sequence[Block], headers: Sequence[Block], footers: Sequence[Block], report: ReadReport) -> Outline:
    lines = list(_lines([block for block in blocks if not block.role]))
    titles = [block.text for block in blocks if block.is_title]
    title = only_main_heading(lines) or report.title or (titles[0] if len(titles) == 1 else None)
    lines = [*_lines(headers), *keep_lone_headings(lines, title), (1, ""), *_lines(footers)]
    sections = [
        Section((), "\n".join(block.text for block in blocks if block.role == role), role=role)
        for role in dict.fromkeys(block.role for block in blocks if block.role)
    ]
    return Outline(title, [*sections, *split_sections(lines)])


def _lines(blocks: Sequence[Block]) -> Iterator[LeveledLine]:
    """Yield blocks as lines: those of a list below each other, others a line apart."""
    for number, block in enumerate(blocks):
        if block.level:
            yield block.level, block.text
        else:
            is_item = block.is_item and number + 1 < len(blocks) and blocks[number + 1].is_item
            yield 0, f"{block.text}\n" if is_item else f"{block.text}\n\n"


def _with_headings(blocks: list[Block]) -> list[Block]:
    """Return blocks; in a document without headings, short bold lines before a text are headings."""
    if any(block.level and not block.is_title for block in blocks):
        return [block._replace(level=_text_level(block)) for block in blocks]
    return [
        block._replace(level=_BOLD_LEVEL) if _is_bold_heading(block, after) else block for block, after in pairwise([*blocks, Block("")])
    ]


def _text_level(block: Block) -> int:
    return min(block.level, 6) if word_count(block.text) <= _MAX_HEADING_WORDS else 0


def _is_bold_heading(block: Block, after: Block) -> bool:
    text = block.text
    is_short = block.is_bold and 0 < word_count(text) <= _MAX_BOLD_WORDS and "\n" not in text
    is_title = _HEADING_START.match(text) and not text[0].islower() and not _SENTENCE_END.search(text) and text.lower() not in _LABELS
    return bool(is_short and is_title) and not (after.is_bold or after.is_title) and word_count(after.text) >= _MIN_WORDS_BELOW


def _read_margins(
    root: "_Element", package: Package, reader: BlockReader, source: str, report: ReadReport
) -> tuple[list[Block], list[Block]]:
    """Return the headers and the footers, each line once and without page numbers; those that no page shows are left out."""
    shown = _shown_margins(root, package)
    texts: dict[str, list[Block]] = {"header": [], "footer": []}
    seen: set[str] = set()
    for name, kind in shown.items():
        part = package.part(name)
        for block in reader.read(part, name) if part is not None else ():
            if block.text in seen:
                continue
            seen.add(block.text)
            if not (block.has_page_number and _is_page_number(block.text)):
                texts[kind].append(block._replace(level=0, role=None))
            elif _LETTERS.search(block.text):
                report.leave_out(source, PAGE_LINE, [block.text])
    margins = (relation.target for relation in package.relations(package.main).values() if relation.kind in texts)
    others = [package.part(name) for name in dict.fromkeys(margins) if name not in shown]
    unseen = [text for part in others if part is not None and (text := plain_text(part))]
    report.leave_out(source, UNSHOWN_MARGIN, unseen)
    return texts["header"], texts["footer"]


def _shown_margins(root: "_Element", package: Package) -> dict[str, str]:
    """Return the names of the headers and footers that pages show, each with its kind; a section without its own has those before."""
    settings = package.part(package.related(package.main, "settings"))
    variants = {"default", *(["even"] if settings is not None and is_on(settings.find("{*}evenAndOddHeaders")) else [])}
    in_force: dict[tuple[str, str], str] = {}
    shown: dict[str, str] = {}
    for section in root.iter("{*}sectPr"):
        for element in section:
            kind, variant = name_of(element)[2:].removesuffix("Reference"), find_value(element, ".", "type") or "default"
            relation = package.relations(package.main).get(find_value(element, ".", "id")) if kind in ("header", "footer") else None
            if relation is not None and variant in _VARIANTS:
                in_force[kind, variant] = relation.target
        own = variants | ({"first"} if is_on(section.find("{*}titlePg")) else set())
        shown |= {target: kind for (kind, variant), target in in_force.items() if variant in own}
    return shown


def _is_page_number(text: str) -> bool:
    words = [word.lower() for word in _LETTERS.findall(text)]
    return all(word in PAGE_WORDS or _ROMAN.fullmatch(word) for word in words)


READER = FormatReader(read_docx, {"lxml.etree": "lxml"})
