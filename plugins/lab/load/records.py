"""Read files of records (a JSON list or JSON lines, optionally gzipped) and the fields of a record."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ramify.tools.errors import InputError

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LFS_HEADER = "version https://git-lfs"
_REMEDY = "correct it, or remove it"


class Record(NamedTuple):
    """A record and its position in the file, for error messages."""

    place: str
    value: dict[str, Any]


def read_records(file: Path) -> list[Record]:
    """Return all records; InputError, with the line, for an invalid one."""
    text, path = read_text_file(file), repr(str(file))
    values: Iterator[tuple[str, Any]]
    if text.lstrip().startswith("["):
        values = ((f"record {number} of {path}", value) for number, value in enumerate(parse_json(text, path), 1))
    else:
        lines = ((f"line {number} of {path}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        values = ((place, parse_json(line, place)) for place, line in lines)
    records = []
    for place, value in values:
        if not isinstance(value, dict):
            raise InputError(f"{place} is {value!r:.80}, not a record", _REMEDY)
        records.append(Record(place, value))
    if not records:
        raise InputError(f"{path} holds no records", "give a file with questions")
    return records


def parse_json(text: str, place: str) -> Any:
    """Return the parsed JSON; InputError, with the place, if it is invalid."""
    try:
        value = json.loads(text)
        # A lone surrogate is valid in JSON but not in UTF-8; it is replaced as in the index.
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) if _SURROGATE_ESCAPE.search(text) else value
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON ({error})", _REMEDY) from error


def read_text_file(file: Path) -> str:
    """Return the text of a file, gzipped or not; InputError if it is not text, or a Git LFS pointer."""
    try:
        if not file.is_file():
            raise OSError("not a file")
        content = file.read_bytes()
        text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{str(file)!r} cannot be read ({error})", "give a file of JSON records in UTF-8, gzipped or not") from error
    if not text.strip():
        raise InputError(f"{str(file)!r} is empty", "give a file with questions")
    if text.startswith(_LFS_HEADER):
        raise InputError(f"{str(file)!r} is a Git LFS pointer, not the data", "fetch the data with `git lfs pull`")
    return text


def required_text(record: Record, field: str) -> str:
    """Return a required text field, stripped; a number is converted."""
    value = record.value.get(field)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise InputError(f"{record.place} has {field} {value!r}", f"give every question {field!r} as text")


def optional_list(record: Record, field: str) -> list[Any]:
    """Return a list field; empty if absent."""
    value = record.value.get(field) or []
    if isinstance(value, list):
        return value
    raise InputError(f"{record.place} has {field} {value!r:.80}", f"give {field!r} as a list")


def required_answer(record: Record) -> str:
    """Return the gold answer."""
    value = record.value.get("answer")
    if value is None or value == "":
        what = f"{record.place} has no gold answer"
        raise InputError(
            what,
            'give it one (Unknown if the documents do not contain it; the type "open" if there is no single right one), use the split of a '
            "release that has answers, or use --retrieval-only",
        )
    return required_text(record, "answer")


def malformed_field_error(record: Record, field: str, shape: str) -> InputError:
    """Return the error for a field that is not in the format of the release."""
    value = record.value.get(field)
    return InputError(f"{record.place} has {field} {value!r:.80}", f"give the file as released: {field} is {shape}")
