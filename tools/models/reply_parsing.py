"""Parse a model's reply: its thought, the JSON object in its text, and the confidence of a field by log probabilities.

Every character is visited a bounded number of times: a reply is untrusted, and may be long.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from ramify.tools.models.loose_json import close_brackets, decode_letters, decode_string, to_json
from ramify.tools.scrub import mask_known

CUT_OFF_REASONS = frozenset({"length", "max_tokens", "MAX_TOKENS"})
MAX_REPLY_CHARS = 2**17
"""Longer replies are rejected."""
MAX_WRAPPERS = 3
"""Most objects and lists around a reply."""
MAX_FAULTS = 8
"""Most validation errors reported to the model."""
MAX_SHOWN_CHARS = 1000
"""Characters stored of a longer reply."""
THOUGHT_START, THOUGHT_END = "<think>", "</think>"
REPLY_STARTS = ("{", "`")
"""Beginnings of a reply without a thought: an object, or a code fence."""
LEADING_THOUGHT = re.compile(rf"\s*+(?![{{`]).*?{THOUGHT_END}", re.DOTALL)
_AFTER_OBJECT = re.compile(r"(?<=\})\s*+(?:```\s*+)?(?:<\|[a-z_]{1,20}\|>|</s>)?\s*+\Z")
"""What may follow the object of a reply: the end of a code fence, an end token."""
THOUGHT_FIELD = "reasoning_content"
"""The field of `additional_kwargs` in which LangChain's clients store a thought."""
MAX_TOKENS = 2**31
"""Reported counts must be lower."""
MAX_UNWRITTEN = 16
"""Tokens or characters that a server may report in addition to the text, such as an end token."""


@dataclass(frozen=True)
class Structured:
    """A reply and the object parsed from it, with secrets masked; `error` is the reason if there is no object."""

    raw: AIMessage
    parsed: BaseModel | None
    error: str | None
    thought: bool = False
    """Whether the model thought before its reply, or instead of one."""
    cut_off: bool = False

    @property
    def bare(self) -> bool:
        """Return whether the text is nothing but an object (or its beginning, if cut off), as it is if a server enforces a schema."""
        text = self.raw.text.strip()
        return text.startswith("{") and (self.cut_off or text.endswith("}"))

    @property
    def remedy(self) -> str:
        """Return the remedy for a reply that cannot be parsed."""
        if self.thought and self.cut_off:
            return "raise num_predict and num_ctx, or use a model that does not think"
        return "try a larger model, or raise num_predict"


def read_reply(raw: AIMessage, parsed: object, schema: type[BaseModel]) -> Structured:
    """Return the reply with the object parsed by the client, or from the model's tool call or text."""
    if usage := raw.usage_metadata:  # clients set missing counts to 0, but a prompt always has tokens
        counts = usage.get("input_tokens"), usage.get("output_tokens")
        if not counts[0] or not all(type(count) is int and 0 <= count < MAX_TOKENS for count in counts):
            raw = raw.model_copy(update={"usage_metadata": None})
    raw, thought = move_thought(raw)
    called = [json.dumps(call["args"]) for call in raw.tool_calls] + [call["args"] or "" for call in raw.invalid_tool_calls]
    text = "\n".join(called) if called else raw.text
    if len(text) > MAX_REPLY_CHARS:
        shown = raw.model_copy(update={"content": text[:MAX_SHOWN_CHARS]})
        return Structured(shown, None, f"it is longer than {MAX_REPLY_CHARS:,} characters: write less")
    if SURROGATE.search(raw.text):
        raw = raw.model_copy(update={"content": join_surrogates(raw.text)})
    cut_off = bool(CUT_OFF_REASONS & {raw.response_metadata.get(name) for name in ("finish_reason", "done_reason", "stop_reason")})
    if isinstance(parsed, schema) and not cut_off and mask_known(text) == text:
        return Structured(raw, parsed, None, thought)
    value, error = parse_object(join_surrogates(text), schema, cut_off)
    if value is None and not called and not cut_off and not text.strip():
        raw, value = _reply_in_thought(raw, schema)
    if value is None and cut_off:
        error = "it thought until num_predict: think less" if thought else "it was cut off before its end: write less"
    return Structured(raw, value, error, thought, cut_off)


def parse_object(text: str, schema: type[BaseModel], cut_off: bool = False) -> tuple[BaseModel | None, str | None]:
    """Return the fullest object in a text that matches the schema, and the error if there is none; text around it is ignored.

    If none does as it is written, JSON in a string and what models write in place of JSON are read, and brackets missing at
    the end of a reply that was not cut off are added. Secrets that a server repeats are
    masked here, before long texts are truncated.
    """
    first_error = None
    decoded = decode_string(text)
    mended = to_json(decoded)
    for written in dict.fromkeys((text, decoded, mended)):
        value, error = _fullest_object(written, schema)
        if value is not None:
            return value, None
        first_error = first_error or error
    if not cut_off and (closed := close_brackets(mended)) != mended:
        value, _ = _fullest_object(closed, schema)
        if value is not None and value.model_fields_set >= set(schema.model_json_schema().get("required", ())):
            return value, None
    if first_error is None:
        first_error = "it contains no complete JSON object" if text.strip() else "it is empty"
    return None, first_error


def _fullest_object(text: str, schema: type[BaseModel]) -> tuple[BaseModel | None, str | None]:
    """Return the object with the most fields of those that match the schema, the last one of several; else the error of the first tried."""
    first_error = None
    for _, value in sort_by_fields(find_objects(text)):
        for form in _unwrapped(value, schema):
            try:
                return schema.model_validate(mask_known(decode_letters(form))), None
            except ValidationError as invalid:
                faults = [f"{'.'.join(map(str, fault['loc'])) or 'object'}: {fault['msg']}" for fault in invalid.errors()[:MAX_FAULTS]]
                first_error = first_error or "; ".join(faults)
    return None, first_error


def sort_by_fields(objects: Iterable[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """Return objects with their positions, those with the most fields first, then the last ones: a draft comes before the reply."""
    return sorted(objects, key=lambda item: (len(item[1]), item[0]), reverse=True)


def _unwrapped(value: Any, schema: type[BaseModel], depth: int = MAX_WRAPPERS) -> Iterator[dict[str, Any]]:
    """Yield an object, with its fields' names in the schema's case, and the objects in it: `{"response": {…}}`, `{"results": [{…}]}`."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = next((inner for _, inner in find_objects(value)), value)
    if isinstance(value, dict):
        names = {name.casefold(): name for name in schema.model_fields}
        yield {names.get(str(name).strip().casefold(), str(name)): part for name, part in value.items()}
    for part in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()) if depth else ():
        yield from _unwrapped(part, schema, depth - 1)


def _reply_in_thought(raw: AIMessage, schema: type[BaseModel]) -> tuple[AIMessage, BaseModel | None]:
    """Return the object at the end of a thought after which nothing was written: some servers take the whole reply for a thought."""
    thought = str(raw.additional_kwargs.get(THOUGHT_FIELD) or "")
    skipped = max(0, len(thought) - MAX_REPLY_CHARS)
    objects = list(find_objects(thought[skipped:]))
    if not objects:
        return raw, None
    start = skipped + objects[-1][0]
    reply = _AFTER_OBJECT.sub("", thought[start:])
    value = parse_object(reply, schema)[0] if reply.endswith("}") else None
    if value is None:
        return raw, None
    return raw.model_copy(update={"content": reply, "additional_kwargs": {**raw.additional_kwargs, THOUGHT_FIELD: thought[:start]}}), value


def move_thought(raw: AIMessage) -> tuple[AIMessage, bool]:
    """Move a thought in the text to LangChain's field for thoughts, and return whether the model thought at all."""
    hidden = _has_hidden_thought(raw)
    thought, reply = split_thought(raw.text)
    if reply != raw.text:
        kept = {**raw.additional_kwargs, THOUGHT_FIELD: f"{raw.additional_kwargs.get(THOUGHT_FIELD) or ''}{thought}"}
        raw = raw.model_copy(update={"content": reply, "additional_kwargs": kept})
    return raw, hidden or bool(raw.additional_kwargs.get(THOUGHT_FIELD))


def split_thought(text: str) -> tuple[str, str]:
    """Split a text into thought and reply; the reply is empty if the thought is unfinished."""
    position = 0
    while closed := LEADING_THOUGHT.match(text, position):
        position = closed.end()
    reply, opened, unfinished = text[position:], "", ""
    if not reply.lstrip().startswith(REPLY_STARTS):
        reply, opened, unfinished = reply.partition(THOUGHT_START)
    thought = (text[:position] + unfinished).replace(THOUGHT_START, "").replace(THOUGHT_END, "").strip()
    return (thought, reply) if position or opened else ("", text)


def text_so_far(written: str, field: str) -> str:
    """Return the text of a field of an unfinished reply; empty if the field has not begun."""
    _, reply = split_thought(join_surrogates(written))
    start = reply.find("{")
    try:
        value = from_json(reply[start:], allow_partial="trailing-strings") if start >= 0 else {}
    except ValueError:
        return ""
    text = value.get(field) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def _has_hidden_thought(raw: AIMessage) -> bool:
    """Return whether the server generated more than the text, by the length of the tokens or their number."""
    if raw.tool_calls or raw.invalid_tool_calls:
        return False
    text, usage = raw.text, raw.usage_metadata
    counted = usage["output_tokens"] if usage else 0
    tokens = [token.text for token in _tokens(raw.response_metadata.get("logprobs")) if REPLACEMENT_CHARACTER not in token.text]
    return counted > len(text.encode("utf-8", "surrogatepass")) + MAX_UNWRITTEN or sum(map(len, tokens)) > len(text) + MAX_UNWRITTEN


REPLACEMENT_CHARACTER = "\ufffd"
"""The replacement for lone surrogates, which JSON can escape and UTF-8 cannot encode."""
SURROGATE = re.compile("[\ud800-\udfff]")
ESCAPES = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
"""The escapes of a JSON text, a surrogate pair as one; the group is a lone surrogate."""
DECODER = json.JSONDecoder(strict=False)  # models write literal line breaks into strings
WHITESPACE = " \t\r\n"
_STRING = r'"[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+"'
OBJECT_START = re.compile(rf'{{(?=[{WHITESPACE}]*+["}}])')
MEMBER_NAME = re.compile(rf"[{WHITESPACE}]*+{_STRING}[{WHITESPACE}]*+:[{WHITESPACE}]*+")
SCALAR = re.compile(rf"{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false|null|NaN|-?Infinity")
SEPARATOR_OR_END = re.compile(rf"[{WHITESPACE}]*+([,}}\]])")
OPTIONAL_SPACE = re.compile(rf"[{WHITESPACE}]*+")
CLOSING_BRACKET = re.compile(rf"[{WHITESPACE}]*+([}}\]])")
CLOSING_BRACKETS = {"{": "}", "[": "]"}


def join_surrogates(text: str) -> str:
    """Join surrogate pairs to characters, and replace lone surrogates."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if SURROGATE.search(text) else text


def find_objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the complete outermost JSON objects in a text, each with its position."""
    mended = ESCAPES.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], text)  # without lone surrogates; the positions stay
    ends: dict[int, int | None] = {}
    position = 0
    while begun := OBJECT_START.search(text, position):
        start = begun.start()
        end = ends[start] if start in ends else _object_end(text, start, ends)
        position = end or start + 1
        if end is not None:
            try:
                value = DECODER.raw_decode(mended, start)[0]
            except (ValueError, RecursionError):  # thousands of digits or nested brackets
                continue
            yield start, value


def field_span(text: str, field: str) -> tuple[int, int] | None:
    """Return start and end of a top-level field's value, without quotes, in the fullest object that has the field."""
    objects = sort_by_fields((start, value) for start, value in find_objects(text) if field in value)
    if not objects:
        return None
    # Of duplicate names the last one is used, as in JSON parsers.
    span, position = None, objects[0][0] + 1
    while text[position := _skip_characters(text, position, WHITESPACE + ",")] != "}":
        name, position = DECODER.raw_decode(text, position)
        start = _skip_characters(text, position, WHITESPACE + ":")
        _, position = DECODER.raw_decode(text, start)
        if name == field:
            quoted = text[start] == '"'
            span = (start + quoted, position - quoted)
    return span


def _object_end(text: str, start: int, ends: dict[int, int | None]) -> int | None:
    """Return the end of the value that begins at `start`; None if it is malformed.

    The ends of nested values are stored in `ends`, so that none is scanned twice.
    """
    inside: list[int] = []
    position: int | None = start
    while position is not None:  # a value is expected here
        if position in ends or text[position : position + 1] not in CLOSING_BRACKETS:
            position = ends[position] if position in ends else _match_end(SCALAR, text, position)
        else:
            inside.append(position)
            if not CLOSING_BRACKET.match(text, position + 1):
                position = _member_start(text, position, position + 1)
                continue
            position += 1
        while (
            inside
            and position is not None
            and (follows := SEPARATOR_OR_END.match(text, position))
            and follows[1] == CLOSING_BRACKETS[text[inside[-1]]]
        ):
            ends[inside.pop()] = position = follows.end(1)
        if not inside:
            return position
        position = _member_start(text, inside[-1], follows.end()) if position is not None and follows and follows[1] == "," else None
    ends.update(dict.fromkeys(inside))
    return None


def _member_start(text: str, opened: int, position: int) -> int | None:
    """Return the position of the next value in an object or list."""
    return _match_end(MEMBER_NAME if text[opened] == "{" else OPTIONAL_SPACE, text, position)


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int | None:
    match = pattern.match(text, position)
    return match.end() if match else None


def _skip_characters(text: str, position: int, characters: str) -> int:
    while text[position] in characters:
        position += 1
    return position


MAX_LOGPROB = 1e-3
"""Log probabilities up to this are rounded zeros; higher ones are invalid."""
MIN_LOGPROB = -1e6
"""Lower log probabilities are raised to this, so that the sum does not overflow; the confidence is 0 in either case."""

Span = tuple[int, int]


@dataclass(frozen=True)
class _Token:
    text: str
    logprob: float
    raw: bytes | None


def span_confidence(message: AIMessage, field: str) -> float | None:
    """Return the geometric mean probability, in [0, 1], of the tokens of a top-level field's value.

    None if log probabilities are missing or invalid, the field is missing or empty, or the tokens do not match the text.
    """
    tokens = _tokens(message.response_metadata.get("logprobs"))
    text = message.text
    span = field_span(text, field) if tokens else None
    spans = (_spans_by_bytes(tokens, text) or _spans_by_text(tokens, text)) if span else None  # each token's span in characters
    if span is None or spans is None:
        return None
    start, end = span
    logprobs = [token.logprob for token, (first, last) in zip(tokens, spans, strict=True) if first < end and last > start]
    if not logprobs or not all(math.isfinite(logprob) and logprob <= MAX_LOGPROB for logprob in logprobs):
        return None
    return min(1.0, math.exp(math.fsum(max(logprob, MIN_LOGPROB) for logprob in logprobs) / len(logprobs)))


def _tokens(logprobs: Any) -> list[_Token]:
    """Return the tokens in Ollama's format (a list) or OpenAI's (a list under `content`); empty for other values."""
    entries = logprobs.get("content") if isinstance(logprobs, Mapping) else logprobs
    tokens = [_token(entry) for entry in entries] if isinstance(entries, list | tuple) else []
    return [token for token in tokens if token] if all(tokens) else []


def _token(entry: Any) -> _Token | None:
    fields = entry if isinstance(entry, Mapping) else getattr(entry, "__dict__", {})
    text, logprob, raw = fields.get("token"), fields.get("logprob"), fields.get("bytes")
    if not isinstance(text, str) or not isinstance(logprob, float | int) or not isinstance(raw, list | None):
        return None
    try:
        return _Token(join_surrogates(text), float(logprob), None if raw is None else bytes(raw))
    except (OverflowError, TypeError, ValueError):  # a number too large, or invalid bytes
        return None


def _spans_by_bytes(tokens: list[_Token], text: str) -> list[Span] | None:
    """Return the tokens' spans in the text by their bytes; the text is their last part, since a thought may precede it."""
    parts = [token.text.encode() if token.raw is None else token.raw for token in tokens]
    content, joined = text.encode(), b"".join(parts)
    # Backwards, because `rfind` is quadratic where `find` is not.
    start = joined[::-1].find(content[::-1])
    if start < 0:
        return None
    before = len(joined) - start - len(content)
    # The character of each byte, and one more entry for the end.
    characters = [number for number, character in enumerate(text) for _ in character.encode()] + [len(text)]
    spans, position = [], -before
    for part in parts:
        first, last = (min(max(offset, 0), len(content)) for offset in (position, position + len(part)))
        spans.append((characters[first], characters[last - 1] + 1) if last > first else (characters[first], characters[first]))
        position += len(part)
    return spans


def _spans_by_text(tokens: list[_Token], text: str) -> list[Span] | None:
    """Return the tokens' spans by their texts; tokens with broken characters share the text between the others."""
    spans: list[Span] = []
    position, broken = 0, 0
    for token in tokens:
        if REPLACEMENT_CHARACTER in token.text:
            broken += len(token.text)
            spans.append((position, -1))
            continue
        start = text.find(token.text, position, position + broken + len(token.text))
        if start < 0:
            return None
        spans.append((start, start + len(token.text)))
        position, broken = start + len(token.text), 0
    return _close_gaps(spans, len(text)) if len(text) - position <= broken else None


def _close_gaps(spans: list[Span], end: int) -> list[Span]:
    """Extend each broken token to the next unbroken one."""
    closed: list[Span] = []
    for first, last in reversed(spans):
        closed.append((first, end if last < 0 else last))
        end = end if last < 0 else first
    return closed[::-1]
