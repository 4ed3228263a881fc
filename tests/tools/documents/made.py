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
