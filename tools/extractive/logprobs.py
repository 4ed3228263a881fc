"""Log probabilities in the form a server gives them, made from one confidence."""

import json
import math
import re
from typing import Any, TypedDict

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_LEAST = 1e-6


class TokenLogprob(TypedDict):
    """A token and its log probability, as Ollama writes them."""

    token: str
    logprob: float


def write(reply: dict[str, Any], confidence: float, field: str = "answer") -> tuple[str, list[TokenLogprob]]:
    """Write a reply as JSON, with tokens of which those of the field's value carry the confidence."""
    before, inside, after = _parts(reply, field)
    # Rounded, because the last digits of an encoder depend on what else was in its batch.
    logprob = round(math.log(max(confidence, _LEAST)), 7)
    tokens = [*_tokens(before, 0.0), *_tokens(inside, logprob), *_tokens(after, 0.0)]
    return before + inside + after, tokens


def _parts(reply: dict[str, Any], field: str) -> tuple[str, str, str]:
    text = json.dumps(reply, ensure_ascii=False)
    if not isinstance(reply.get(field), str):
        return text, "", ""
    keys = list(reply)
    head = {key: reply[key] for key in keys[: keys.index(field)]}
    opened = json.dumps(head, ensure_ascii=False)[:-1] + (", " if head else "")
    start = len(opened) + len(json.dumps(field, ensure_ascii=False)) + len(': "')
    end = start + len(json.dumps(reply[field], ensure_ascii=False)) - 2
    return text[:start], text[start:end], text[end:]


def _tokens(text: str, logprob: float) -> list[TokenLogprob]:
    return [{"token": token, "logprob": logprob} for token in _TOKEN.findall(text)]
