"""Pieces of the XML of Word documents."""


def run(text: str, properties: str = "") -> str:
    """Return a run of text."""
    stated = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{stated}<w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*content: str, style: str = "", properties: str = "") -> str:
    """Return a paragraph."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{''.join(content)}</w:p>"


def heading(text: str, level: int = 1) -> str:
    """Return a heading."""
    return paragraph(run(text), style=f"Heading{level}")


def field(instruction: str, result: str | None = None, data: str = "") -> str:
    """Return a field of several runs; without a result, as a program writes one that is to be updated."""
    mark = '<w:r><w:fldChar w:fldCharType="{}">{}</w:fldChar></w:r>'.format
    stored = f"{mark('separate', '')}{result}" if result is not None else ""
    return f"{mark('begin', data)}<w:r><w:instrText> {instruction} </w:instrText></w:r>{stored}{mark('end', '')}"


def table(*rows: str) -> str:
    """Return a table."""
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def row(*cells: str, properties: str = "") -> str:
    """Return a row of a table."""
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def cell(content: str, properties: str = "") -> str:
    """Return a cell with a text, or with paragraphs and tables."""
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content if content.startswith('<') else paragraph(run(content))}</w:tc>"
