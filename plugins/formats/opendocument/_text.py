"""Read the text of OpenDocument as lines and headings: paragraphs, lists, tables, notes, text boxes, charts and headers."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ramify.formats.numbers import PAGE_WORDS
from ramify.formats.office.runs import DELETED, DESCRIPTION, HIDDEN, HIDDEN_SHAPE, PAGE_LINE, UNSHOWN_MARGIN, join_runs
from ramify.formats.opendocument._inline import InlineReader, Objects
from ramify.formats.opendocument._styles import ListNumbers, OpenList, Styles
from ramify.formats.opendocument._xml import NAMESPACES, attribute, number, outermost, prefixed_name, qualified_name, text_of
from ramify.formats.tables import table_lines
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.sections import LeveledLine
from ramify.tools.documents.tables import Cell
from ramify.tools.quoting import pluralize

if TYPE_CHECKING:
    from lxml.etree import _Element

_UNSEEN = frozenset(["office:forms", "text:sequence-decls", "text:variable-decls", "text:user-field-decls", "presentation:notes"])
_UNSEEN_DISPLAYS = frozenset(["none", "printer"])
_ROW_GROUPS = frozenset(["table:table-header-rows", "table:table-rows", "table:table-row-group"])
_PARAGRAPH = qualified_name("text:p")
_CELL_NUMBERS = [qualified_name(f"table:number-{name}") for name in ("columns-spanned", "rows-spanned", "columns-repeated")]
_HEADING_STYLE = "Table_20_Heading"
_MAX_REPETITIONS = 100
"""Cells and rows repeated more often than this are read once."""
_MAX_CELLS = 100_000
"""Cells of a table that repeated rows are written for."""
_PAGE_NUMBERS = frozenset(["text:page-number", "text:page-count", "text:page-continuation"])
_MARGINS = ("header", "header-first", "header-left", "footer", "footer-first", "footer-left")
_INDEXES = {"text:table-of-content": "contents", "text:alphabetical-index": "index"}
_WORD, _LETTER = re.compile(r"\w+"), re.compile(r"[^\W\d_]")


class TextReader:
    """Reads the text of one part of a file, and notes what it leaves out."""

    def __init__(
        self, archive: ZipFile, root: "_Element", styles: Styles, source: str, report: ReadReport, outer: "TextReader | None" = None
    ) -> None:
        self._archive, self._source, self._report = archive, source, report
        self._leave_out = partial(report.leave_out, source)
        self._styles = styles
        self._objects: Objects = Objects(archive, root, {} if outer is None else outer._objects.roots)
        self._read_objects: set[_Element] = set() if outer is None else outer._read_objects
        """Embedded documents, which are read once, however often a text refers to them."""
        self._inline = InlineReader(styles, self._objects, report.add)
        self._numbers = ListNumbers(styles)
        self._lists: list[OpenList] = []
        self._behind: list[_Element] | None = None
        """Notes and comments within a table, which are read below it."""
        self.indexes: dict[str, list[str]] = {}
        """Lines of tables of contents ("contents") and of indexes ("index")."""
        self._heading_styles: dict[str, bool] = {}
        self._unread = 0
        """Embedded objects that are not read."""

    def close(self) -> None:
        """Remark on the objects that were not read."""
        if self._unread:
            self._report.remark(self._source, f"not read: {pluralize(self._unread, 'embedded object')}")

    def text(self, element: "_Element") -> str:
        """Return all text of an element, one line per paragraph."""
        return _joined(self.lines(element))

    def block_text(self, element: "_Element") -> str:
        """Return all text of a paragraph, table, frame or other block, one line per paragraph."""
        return _joined(self._block_lines(element))

    def lines(self, element: "_Element") -> Iterator[LeveledLine]:
        """Yield headings with their level, and the text between them; notes follow their paragraph."""
        for child in element:
            yield from self._block_lines(child)

    def _block_lines(self, element: "_Element") -> Iterator[LeveledLine]:
        name = prefixed_name(element)
        if name in ("text:p", "text:h"):
            yield from self._paragraph_lines(element)
        elif name.startswith("draw:") and attribute(element, "drawooo:display") in _UNSEEN_DISPLAYS:
            self._leave_out(HIDDEN_SHAPE, filter(None, [text_of(element)]))
        elif name == "text:list":
            yield from self._list_lines(element)
        elif name == "text:numbered-paragraph":
            yield from self._item_lines(element, self._numbers.begin_paragraph(element))
        elif name == "table:table":
            yield from self._table_lines(element)
        elif name == "draw:control":
            yield 0, f"{self._objects.control_text(element)}\n\n"
        elif name == "draw:frame":
            yield from self._frame_lines(element)
        elif name == "text:note":
            yield from self._note_lines(element)
        elif name == "office:annotation":
            yield from self._comment_lines(element)
        elif name in _INDEXES:
            self.indexes.setdefault(_INDEXES[name], []).append(_joined(self.lines(element)))
        elif name == "text:tracked-changes":
            self._leave_out(DELETED, map(_plain_text, outermost(element, {"text:deletion"})))
        elif name == "text:section" and _is_hidden(element):
            self._leave_out(HIDDEN, [_plain_text(element)])
        elif name not in _UNSEEN:
            yield from self.lines(element)

    def _paragraph_lines(self, element: "_Element", label: str = "") -> Iterator[LeveledLine]:
        aside: list[_Element] = []
        text = self._inline.plain_text(element)
        if text is None:
            runs, aside = self._inline.read(element)
            text = join_runs(runs, self._leave_out)
        text = text.strip()
        stored = "".join(element[0].itertext()).strip() if len(element) and prefixed_name(element[0]) == "text:number" else ""
        if prefixed_name(element) == "text:h":
            level = max(number(element, "text:outline-level", 1), 1)
            if text and not self._lists:
                label = self._numbers.heading_label(element, level)
            yield min(level, 6), " ".join(f"{self._numbered(stored, label)}{text}".split())
        else:
            end = "\n" if self._lists else "\n\n"
            yield 0, f"{self._numbered(stored, label) if text else ''}{text}{end}"
        for part in aside:
            if self._behind is None or prefixed_name(part) not in ("text:note", "office:annotation"):
                yield from self._block_lines(part)
            else:
                self._behind.append(part)

    def _numbered(self, stored: str, label: str) -> str:
        """Return the number in front of a text, as the file has it, else as counted."""
        if label not in ("", "-") and not stored:
            self._report.add(label)
        return f"{stored or label} " if stored or label else ""

    def _note_lines(self, note: "_Element") -> Iterator[LeveledLine]:
        body = note.find("text:note-body", NAMESPACES)
        mark = note.findtext("text:note-citation", "", NAMESPACES).strip()
        lists, self._lists = self._lists, []
        yield 0, f"[{mark}] {self.text(body) if body is not None else ''}\n\n"
        self._lists = lists

    def _comment_lines(self, comment: "_Element") -> Iterator[LeveledLine]:
        author = " ".join("".join(comment.itertext("{*}creator")).split())
        label = f"Comment ({author}):" if author else "Comment:"
        self._report.add(label)
        yield 0, f"{label} {' '.join(text_of(comment).split())}\n\n"

    def _list_lines(self, element: "_Element", is_first: bool = True) -> Iterator[LeveledLine]:
        opened = self._numbers.begin(element, self._lists[-1] if self._lists else None, is_first)
        for item in element:
            yield from self._item_lines(item, opened, has_number=prefixed_name(item) == "text:list-item")

    def _item_lines(self, item: "_Element", opened: OpenList, has_number: bool = True) -> Iterator[LeveledLine]:
        self._lists.append(opened)
        sublists = 0
        for child in item:
            name = prefixed_name(child)
            if name == "text:list":
                yield from self._list_lines(child, is_first=sublists == 0)
                sublists += 1
            elif name in ("text:p", "text:h"):
                label = ""
                if has_number and self._is_numbered(child):
                    label = self._numbers.next_label(opened, item, child) or ("" if name == "text:h" else "-")
                    has_number = False
                yield from self._paragraph_lines(child, label)
            elif name != "text:number":
                yield from self._block_lines(child)
        self._lists.pop()

    def _is_numbered(self, paragraph: "_Element") -> bool:
        style = attribute(paragraph, "text:style-name")
        return self._styles.stated("paragraph", style, "text:enable-numbering", "style:paragraph-properties") != "false"

    def _table_lines(self, table: "_Element") -> Iterator[LeveledLine]:
        lists, self._lists = self._lists, []
        outer, self._behind = self._behind, [] if self._behind is None else self._behind
        rows = list(self._rows(table))
        if self._styles.stated("table", attribute(table, "table:style-name"), "table:display", "style:table-properties") == "false":
            self._leave_out("hidden table", ["\n".join(cell.text for row in rows for cell in row)])
        elif outer is None:
            yield 0, "\n"
            yield from ((0, f"{line}\n") for line in table_lines(rows))
            yield 0, "\n"
        else:  # within a cell
            yield 0, f"{'; '.join(', '.join(cell.text for cell in row if cell.text) for row in rows)}\n"
        if outer is None:
            below, self._behind = self._behind or [], None
            for part in below:
                yield from self._block_lines(part)
        self._lists = lists

    def _rows(self, table: "_Element", is_header: bool = False) -> Iterator[list[Cell]]:
        count = 0
        for element in table:
            name = prefixed_name(element)
            if name in _ROW_GROUPS:
                yield from self._rows(element, is_header or name == "table:table-header-rows")
            elif name == "table:table-row":
                cells = list(self._cells(element, is_header))
                times = number(element, "table:number-rows-repeated", 1)
                count += len(cells)
                if attribute(element, "table:visibility") in ("collapse", "filter"):
                    self._leave_out("hidden row", [" ".join(cell.text for cell in cells)])
                else:
                    yield from [cells] * (times if times <= _MAX_REPETITIONS and count * times < _MAX_CELLS else 1)

    def _cells(self, row: "_Element", is_header: bool) -> Iterator[Cell]:
        for element in row:
            if prefixed_name(element) != "table:table-cell":
                continue  # covered by a merged cell
            text = self._inline.plain_text(element[0]) if len(element) == 1 and element[0].tag == _PARAGRAPH else None
            text = " ".join((self.text(element) if text is None else text).split())
            is_heading = is_header or (bool(text) and all(map(self._is_heading_style, element.iterfind(_PARAGRAPH))))
            columns, rows, times = (_whole(element.get(name)) for name in _CELL_NUMBERS)
            if times > 1 and not text and element.getnext() is None:
                return  # the rest of a row of a sheet
            yield from [Cell(text, columns, rows, is_heading)] * (times if times <= _MAX_REPETITIONS else 1)

    def _is_heading_style(self, paragraph: "_Element") -> bool:
        style = attribute(paragraph, "text:style-name")
        if style not in self._heading_styles:
            names = [attribute(element, "style:name") for element in self._styles.chain("paragraph", style)]
            self._heading_styles[style] = _HEADING_STYLE in (style, *names)
        return self._heading_styles[style]

    def _frame_lines(self, frame: "_Element") -> Iterator[LeveledLine]:
        """Yield the text of a frame: a text box, a table, an equation, a chart or another document."""
        lists, self._lists = self._lists, []
        for description in frame.iterfind("svg:desc", NAMESPACES):
            if description.text and description.text.strip():
                self._leave_out(DESCRIPTION, [description.text])
        root = self._objects.root(frame)
        if root is not None:
            yield from self._object_lines(frame, root)
        else:
            self._unread += sum(frame.find(kind, NAMESPACES) is not None for kind in ("draw:object", "draw:object-ole"))
            yield from self.lines(frame)
        self._lists = lists

    def _object_lines(self, frame: "_Element", root: "_Element") -> Iterator[LeveledLine]:
        if equation := self._objects.equation(frame):
            yield 0, f"{equation}\n\n"
            return
        body = root.find("office:body", NAMESPACES)
        if body is None or root in self._read_objects:
            return
        self._read_objects.add(root)
        inner = TextReader(self._archive, root, read_styles(root, None), self._source, self._report, self)
        yield 0, "\n"
        for kind in body:
            yield from inner.lines(kind)
        yield 0, "\n"
        self._unread += inner._unread

    def margins(self, root: "_Element", used: set[str]) -> tuple[list[LeveledLine], list[LeveledLine]]:
        """Return the headers and the footers of the page styles that are used, each once and without mere page numbers."""
        pages = root.findall("office:master-styles/style:master-page", NAMESPACES)
        following = {attribute(page, "style:name"): attribute(page, "style:next-style-name") for page in pages}
        used = {*used, *list(following)[:1]}
        while added := {following[name] for name in used & following.keys()} - used:
            used |= added
        texts: dict[str, dict[str, None]] = {"header": {}, "footer": {}}
        for kind, page in product(_MARGINS, pages):
            for part in page.iterfind(f"style:{kind}", NAMESPACES):
                self._drop_page_numbers(part)
                text = self.text(part)
                if attribute(part, "style:display") != "false" and attribute(page, "style:name") in used:
                    texts[kind.partition("-")[0]][text] = None
                elif text:
                    self._leave_out(UNSHOWN_MARGIN, [text])
        headers, footers = ([(0, f"{text}\n\n") for text in parts if text] for parts in texts.values())
        return headers, footers

    def _drop_page_numbers(self, part: "_Element") -> None:
        """Remove the lines of a header that show no more than the number of the page."""
        for line in list(outermost(part, {"text:p", "text:h"})):
            fields = [field for field in line.iter() if prefixed_name(field) in _PAGE_NUMBERS]
            shown = "".join(line.itertext())
            for field in fields:
                field.text = ""
            if fields and {word.lower() for word in _WORD.findall("".join(line.itertext()))} <= PAGE_WORDS:
                if _LETTER.search(shown):
                    self._leave_out(PAGE_LINE, [shown])
                line.clear()


def read_styles(content: "_Element", common: "_Element | None") -> Styles:
    """Return the styles of a part with content, and those of the part with common styles."""
    groups = [content.find(f"office:{kind}", NAMESPACES) for kind in ("automatic-styles", "styles")]
    return Styles(*groups, common.find("office:styles", NAMESPACES) if common is not None else None)


def _joined(lines: Iterator[LeveledLine]) -> str:
    return "".join(line if level == 0 else f"{line}\n\n" for level, line in lines).replace("\n\n", "\n").strip("\n")


def _whole(stated: str | None) -> int:
    return max(int(stated), 1) if stated and stated.isdecimal() and len(stated) < 10 else 1


def _is_hidden(section: "_Element") -> bool:
    display = attribute(section, "text:display")
    return display == "none" or (display == "condition" and attribute(section, "text:is-hidden") == "true")


def _plain_text(element: "_Element") -> str:
    return "\n".join("".join(paragraph.itertext()) for paragraph in outermost(element, {"text:p", "text:h"}))
