"""Records as `Document`s: JSON objects, lines of JSON, and rows of tables."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents._properties import RESERVED_FIELDS, replace_surrogates
from ramify.tools.documents._text import MAX_LINE_CHARS, read_decoded, stream_lines
from ramify.tools.documents.files import ReadReport, UnreadableError

_MAX_NAMED = 1000
_TEXT_FIELDS = ("text", "page_content", "content", "body")


def read_json(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a JSON file: a list of records, an object that holds one list of records, or one record."""
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
    """Read a file of one JSON record a line, naming the lines that are none."""
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
    """Name a record that is left out; of very many only the first."""
    named = len(report.skipped)
    if named < _MAX_NAMED:
        report.skip(f"{source}#{number}", reason)
    elif named == _MAX_NAMED:
        report.skip(source, "more records are left out than are named here")


def _find_records(content: Any) -> list[Any]:
    """Return what is in a list, in the one list of records that an object holds, else the value itself."""
    if isinstance(content, list):
        return content
    values = content.values() if isinstance(content, dict) and "text" not in content else ()
    lists = [value for value in values if isinstance(value, list) and value and all(isinstance(item, dict) for item in value)]
    return lists[0] if len(lists) == 1 else [content]


def record_document(record: dict[str, Any], source: str, number: int, within: str = "") -> Document:
    """Turn a record into a document, keeping what it carries as metadata.

    The text is its `text` (or `page_content`, `content`, `body`), otherwise its fields, one `name: value` a line. Its `metadata` object and
    its other fields are kept; those that would say where the record lies are kept as `record_source`, `record_path` …, since `source` says
    that: `file#id`. Records `within` a part of a file (a sheet) are called by their place alone.
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
"""Rows, and characters, from which it is told how a table is written."""
_SEPARATORS = ",;\t|"
_NUMBER = re.compile(r"[-+]?(?:[.,' ]*+\d)++[.,]*+\s*+[%€$£]?|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Dialect(NamedTuple):
    """How a table's columns are parted and its cells are quoted."""

    separator: str
    quote: str


def read_csv(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a table as one document a row, the first row naming the columns where it does."""
    csv.field_size_limit(MAX_LINE_CHARS)
    lines = (
        line for text in stream_lines(path, source, report) for line in io.StringIO(text, newline="")
    )  # old files end lines with \r alone
    sample = list(_sample_lines(lines))
    tabbed = path.name.lower().removesuffix(".gz").endswith(".tsv")
    broken: list[csv.Error] = []
    yield from table_documents(_read_rows(sample, lines, tabbed, broken), source)
    if broken:
        raise UnreadableError(f"not a readable table: {broken[0]}") from broken[0]


def _read_rows(sample: Sequence[str], lines: Iterator[str], tabbed: bool, broken: list[csv.Error]) -> Iterator[list[str]]:
    """Yield rows up to the end, or to the first that cannot be read: why is then in `broken`."""
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
    """Turn rows into records, naming the columns by the first row where it looks like names."""
    begin = list(islice((row for row in rows if any(row)), _MAX_SAMPLE_ROWS))
    named = bool(begin) and is_header(begin[0], begin[1:])
    columns = begin.pop(0) if named else []
    for number, row in enumerate(chain(begin, (row for row in rows if any(row))), start=1):
        yield record_document(row_record(columns, enumerate(row)), source, number)


def row_record(columns: Sequence[str], cells: Iterable[tuple[int, str]]) -> dict[str, str]:
    """Name a row's cells, each given with its place from 0; empty ones are left out."""
    return {(columns[place].strip() if place < len(columns) else "") or f"column {place + 1}": cell for place, cell in cells if cell}


def detect_dialect(sample: Sequence[str]) -> Dialect:
    """Find how a table is written: what parts its rows into the most columns, the same number in each."""
    quote = "'" if not any('"' in line for line in sample) and sum(line.count("'") >= 2 and line[:1] == "'" for line in sample) > 1 else '"'
    best = max(_SEPARATORS, key=lambda separator: _separator_score(sample, Dialect(separator, quote)))
    return Dialect(best, quote)


def _separator_score(sample: Sequence[str], dialect: Dialect) -> float:
    """Score a separator: columns, weighed by the share of rows that have just as many as most."""
    rows = [len(row) for row in csv.reader(sample, delimiter=dialect.separator, quotechar=dialect.quote) if row]
    widths = sorted(rows)
    width = widths[len(widths) // 2] if widths else 1
    return (width - 1) * (rows.count(width) / len(rows)) ** 2 if rows else 0.0


def is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns: different words, no numbers but years."""
    cells = [cell.strip() for cell in first]
    named = [cell for cell in cells if cell]
    if not named or len(set(named)) < len(named) or len(named) < len(cells) - 1:
        return False
    if not any(_NUMBER.fullmatch(cell) for cell in named):
        return True
    numbered = [place for place, cell in enumerate(cells) if _NUMBER.fullmatch(cell)]
    years = all(_YEAR.fullmatch(cells[place]) for place in numbered) and len(numbered) < len(named)
    return years and not any(_YEAR.fullmatch(row[place].strip()) for row in below for place in numbered if place < len(row))
