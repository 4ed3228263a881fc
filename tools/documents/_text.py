"""Read plain texts, Markdown, web pages: unpack within limits, detect the encoding, split at headings."""

import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, AnyStr

from langchain_core.documents import Document

from ramify.tools.documents._properties import split_front_matter
from ramify.tools.documents.files import ReadReport, UnreadableError, printable_name
from ramify.tools.documents.sections import markdown_outline, section_documents

MAX_BYTES = 1 << 29
"""Maximum unpacked size of a file that is read as a whole."""
MAX_LINE_CHARS = 1 << 26
"""Maximum length of a line or cell of a file that is read by line."""

_SAMPLE_BYTES = 1 << 16
"""Bytes from which the encoding is guessed."""
_LIKELY_ENCODINGS = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp932", "gb18030", "big5", "cp949", "euc_jp",
]  # fmt: skip
"""Legacy encodings in common use; rarer variants would only cause wrong guesses."""
_WESTERN_ENCODING = "cp1252"
_WIDE_ENCODINGS = ("utf-16", "utf-32", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f\ufffe\uffff]")
_MIN_ASCII_SHARE = 0.75
_SIGN_WITHIN_WORD = re.compile(r"[a-z][^\x00-\x7f\w’'\xad][a-z]|[a-z][¹²³]|\w[ºª]\w")


def read_text(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a plain text file as one document."""
    yield Document(read_decoded(path, source, report), id=source, metadata={"source": source, "title": file_stem(path)})


def read_markdown(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a Markdown file as one document per section; its front matter becomes metadata."""
    found = split_front_matter(read_decoded(path, source, report))
    if found.problem:
        report.remark(source, f"its front matter is read as text: {found.problem}")
    report.state(source, found.fields)
    outline = markdown_outline(found.text)
    yield from section_documents(outline._replace(title=report.title or outline.title), source, file_stem(path))


def read_html(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a web page as one document per section."""
    from ramify.tools.documents._html import html_outline

    outline = html_outline(read_decoded(path, source, report))
    report.state(source, outline.stated)
    yield from section_documents(outline, source, file_stem(path))


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
        if encoding in _WIDE_ENCODINGS:
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
    return io.BufferedReader(gzip.open(path, "rb")) if path.suffix.lower() == ".gz" else path.open("rb")


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
    """Return the encoding of a text: UTF-8, UTF-16 or UTF-32 with a byte order mark, or a guess, which is reported."""
    if content.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in content:
        encoding = next((encoding for encoding in _WIDE_ENCODINGS[2:] if _is_wide(content[:_SAMPLE_BYTES], encoding)), "")
        if not encoding:
            raise UnreadableError("binary, not text")
        report.remark(source, f"read as {encoding}")
        return encoding
    if is_utf8(content, cut):
        return "utf-8-sig"
    encoding = _guess_encoding(content)
    report.remark(source, f"read as {encoding}")
    return encoding


def decode_text(content: bytes, encoding: str) -> str:
    """Decode text; with a guessed encoding, invalid bytes become replacement characters."""
    try:
        text = content.decode(encoding, "strict" if encoding in ("utf-8-sig", *_WIDE_ENCODINGS) else "replace")
    except UnicodeDecodeError as error:
        raise UnreadableError("not text: damaged in the middle") from error
    if "\0" in text:
        raise UnreadableError("binary, not text")
    return text


def _is_wide(content: bytes, encoding: str) -> bool:
    """Return whether bytes are text in UTF-16 or UTF-32 without a mark: mostly ASCII, and no control characters."""
    unit = 4 if "32" in encoding else 2
    try:
        text = content[: len(content) // unit * unit].decode(encoding)
    except UnicodeDecodeError:
        return False
    return sum(character < "\x80" for character in text) * 2 > len(text) and not _CONTROL.search(text)


def is_utf8(content: bytes, cut: bool = False) -> bool:
    """Return whether bytes are UTF-8; those of a `cut` text may end within a character."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return cut and error.reason == "unexpected end of data" and error.start > len(content) - 4
    return True


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
