"""How sure a model was of one field of its reply, read from the log probabilities of that field's tokens."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from ramify.tools.models.json_text import BROKEN, field_span, whole

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
