"""Text as it lies in files: unpacked within limits, decoded, and read as one document or by its headings."""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.documents.encoding import decoded, encoding_of, is_utf8
from ramify.tools.documents.outline import Outline
from ramify.tools.documents.reader import Told, UnreadableError
from ramify.tools.documents.sections import markdown_outline
from ramify.tools.documents.wording import anchor

MOST_BYTES = 1 << 29
"""The most that a file which is read as a whole may unpack to."""

_SAMPLE = 1 << 16
"""What an encoding is guessed from."""


def read_text(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a plain text file as one document."""
    yield Document(text_of(path, source, told), id=source, metadata={"source": source, "title": stem(path)})


def read_markdown(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a Markdown file as one document a section."""
    yield from section_documents(markdown_outline(text_of(path, source, told)), source, stem(path))


def read_html(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a web page as one document a section."""
    from ramify.tools.documents.html import html_outline

    yield from section_documents(html_outline(text_of(path, source, told)), source, stem(path))


def section_documents(outline: Outline, source: str, name: str) -> Iterator[Document]:
    """Turn an outline into a document a section; `name` is the title of a file that states none."""
    for section in outline.sections:
        at = section.fragment or (anchor(section.headings[-1]) if section.headings else "")
        carried = {
            "heading": " > ".join(section.headings),
            "fragment": section.fragment,
            "fragments": [list(mark) for mark in section.fragments],
            "role": section.role,
        }
        metadata = {"source": source, "title": outline.title or name} | {name: value for name, value in carried.items() if value}
        yield Document(section.text, id=f"{source}#{at}" if at else source, metadata=metadata)


def text_of(path: Path, source: str, told: Told) -> str:
    """Return a file's text, whatever it is encoded in."""
    content = content_of(path)
    encoding = encoding_of(content, source, told)
    return decoded(content, encoding).replace("\r\n", "\n")


def lines_of(path: Path, source: str, told: Told) -> Iterator[str]:
    """Stream a file's lines with their ends, whatever it is encoded in."""
    with opened(path) as file:
        encoding = encoding_of(file.read(_SAMPLE), source, told, cut=True)
    with opened(path) as file:
        if encoding == "utf-16":
            yield from io.TextIOWrapper(file, encoding="utf-16", newline="")
            return
        for line in file:
            if encoding == "utf-8-sig" and not is_utf8(line):
                encoding = encoding_of(line, source, told)
            yield decoded(line, encoding)


def opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """Open a file, unpacking it where it is gzipped."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def content_of(path: Path) -> bytes:
    """Return a file's bytes, unpacked, where they are not more than anything readable has."""
    with opened(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UnreadableError(f"more than {MOST_BYTES >> 20} MB {'unpacked' if path.suffix.lower() == '.gz' else 'in one file'}")
    return content


def stem(path: Path) -> str:
    """Return a file's name without its ending."""
    name = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
    return Path(name).stem
