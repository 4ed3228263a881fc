"""JSON inside a model's text: its objects, where a field's value stands, and halves of characters, which JSON can write and UTF-8 cannot.

Every character is looked at a bounded number of times, whatever the text: a model's reply is untrusted, and may be long.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

BROKEN = "\ufffd"
"""Stands for what is no whole character."""
HALF = re.compile("[\ud800-\udfff]")
ESCAPES = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
"""The escapes of a JSON text one by one, a pair of halves as one; the group is a half alone."""
DECODER = json.JSONDecoder(strict=False)  # models write raw line breaks into strings
BLANK = " \t\r\n"
_STRING = r'"[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+"'
START = re.compile(rf'{{(?=[{BLANK}]*+["}}])')
NAME = re.compile(rf"[{BLANK}]*+{_STRING}[{BLANK}]*+:[{BLANK}]*+")
PLAIN = re.compile(rf"{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false|null|NaN|-?Infinity")
NEXT = re.compile(rf"[{BLANK}]*+([,}}\]])")
SPACE = re.compile(rf"[{BLANK}]*+")
CLOSED = re.compile(rf"[{BLANK}]*+([}}\]])")
CLOSERS = {"{": "}", "[": "]"}


def whole(text: str) -> str:
    """Join the halves that make a character, and replace each that stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if HALF.search(text) else text


def objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Find the complete JSON objects in a text, outermost only, each with the place where it begins."""
    mended = ESCAPES.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], text)  # no half stands alone; nothing changes its place
    ends: dict[int, int | None] = {}
    place = 0
    while begun := START.search(text, place):
        start = begun.start()
        end = ends[start] if start in ends else _end(text, start, ends)
        place = end or start + 1
        if end is not None:
            try:
                value = DECODER.raw_decode(mended, start)[0]
            except (ValueError, RecursionError):  # a number of thousands of digits, brackets in thousands
                continue
            yield start, value


def field_span(text: str, field: str) -> tuple[int, int] | None:
    """Find where the value of a top-level field begins and ends, quotes left out; the last object that has it counts."""
    found = [start for start, value in objects(text) if field in value]
    if not found:
        return None
    # The members of a well-formed object, one after another; of two equal names the last counts, as in every JSON parser.
    span, position = None, found[-1] + 1
    while text[position := _skip(text, position, BLANK + ",")] != "}":
        name, position = DECODER.raw_decode(text, position)
        start = _skip(text, position, BLANK + ":")
        _, position = DECODER.raw_decode(text, start)
        if name == field:
            quoted = text[start] == '"'
            span = (start + quoted, position - quoted)
    return span


def _end(text: str, start: int, ends: dict[int, int | None]) -> int | None:
    """Find where the object that begins here ends; None where it is not one.

    What is found of those inside it is written down in `ends`, so that none is walked through again when the outer one fails.
    """
    inside: list[int] = []
    place: int | None = start
    while place is not None:  # a value is due here
        if place in ends or text[place : place + 1] not in CLOSERS:
            place = ends[place] if place in ends else _matched(PLAIN, text, place)
        else:
            inside.append(place)
            if not CLOSED.match(text, place + 1):
                place = _member(text, place, place + 1)
                continue
            place += 1
        while inside and place is not None and (follows := NEXT.match(text, place)) and follows[1] == CLOSERS[text[inside[-1]]]:
            ends[inside.pop()] = place = follows.end(1)
        if not inside:
            return place
        place = _member(text, inside[-1], follows.end()) if place is not None and follows and follows[1] == "," else None
    ends.update(dict.fromkeys(inside))
    return None


def _member(text: str, opened: int, place: int) -> int | None:
    """Find where the next value of an object or a list is due."""
    return _matched(NAME if text[opened] == "{" else SPACE, text, place)


def _matched(pattern: re.Pattern[str], text: str, place: int) -> int | None:
    found = pattern.match(text, place)
    return found.end() if found else None


def _skip(text: str, position: int, characters: str) -> int:
    while text[position] in characters:
        position += 1
    return position
