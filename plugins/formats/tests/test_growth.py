"""The work of a reader grows as its file does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.formats.tests import word
from plugins.formats.tests.made import cells, docx, excel, opendocument, page, row, sheet, workbook
from tests.tools.documents.test_growth import SAID, growth_of

FIELD_END = '<w:r><w:fldChar w:fldCharType="end"></w:fldChar></w:r>'
KINDS: dict[str, Callable[[int], str | bytes]] = {
    "paragraphs.html": lambda size: page(f"<p>{SAID}</p>" * size),
    "sections.html": lambda size: page("".join(f"<div><h2 id=a{number}>Part {number}</h2><p>{SAID}</p></div>" for number in range(size))),
    "links.html": lambda size: page("<ul>" + "".join(f"<li><a href='#{number}'>{number}</a></li>" for number in range(size)) + "</ul>"),
    "terms.html": lambda size: page("<dl>" + "".join(f"<dt id=t{number}>t</dt><dd>{SAID}</dd>" for number in range(size)) + "</dl>"),
    "nested.html": lambda size: page(f"<div>{SAID}" * size),
    "nested-tables.html": lambda size: page(f"<table><tr><td>{SAID}" * size),
    "mail.eml": lambda size: f"Subject: {'word ' * size}\n\n{SAID}",
    "rows.xlsx": lambda size: workbook({f"{column}{number}": "text" for number in range(1, size) for column in "ABC"}),
    "apart.xlsx": lambda size: workbook({f"{column}{number * 3}": "text" for number in range(1, size) for column in "ABC"}),
    "merged.xlsx": lambda size: excel(
        {
            "S": cells(*([f"name {number}", number] for number in range(size)))
            + "<mergeCells>"
            + "".join(f'<mergeCell ref="A{number}:B{number}"/>' for number in range(1, size, 3))
            + "</mergeCells>"
        }
    ),
    "diagonal.ods": lambda size: sheet("".join(row("far", empty=number) for number in range(1, size))),
    "paragraphs.odt": lambda size: opendocument("text", f"<text:p>{SAID}</text:p>" * size),
    "paragraphs.docx": lambda size: docx(f"<w:p><w:r><w:t>{SAID}</w:t></w:r></w:p>" * size),
    "runs.docx": lambda size: docx(word.paragraph((word.run("x2 ") + word.run("3", '<w:vertAlign w:val="superscript"/>')) * size)),
    "fields.docx": lambda size: docx(word.paragraph(word.field("REF a")[: -len(FIELD_END)] * size + FIELD_END * size, word.run(SAID))),
    "rows.docx": lambda size: docx(word.table(word.row(word.cell("a", "<w:vMerge/>"), word.cell("some words")) * size)),
    "headings.docx": lambda size: docx("".join(word.heading(f"Part {number}") + word.heading("Lone", 2) for number in range(size))),
    "notes.docx": lambda size: docx(
        "".join(word.paragraph(word.run(SAID), f'<w:r><w:footnoteReference w:id="{number}"/></w:r>') for number in range(size)),
        {"footnotes": "".join(f'<w:footnote w:id="{number}">{word.paragraph(word.run("Note."))}</w:footnote>' for number in range(size))},
    ),
    "styles.docx": lambda size: docx(
        "".join(word.paragraph(word.run(SAID), style=str(number)) for number in range(size)),
        {"styles": "".join(f'<w:style w:styleId="{number}"><w:basedOn w:val="{number + 1}"/></w:style>' for number in range(size))},
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_work_grows_as_the_file_does(name: str, tmp_path: Path) -> None:
    assert growth_of(tmp_path / name, KINDS[name]) < 5.5
