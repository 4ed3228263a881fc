"""Read the files of a release; what is not in the shape it was released in is refused, with its place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

from ramify.evaluation.load.records import Record, malformed, parse_json, read_text
from ramify.tools.errors import InputError

T = TypeVar("T", str, bool, int)

_SHAPES: Final = {str: "text", bool: "true or false", int: "a whole number"}


def read_object(file: Path) -> Record:
    """Read a file that is one JSON object."""
    place = repr(str(file))
    value = parse_json(read_text(file), place)
    if not isinstance(value, dict):
        raise InputError(f"{place} is {value!r:.80}, not an object", "give the file as released")
    return Record(place, value)


def given(record: Record, field: str, kind: type[T]) -> T:
    """Give a field of one kind as it stands there; text has to say something."""
    value = record.value.get(field)
    if type(value) is kind and str(value).strip():  # in Python true is a whole number
        return value
    raise malformed(record, field, _SHAPES[kind])


def texts(record: Record, field: str) -> list[str]:
    """Give a field that lists texts."""
    value = record.value.get(field)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise malformed(record, field, "a list of texts")


def parts(record: Record, field: str) -> Iterator[Record]:
    """Give the records that a field lists."""
    value = record.value.get(field)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise malformed(record, field, "a list of records")
    for number, item in enumerate(value, 1):
        yield Record(f"{field} {number} of {record.place}", item)
