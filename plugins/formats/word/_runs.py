"""Read the text of a paragraph of Word: its runs, the results of fields, controls, equations, note marks and what is anchored in it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ramify.formats.office.equations import equation_text
from ramify.formats.office.runs import DELETED, HIDDEN, PLACEHOLDER, STRUCK, TICKS, Run, join_runs
from ramify.formats.word._parts import RunFormat, Styles, find_value, is_on, name_of, number_value
from ramify.tools.documents.files import ReadReport

if TYPE_CHECKING:
    from lxml.etree import _Element


"""The characters of the fonts Symbol and Wingdings, as Unicode has them."""

_SYMBOL = {
    0x22: "∀", 0x24: "∃", 0x27: "∍", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0x7E: "∼", 0xA1: "ϒ", 0xA2: "′", 0xA3: "≤",
    0xA4: "⁄", 0xA5: "∞", 0xA7: "♣", 0xA8: "♦",
    0xA9: "♥", 0xAA: "♠", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB2: "″", 0xB3: "≥", 0xB4: "×",
    0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xC4: "⊗", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩",
    0xC8: "∪", 0xC9: "⊃", 0xCA: "⊇", 0xCB: "⊄", 0xCC: "⊂", 0xCD: "⊆", 0xCE: "∈", 0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD2: "®", 0xD3: "©",
    0xD4: "™", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDD: "⇑", 0xDE: "⇒", 0xDF: "⇓",
    0xE1: "⟨", 0xE2: "®", 0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF1: "⟩", 0xF2: "∫",
}  # fmt: skip
_SYMBOL |= dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True))
_SYMBOL |= dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
_SYMBOL |= {code: chr(code) for code in range(0x20, 0x7F) if code not in _SYMBOL}
_WINGDINGS = {
    0x28: "☎", 0x2A: "✉", 0x21: "✏", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "☐", 0x70: "☐", 0x71: "☐", 0x72: "☐",
    0x75: "◆", 0x76: "❖", 0x78: "☒", 0xA1: "○", 0xA4: "◉", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢", 0xDF: "←", 0xE0: "→",
    0xE1: "↑", 0xE2: "↓", 0xE7: "←", 0xE8: "→", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⇔", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS |= {code: chr(0x2460 + code - 0x81) for code in range(0x81, 0x8B)} | {0x80: "⓪"}
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x2A: "☐", 0xA3: "☐", 0x97: "●", 0x98: "●", 0x99: "○"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
_PRIVATE = range(0xF000, 0xF100)
"""The private characters that Word writes for those of a symbol font."""


def is_symbol_font(font: str) -> bool:
    """Return whether a font has symbols in the place of letters."""
    return font.lower() in _FONTS


def translate_symbols(text: str, font: str) -> str:
    """Return a text of a symbol font in Unicode; private characters that are not known are replaced by "\ufffd"."""
    known, is_symbols = _FONTS.get(font.lower(), _SYMBOL), is_symbol_font(font)

    def translated(letter: str) -> str:
        code = ord(letter)
        if code in _PRIVATE:
            return known.get(code & 0xFF, "\ufffd")
        return known.get(code, letter) if is_symbols and not letter.isspace() else letter

    return "".join(map(translated, text))


_SKIPPED = frozenset(
    ["w:pPr", "w:rPr", "w:sdtPr", "w:proofErr", "w:bookmarkStart", "w:bookmarkEnd", "w:instrText", "w:delInstrText", "w:footnoteRef",
     "w:endnoteRef", "w:annotationRef", "w:rt", "w:softHyphen", "w:lastRenderedPageBreak"]
)  # fmt: skip
_CHARACTERS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
REMOVED = {"w:del": DELETED, "w:moveFrom": "old copy of a moved passage"}
"""Elements of tracked changes that are not read."""
_POSITIONS = {"superscript": 1, "subscript": -1}
_WITHOUT_RESULT = frozenset(
    ["", "ADVANCE", "ASK", "BIDIOUTLINE", "FORMTEXT", "HYPERLINK", "INDEX", "NEXT", "NEXTIF", "NUMPAGES", "PAGE", "PAGEREF", "PRINT",
     "PRIVATE", "RD", "SECTION", "SECTIONPAGES", "SET", "SHAPE", "SKIPIF", "TA", "TC", "TOA", "TOC", "XE"]
)  # fmt: skip
"""Fields that show nothing, or no more than where something is."""
_PAGE_FIELDS = frozenset(["PAGE", "NUMPAGES", "SECTIONPAGES"])
_BUTTON = re.compile(r"\s*(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s+(.*)", re.IGNORECASE | re.DOTALL)
_RUBY = re.compile(r"\\s\\up[^(]*\(([^()]*)\)[,;]([^()]*)\)")
_MAX_FIELDS = 100
"""Fields within each other."""


class NoteMark(NamedTuple):
    """A reference to a note or a comment."""

    kind: str
    """"footnote", "endnote" or "comment"."""
    identity: str


class _Field:
    """A field that is open: its instruction, and whether its result has begun."""

    def __init__(self, instruction: str = "", *, has_result: bool = False, form: "_Element | None" = None) -> None:
        self.instruction, self.has_result, self.form = instruction, has_result, form
        self.is_written = False
        """Whether its stored result has text."""

    @property
    def name(self) -> str:
        return (self.instruction.split() or [""])[0].upper()


class Paragraph:
    """The text of a paragraph, and what is anchored in it."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.anchored: list[_Element] = []
        """Text boxes, charts and diagrams."""
        self.marks: list[NoteMark] = []
        self.has_page_field = False
        self.is_bold: bool | None = None
        """Whether all text is bold; None without text."""

    def text(self, leave_out: Callable[[str, Iterable[str]], None]) -> str:
        """Return the text that is read, as it is written."""
        return join_runs(self.runs, leave_out)


def tidy_spaces(text: str) -> str:
    """Return the lines of a paragraph with single spaces; tabs stay where there are several."""
    has_columns = text.count("\t") > 1
    lines = (
        "\t".join(" ".join(part.split()) for part in line.split("\t")).strip("\t") if has_columns else " ".join(line.split())
        for line in text.split("\n")
    )
    return "\n".join(lines).strip()


class RunReader:
    """Reads paragraphs; keeps the fields that are open from one to the next, and counts what cannot be read."""

    def __init__(self, styles: Styles, report: ReadReport, note_label: Callable[[str, str], str]) -> None:
        self.fields: list[_Field] = []
        self.unread: Counter[str] = Counter()
        self.without_result: Counter[str] = Counter()
        self.unknown_symbols = 0
        self._styles, self._report, self._note_label = styles, report, note_label

    def read(self, paragraph: "_Element", style: str | None) -> Paragraph:
        """Return a paragraph (`w:p`) of a style."""
        text = Paragraph()
        self._walk(paragraph, style, text)
        self.fields = [field for field in self.fields if field.has_result]  # one that is not closed hides no further text
        return text

    def _walk(self, parent: "_Element", style: str | None, text: Paragraph) -> None:
        for child in parent:
            name = name_of(child)
            if name == "w:r":
                self._run(child, self._styles.run_format(style, child.find("{*}rPr")), text)
            elif name in REMOVED:
                text.runs.append(Run(plain_text(child), left_out=REMOVED[name]))
            elif name == "w:fldSimple":
                self._simple_field(child, style, text)
            elif name == "w:sdt":
                self._control(child, style, text)
            elif name in ("m:oMath", "m:oMathPara"):
                self._write(f" {equation_text(child)} ", RunFormat(), text)
            elif name == "mc:AlternateContent":
                self._walk(chosen_form(child), style, text)
            elif name and name not in _SKIPPED:
                self._walk(child, style, text)

    def _run(self, run: "_Element", shown: RunFormat, text: Paragraph) -> None:
        for child in run:
            name = name_of(child)
            if name == "w:t":
                self._write(child.text or "", shown, text)
            elif name in _CHARACTERS:
                self._write(_CHARACTERS[name], shown._replace(font=""), text)
            elif name == "w:fldChar":
                self._field_mark(child, shown, text)
            elif name == "w:instrText" and self.fields and not self.fields[-1].has_result:
                self.fields[-1].instruction += child.text or ""
            elif name in ("w:footnoteReference", "w:endnoteReference", "w:commentReference"):
                self._note(child, name[2:].removesuffix("Reference"), shown, text)
                shown = shown._replace(is_note=is_set(child, "customMarkFollows"))
            elif name == "w:sym":
                self._symbol(child, shown, text)
            elif name == "w:ruby":
                self._ruby(child, text)
            elif name in ("w:drawing", "w:pict", "w:object"):
                if not (shown.is_hidden or shown.is_struck):
                    self._gather(child, text)
            elif name == "mc:AlternateContent":
                self._run(chosen_form(child), shown, text)
            elif name == "w:delText":
                text.runs.append(Run(child.text or "", left_out=DELETED))
            elif name and name not in _SKIPPED:
                self._run(child, shown, text)

    def _write(self, written: str, shown: RunFormat, text: Paragraph) -> None:
        if not all(field.has_result for field in self.fields):
            return
        if is_symbol_font(shown.font) or any("\uf000" <= letter < "\uf100" for letter in written):
            written = translate_symbols(written, shown.font)
            self.unknown_symbols += written.count("\ufffd")
        left_out = HIDDEN if shown.is_hidden else STRUCK if shown.is_struck else ""
        if is_page := any(field.name in _PAGE_FIELDS for field in self.fields):
            written = f" {written} "
        text.runs.append(Run(written, 1 if shown.is_note else _POSITIONS.get(shown.place, 0), left_out, shown.is_note))
        for field in self.fields:
            field.is_written = field.is_written or bool(written.strip())
        if written.strip() and not left_out:
            text.has_page_field = text.has_page_field or is_page
            text.is_bold = (shown.is_bold or shown.is_note) and text.is_bold is not False

    def _note(self, reference: "_Element", kind: str, shown: RunFormat, text: Paragraph) -> None:
        """Write the mark of a note, unless the run has one of its own."""
        identity = find_value(reference, ".", "id")
        if shown.is_hidden or shown.is_struck:
            return
        text.marks.append(NoteMark(kind, identity))
        if kind != "comment" and not is_set(reference, "customMarkFollows"):
            self._write(self._note_label(kind, identity), shown._replace(is_note=True), text)

    def _symbol(self, symbol: "_Element", shown: RunFormat, text: Paragraph) -> None:
        code = find_value(symbol, ".", "char")
        letter = chr(int(code, 16)) if re.fullmatch(r"[0-9a-fA-F]{1,4}", code) and not 0xD800 <= int(code, 16) < 0xE000 else "\ufffd"
        self._write(letter, shown._replace(font=find_value(symbol, ".", "font")), text)

    def _ruby(self, ruby: "_Element", text: Paragraph) -> None:
        """Write a text with its reading in parentheses."""
        for part, form in (("{*}rubyBase", "{}"), ("{*}rt", "({})")):
            element = ruby.find(part)
            inner = Paragraph()
            if element is not None:
                self._walk(element, None, inner)
            if written := inner.text(lambda *_: None).strip():
                self._write(form.format(written), RunFormat(), text)

    def _field_mark(self, mark: "_Element", shown: RunFormat, text: Paragraph) -> None:
        kind = find_value(mark, ".", "fldCharType")
        if kind == "begin" and len(self.fields) < _MAX_FIELDS:
            self.fields.append(_Field(form=mark.find("{*}ffData")))
        elif kind == "separate" and self.fields:
            self.fields[-1].has_result = True
        elif kind == "end" and self.fields:
            self._end_field(self.fields.pop(), shown, text)

    def _end_field(self, field: _Field, shown: RunFormat, text: Paragraph) -> None:
        """Write a field without a stored result: the state of a form's field; report others."""
        if field.form is not None and (box := field.form.find("{*}checkBox")) is not None:
            state = box.find("{*}checked")
            self._write_added(TICKS[is_on(state if state is not None else box.find("{*}default"))], shown, text)
        elif field.form is not None and (choices := field.form.find("{*}ddList")) is not None and not field.is_written:
            entries = [find_value(entry, ".") for entry in choices.iterfind("{*}listEntry")]
            place = number_value(choices, "{*}result" if choices.find("{*}result") is not None else "{*}default")
            self._write_added(entries[place] if 0 <= place < len(entries) else "", shown, text)
        elif field.has_result or not all(outer.has_result for outer in self.fields):
            return
        elif button := _BUTTON.match(field.instruction):
            text.runs.append(Run(button[1], left_out=PLACEHOLDER))
        elif field.name == "EQ" and (ruby := _RUBY.search(field.instruction)):
            self._write_added(f"{ruby[2]}({ruby[1]})", shown, text)
        elif field.name not in _WITHOUT_RESULT:
            self.without_result[field.name] += 1

    def _write_added(self, written: str, shown: RunFormat, text: Paragraph) -> None:
        self._report.add(written)
        self._write(written, shown, text)

    def _simple_field(self, element: "_Element", style: str | None, text: Paragraph) -> None:
        self.fields.append(_Field(find_value(element, ".", "instr"), has_result=len(element) > 0))
        self._walk(element, style, text)
        self._end_field(self.fields.pop(), RunFormat(), text)

    def _control(self, control: "_Element", style: str | None, text: Paragraph) -> None:
        content = control.find("{*}sdtContent")
        tick = control_tick(control)
        if tick:
            self._write_added(tick, RunFormat(), text)
        elif content is not None and self.is_placeholder(control):
            text.runs.append(Run(plain_text(content), left_out=PLACEHOLDER))
        elif content is not None:
            self._walk(content, style, text)

    def is_placeholder(self, control: "_Element") -> bool:
        """Return whether a control contains no more than the words that ask for its content."""
        if not is_on(control.find("{*}sdtPr/{*}showingPlcHdr")):
            return False
        styles = (find_value(run, ".") for run in control.iterfind("{*}sdtContent//{*}rStyle"))
        return any(self._styles.name(style).replace(" ", "") == "placeholdertext" for style in styles)

    def _gather(self, drawing: "_Element", text: Paragraph) -> None:
        """Collect what a drawing contains, each text once; count pictures and objects of other programs."""
        for child in drawing:
            name = name_of(child)
            if name in ("w:txbxContent", "a:txBody", "c:chart", "dgm:relIds"):
                text.anchored.append(child)
            elif name == "o:OLEObject":
                self.unread[f"embedded object ({find_value(child, '.', 'ProgID') or 'unknown'})"] += 1
            elif name == "w:control":
                self.unread["form control"] += 1
            elif name in ("pic:pic", "v:imagedata"):
                self.unread["picture"] += next(child.iterancestors("{*}object"), None) is None
            elif name == "v:textpath" and (words := find_value(child, ".", "string")):
                self._write_added(f" {words} ", RunFormat(), text)
            elif name:
                self._gather(chosen_form(child) if name == "mc:AlternateContent" else child, text)


def is_set(element: "_Element", name: str) -> bool:
    """Return whether an attribute is there and true."""
    return find_value(element, ".", name).lower() in ("1", "true", "on")


def control_tick(control: "_Element") -> str:
    """Return the state of a control that is a check box, "" for others."""
    box = next((child for child in control.iterfind("{*}sdtPr/*") if name_of(child) == "w14:checkbox"), None)
    return "" if box is None else TICKS[box.find("{*}checked") is not None and is_on(box.find("{*}checked"))]


def chosen_form(alternatives: "_Element") -> "_Element":
    """Return the first of several forms of the same content that has text or a drawing, else the last one."""
    forms = [child for child in alternatives if isinstance(child.tag, str)]
    contents = ("{*}t", "{*}txbxContent", "{*}pic", "{*}chart", "{*}relIds", "{*}imagedata", "{*}sym", "{*}fldChar")
    return next((form for form in forms if next(form.iter(*contents), None) is not None), forms[-1] if forms else alternatives)


def plain_text(element: "_Element") -> str:
    """Return all texts within an element, with spaces between paragraphs and for breaks."""
    texts = []
    for child in element.iter("{*}t", "{*}delText", "{*}tab", "{*}br", "{*}p"):
        texts.append(child.text or "" if child.tag.endswith(("}t", "}delText")) else " ")
    return "".join(texts).strip()
