"""Write small PDFs by hand: pages of lines, forms and annotations."""

import zlib
from collections.abc import Mapping, Sequence

Line = tuple[float, float, str]
"""A line of text: where it begins, from the left and from the bottom of the page, and its text."""
HEIGHT, WIDTH = 792, 612


def page_of(*lines: str, top: float = 720, left: float = 72, head: str = "", foot: str = "", pitch: float = 14) -> list[Line]:
    """Return the lines of a page, one below the other, with a head and a foot in the outer margins."""
    margins = [(left, 770.0, head)] * bool(head) + [(left, 30.0, foot)] * bool(foot)
    return [(left, top - pitch * number, line) for number, line in enumerate(lines) if line] + margins


def written_pdf(pages: Sequence[Sequence[Line]], annotations: Mapping[int, Sequence[str]] | None = None, catalog: str = "",
                streams: Sequence[tuple[str, bytes]] = (), size: float = 11, pictures: Sequence[int] = ()) -> bytes:  # fmt: skip
    """Return a PDF with lines, and the dictionaries of the annotations of each page; objects of `streams` are numbered from 4 on.

    pictures: the pages over which the first of them, a picture, is drawn.
    """
    objects = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"]
    objects += [f"<< {extra} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream" for extra, content in streams]
    kids = []
    for number, lines in enumerate(pages):
        content = "\n".join(f"BT /F1 {size} Tf {x} {y} Td ({_escaped(text)}) Tj ET" for x, y, text in lines).encode("cp1252")
        content += b"\nq %d 0 0 %d 0 0 cm /Im1 Do Q" % (WIDTH, HEIGHT) if number in pictures else b""
        objects.append(f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream")
        body, places = len(objects), []
        for annotation in (annotations or {}).get(number, ()):
            objects.append(f"<< /Type /Annot {annotation} >>".encode("latin-1"))
            places.append(len(objects))
        fields = " ".join(f"{place} 0 R" for place in places)
        resources = f"/Font << /F1 3 0 R >> {'/XObject << /Im1 4 0 R >>' if number in pictures else ''}"
        box = f"/MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << {resources} >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} /Contents {body} 0 R /Annots [{fields}] >>".encode())
        kids.append(f"{len(objects)} 0 R")
        catalog = catalog.replace(f"FIELDS{number}", fields)
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode("latin-1")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    return _file(objects)


def picture_stream(width: int, height: int, grey: bytes) -> tuple[str, bytes]:
    """Return a grey picture as an object of `streams`."""
    kind = f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8"
    return f"{kind} /Filter /FlateDecode", zlib.compress(grey)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: Sequence[bytes]) -> bytes:
    body, places = b"%PDF-1.6\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return b"%bxref\n0 %d\n0000000000 65535 f \n%b%b" % (body, len(objects) + 1, table, end)
