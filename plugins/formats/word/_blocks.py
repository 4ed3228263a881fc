"""Read the paragraphs, tables, notes, comments and drawings of a part of a Word document, in the order of its text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ramify.formats.office.charts import chart_lines, diagram_lines
from ramify.formats.office.runs import PLACEHOLDER, STRUCK
from ramify.formats.word._numbering import BULLET, Numbering
from ramify.formats.word._parts import PARAGRAPH, Package, Styles, find_value, name_of
from ramify.formats.word._runs import (
    REMOVED,
    NoteMark,
    Paragraph,
    RunReader,
    chosen_form,
    control_tick,
    plain_text,
    tidy_spaces,
)
from ramify.formats.word._tables import Block, read_table
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.sections import Section
from ramify.tools.documents.text import decode_text, detect_encoding

if TYPE_CHECKING:
    from lxml.etree import _Element

_LIST_STYLE = re.compile(r"(?:toc|contents|index) ?\d|table of figures")
_CONTENTS_GALLERY = "Table of Contents"
_NOTE_PARTS = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}
_WEB_SUFFIXES, _MAIL_SUFFIXES = frozenset(["html", "htm", "xhtml"]), frozenset(["mht", "mhtml"])
_DROPPED_CAPITAL = frozenset(["drop", "margin"])


class BlockReader:
    """Reads the parts of a document in turn: numbers and note marks are counted from one to the next."""

    def __init__(self, package: Package, styles: Styles, source: str, report: ReadReport) -> None:
        self.package, self._styles, self._source, self._report = package, styles, source, report
        self._numbering = Numbering(package.part(package.related(package.main, "numbering")), styles)
        self._runs = RunReader(styles, report, self._note_label)
        self._notes = {kind: self._read_notes(kind) for kind in _NOTE_PARTS}
        self._labels: dict[tuple[str, str], str] = {}
        self._part = package.main
        self._carried = ""
        """The text of paragraphs whose end was deleted, and of dropped capitals."""
        self._behind: list[Block] = []
        """Notes and comments of the paragraphs so far."""
        self._unread: Counter[str] = Counter()

    def read(self, root: "_Element", part: str) -> Iterator[Block]:
        """Yield the blocks of a part; notes and comments follow the paragraph or table that refers to them."""
        outer, self._part = (self._part, self._runs.fields, self._carried), part
        self._runs.fields, self._carried = [], ""
        for child in root:
            yield from self._blocks([child])
            behind, self._behind = self._behind, []
            yield from behind
        if rest := tidy_spaces(self._carried):
            yield Block(rest)
        self._part, self._runs.fields, self._carried = outer

    def close(self) -> None:
        """Report what was not read."""
        for kind, notes in self._notes.items():
            texts = (" ".join(plain_text(note).split()) for note in notes.values())
            self._leave_out(f"{kind} without a mark", (text for text in texts if text), f"{kind}s without a mark")
        for kind, count in (self._runs.unread + self._unread).items():
            self._report.remark(self._source, f"not read: {count} × {kind}")
        if missing := self._runs.without_result:
            names = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in missing.items())
            self._report.remark(
                self._source, f"fields without a stored result: {names}; open the file in Word, update all fields and save it"
            )
        if self._runs.unknown_symbols:
            self._report.remark(self._source, f"not read: {self._runs.unknown_symbols} × symbol of a symbol font, written as \ufffd")

    def _leave_out(self, kind: str, texts: Iterable[str], kinds: str = "") -> None:
        self._report.leave_out(self._source, kind, texts, kinds)

    def _blocks(self, children: "Iterable[_Element]", role: str | None = None) -> Iterator[Block]:
        for child in children:
            name = name_of(child)
            if name == "w:p":
                yield from self._paragraph(child, role)
            elif name == "w:tbl":
                yield from read_table(child, lambda cell: list(self._blocks(cell)), self._leave_out)
            elif name == "w:sdt":
                yield from self._control(child, role)
            elif name in REMOVED:
                self._leave_out(REMOVED[name], [plain_text(child)] if plain_text(child).strip() else [])
            elif name == "w:altChunk":
                yield from self._foreign_blocks(child)
            elif name in ("m:oMath", "m:oMathPara", "w:r"):  # without a paragraph
                yield from self._paragraph(_wrapped(child), role)
            elif name == "mc:AlternateContent":
                yield from self._blocks(chosen_form(child), role)
            elif name not in ("", "w:sectPr", "w:tcPr", "w:tblPr", "w:pPr"):
                yield from self._blocks(child, role)

    def _control(self, control: "_Element", role: str | None) -> Iterator[Block]:
        content = control.find("{*}sdtContent")
        if content is None:
            return
        if tick := control_tick(control):
            self._report.add(tick)
            yield Block(tick)
        elif self._runs.is_placeholder(control):
            self._leave_out(PLACEHOLDER, [plain_text(content)])
        else:
            is_contents = find_value(control, "{*}sdtPr/{*}docPartObj/{*}docPartGallery") == _CONTENTS_GALLERY
            yield from self._blocks(content, "contents" if is_contents else role)

    def _paragraph(self, element: "_Element", role: str | None) -> Iterator[Block]:
        properties = element.find("{*}pPr")
        style = find_value(properties, "{*}pStyle") if properties is not None else ""
        paragraph = self._runs.read(element, style)
        written = self._carried + paragraph.text(self._leave_out)
        text, self._carried = tidy_spaces(written), ""
        if properties is not None and _continues(properties):
            self._carried = written
        elif text or all(not run.text.strip() for run in paragraph.runs if run.left_out != STRUCK):
            yield from self._numbered(text, element, style, paragraph, role)
        for anchored in paragraph.anchored:
            yield from self._drawing(anchored)
        notes = [block for mark in paragraph.marks for block in self._note(mark)]
        self._behind += notes

    def _numbered(self, text: str, element: "_Element", style: str, paragraph: Paragraph, role: str | None) -> Iterator[Block]:
        """Yield a paragraph with its number in front; an empty one is only counted, unless it is a cell with a number."""
        properties = element.find("{*}pPr")
        if not text and properties is not None and properties.find("{*}sectPr") is not None:
            return  # no more than the end of a section, which Word does not count
        label = self._numbering.next_label(properties, style)
        name = self._styles.name(style)
        if _LIST_STYLE.fullmatch(name):
            role = "index" if name.startswith("index") else "contents"
        level = 0 if role or name == "subtitle" else 1 if name == "title" else self._styles.heading_level(properties, style)
        if not text and not (label and next(element.iterancestors("{*}tc"), None) is not None):
            return
        if label and not (label == BULLET and (level or not text)):
            self._report.add(label)
            text = f"{label} {text}".rstrip()
        text = " ".join(text.split()) if level or role else text
        yield Block(text, level, name == "title", bool(label), paragraph.is_bold is True, paragraph.has_page_field, role)

    def _drawing(self, element: "_Element") -> Iterator[Block]:
        """Yield the text of a box, or the data of a chart or a diagram."""
        name = name_of(element)
        if name == "w:txbxContent":
            fields, self._runs.fields = self._runs.fields, []
            yield from (block._replace(level=0, is_bold=False) for block in self._blocks(element))
            self._runs.fields = fields
            return
        if name == "a:txBody":
            texts = ("".join(run.text or "" for run in paragraph.iter("{*}t")).strip() for paragraph in element.iterfind("{*}p"))
            yield from (Block(text) for text in texts if text)
            return
        relation = self.package.relations(self._part).get(find_value(element, ".", "id" if name == "c:chart" else "dm"))
        data = self.package.part(relation.target) if relation else None
        lines = [] if data is None else list(chart_lines(data) if name == "c:chart" else diagram_lines(data))
        if lines:
            yield Block("\n".join(lines))
        else:
            self._unread["chart" if name == "c:chart" else "diagram"] += 1

    def _foreign_blocks(self, chunk: "_Element") -> Iterator[Block]:
        """Yield the blocks of a part in another format: of a web page, or one in a mail's form."""
        relation = self.package.relations(self._part).get(find_value(chunk, ".", "id"))
        content = self.package.content(relation.target) if relation else None
        suffix = relation.target.rpartition(".")[2].lower() if relation else ""
        if content is None or suffix not in _WEB_SUFFIXES | _MAIL_SUFFIXES:
            self._unread[f"part in another format ({suffix or 'missing'})"] += 1
            return
        above: tuple[str, ...] = ()
        for section in _web_sections(content, suffix in _MAIL_SUFFIXES, self._source, self._report):
            yield from (
                Block(name, place + 1) for place, name in enumerate(section.headings) if section.headings[: place + 1] != above[: place + 1]
            )
            yield Block(section.text)
            above = section.headings

    def _read_notes(self, kind: str) -> "dict[str, _Element]":
        root = self.package.part(self.package.related(self.package.main, _NOTE_PARTS[kind]))
        notes = [] if root is None else [note for note in root if name_of(note) == f"w:{kind}"]
        return {find_value(note, ".", "id"): note for note in notes if find_value(note, ".", "type") in ("", "normal")}

    def _note_label(self, kind: str, identity: str) -> str:
        """Return the number of a note; footnotes and endnotes are counted together."""
        label = self._labels.setdefault((kind, identity), str(len(self._labels) + 1))
        self._report.add(f"[{label}]")
        return label

    def _note(self, mark: NoteMark) -> Iterator[Block]:
        """Yield the text of a note or comment, once."""
        note = self._notes[mark.kind].pop(mark.identity, None)
        if note is None:
            return
        part = self.package.related(self.package.main, _NOTE_PARTS[mark.kind])
        behind, self._behind = self._behind, []
        text = " ".join(" ".join(block.text.split()) for block in self.read(note, part))
        self._behind = behind
        if mark.kind == "comment":
            author = " ".join(find_value(note, ".", "author").split())
            label = f"Comment ({author}):" if author else "Comment:"
        else:
            label = f"[{self._labels[mark.kind, mark.identity]}]" if (mark.kind, mark.identity) in self._labels else ""
        if text:
            self._report.add(label)
            yield Block(f"{label} {text}".strip())


def _web_sections(content: bytes, is_mail: bool, source: str, report: ReadReport) -> list[Section]:
    """Return the sections of a web page that is part of a document."""
    from email import message_from_bytes
    from email.policy import default

    from ramify.formats.html.page import html_outline

    if is_mail:
        body = message_from_bytes(content, policy=default).get_body(("html", "plain"))
        text = str(body.get_content()) if body is not None else ""
    else:
        text = decode_text(content, detect_encoding(content, source, report))
    return html_outline(text, source, report, is_site=False).sections


def _wrapped(content: "_Element") -> "_Element":
    """Return a copy of runs or an equation within a paragraph."""
    from copy import deepcopy

    from lxml.etree import Element

    paragraph = Element(PARAGRAPH)
    paragraph.append(deepcopy(content))
    return paragraph


def _continues(properties: "_Element") -> bool:
    """Return whether a paragraph goes on in the next one: its end was deleted, or it is a dropped capital."""
    mark = properties.find("{*}rPr")
    is_removed = mark is not None and any(name_of(child) in REMOVED for child in mark)
    return is_removed or find_value(properties, "{*}framePr", "dropCap") in _DROPPED_CAPITAL
