"""Split a web page's main content into sections at its headings, each with the id that opens it."""

from itertools import islice

from lxml import etree, html

from ramify.formats.html._content import (
    HEADING_LEVELS,
    MAX_SHORT_WORDS,
    Page,
    data_tables,
    find_anchor,
    is_contents_label,
    is_layout,
    line_breaks_around,
    navigation_role,
    read_page,
)
from ramify.formats.html._headings import BOLD_LEVEL, find_bold_headings
from ramify.formats.html._tables import TableLine, TableRows
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.sections import Outline, Section, only_main_heading
from ramify.tools.documents.tables import SEPARATOR


class SectionWriter:
    """Collects text under headings into `sections`."""

    def __init__(self, title: str | None = None) -> None:
        self.sections: list[Section] = []
        self._title = title
        self._has_text = True  # or another heading, below the last heading
        self.pending_ids: list[str] = []
        """Ids found since the last text; they belong to the next text."""
        self._above: list[tuple[int, str, str | None]] = []
        self._body = _SectionText()
        self._outer: list[tuple[_SectionText, str | None]] = []
        self._role: str | None = None
        self._modes = {"flat": 0, "pre": 0, "tight": 0}

    @property
    def flat(self) -> bool:
        """Return whether text is written on one line, as in a table cell."""
        return bool(self._modes["flat"])

    def enter(self, mode: str) -> None:
        """Begin a mode: "flat" (one line), "pre" (preformatted) or "tight" (one paragraph)."""
        self._modes[mode] += 1

    def leave(self, mode: str) -> None:
        """End a mode."""
        self._modes[mode] -= 1

    def gap(self, lines: int) -> None:
        """Request a line break (1) or paragraph break (2) before the next text."""
        if self.flat:
            self._body.space = True
        elif not self._body.gap_is_final:
            self._body.gap = max(self._body.gap, min(lines, 1) if self._modes["tight"] else lines)

    def line(self, text: str) -> None:
        """Write a line above the next text."""
        self.gap(2)
        self.text(text)
        self.gap(1)
        self._body.gap_is_final = True

    def begin_cell(self) -> None:
        """Begin a text on one line that is returned by `end_cell`, not written."""
        self._outer.append((self._body, self._role))
        self._body = _SectionText()
        self.enter("flat")

    def end_cell(self) -> tuple[str, list[tuple[int, str]]]:
        """Return the text since `begin_cell`, and the ids in it."""
        self.leave("flat")
        body = self._body
        self._body, self._role = self._outer.pop()
        return body.text(), body.marks

    def rows(self, lines: list[TableLine]) -> None:
        """Write the rows of a table: a line each, or within a cell one after the other."""
        if self.flat:
            self.text(f" {'; '.join(line.text.replace(SEPARATOR, ', ') for line in lines)} ")
            return
        for line in lines:
            self._body.write_line(line)
            self.gap(1)
        self.gap(2)

    def cell(self) -> None:
        """Begin the next cell of a row."""
        self._body.write_plain(" | ")

    def text(self, text: str) -> None:
        """Write text; white space is collapsed except in "pre" mode."""
        if not text.strip() and not (self._modes["pre"] and not self.flat):
            self._body.space = self._body.space or bool(text)
            return
        self._body.write(text, self.pending_ids, bool(self._modes["pre"]) and not self.flat)
        if text.strip():
            self.pending_ids = []

    def heading(self, level: int, text: str, identity: str | None) -> None:
        """Begin the section of a heading."""
        self.end_heading(level)
        self._has_text = False
        self._above = [(outer, shown, name) for outer, shown, name in self._above if outer < level] + [(level, text, identity)]
        self.pending_ids = []

    def end_sections(self, level: int) -> None:
        """End the sections of this level and below; the following text belongs to the section above."""
        if any(own >= level for own, _, _ in self._above):
            self.end_heading(level)
            self._above = [entry for entry in self._above if entry[0] < level]

    def end_heading(self, level: int = 0) -> None:
        """End the section; a heading without text of its own or headings below is a text, unless it is the title."""
        self.end_section()
        above, shown, identity = self._above[-1] if self._above and not self._has_text else (-1, "", None)
        if level <= above and (shown != self._title or not (level or self.sections)):
            self._above.pop()
            self._body.write(shown, [], False)
            self.end_section(identity)

    def begin_aside(self, role: str) -> None:
        """Begin a text that is separate from the surrounding one, such as a table of contents."""
        self._outer.append((self._body, self._role))
        self._body, self._role = _SectionText(), role

    def end_aside(self) -> None:
        """End a separate text and return to the surrounding one."""
        self.end_section()
        self._body, self._role = self._outer.pop()
        self._body.gap = 2

    def end_section(self, identity: str | None = None) -> None:
        """Append the text since the last section as a section, with the id of its heading unless it has its own."""
        text = self._body.text()
        if text:
            self._has_text = True
            headings = tuple(shown for _, shown, _ in self._above)
            fragment = identity or next((name for _, _, name in reversed(self._above)), None)
            self.sections.append(Section(headings, text, fragment, self._role, tuple(self._body.marks)))
        self._body = _SectionText()


class _SectionText:
    """The text of a section so far."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, str]] = []
        self.gap = 0
        self.space = self.gap_is_final = False
        self._parts: list[str] = []
        self._length = 0

    def text(self) -> str:
        return "".join(self._parts).rstrip()

    def write_plain(self, text: str) -> None:
        self.space = False
        self._write_gap()
        self._add(text if self._parts else text.lstrip())
        self.space = False

    def write(self, text: str, ids: list[str], as_it_stands: bool) -> None:
        if as_it_stands:
            text = text.lstrip("\n") if self.gap or not self._parts else text
            self.space = False
        else:
            self.space = self.space or text[0].isspace()
        self._write_gap()
        if ids:
            self.marks.append((self._length, ids[-1]))
        self._add(text if as_it_stands else " ".join(text.split()))
        self.space = not as_it_stands and text[-1].isspace()

    def write_line(self, line: TableLine) -> None:
        self._write_gap()
        self.marks += [(self._length + offset, name) for offset, name in line.marks]
        self._add(line.text)

    def _write_gap(self) -> None:
        """Write the pending line break, paragraph break or space."""
        if not self._parts:
            pass
        elif self.gap:
            while self._parts and not self._parts[-1].strip():
                self._length -= len(self._parts.pop())
            if self._parts:
                tidy = self._parts[-1].rstrip()
                self._length -= len(self._parts[-1]) - len(tidy)
                self._parts[-1] = tidy
                self._add("\n" * self.gap)
        elif self.space and not self._parts[-1][-1:].isspace():
            self._add(" ")
        self.gap, self.space, self.gap_is_final = 0, False, False

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)


_ENTRY_LEVEL = BOLD_LEVEL + 1
_NO_LEVEL = 1000
"""Deeper than any heading: no section ends at the end of the scope."""
_BLOCK_ELEMENTS = frozenset(
    ["p", "div", "section", "article", "main", "header", "footer", "aside", "ul", "ol", "dl", "table", "blockquote", "pre", "figure", "hr",
     "details", "address", "fieldset", "form", "center"]
)  # fmt: skip
_LINE_ELEMENTS = frozenset(["li", "tr", "br", "caption", "figcaption", "dt", "dd", "summary", "thead", "tbody"])
_CELL_ELEMENTS = frozenset(["td", "th"])
_MAX_NOTE_WORDS = 150
"""A heading without an id in a box of fewer words is the title of a note, and written as a line of text."""
_MAX_SIBLINGS = 20
"""Sibling elements searched for the description of a term."""
_MIN_ENTRY_WORDS, _MIN_SINGLE_ENTRY_WORDS = 60, 12
"""Least words of a description that make a term with an id, such as a function, a section; fewer if it is the list's only term."""


def html_outline(text: str, source: str, report: ReadReport, *, is_site: bool = True) -> Outline:
    """Return a page's sections, without scripts and navigation; what is left out is reported.

    is_site: elements such as `aside` belong to the site, not to the text, as they do in a book.
    """
    page = read_page(text, source, report, is_site)
    walk = _PageWalk(page)
    walk.walk()
    return Outline(page.title or only_main_heading(walk.headings), walk.writer.sections, page.stated)


class _PageWalk:
    """Walks through a page's elements in order and writes their text."""

    def __init__(self, page: Page) -> None:
        self.writer = SectionWriter(page.title)
        self.headings: list[tuple[int, str]] = []
        self._page = page
        self._sizes = page.sizes
        self._scopes: list[tuple[html.HtmlElement, int]] = []
        self._asides: list[html.HtmlElement] = []
        self._modes: list[tuple[html.HtmlElement, str]] = []
        self._depth = 0
        self._data_tables = data_tables(page.content, page.sizes)
        self._tables: list[TableRows] = []
        self._bold_headings = find_bold_headings(page.content, page.sizes, page.styles)

    def walk(self) -> None:
        """Write the page."""
        steps = etree.iterwalk(self._page.content, events=("start", "end"))
        for event, element in steps:
            if not isinstance(element.tag, str):
                continue
            if event == "start" and self._begin(element):
                steps.skip_subtree()
            elif event == "end":
                self._end(element)
                if element is not self._page.content and element.tail:
                    self.writer.text(element.tail)
        self.writer.end_heading()

    def _begin(self, element: html.HtmlElement) -> bool:
        """Begin an element; return True if it was written completely."""
        role = None if self._asides else navigation_role(element, self._sizes)
        if role:
            self.writer.begin_aside(role)
            self._asides.append(element)
        if identity := element.get("id") or (element.get("name") if element.tag == "a" else None):
            self.writer.pending_ids.append(identity)
        if not self._asides and is_contents_label(element, self._sizes):
            self.writer.begin_aside("contents")
            self.writer.text(element.text_content())
            self.writer.end_aside()
            return True
        if element.tag in HEADING_LEVELS or element in self._bold_headings:
            self._heading(element)
            return True
        self._layout(element)
        if element.tag == "dl":
            self._depth += 1
        if element.tag == "dt" and self._is_entry(element):
            self._entry(element)
        if element.text:
            self.writer.text(element.text)
        return False

    def _end(self, element: html.HtmlElement) -> None:
        while self._modes and self._modes[-1][0] is element:
            self.writer.leave(self._modes.pop()[1])
        if self._tables and element.tag in _CELL_ELEMENTS and self._tables[-1].owns(element):
            self._tables[-1].add_cell(element, *self.writer.end_cell())
        elif self._tables and element is self._tables[-1].table:
            self.writer.rows(self._tables.pop().lines())
        elif element.tag in _BLOCK_ELEMENTS:
            self.writer.gap(line_breaks_around(element))
        elif element.tag in _LINE_ELEMENTS:
            self.writer.gap(1)
        if element.tag == "dl":
            self._depth -= 1
        while self._scopes and self._scopes[-1][0] is element:
            self.writer.end_sections(self._scopes.pop()[1])
        if self._asides and self._asides[-1] is element:
            self._asides.pop()
            self.writer.end_aside()

    def _layout(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if element in self._data_tables:
            self.writer.gap(2)
            self._tables.append(TableRows(element))
        elif self._tables and tag in ("tr", *_CELL_ELEMENTS) and self._tables[-1].owns(element):
            if tag == "tr":
                self._tables[-1].begin_row(element)
            else:
                self.writer.begin_cell()
        elif tag in _CELL_ELEMENTS and not is_layout(element):
            before = element.getprevious()
            if before is not None and before.tag in _CELL_ELEMENTS and not is_layout(before):
                self.writer.cell()
            self._enter(element, "flat")
        elif tag in _BLOCK_ELEMENTS or tag in _CELL_ELEMENTS:
            self.writer.gap(line_breaks_around(element))
        elif tag == "dt":
            before = element.getprevious()
            self.writer.gap(1 if before is not None and before.tag == "dt" else 2)
        elif tag in _LINE_ELEMENTS:
            self.writer.gap(1)
        if tag == "pre":
            self._enter(element, "pre")
        elif tag == "dd" and self._sizes[element].words <= MAX_SHORT_WORDS:
            self._enter(element, "tight")

    def _enter(self, element: html.HtmlElement, mode: str) -> None:
        self._modes.append((element, mode))
        self.writer.enter(mode)

    def _heading(self, element: html.HtmlElement) -> None:
        shown = " ".join("".join(element.itertext()).split())
        if not shown:
            return
        scope = self._scope(element)
        own = find_anchor(element)
        if self._asides or self.writer.flat or self._is_note(element, scope, own):
            self.writer.line(shown)
            return
        near = self.writer.pending_ids
        if own is None and near:  # the id of the box that begins with the heading, or of an anchor before it
            open_ids = {parent.get("id") for parent in element.iterancestors()}
            own = next((identity for identity in reversed(near) if identity in open_ids), near[-1])
        level = HEADING_LEVELS.get(element.tag, BOLD_LEVEL)
        self._open_scope(scope, level)
        self.headings.append((level, shown))
        self.writer.heading(level, shown, own)

    def _open_scope(self, scope: html.HtmlElement, level: int) -> None:
        """Record where a heading's section ends: with its box if that is within another heading's, else at the next heading."""
        ends = level if any(outer is not scope for outer, _ in self._scopes) else _NO_LEVEL
        if self._scopes and self._scopes[-1][0] is scope:
            ends = min(ends, self._scopes.pop()[1])
        self._scopes.append((scope, ends))

    def _scope(self, element: html.HtmlElement) -> html.HtmlElement:
        """Return the innermost element that contains more than the heading."""
        words = self._sizes[element].words
        for parent in element.iterancestors():
            if parent is self._page.content or self._sizes[parent].words > words:
                return parent
        return element

    def _is_note(self, element: html.HtmlElement, scope: html.HtmlElement, own: str | None) -> bool:
        if own or scope is self._page.content or scope.tag in ("section", "article") or scope.get("id"):
            return False
        return self._sizes[scope].words < _MAX_NOTE_WORDS and bool(self._scopes) and sum(1 for _ in scope.iter(*HEADING_LEVELS)) == 1

    def _is_entry(self, term: html.HtmlElement) -> bool:
        after = list(islice(term.itersiblings(), _MAX_SIBLINGS))
        said = next((element for element in after if element.tag == "dd"), None)
        if self._asides or self.writer.flat or not find_anchor(term) or said is None:
            return False
        before = islice(term.itersiblings(preceding=True), _MAX_SIBLINGS)
        alone = not any(element.tag == "dt" for element in after) and not any(element.tag == "dd" for element in before)
        return self._sizes[said].words >= (_MIN_SINGLE_ENTRY_WORDS if alone else _MIN_ENTRY_WORDS)

    def _entry(self, term: html.HtmlElement) -> None:
        """Begin a section for a term with a long description; it ends with its list."""
        before = term.getprevious()
        if before is not None and before.tag == "dt" and self._is_entry(before):
            return
        level = _ENTRY_LEVEL + self._depth
        parent = term.getparent()
        if not any(scope is parent for scope, _ in self._scopes):
            self._scopes.append((parent, level))
        shown = " ".join("".join(term.itertext()).split())
        name = shown.partition("(")[0].strip() or shown  # of a function, without its arguments
        self.writer.heading(level, name, find_anchor(term))
