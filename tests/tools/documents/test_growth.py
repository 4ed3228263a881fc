"""The work of a reader grows as its file does."""

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest
from langchain_core.documents import Document

from plugins.formats.tests import word
from plugins.formats.tests.made import cells, docx, excel, opendocument, page, row, sheet, workbook
from ramify.tools.documents._tidy import tidy_documents
from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file
from tests.counted_work import growth

FIELD_END = '<w:r><w:fldChar w:fldCharType="end"></w:fldChar></w:r>'
SAID = "The inspector found a hairline crack near the third rivet of the left spar today."

KINDS: dict[str, Callable[[int], str | bytes]] = {
    "lines.txt": lambda size: f"{SAID}\n" * size,
    "contents.txt": lambda size: "".join(f"Chapter {number} ........ {number}\n" for number in range(size)),
    "sections.md": lambda size: "".join(f"# Part {number}\n{SAID}\n" for number in range(size)),
    "short-sections.md": lambda size: "".join(f"# Part {number}\nA short text.\n" for number in range(size)),
    "after-a-long-one.md": lambda size: f"# All\n{SAID * 20}\n" + "".join(f"## Part {number}\nA short text.\n" for number in range(size)),
    "paragraphs.html": lambda size: page(f"<p>{SAID}</p>" * size),
    "sections.html": lambda size: page("".join(f"<div><h2 id=a{number}>Part {number}</h2><p>{SAID}</p></div>" for number in range(size))),
    "links.html": lambda size: page("<ul>" + "".join(f"<li><a href='#{number}'>{number}</a></li>" for number in range(size)) + "</ul>"),
    "terms.html": lambda size: page("<dl>" + "".join(f"<dt id=t{number}>t</dt><dd>{SAID}</dd>" for number in range(size)) + "</dl>"),
    "nested.html": lambda size: page(f"<div>{SAID}" * size),
    "nested-tables.html": lambda size: page(f"<table><tr><td>{SAID}" * size),
    "rows.csv": lambda size: "name,text\n" + "a,some words\n" * size,
    "columns.csv": lambda size: ",".join(f"name{number}" for number in range(size)) + "\n" + "a,b\n" * size,
    "records.jsonl": lambda size: f'{{"text": "{SAID}"}}\n' * size,
    "records.json": lambda size: "[" + f'{{"text": "{SAID}"}},' * size + "{}]",
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
    "quotes.csv": lambda size: "name,text\n" + 'a,"some words\n' * size,
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
    def read(size: int) -> None:
        content = KINDS[name](size)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert list(parse_file(File(tmp_path / name, name, tmp_path), ReadReport(), clean=True))

    assert growth(read, 100) < 5.5


def test_the_work_grows_as_the_pages_of_a_document_do() -> None:
    notice = f"Copyright 2020 by Acme. All rights reserved. {'Licensed under the terms of the licence without modification. ' * 6}"

    def read(size: int) -> None:
        sheets = [notice if number % 2 else SAID * 60 for number in range(size)]
        pages = [[offset, number] for number, offset in enumerate(accumulate(map(len, sheets[:-1]), initial=0), start=1)]
        document = Document("".join(sheets), id="d", metadata={"source": "d", "title": "t", "pages": pages})
        assert len(tidy_documents([document])) == size

    assert growth(read, 100) < 5.5
