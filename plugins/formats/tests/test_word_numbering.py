"""Headings, clauses and list items of Word documents carry the numbers that a reader sees."""

from pathlib import Path

import pytest

from plugins.formats.tests.made import docx
from plugins.formats.tests.word import cell, paragraph, row, run, table
from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file


def level(place: int, form: str, text: str, more: str = "", start: int = 1) -> str:
    """Return a level of a list."""
    stated = f'<w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{place}">{stated}</w:lvl>'


def definition(*levels: str, name: int = 0, more: str = "") -> str:
    """Return the definition of a list."""
    return f'<w:abstractNum w:abstractNumId="{name}">{more}{"".join(levels)}</w:abstractNum>'


def numbered_list(name: int, definition: int = 0, overrides: str = "") -> str:
    """Return a list of a definition."""
    return f'<w:num w:numId="{name}"><w:abstractNumId w:val="{definition}"/>{overrides}</w:num>'


def item(text: str, depth: int | None = 0, name: int = 1, style: str = "") -> str:
    """Return a paragraph of a list."""
    stated = f'<w:ilvl w:val="{depth}"/>' if depth is not None else ""
    return paragraph(run(text), style=style, properties=f'<w:numPr>{stated}<w:numId w:val="{name}"/></w:numPr>')


def lines(folder: Path, body: str, numbering: str, styles: str = "") -> list[str]:
    """Return the lines that are read, each heading before the first text below it."""
    path = folder / "a.docx"
    path.write_bytes(docx(body, {"numbering": numbering, "styles": styles}))
    read: list[str] = []
    for document in parse_file(File(path, path.name, folder), ReadReport(), clean=False):
        above = [part for part in str(document.metadata.get("heading", "")).split(" > ") if part and part not in read]
        read += [*above, *filter(None, document.page_content.splitlines())]
    return read


LEVELS = (level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"), level(2, "decimal", "%1.%2.%3"))


def test_levels_are_counted_and_begin_anew_below_the_next_one_above(tmp_path: Path) -> None:
    body = "".join([item("A"), item("B", 1), item("C", 1), item("D", 2), item("E"), item("F", 1)])
    assert lines(tmp_path, body, definition(*LEVELS) + numbered_list(1)) == ["1. A", "(a) B", "(b) C", "1.b.1 D", "2. E", "(a) F"]


def test_text_between_does_not_end_a_list_and_a_new_start_does(tmp_path: Path) -> None:
    start = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    numbering = definition(*LEVELS) + numbered_list(1) + numbered_list(2) + numbered_list(3, 0, start)
    body = item("A") + paragraph(run("Between.")) + item("B") + item("C", name=2) + item("D", name=3) + item("E", name=3)
    assert lines(tmp_path, body, numbering) == ["1. A", "Between.", "2. B", "3. C", "5. D", "6. E"]


def test_a_level_that_never_begins_anew_and_one_in_decimal_digits(tmp_path: Path) -> None:
    levels = (
        level(0, "upperRoman", "Article %1"),
        level(1, "decimal", "Section %1.%2", "<w:isLgl/>"),
        level(2, "decimal", "Rule %3", '<w:lvlRestart w:val="0"/>'),
        level(3, "decimalZero", "Point %1.%4", "<w:isLgl/>"),
    )
    body = item("A") + item("B", 1) + item("C", 2) + item("D") + item("E", 1) + item("F", 2) + item("G", 3)
    assert lines(tmp_path, body, definition(*levels) + numbered_list(1)) == [
        *("Article I A", "Section 1.1 B", "Rule 1 C"),
        *("Article II D", "Section 2.1 E", "Rule 2 F", "Point 2.01 G"),
    ]


def test_headings_are_numbered_by_their_styles(tmp_path: Path) -> None:
    place = "<w:pPr><w:numPr>{}</w:numPr></w:pPr>".format
    style = '<w:style w:type="paragraph" w:styleId="{}"><w:name w:val="{}"/>{}</w:style>'.format
    based = '<w:basedOn w:val="{}"/>'.format
    styles = (
        style("H1", "heading 1", place('<w:numId w:val="1"/>'))
        + style("H2", "heading 2", based("H1") + place('<w:ilvl w:val="1"/>'))
        + style("Clause", "Clause", place('<w:numId w:val="1"/>'))
        + style("Plain", "Plain", based("Clause") + place('<w:numId w:val="0"/>'))
    )
    levels = (
        level(0, "decimal", "%1", '<w:pStyle w:val="H1"/>'),
        level(1, "decimal", "%1.%2"),
        level(2, "lowerLetter", "(%3)", '<w:pStyle w:val="Clause"/>'),
    )
    first = [("Delivery", "H1"), ("Time", "H2"), ("Nine weeks.", "Clause"), ("A delay.", "Clause"), ("Not one.", "Plain")]
    second = [("Liability", "H1"), ("Limit", "H2"), ("A million.", "Clause")]
    body = "".join(paragraph(run(text), style=name) for text, name in (*first, *second))
    assert lines(tmp_path, body, definition(*levels) + numbered_list(1), styles) == [
        *("1 Delivery", "1.1 Time", "(a) Nine weeks.", "(b) A delay.", "Not one."),
        *("2 Liability", "2.1 Limit", "(a) A million."),
    ]


def test_a_list_that_is_named_by_a_style(tmp_path: Path) -> None:
    numbering = (
        definition(name=0, more='<w:numStyleLink w:val="Steps"/>')
        + definition(level(0, "decimal", "Step %1:"), name=1, more='<w:styleLink w:val="Steps"/>')
        + numbered_list(1, 0)
        + numbered_list(2, 1)
    )
    assert lines(tmp_path, item("Open.") + item("Close.", name=2), numbering) == ["Step 1: Open.", "Step 2: Close."]


def test_bullets_hidden_numbers_and_lists_that_are_not_defined(tmp_path: Path) -> None:
    hidden = level(1, "decimal", "%2.").replace("</w:lvl>", "<w:rPr><w:vanish/></w:rPr></w:lvl>")
    numbering = definition(level(0, "bullet", "\uf0b7"), hidden, level(2, "none", "Note")) + numbered_list(1)
    body = item("A") + item("B", 1) + item("C", 2) + item("D", name=7) + item("E", None)
    assert lines(tmp_path, body, numbering) == ["- A", "B", "Note C", "D", "- E"]


def test_deleted_and_hidden_items_are_not_counted_and_empty_ones_are(tmp_path: Path) -> None:
    place = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    deleted = paragraph("<w:del><w:r><w:delText>B</w:delText></w:r></w:del>", properties=f"{place}<w:rPr><w:del/></w:rPr>")
    hidden = paragraph(run("C", "<w:vanish/>"), properties=place)
    struck = paragraph(run("D", "<w:strike/>"), properties=place)
    body = item("A") + deleted + hidden + struck + paragraph(properties=place) + item("F")
    assert lines(tmp_path, body, definition(*LEVELS) + numbered_list(1)) == ["1. A", "4. F"]


def test_numbers_of_rows_are_in_their_cells(tmp_path: Path) -> None:
    number = paragraph(properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')
    body = table(row(cell("No."), cell("Part")), row(cell(number), cell("Bolt")), row(cell(number), cell(item("Nut", 1))))
    assert lines(tmp_path, body, definition(*LEVELS) + numbered_list(1)) == ["No. | Part", "1. | Bolt", "2. | (a) Nut"]


@pytest.mark.parametrize(
    ("form", "number", "written"),
    [
        *(
            ("decimalZero", 7, "07"),
            ("lowerRoman", 9, "ix"),
            ("upperLetter", 28, "BB"),
            ("ordinal", 22, "22nd"),
            ("ordinalText", 2, "Second"),
        ),
        *(
            ("cardinalText", 3, "Three"),
            ("hex", 10, "A"),
            ("numberInDash", 4, "- 4 -"),
            ("decimalEnclosedCircle", 3, "③"),
            ("ganada", 2, "나"),
        ),
        *(("chineseCounting", 12, "十二"), ("japaneseCounting", 23, "二十三"), ("ideographTraditional", 3, "丙"), ("russianLower", 2, "б")),
        *(("decimalFullWidth", 15, "１５"), ("arabicAbjad", 3, "3"), ("lowerLetter", 1_000_000, "1000000")),
    ],
)
def test_forms_of_numbers(form: str, number: int, written: str, tmp_path: Path) -> None:
    numbering = definition(level(0, form, "%1)", start=number)) + numbered_list(1)
    assert lines(tmp_path, item("A"), numbering) == [f"{written}) A"]


def test_a_number_with_leading_zeros(tmp_path: Path) -> None:
    choice = '<mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="001, 002, …"/></mc:Choice>'
    form = f'<mc:AlternateContent>{choice}<mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent>'
    custom = f'<w:lvl w:ilvl="0"><w:start w:val="8"/>{form}<w:lvlText w:val="R%1"/></w:lvl>'
    assert lines(tmp_path, item("A"), definition(custom) + numbered_list(1)) == ["R008 A"]


def test_a_list_with_levels_and_styles_without_end_is_read(tmp_path: Path) -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>'
    )
    numbering = definition(level(0, "lowerRoman", "%1" * 50, start=30_000), level(99, "decimal", "%1")) + numbered_list(1)
    (line,) = lines(tmp_path, item("Last", style="A"), numbering, styles)
    assert line.endswith(" Last")
    assert len(line) < 5000
