"""Files made small enough to be told in a line: documents and tables of OpenDocument, a workbook, web pages."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from ramify.tools.documents.load import load_files

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_SPACES = " ".join(f'xmlns:{name}="{_OASIS}{name}:1.0"' for name in ("office", "text", "table")) + f' xmlns:draw="{_OASIS}drawing:1.0"'


def read_back(file: Path, text: str) -> tuple[str, list[str]]:
    """Write a file and read it; return the text of its documents, and the remarks on it."""
    file.write_text(text, encoding="utf-8")
    loaded = load_files(file, clean=False)
    content = "\n".join(document.page_content for document in loaded)
    return content, [remark for _, remark in loaded.remarks]


def page(body: str) -> bytes:
    """Return a web page."""
    return f"<html><head><title>T</title></head><body>{body}</body></html>".encode()


def opendocument(kind: str, body: str) -> bytes:
    """Return an OpenDocument file of a kind: "text", "spreadsheet"."""
    content = (
        f"<office:document-content {_SPACES}><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return zipped({"META-INF/manifest.xml": "<manifest/>", "content.xml": content})


def sheet(rows: str) -> bytes:
    """Return a workbook of OpenDocument with one sheet."""
    return opendocument("spreadsheet", f'<table:table table:name="S">{rows}</table:table>')


def row(*cells: str, empty: int = 0, rows: int = 1) -> str:
    """Return a row of a sheet: cells behind so many empty ones, so many times."""
    behind = f'<table:table-cell table:number-columns-repeated="{empty}"/>' if empty else ""
    filled = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
    return f'<table:table-row table:number-rows-repeated="{rows}">{behind}{filled}</table:table-row>'


def workbook(cells: dict[str, str]) -> bytes:
    """Return a workbook of Excel with these cells."""
    from openpyxl import Workbook

    made = Workbook()
    for place, text in cells.items():
        made.active[place] = text
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def excel(sheets: Mapping[str, str], *, styles: str = "", book: str = "", states: Mapping[str, str] = {}, main: str = _MAIN) -> bytes:
    """Return a workbook of Excel: its sheets' XML by name, its styles, what else `workbook.xml` has, and the states of sheets."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" state="{states.get(name, "visible")}" r:id="r{number}"/>'
        for number, name in enumerate(sheets, start=1)
    )
    related = {f"r{number}": ("worksheet", f"worksheets/sheet{number}.xml") for number, _ in enumerate(sheets, start=1)}
    parts = {
        f"xl/worksheets/sheet{number}.xml": f'<worksheet xmlns="{main}">{xml}</worksheet>' for number, xml in enumerate(sheets.values(), 1)
    }
    return zipped(
        {
            "_rels/.rels": relations({"r": ("officeDocument", "xl/workbook.xml")}),
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{_RELATIONS}">{book}<sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations({**related, "s": ("styles", "styles.xml")}),
            "xl/styles.xml": f'<styleSheet xmlns="{main}">{styles}</styleSheet>',
            **parts,
        }
    )


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return what a part of an office file refers to: kind and target by id."""
    listed = "".join(
        f'<Relationship Id="{name}" Type="{_RELATIONS}/{kind}" Target="{target}"/>' for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{listed}</Relationships>'


def cells(*rows: Sequence[object], begin: int = 1) -> str:
    """Return the data of a sheet of Excel; None is an empty cell."""
    from openpyxl.utils import get_column_letter

    written = []
    for number, row in enumerate(rows, start=begin):
        filled = "".join(
            cell
            if isinstance(cell, str) and cell.startswith("<c")
            else f'<c r="{get_column_letter(column)}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
            if isinstance(cell, str)
            else f'<c r="{get_column_letter(column)}{number}"><v>{cell}</v></c>'
            for column, cell in enumerate(row, start=1)
            if cell is not None
        )
        written.append(f'<row r="{number}">{filled}</row>')
    return f"<sheetData>{''.join(written)}</sheetData>"


_OFFICE = "http://schemas.openxmlformats.org"
_WORD_SPACES = " ".join(
    f'xmlns:{prefix}="{address}"'
    for prefix, address in {
        "w": f"{_OFFICE}/wordprocessingml/2006/main",
        "m": f"{_OFFICE}/officeDocument/2006/math",
        "r": f"{_OFFICE}/officeDocument/2006/relationships",
        "mc": f"{_OFFICE}/markup-compatibility/2006",
        "a": f"{_OFFICE}/drawingml/2006/main",
        "c": f"{_OFFICE}/drawingml/2006/chart",
        "dgm": f"{_OFFICE}/drawingml/2006/diagram",
        "pic": f"{_OFFICE}/drawingml/2006/picture",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
    }.items()
)
_WORD_ROOTS = {"header": "hdr", "footer": "ftr", "document": "document"}


def docx(
    body: str, parts: Mapping[str, str] = MappingProxyType({}), files: Mapping[str, bytes] = MappingProxyType({}), *, strict: bool = False
) -> bytes:
    """Return a document of Word with other parts: the content of the root of "numbering", "header1", …, whole XML, or any files.

    The id of a part's relationship is its name without a suffix. `strict` documents have the namespaces of the standard.
    """
    types = f"{_OFFICE}/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    relations = "".join(
        f'<Relationship Id="{name.partition(".")[0]}" Type="{_OFFICE}/officeDocument/2006/relationships/'
        f'{name.partition(".")[0].rstrip("0123456789")}" Target="{name}"/>'
        for name in (*(f"{name}.xml" for name in parts), *files)
    )
    document = word_part("document", f"<w:body>{body}</w:body>")
    if strict:
        document = document.replace(f"{_OFFICE}/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main")
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{types}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{types}/relationships"><Relationship Id="r" '
            f'Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{types}/relationships">{relations}</Relationships>',
            "word/document.xml": document,
            **{f"word/{name}.xml": word_part(name.rstrip("0123456789"), content) for name, content in parts.items()},
            **{f"word/{name}": content for name, content in files.items()},
        }
    )


def word_part(kind: str, content: str) -> str:
    """Return a part of a document of Word; one that begins with its root is only given the namespaces."""
    root = _WORD_ROOTS.get(kind, kind)
    if content.startswith(("<c:", "<dgm:")):
        return content.replace(">", f" {_WORD_SPACES}>", 1)
    return f"<w:{root} {_WORD_SPACES}>{content}</w:{root}>"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return an archive of these parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def at(left: float, height: float, text: str, size: float = 10, font: str = "F1") -> str:
    """Return the drawing of a text at a place of a PDF's page; F1 is Helvetica, F2 Courier."""
    return f"BT /{font} {size} Tf {left} {height} Td ({text}) Tj ET"


def drawn(*pages: list[str], rotate: int = 0) -> bytes:
    """Return a PDF of pages of 612 x 792 points, each given as its drawings."""
    fonts = (
        "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> /F2 << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >>"
    )
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    for number, drawings in enumerate(pages):
        stream = "\n".join(drawings)
        page = f"/Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate {rotate} /Resources << {fonts} >> /Contents {4 + 2 * number} 0 R"
        objects += [f"<< {page} >>", f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"]
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode("latin-1")


def pdf(pages: list[str], information: str = "") -> bytes:
    """Write a small PDF by hand, with an information dictionary."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        resources = "<< /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {resources} /Contents {len(objects)} 0 R >>")
        kids.append(f"{len(objects)} 0 R")
    objects.append(f"<< {information} >>")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode("latin-1")
