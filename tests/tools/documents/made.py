"""Files made small enough to be told in a line: documents and tables of OpenDocument, a workbook, web pages."""

import io
import zipfile
from collections.abc import Mapping

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_SPACES = " ".join(f'xmlns:{name}="{_OASIS}{name}:1.0"' for name in ("office", "text", "table")) + f' xmlns:draw="{_OASIS}drawing:1.0"'


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


def docx(body: str) -> bytes:
    """Return a document of Word."""
    types, office = "http://schemas.openxmlformats.org/package/2006/", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{types}content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{types}relationships"><Relationship Id="r" Type="{office}/officeDocument" '
            f'Target="word/document.xml"/></Relationships>',
            "word/document.xml": '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
            f"<w:body>{body}</w:body></w:document>",
        }
    )


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
