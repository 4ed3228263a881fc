"""Records as `Document`s: JSON objects, lines of JSON, and rows of tables."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents._properties import RESERVED_FIELDS, replace_surrogates
from ramify.tools.documents._tables import is_header
from ramify.tools.documents._text import MAX_LINE_CHARS, read_decoded, stream_lines
from ramify.tools.documents.files import ReadReport, UnreadableError

_MAX_NAMED = 1000
_TEXT_FIELDS = ("text", "page_content", "content", "body")


def read_json(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a JSON file: a list of records, an object that contains one list of records, or one record."""
    try:
        content = json.loads(read_decoded(path, source, report))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"not JSON: {error}") from error
    for number, record in enumerate(_find_records(content), start=1):
        if isinstance(record, dict):
            yield record_document(record, source, number)
        else:
            _skip_record(report, source, number, f"not a record but {type(record).__name__}")


def read_jsonl(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a file of one JSON record per line; lines that are not records are reported."""
    good = 0
    for number, line in enumerate(stream_lines(path, source, report), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            good += 1
            yield record_document(record, source, number)
        elif not good:
            raise UnreadableError(f"line {number} is not a JSON record")
        else:
            _skip_record(report, source, number, "not a JSON record")


def _skip_record(report: ReadReport, source: str, number: int, reason: str) -> None:
    """Report a skipped record; only the first of very many are listed."""
    named = len(report.skipped)
    if named < _MAX_NAMED:
        report.skip(f"{source}#{number}", reason)
    elif named == _MAX_NAMED:
        report.skip(source, f"more than {_MAX_NAMED:,} records were skipped; only the first are listed")


def _find_records(content: Any) -> list[Any]:
    """Return the items of a list, or of the only list of records in an object, else the value itself."""
    if isinstance(content, list):
        return content
    values = content.values() if isinstance(content, dict) and "text" not in content else ()
    lists = [value for value in values if isinstance(value, list) and value and all(isinstance(item, dict) for item in value)]
    return lists[0] if len(lists) == 1 else [content]


def record_document(record: dict[str, Any], source: str, number: int, within: str = "") -> Document:
    """Return a record as a document, with its other fields as metadata.

    The text is its `text` (or `page_content`, `content`, `body`), otherwise its fields, one `name: value` per line. Its `metadata`
    object and its other fields become metadata; fields with reserved names are stored as `record_source`, `record_path` …. `source` is
    `file#id`. Records `within` a part of a file (a sheet) are identified by their position alone.
    """
    fields = {str(name): value for name, value in record.items()}
    identity = replace_surrogates(str(fields.pop("id", None) or fields.pop("_id", None) or ""))
    text_field = next((name for name in _TEXT_FIELDS if isinstance(fields.get(name), str)), None)
    if text_field:
        text = fields.pop(text_field)
    else:
        written = {name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in fields.items()}
        text = "\n".join(f"{name}: {value}" for name, value in written.items() if value and value != "null")
    nested = fields.pop("metadata", None)
    carried = {**(nested if isinstance(nested, dict) else {}), **(fields if text_field else {})}
    carried = {f"record_{name}" if name in RESERVED_FIELDS else name: value for name, value in carried.items()}
    place = f"{source}#{within}{identity or number}"
    title = replace_surrogates(str(fields.get("title") or carried.get("title") or ""))
    return Document(
        replace_surrogates(text).strip(), id=place if within else identity or place, metadata={**carried, "source": place, "title": title}
    )


_MAX_SAMPLE_ROWS = 50
_MAX_SAMPLE_CHARS = 1 << 20
"""Rows and characters from which a table's dialect is detected."""
_SEPARATORS = ",;\t|"


class Dialect(NamedTuple):
    """The separator of a table's columns and the quote character of its cells."""

    separator: str
    quote: str


def read_csv(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a table as one document per row, with the first row as header if it looks like one."""
    csv.field_size_limit(MAX_LINE_CHARS)
    lines = (
        line for text in stream_lines(path, source, report) for line in io.StringIO(text, newline="")
    )  # old files end lines with a lone \r
    sample = list(_sample_lines(lines))
    tabbed = path.name.lower().removesuffix(".gz").endswith(".tsv")
    broken: list[csv.Error] = []
    yield from table_documents(_read_rows(sample, lines, tabbed, broken), source)
    if broken:
        raise UnreadableError(f"not a readable table: {broken[0]}") from broken[0]


def _read_rows(sample: Sequence[str], lines: Iterator[str], tabbed: bool, broken: list[csv.Error]) -> Iterator[list[str]]:
    """Yield rows up to the end or the first error, which is appended to `broken`."""
    try:
        dialect = detect_dialect(sample)._replace(**({"separator": "\t"} if tabbed else {}))
        yield from csv.reader(chain(sample, lines), delimiter=dialect.separator, quotechar=dialect.quote, strict=True)
    except csv.Error as error:
        broken.append(error)


def _sample_lines(lines: Iterator[str]) -> Iterator[str]:
    characters = 0
    for line in islice(lines, _MAX_SAMPLE_ROWS):
        characters += len(line)
        yield line
        if characters > _MAX_SAMPLE_CHARS:
            return


def table_documents(rows: Iterator[list[str]], source: str) -> Iterator[Document]:
    """Yield rows as records, with the first row as header if it looks like one."""
    begin = list(islice((row for row in rows if any(row)), _MAX_SAMPLE_ROWS))
    named = bool(begin) and is_header(begin[0], begin[1:])
    columns = begin.pop(0) if named else []
    for number, row in enumerate(chain(begin, (row for row in rows if any(row))), start=1):
        yield record_document(row_record(columns, enumerate(row)), source, number)


def row_record(columns: Sequence[str], cells: Iterable[tuple[int, str]]) -> dict[str, str]:
    """Return a row as a record; cells are (column from 0, text), and empty ones are left out."""
    return {(columns[place].strip() if place < len(columns) else "") or f"column {place + 1}": cell for place, cell in cells if cell}


def detect_dialect(sample: Sequence[str]) -> Dialect:
    """Return the dialect whose separator gives most columns, equal in number in each row."""
    quote = "'" if not any('"' in line for line in sample) and sum(line.count("'") >= 2 and line[:1] == "'" for line in sample) > 1 else '"'
    best = max(_SEPARATORS, key=lambda separator: _separator_score(sample, Dialect(separator, quote)))
    return Dialect(best, quote)


def _separator_score(sample: Sequence[str], dialect: Dialect) -> float:
    """Return a separator's score: the median number of columns, weighted by the share of rows with that number."""
    rows = [len(row) for row in csv.reader(sample, delimiter=dialect.separator, quotechar=dialect.quote) if row]
    widths = sorted(rows)
    width = widths[len(widths) // 2] if widths else 1
    return (width - 1) * (rows.count(width) / len(rows)) ** 2 if rows else 0.0
