"""Documents made to break what reads them: each with its name, what it holds, and whether some of it is read."""

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from typing import Final, NamedTuple

from plugins.formats.tests.made import docx, opendocument, page, row, sheet, workbook, zipped
from plugins.formats.tests.test_bombs import LAUGHS
from tests.tools.documents.shown import FILES

SAID: Final = "The bridge at Orsa has nine arches."
_PARAGRAPH = f"<w:p><w:r><w:t>{SAID}</w:t></w:r></w:p>"


class Hostile(NamedTuple):
    """A document."""

    name: str
    content: Callable[[], bytes]
    kind: str
    """The row of the fault matrix."""
    read: bool
    """Whether SAID is found in it; where not, it is named as skipped."""


def _text(words: str) -> Callable[[], bytes]:
    return lambda: words.encode("utf-8", "surrogatepass")


def _damaged(name: str, cut: Callable[[bytes], bytes]) -> Callable[[], bytes]:
    return lambda: cut((FILES / name).read_bytes())


def _replaced(name: str, part: str, content: bytes) -> Callable[[], bytes]:
    """A real archive in which one part is another."""

    def made() -> bytes:
        with zipfile.ZipFile(FILES / name) as real:
            return zipped({member: content if member == part else real.read(member) for member in real.namelist()})

    return made


def _bomb(part: str) -> Callable[[], bytes]:
    def made() -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bomb, bomb.open(part, "w") as inner:
            for _ in range(100):
                inner.write(b"\0" * (1 << 20))
        return file.getvalue()

    return made


def _pdf(*objects: str) -> Callable[[], bytes]:
    body = "".join(f"{number} 0 obj\n{content}\nendobj\n" for number, content in enumerate(objects, start=1))
    return _text(f"%PDF-1.4\n{body}trailer\n<< /Root 1 0 R /Size {len(objects) + 1} >>\n%%EOF\n")


def _letter(parts: int = 0, attached: str = "", subject: str = "Orsa") -> Callable[[], bytes]:
    """A mail, forwarded so many times."""

    def made() -> bytes:
        letter = EmailMessage()
        letter["Subject"], letter["From"] = subject, "a@example.org"
        letter.set_content(SAID)
        if attached:
            letter.add_attachment(b"x", maintype="application", subtype="octet-stream", filename=attached)
        return b"Content-Type: message/rfc822\n\n" * parts + letter.as_bytes()

    return made


def _many(kind: str, read: bool, contents: Mapping[str, Callable[[], bytes]]) -> list[Hostile]:
    return [Hostile(name, content, kind, read) for name, content in contents.items()]


DOCUMENTS: Final[list[Hostile]] = [
    *_many(
        "file without text",
        False,
        {
            "empty.txt": _text(""),
            "blank.md": _text(" \n\t\n" * 1000),
            "mark.txt": lambda: b"\xef\xbb\xbf",
            "zero_width.txt": _text("\u200b\u200d" * 500),
            "only_script.html": lambda: page("<script>alert(1)</script>"),
            "header.csv": _text("name,text\n"),
            "nothing.json": _text("[]"),
            "front.md": _text("---\ntitle: Only a title\n---\n"),
        },
    ),
    *_many(
        "binary file with the name of a text",
        False,
        {
            "utf16_cut.txt": lambda: f"{SAID} {SAID}".encode("utf-16")[:-1],
            "nul.txt": lambda: f"{SAID}\0{SAID}".encode(),
            "program.txt": lambda: bytes(range(256)) * 64,
            "zeros.csv": lambda: b"\0" * 4096,
            "nul.csv": lambda: f"name,text\na\0b,{SAID}\n".encode(),
        },
    ),
    *_many(
        "text with invalid bytes or characters",
        True,
        {
            "half.txt": lambda: SAID.encode() + b"\xff\xfe\x80" + SAID.encode(),
            "escapes.txt": _text(f"\x1b[2J\x1b]0;owned\x07{SAID}\x9b31m"),
            "turned.md": _text(f"\u202e{SAID}\u2066\u2069"),
            "heaped.txt": _text(f"{SAID} e" + "\u0301" * 50_000),
            "half_pair.jsonl": _text('{"text": "' + SAID + ' \\ud800"}\n'),
        },
    ),
    *_many(
        "markup nested far too deep",
        True,
        {
            "deep.html": lambda: page("<div>" * 20_000 + SAID),
            "deep_tables.html": lambda: page("<table><tr><td>" * 3000 + SAID),
            "deep_list.md": _text("".join(f"{'  ' * depth}- x\n" for depth in range(500)) + f"\n{SAID}\n"),
            "deep_quote.md": _text(f"{'>' * 20_000} {SAID}\n"),
            "deep.odt": lambda: opendocument(
                "text", "<text:list><text:list-item>" * 90 + f"<text:p>{SAID}</text:p>" + "</text:list-item></text:list>" * 90
            ),
        },
    ),
    *_many(
        "markup that never ends",
        True,
        {
            "comment.html": lambda: page(f"<p>{SAID}</p><!-- "),
            "attribute.html": lambda: page(f'<p title="{"a" * 5_000_000}">{SAID}</p>'),
            "fence.md": _text(f"{SAID}\n\n```\n" + "x\n" * 5000),
            "front_matter.md": _text(f"---\ntitle: Orsa\n\n{SAID}\n"),
            "tags.html": lambda: page("<br>" * 100_000 + SAID),
            "headings.md": _text("".join(f"{'#' * 7} x\n" for _ in range(5000)) + SAID),
        },
    ),
    *_many(
        "XML entities and references",
        False,
        {
            "laughs.docx": _replaced(
                "arda.docx", "word/document.xml", f'<?xml version="1.0"?>{LAUGHS}<w:document>&j;</w:document>'.encode()
            ),
            "laughs.ods": _replaced("bridges.ods", "content.xml", f'<?xml version="1.0"?>{LAUGHS}<office>&j;</office>'.encode()),
            "outside.odt": _replaced(
                "arda.odt", "content.xml", b'<!DOCTYPE x [<!ENTITY s SYSTEM "file:///etc/passwd">]><office>&s;</office>'
            ),
            "outside.epub": _replaced(
                "arda.epub", "EPUB/content.opf", b'<!DOCTYPE x [<!ENTITY s SYSTEM "http://127.0.0.1:9/">]><package>&s;</package>'
            ),
        },
    ),
    *_many(
        "XML entities in a page",
        True,
        {
            "laughs.xhtml": _text(f"{LAUGHS}<html><body><p>{SAID} &j;</p></body></html>"),
            "outside.xhtml": _text(f'<!DOCTYPE html [<!ENTITY s SYSTEM "file:///etc/passwd">]><html><body><p>{SAID} &s;</p></body></html>'),
        },
    ),
    *_many(
        "front matter or metadata that runs code or expands",
        True,
        {
            "object.md": _text(f"---\ntitle: !!python/object/apply:os.system ['touch owned']\n---\n{SAID}\n"),
            "anchors.md": _text(
                "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
                + "".join(
                    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n" for before, after in zip("abcdefgh", "bcdefghi", strict=True)
                )
                + f"---\n{SAID}\n"
            ),
            "fields.jsonl": _text('{"text": "' + SAID + '", "source": "../../etc/passwd", "id": "../x", "path": "/etc"}\n'),
            "many_fields.jsonl": _text('{"text": "' + SAID + '"' + "".join(f', "f{number}": {number}' for number in range(5000)) + "}\n"),
            "formula.csv": _text(f"name,text\n=cmd|' /C calc'!A0,{SAID}\n"),
        },
    ),
    *_many(
        "archive that expands to far more than its size",
        False,
        {
            "bomb.docx": _bomb("word/document.xml"),
            "bomb.xlsx": _bomb("xl/workbook.xml"),
            "bomb.odt": _bomb("content.xml"),
            "bomb.epub": _bomb("mimetype"),
        },
    ),
    *_many(
        "archive damaged, encrypted or of another type",
        False,
        {
            "cut.docx": _damaged("arda.docx", lambda whole: whole[: len(whole) // 2]),
            "cut.xlsx": _damaged("bridges.xlsx", lambda whole: whole[: len(whole) // 2]),
            "text.pptx": _text(SAID),
            "html.xlsx": lambda: page(SAID),
            "empty.epub": lambda: zipped({}),
            "no_part.docx": lambda: zipped({"readme.txt": SAID}),
            "rubbish.odt": lambda: zipped({"content.xml": b"\xff" * 100}),
            "cut.txt.gz": lambda: gzip.compress(SAID.encode() * 100)[:-20],
            "none.csv.gz": _text(SAID),
            "encrypted.docx": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2048,
        },
    ),
    *_many(
        "archive with paths outside its folder",
        True,
        {
            "above.docx": lambda: _with(docx(_PARAGRAPH), {"../../above.txt": "x", "/etc/absolute.txt": "x"}),
            "twice.odt": lambda: _with(opendocument("text", f"<text:p>{SAID}</text:p>"), {"Pictures/../../up.txt": "x"}),
        },
    ),
    *_many(
        "table that is too wide, too far out or never ends",
        True,
        {
            "far.xlsx": lambda: workbook({"A1": SAID, "XFD1048576": "far away"}),
            "far.ods": lambda: sheet(row(SAID) + row(empty=16384, rows=1_000_000)),
            "repeated.ods": lambda: sheet(row(SAID) + row("x", empty=2_000_000_000)),
            "wide.csv": _text(",".join(f"c{number}" for number in range(20_000)) + f"\n{SAID}\n"),
            "ragged.csv": _text(f"name,text\na\nb,{SAID},c,d\n"),
            "quote.csv": _text(f'name,text\na,{SAID}\nb,"never closed\n'),
            "twins.csv": _text(f"text,text,text\n{SAID},b,c\n"),
        },
    ),
    *_many(
        "JSON that is deep, truncated or has unexpected values",
        True,
        {
            "deep.jsonl": _text('{"text": "' + SAID + '"}\n' + "[" * 50_000 + "\n"),
            "digits.jsonl": _text('{"text": "' + SAID + '"}\n{"text": "x", "n": ' + "9" * 100_000 + "}\n"),
            "infinite.jsonl": _text('{"text": "' + SAID + '", "n": 1e999999, "m": NaN}\n'),
            "cut.jsonl": _text('{"text": "' + SAID + '"}\n{"text": "cut'),
            "twice.jsonl": _text('{"text": "x", "text": "' + SAID + '"}\n'),
            "mixed.json": _text('[1, null, "x", {"text": "' + SAID + '"}, [2]]'),
        },
    ),
    *_many(
        "JSON that contains only nesting",
        False,
        {"deep.json": _text("[" * 100_000), "closed.json": _text('{"a":' * 5000 + "1" + "}" * 5000)},
    ),
    *_many(
        "PDF damaged, encrypted, cyclic or with scripts",
        False,
        {
            "head.pdf": _text("%PDF-1.7\n"),
            "cut.pdf": _damaged("survey.pdf", lambda whole: whole[: len(whole) // 3]),
            "locked.pdf": _damaged("secret.pdf", bytes),
            "circle.pdf": _pdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"),
            "count.pdf": _pdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 999999999 >>"),
            "script.pdf": _pdf(
                "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>",
                "<< /Type /Pages /Kids [] /Count 0 >>",
            ),
        },
    ),
    *_many(
        "mail nested, with odd headers or attachments",
        True,
        {
            "nested.eml": _letter(parts=90),
            "attached.eml": _letter(attached="../../owned.sh"),
            "subject.eml": _letter(subject="word " * 20_000),
            "base64.eml": _text(
                "Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
                f"--b\n\n{SAID}\n--b\nContent-Transfer-Encoding: base64\n\n!!!\n--b--\n"
            ),
        },
    ),
    *_many(
        "file name with odd characters",
        True,
        {
            "two\nlines.txt": _text(SAID),
            "-rf.txt": _text(SAID),
            "\u202etxt.exe.txt": _text(SAID),
            "\x1b[31mred.txt": _text(SAID),
            "<img src=x onerror=alert(1)>.txt": _text(SAID),
            "n" * 240 + ".txt": _text(SAID),
            "$(touch owned).md": _text(SAID),
            "a;b&c|d.txt": _text(SAID),
        },
    ),
]


def _with(archive: bytes, more: Mapping[str, str]) -> bytes:
    """Add parts to an archive, whatever their names."""
    file = io.BytesIO(archive)
    with zipfile.ZipFile(file, "a") as opened:
        for name, content in more.items():
            opened.writestr(name, content)
    return file.getvalue()
