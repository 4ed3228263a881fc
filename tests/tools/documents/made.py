"""Files made small enough to be told in a line: documents and tables of OpenDocument, a workbook, web pages."""

import io
import zipfile
from collections.abc import Mapping
from types import MappingProxyType

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
