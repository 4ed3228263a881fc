"""Records as `Document`s: JSON, a record an object, in one document or a line each; what rows of tables become, too."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents.files import Told, UnreadableError
from ramify.tools.documents.properties import OURS, clean
from ramify.tools.documents.text import lines_of, text_of

_MOST_NAMED = 1000
_TEXT_FIELDS = ("text", "page_content", "content", "body")


def read_json(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a JSON file: a list of records, an object that holds one list of records, or one record."""
    try:
        content = json.loads(text_of(path, source, told))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"not JSON: {error}") from error
    for number, record in enumerate(_records(content), start=1):
        if isinstance(record, dict):
            yield record_document(record, source, number)
        else:
            _leave_out(told, source, number, f"not a record but {type(record).__name__}")


def read_jsonl(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a file of one JSON record a line, naming the lines that are none."""
    good = 0
    for number, line in enumerate(lines_of(path, source, told), start=1):
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
            _leave_out(told, source, number, "not a JSON record")


def _leave_out(told: Told, source: str, number: int, reason: str) -> None:
    """Name a record that is left out; of very many only the first."""
    named = len(told.skipped)
    if named < _MOST_NAMED:
        told.skip(f"{source}#{number}", reason)
    elif named == _MOST_NAMED:
        told.skip(source, "more records are left out than are named here")


def _records(content: Any) -> list[Any]:
    """Give what is in a list, in the one list of records that an object holds, else the value itself."""
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
    identity = clean(str(fields.pop("id", None) or fields.pop("_id", None) or ""))
    text_field = next((name for name in _TEXT_FIELDS if isinstance(fields.get(name), str)), None)
    if text_field:
        text = fields.pop(text_field)
    else:
        written = {name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in fields.items()}
        text = "\n".join(f"{name}: {value}" for name, value in written.items() if value and value != "null")
    nested = fields.pop("metadata", None)
    carried = {**(nested if isinstance(nested, dict) else {}), **(fields if text_field else {})}
    carried = {f"record_{name}" if name in OURS else name: value for name, value in carried.items()}
    place = f"{source}#{within}{identity or number}"
    title = clean(str(fields.get("title") or carried.get("title") or ""))
    return Document(clean(text).strip(), id=place if within else identity or place, metadata={**carried, "source": place, "title": title})
