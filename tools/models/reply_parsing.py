"""What a model wrote, read as one object of a given type, and apart from it what the model thought before."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from ramify.tools.scrub import without_known

CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})
LONGEST = 2**17
"""Characters of a reply that is read at all: a good deal more than any model writes in one go."""
TOLD = 8
"""Faults of an object that the model is told of."""
SHOWN = 1000
"""Characters that are kept of a longer one."""
OPENED, CLOSED = "<think>", "</think>"
BEGUN = ("{", "`")
"""How a reply begins that has no thought before it: as an object, or as a fence around one."""
BEFORE = re.compile(rf"\s*+(?![{{`]).*?{CLOSED}", re.DOTALL)
KEPT = "reasoning_content"
"""Where LangChain's clients keep a thought that came apart from the reply."""
MOST_TOKENS = 2**31
"""No prompt or reply has so many; a server that tells of more tells nothing."""
UNWRITTEN = 16
"""Tokens, or characters of them, that a server may tell of beside those of the text: marks of the end."""


@dataclass(frozen=True)
class Structured:
    """A reply as it came, and as the object it was to be, without keys; `error` says why there is none."""

    raw: AIMessage
    parsed: BaseModel | None
    error: str | None
    thought: bool = False
    """Whether the model thought before it wrote, or instead."""
    cut_off: bool = False

    @property
    def bare(self) -> bool:
        """Tell whether the text is an object and nothing else, as far as it goes: so it is where a server holds it to that."""
        text = self.raw.text.strip()
        return text.startswith("{") and (self.cut_off or text.endswith("}"))

    @property
    def remedy(self) -> str:
        """Say what the user can do about a reply that cannot be read."""
        if self.thought and self.cut_off:
            return "raise num_predict and num_ctx, or take a model that does not think"
        return "try a larger model, or raise num_predict"


def read(raw: AIMessage, parsed: object, schema: type[BaseModel]) -> Structured:
    """Take the object that the client parsed, or the one written in the model's tool call or text."""
    if raw.usage_metadata and not all(_is_count(raw.usage_metadata.get(name)) for name in ("input_tokens", "output_tokens")):
        raw = raw.model_copy(update={"usage_metadata": None})
    raw, thought = apart(raw)
    called = [json.dumps(call["args"]) for call in raw.tool_calls] + [call["args"] or "" for call in raw.invalid_tool_calls]
    text = "\n".join(called) if called else raw.text
    if len(text) > LONGEST:
        shown = raw.model_copy(update={"content": text[:SHOWN]})
        return Structured(shown, None, f"it is longer than {LONGEST:,} characters: write less")
    if HALF.search(raw.text):
        raw = raw.model_copy(update={"content": whole(raw.text)})
    cut_off = bool(CUT_OFF & {raw.response_metadata.get(name) for name in ("finish_reason", "done_reason", "stop_reason")})
    if isinstance(parsed, schema) and not cut_off and without_known(text) == text:
        return Structured(raw, parsed, None, thought)
    found, error = parse(whole(text), schema)
    if found is None and cut_off:
        error = "it thought until num_predict: think less" if thought else "it was cut off before its end: write less"
    return Structured(raw, found, error, thought, cut_off)


def parse(text: str, schema: type[BaseModel]) -> tuple[BaseModel | None, str | None]:
    """Read the last object in a text that is one of the schema; fences and words around it do not matter.

    Keys that a server repeats are masked here, before long texts are cut, so that nothing that comes of a reply holds one.
    """
    error = "it is empty" if not text.strip() else "it holds no complete JSON object"
    for _, value in reversed(list(objects(text))):
        try:
            return schema.model_validate(without_known(value)), None
        except ValidationError as invalid:
            error = "; ".join(f"{'.'.join(map(str, told['loc'])) or 'object'}: {told['msg']}" for told in invalid.errors()[:TOLD])
    return None, error


def apart(raw: AIMessage) -> tuple[AIMessage, bool]:
    """Move what the model thought in its text to where LangChain keeps thoughts, and tell whether it thought at all."""
    hidden = _hidden(raw)
    thought, said = parted(raw.text)
    if said != raw.text:
        kept = {**raw.additional_kwargs, KEPT: f"{raw.additional_kwargs.get(KEPT) or ''}{thought}"}
        raw = raw.model_copy(update={"content": said, "additional_kwargs": kept})
    return raw, hidden or bool(raw.additional_kwargs.get(KEPT))


def parted(text: str) -> tuple[str, str]:
    """Part a text into thought and reply; of a thought that does not end nothing is reply."""
    place = 0
    while closed := BEFORE.match(text, place):
        place = closed.end()
    said, opened, unended = text[place:], "", ""
    if not said.lstrip().startswith(BEGUN):
        said, opened, unended = said.partition(OPENED)
    thought = (text[:place] + unended).replace(OPENED, "").replace(CLOSED, "").strip()
    return (thought, said) if place or opened else ("", text)


def text_so_far(written: str, field: str) -> str:
    """Return what an unfinished reply holds of a text field of its object; empty where that has not begun."""
    _, said = parted(written)
    start = said.find("{")
    try:
        told = from_json(said[start:], allow_partial="trailing-strings") if start >= 0 else {}
    except ValueError:
        return ""
    text = told.get(field) if isinstance(told, dict) else None
    return text if isinstance(text, str) else ""


def _is_count(told: object) -> bool:
    """Tell a number of tokens from what a server may send in its place: negative, fractional, a text."""
    return type(told) is int and 0 <= told < MOST_TOKENS


def _hidden(raw: AIMessage) -> bool:
    """Tell whether the server wrote more than the text: tokens that spell more, or more of them than the text has bytes."""
    if raw.tool_calls or raw.invalid_tool_calls:
        return False
    text, told = raw.text, raw.usage_metadata
    counted = told["output_tokens"] if told else 0
    return counted > len(text.encode("utf-8", "surrogatepass")) + UNWRITTEN or spelled(raw) > len(text) + UNWRITTEN


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
SCALAR = re.compile(rf"{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false|null|NaN|-?Infinity")
NEXT = re.compile(rf"[{BLANK}]*+([,}}\]])")
SPACE = re.compile(rf"[{BLANK}]*+")
CLOSING = re.compile(rf"[{BLANK}]*+([}}\]])")
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
            place = ends[place] if place in ends else _matched(SCALAR, text, place)
        else:
            inside.append(place)
            if not CLOSING.match(text, place + 1):
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


ROUNDING = 1e-3
"""A log probability above zero by no more than this is a rounded zero; anything higher is no log probability."""
LEAST = -1e6
"""A lower log probability is taken for this one: it makes a confidence 0, too, and sums of it are no overflow."""

Span = tuple[int, int]


@dataclass(frozen=True)
class _Token:
    text: str
    logprob: float
    raw: bytes | None


def span_confidence(message: AIMessage, field: str) -> float | None:
    """Give the geometric mean probability of the tokens that spell a top-level field's value.

    None where the server sent no log probabilities or something else in their place, the field is not there or empty, or the tokens do
    not spell the text.
    """
    tokens = _tokens(message.response_metadata.get("logprobs"))
    text = message.text
    span = field_span(text, field) if tokens else None
    places = (_by_bytes(tokens, text) or _by_text(tokens, text)) if span else None  # where each token stands, in characters
    if span is None or places is None:
        return None
    start, end = span
    told = [token.logprob for token, (first, last) in zip(tokens, places, strict=True) if first < end and last > start]
    if not told or not all(math.isfinite(logprob) and logprob <= ROUNDING for logprob in told):
        return None
    return min(1.0, math.exp(math.fsum(max(logprob, LEAST) for logprob in told) / len(told)))


def spelled(message: AIMessage) -> int:
    """Count the characters of the tokens that log probabilities are told of, broken ones left out."""
    return sum(len(token.text) for token in _tokens(message.response_metadata.get("logprobs")) if BROKEN not in token.text)


def without_logprobs(message: AIMessage) -> AIMessage:
    """Copy a message without its log probabilities: thousands of numbers that no state or checkpoint should carry."""
    kept = {name: value for name, value in message.response_metadata.items() if name != "logprobs"}
    return message.model_copy(update={"response_metadata": kept})


def _tokens(told: Any) -> list[_Token]:
    """Read Ollama's form (a list) and OpenAI's (a list under `content`); of anything else none."""
    if isinstance(told, Mapping):
        told = told.get("content")
    tokens = [_token(entry) for entry in told] if isinstance(told, list | tuple) else []
    return [token for token in tokens if token] if all(tokens) else []


def _token(entry: Any) -> _Token | None:
    told = entry if isinstance(entry, Mapping) else getattr(entry, "__dict__", {})
    text, logprob, raw = told.get("token"), told.get("logprob"), told.get("bytes")
    if not isinstance(text, str) or not isinstance(logprob, float | int) or not isinstance(raw, list | None):
        return None
    try:
        return _Token(whole(text), float(logprob), None if raw is None else bytes(raw))
    except (OverflowError, TypeError, ValueError):  # a number too large, or bytes that are none
        return None


def _by_bytes(tokens: list[_Token], text: str) -> list[Span] | None:
    """Join the tokens' bytes; the text is the last part of them that equals it (a model may have thought before)."""
    parts = [token.text.encode() if token.raw is None else token.raw for token in tokens]
    content, joined = text.encode(), b"".join(parts)
    # Backwards, because `rfind` is quadratic where `find` is not.
    found = joined[::-1].find(content[::-1])
    if found < 0:
        return None
    before = len(joined) - found - len(content)
    # The character that byte n belongs to; one more entry for the end.
    characters = [number for number, character in enumerate(text) for _ in character.encode()] + [len(text)]
    places, position = [], -before
    for part in parts:
        first, last = (min(max(place, 0), len(content)) for place in (position, position + len(part)))
        places.append((characters[first], characters[last - 1] + 1) if last > first else (characters[first], characters[first]))
        position += len(part)
    return places


def _by_text(tokens: list[_Token], text: str) -> list[Span] | None:
    """Walk along the text; tokens with broken characters share what lies between the whole ones."""
    places: list[Span] = []
    position, broken = 0, 0
    for token in tokens:
        if BROKEN in token.text:
            broken += len(token.text)
            places.append((position, -1))
            continue
        found = text.find(token.text, position, position + broken + len(token.text))
        if found < 0:
            return None
        places.append((found, found + len(token.text)))
        position, broken = found + len(token.text), 0
    return _close_gaps(places, len(text)) if len(text) - position <= broken else None


def _close_gaps(places: list[Span], end: int) -> list[Span]:
    """Let each broken token reach to where the next whole one begins."""
    closed: list[Span] = []
    for first, last in reversed(places):
        closed.append((first, end if last < 0 else last))
        end = end if last < 0 else first
    return closed[::-1]
