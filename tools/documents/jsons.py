"""JSON: a record an object, in one document or a line each."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents.files import Told, UnreadableError
from ramify.tools.documents.records import record_document
from ramify.tools.documents.text import lines_of, text_of


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
            told.skip(f"{source}#{number}", f"not a record but {type(record).__name__}")


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
            told.skip(f"{source}#{number}", "not a JSON record")


def _records(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    lists = [value for value in content.values() if _holds_records(value)] if isinstance(content, dict) else []
    return list(lists[0]) if len(lists) == 1 and "text" not in content else [content]


def _holds_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
