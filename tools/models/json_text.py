"""JSON objects inside a model's text: between fences, after a preamble, and where a field's value stands."""

import json
from collections.abc import Iterator
from typing import Any

DECODER = json.JSONDecoder(strict=False)  # models write raw line breaks into strings
BLANK = " \t\r\n"


def objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Find the complete JSON objects in a text, outermost only, each with the place where it begins."""
    start = text.find("{")
    while start >= 0:
        try:
            value, end = DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            end = start + 1
        else:
            yield start, value
        start = text.find("{", end)


def field_span(text: str, field: str) -> tuple[int, int] | None:
    """Find where the value of a top-level field begins and ends, quotes left out; the last object that has it counts."""
    found = [start for start, value in objects(text) if field in value]
    return _span(text, found[-1] + 1, field) if found else None


def _span(text: str, position: int, field: str) -> tuple[int, int] | None:
    """Walk over the members of a well-formed object; of two equal names the last counts, as in every JSON parser."""
    span = None
    while text[position := _skip(text, position, BLANK + ",")] != "}":
        name, position = DECODER.raw_decode(text, position)
        start = _skip(text, position, BLANK + ":")
        _, position = DECODER.raw_decode(text, start)
        if name == field:
            quoted = text[start] == '"'
            span = (start + quoted, position - quoted)
    return span


def _skip(text: str, position: int, characters: str) -> int:
    while text[position] in characters:
        position += 1
    return position
