"""Records as `Document`s: JSON objects, lines of JSON, and the rows of tables."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.properties import RESERVED_FIELDS, replace_surrogates
from ramify.tools.documents.text import read_decoded, stream_lines

_MAX_NAMED = 1000
_MAX_ADDED = 1_000_000
"""Labels written by the reader that are reported."""
_MAX_INTEGER_DIGITS = 4000
"""Fewer than Python converts."""
_BREAK = re.compile(r"[\r\n\t]+")
_TEXT_FIELDS = ("text", "page_content", "content", "body")
Fields = list[tuple[str, Any]]
"""The fields of a record in order, with names that may be the same."""


class _Number(float):
    """A number that is written as in the file, with its digits."""

    written: str

    @classmethod
    def parse(cls, text: str) -> "_Number":
        """Return the number of a text in JSON."""
        number = cls(text)
        number.written = text
        return number


class _Object(dict[str, Any]):
    """An object of JSON whose names may be the same; `fields` has all of them."""

    def __init__(self, fields: Fields) -> None:
        super().__init__(fields)
        self.fields = fields


def _parse_integer(text: str) -> float:
    return int(text) if len(text) < _MAX_INTEGER_DIGITS else _Number.parse(text)


_parse_json = json.JSONDecoder(object_pairs_hook=_Object, parse_float=_Number.parse, parse_int=_parse_integer).decode


def read_json(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a JSON file: a list of records, an object that contains one list of records, or one record."""
    try:
        content = _parse_json(read_decoded(path, source, report))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"not JSON: {error}") from error
    for number, record in enumerate(_find_records(content), start=1):
        if isinstance(record, _Object):
            yield record_document(record.fields, source, number)
        else:
            kind = "float" if isinstance(record, _Number) else type(record).__name__
            _skip_record(report, source, number, f"not a record but {kind}")


def read_jsonl(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a file of one JSON record per line; lines that are not records are reported."""
    good = 0
    for number, line in enumerate(stream_lines(path, source, report), start=1):
        if not line.strip():
            continue
        try:
            record = _parse_json(line)
            document = record_document(record.fields, source, number) if isinstance(record, _Object) else None
        except (ValueError, RecursionError):
            document = None
        if document is not None:
            good += 1
            yield document
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
    """Return the items of a list, or of the only list of records in an object and then its other fields; else the value itself."""
    if isinstance(content, list):
        return content
    values = content.values() if isinstance(content, dict) and "text" not in content else ()
    lists = [value for value in values if isinstance(value, list) and value and all(isinstance(item, dict) for item in value)]
    if len(lists) != 1:
        return [content]
    others = _Object([(name, value) for name, value in content.fields if value is not lists[0]])
    return [*lists[0], others] if others else lists[0]


def record_document(record: Mapping[str, Any] | Fields, source: str, number: int, within: str = "", *, is_row: bool = False) -> Document:
    """Return a record as a document.

    The text is its `text` (or `page_content`, `content`, `body`), and its `metadata` object and other fields become metadata, but for its
    `id` (or `_id`). Without such a field, and of a row of a table, the text is all fields, one `name: value` per line. Fields with reserved
    names are stored as `record_source`, `record_path` …. `source` is `file#id`. Records `within` a part of a file (a sheet) are identified
    by their position alone.
    """
    fields = [(str(name), value) for name, value in (record.items() if isinstance(record, Mapping) else record)]
    values = dict(fields)
    identity = replace_surrogates(str(values.pop("id", None) or values.pop("_id", None) or ""))
    text_field = next((name for name in _TEXT_FIELDS if isinstance(values.get(name), str)), "")
    if text_field and [name for name, _ in fields].count(text_field) == 1:
        text = str(values.pop(text_field))
    else:
        text_field = ""
    if is_row or not text_field:
        text = "\n".join(
            f"{name}: {_written(value)}" if name else _written(value) for name, value in fields if value is not None and value != ""
        )
    nested = values.pop("metadata", None)
    carried = {**(nested if isinstance(nested, dict) else {}), **(values if text_field else {})}
    carried = {f"record_{name}" if name in RESERVED_FIELDS else name: value for name, value in carried.items()}
    place = f"{source}#{within}{identity or number}"
    title = replace_surrogates(str(values.get("title") or carried.get("title") or ""))
    return Document(
        replace_surrogates(text).strip(), id=place if within else identity or place, metadata={**carried, "source": place, "title": title}
    )


def _written(value: Any) -> str:
    """Return a value as text: numbers with their digits as in the file, nested values as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        fields = value.fields if isinstance(value, _Object) else value.items()
        return f"{{{', '.join(f'{json.dumps(name, ensure_ascii=False)}: {_nested(item)}' for name, item in fields)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    return value.written if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)


def _nested(value: Any) -> str:
    """Return a nested value as JSON, with line breaks of texts as spaces: escaped ones would join the words beside them."""
    return json.dumps(_BREAK.sub(" ", value), ensure_ascii=False) if isinstance(value, str) else _written(value)


def row_fields(names: Mapping[int, str], cells: Iterable[tuple[int, str]], report: ReadReport) -> Fields:
    """Return a row as the fields of a record, without empty ones; cells and names are by the number of the column from 0.

    A column without a name is named by its number, but the first one beside named columns has no name.
    """
    fields: Fields = []
    first_named = min(names, default=0)
    for column, cell in cells:
        if not cell:
            continue
        name = names.get(column, "")
        if not name and not (names and column == first_named - 1):
            name = f"column {column + 1}"
            if len(report.added) < _MAX_ADDED:
                report.add(name)
        fields.append((name, cell))
    return fields
