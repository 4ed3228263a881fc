"""Read plain texts and Markdown: unpack within limits, decode, split at headings."""

import codecs
import gzip
import io
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, AnyStr

from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport, UnreadableError, printable_name
from ramify.tools.documents.properties import split_front_matter
from ramify.tools.documents.sections import markdown_outline, section_documents
from ramify.tools.documents.wrapped_text import join_wrapped

MAX_BYTES = 1 << 29
"""Maximum unpacked size of a file that is read as a whole."""
MAX_LINE_CHARS = 1 << 26
"""Maximum length of a line or cell of a file that is read by line."""

_SAMPLE_BYTES = 1 << 16
"""Bytes of a stream from which the encoding is guessed."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_WIDE_ENCODINGS = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_MIN_WIDE_BYTES = 16
_MIN_WIDE_LETTERS = 0.7
"""Least share of letters, digits, spaces and usual punctuation in a text without a byte order mark."""
_LIKELY_ENCODINGS = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp932", "gb18030", "big5", "cp949", "euc_jp",
]  # fmt: skip
"""Legacy encodings in common use; rarer variants would only cause wrong guesses."""
_WESTERN_ENCODING = "cp1252"
_MIN_ASCII_SHARE = 0.75
_SIGN_WITHIN_WORD = re.compile(r"[a-z][^\x00-\x7f\w’'\xad][a-z]|[a-z][¹²³]|\w[ºª]\w")
_DECLARED = re.compile(
    rb"<meta\s[^<>]{0,200}\bcharset\s*=\s*[\"']?\s*([\w.:-]{2,40})|^\s*<\?xml[^<>]{0,100}\bencoding\s*=\s*[\"']([\w.:-]{2,40})", re.I
)
_DECLARED_WITHIN = 4096
_BROWSER_ENCODINGS = {
    "iso8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030",
    "shift_jis": "cp932", "euc_kr": "cp949", "tis-620": "cp874", "iso8859-11": "cp874",
}  # fmt: skip
"""Encodings that browsers read as a larger one."""
_MIN_VALID_SHARE = 20
"""Least characters beyond ASCII in UTF-8 for each byte that is not: fewer are no UTF-8."""
_STRICT = ("utf-8-sig", "utf-16", "utf-32", *_WIDE_ENCODINGS)
_MARKUP = re.compile(r"<(?:!--|/?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>)|&#?\w{2,8};")
_FIRST_IDEOGRAPH = 0x2E80
"""Swapped bytes of Latin text give ideographs, which are not taken for text here."""


def read_text(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a plain text file as one document; lines that were wrapped by hand are joined, except in logs."""
    text = read_decoded(path, source, report)
    text = text if ".log" in path.suffixes else join_wrapped(text)
    yield Document(text, id=source, metadata={"source": source, "title": file_stem(path)})


def read_markdown(
    path: Path, source: str, report: ReadReport, tidy: Callable[[str, str, ReadReport], str] | None = None
) -> Iterator[Document]:
    """Read a Markdown file as one document per section; its front matter becomes metadata, and `tidy` rewrites the text below it."""
    front = split_front_matter(read_decoded(path, source, report))
    if front.problem:
        report.remark(source, f"its front matter is read as text: {front.problem}")
    report.state(source, front.fields)
    outline = markdown_outline((tidy or _keep_markup)(front.text, source, report))
    yield from section_documents(outline._replace(title=report.title or outline.title), source, file_stem(path))


def _keep_markup(text: str, source: str, report: ReadReport) -> str:
    """Return Markdown with the HTML in it as it is, and remark that."""
    if _MARKUP.search(text):
        report.remark(source, "HTML in it is kept as it is: no installed package reads it")
    return join_wrapped(text)


def read_decoded(path: Path, source: str, report: ReadReport) -> str:
    """Return a file's text, decoded with its detected encoding."""
    content = read_unpacked(path)
    encoding = detect_encoding(content, source, report)
    return decode_text(content, encoding).replace("\r\n", "\n")


def stream_lines(path: Path, source: str, report: ReadReport) -> Iterator[str]:
    """Yield a file's lines with their ends, decoded with the detected encoding; a line that is too long is replaced by an empty one."""
    with open_unpacked(path) as file:
        encoding = detect_encoding(file.read(_SAMPLE_BYTES), source, report, cut=True)
    with open_unpacked(path) as file:
        if encoding.startswith(("utf-16", "utf-32")):
            try:
                yield from _limited_lines(io.TextIOWrapper(file, encoding=encoding, newline=""), "\n", source, report)
            except UnicodeDecodeError as error:
                raise UnreadableError("not text: damaged in the middle") from error
            return
        for line in _limited_lines(file, b"\n", source, report):
            if encoding == "utf-8-sig" and not is_utf8(line):
                encoding = detect_encoding(line, source, report)
            yield decode_text(line, encoding)


def _limited_lines(file: IO[AnyStr], end: AnyStr, source: str, report: ReadReport) -> Iterator[AnyStr]:
    """Yield a file's lines without reading more than MAX_LINE_CHARS of one into memory."""
    number = 0
    while line := file.readline(MAX_LINE_CHARS + 1):
        number += 1
        if len(line) <= MAX_LINE_CHARS:
            yield line
            continue
        report.skip(f"{source}, line {number}", f"longer than {MAX_LINE_CHARS >> 20} MB")
        while line and not line.endswith(end):
            line = file.readline(_SAMPLE_BYTES)
        yield end


def open_unpacked(path: Path) -> io.BufferedReader:
    """Open a file, decompressed if it is gzipped."""
    file = path.open("rb")
    if path.suffix.lower() != ".gz":
        return file
    unpacked = gzip.GzipFile(fileobj=file)
    unpacked.myfileobj = file  # type: ignore[assignment]  # closed with it
    return io.BufferedReader(unpacked)


def read_unpacked(path: Path) -> bytes:
    """Return a file's bytes, decompressed; UnreadableError if there are more than MAX_BYTES."""
    with open_unpacked(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UnreadableError(f"more than {MAX_BYTES >> 20} MB {'unpacked' if path.suffix.lower() == '.gz' else 'in one file'}")
    return content


def file_stem(path: Path) -> str:
    """Return a file's name without its suffix."""
    name = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
    return Path(printable_name(name)).stem


def detect_encoding(content: bytes, source: str, report: ReadReport, *, cut: bool = False) -> str:
    """Return the encoding of a text; one that has no byte order mark and is not UTF-8 is reported."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return encoding
    if b"\0" in content:
        encoding = _wide_encoding(content)
        report.remark(source, f"read as {encoding}")
        return encoding
    if is_utf8(content, cut):
        return "utf-8-sig"
    declared = _declared_encoding(content)
    damaged = _count_damaged(content)
    if damaged:
        report.remark(source, f"read as utf-8, but for {damaged} bytes that are not, shown as \N{REPLACEMENT CHARACTER}")
        return "utf-8"
    encoding = declared if declared and _fits(content, declared, cut) else _guess_encoding(content)
    noticed = f", although it declares {declared}" if declared and encoding != declared else ""
    report.remark(source, f"read as {encoding}{noticed}")
    return encoding


def decode_text(content: bytes, encoding: str) -> str:
    """Decode text; with a guessed encoding, invalid bytes become replacement characters."""
    try:
        text = content.decode(encoding, "strict" if encoding in _STRICT else "replace")
    except UnicodeDecodeError as error:
        raise UnreadableError("not text: damaged in the middle") from error
    if "\0" in text:
        raise UnreadableError("binary, not text")
    return text


def is_utf8(content: bytes, cut: bool = False) -> bool:
    """Return whether bytes are UTF-8; those of a `cut` text may end within a character."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return cut and error.reason == "unexpected end of data" and error.start > len(content) - 4
    return True


def _wide_encoding(content: bytes) -> str:
    """Return the one encoding of two or four bytes a character that gives readable text; UnreadableError if there is none."""
    readable = [encoding for encoding in _WIDE_ENCODINGS if _is_readable(content[: len(content) // 4 * 4], encoding)]
    if len(readable) != 1 or len(content) < _MIN_WIDE_BYTES:
        raise UnreadableError("binary, not text")
    return readable[0]


def _is_readable(content: bytes, encoding: str) -> bool:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return False
    if any(unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs") and sign not in "\t\n\r\f" for sign in text):
        return False
    usual = sum(sign.isascii() or (sign.isalpha() and ord(sign) < _FIRST_IDEOGRAPH) for sign in text)
    spaces = sum(sign in " \n\r\t" for sign in text)
    return usual >= _MIN_WIDE_LETTERS * len(text) and spaces > 0


def _declared_encoding(content: bytes) -> str | None:
    """Return the encoding that a page declares in a `meta` element or an XML declaration; None if there is none that exists."""
    declared = _DECLARED.search(content[:_DECLARED_WITHIN])
    if declared is None:
        return None
    try:
        name = codecs.lookup((declared[1] or declared[2]).decode("ascii")).name
    except LookupError:
        return None
    return _BROWSER_ENCODINGS.get(name, name)


def _fits(content: bytes, encoding: str, cut: bool) -> bool:
    """Return whether a declared encoding may be right: its text is valid, and looks Western if it is the Western one."""
    if encoding == _WESTERN_ENCODING:
        return _looks_western(content)
    try:
        text = content.decode(encoding, "replace" if cut else "strict")
    except (UnicodeDecodeError, LookupError):
        return False
    return isinstance(text, str)


def _count_damaged(content: bytes) -> int:
    """Return how many bytes of a text that is UTF-8 otherwise are not; 0 if it is another encoding."""
    text = content.decode("utf-8", "replace")
    damaged = text.count("\N{REPLACEMENT CHARACTER}")
    valid = sum(not sign.isascii() for sign in text) - damaged
    return damaged if valid >= _MIN_VALID_SHARE * damaged else 0


def _guess_encoding(content: bytes) -> str:
    """Return the likeliest encoding; the Western one if others give the same text or are no more likely."""
    from charset_normalizer import from_bytes

    best = from_bytes(content, cp_isolation=_LIKELY_ENCODINGS).best()
    if best is not None and (best.coherence > 0 or not _looks_western(content)):
        return _WESTERN_ENCODING if _WESTERN_ENCODING in best.could_be_from_charset else best.encoding
    if best is None and not _looks_western(content):
        raise UnreadableError("neither UTF-8 nor text in a known encoding")
    return _WESTERN_ENCODING


def _looks_western(content: bytes) -> bool:
    try:
        text = content.decode(_WESTERN_ENCODING)
    except UnicodeDecodeError:
        return False
    return sum(byte < 128 for byte in content) > _MIN_ASCII_SHARE * len(content) and not _SIGN_WITHIN_WORD.search(text)
