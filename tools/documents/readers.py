"""One reader a format, by the end of the file's name."""

from pathlib import Path

from ramify.tools.documents.jsons import read_json, read_jsonl
from ramify.tools.documents.pdf.read import read_pdf
from ramify.tools.documents.reader import Reader
from ramify.tools.documents.tables import read_csv
from ramify.tools.documents.text import read_html, read_markdown, read_text

_TEXT = Reader(read_text, plain=True)
_MARKDOWN = Reader(read_markdown, plain=True)
_HTML = Reader(read_html, ("bs4", "lxml"))

READERS: dict[str, Reader] = {
    ".txt": _TEXT, ".text": _TEXT, ".log": _TEXT, ".rst": _TEXT,
    ".md": _MARKDOWN, ".markdown": _MARKDOWN,
    ".html": _HTML, ".htm": _HTML, ".xhtml": _HTML,
    ".pdf": Reader(read_pdf, ("pypdfium2",)),
    ".csv": Reader(read_csv, streamed=True), ".tsv": Reader(read_csv, streamed=True),
    ".json": Reader(read_json, streamed=True),
    ".jsonl": Reader(read_jsonl, streamed=True), ".ndjson": Reader(read_jsonl, streamed=True),
}  # fmt: skip
"""Each also reads `.gz` around its format."""


def reader_of(path: Path) -> Reader | None:
    """Return the reader for a file's name, None where there is none."""
    return READERS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
