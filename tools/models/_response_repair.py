"""Repair server responses that a client would reject as a whole: halves of characters, and token counts that are no whole numbers."""

import re
from collections.abc import AsyncIterator
from typing import Any

PAIR = rb"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
ESCAPES = re.compile(rb"\\(?:" + PAIR + rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)?", re.DOTALL)
LONGEST_ESCAPE = len(r"\ud83d\ude00")
COUNT = re.compile(
    rb'(?<!\\)"((?:prompt_)?eval_count|[a-z_]+_tokens)"\s*:\s*(?!(?:null|-?\d{1,18})\s*[,}])'
    rb'(?:-?[\d.]+(?:[eE][-+]?\d+)?|NaN|-?Infinity|true|false|"[^"\\]*"|\[[^][]*\]|\{[^{}]*\})'
)


class _Repaired:
    """A stream of JSON in which some parts are replaced."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def aclose(self) -> None:
        """Close the original stream."""
        await self._stream.aclose()


class WithoutSurrogates(_Repaired):
    """A stream of JSON in which an escape that is half a character is replaced."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts, an incomplete escape together with its rest."""
        held = b""
        async for part in self._stream:
            data = held + part
            begun = (escape.start() for escape in ESCAPES.finditer(data) if escape.start() > len(data) - LONGEST_ESCAPE)
            cut = next(begun, len(data))
            held = data[cut:]
            yield self._replace(data[:cut])
        yield self._replace(held)

    def _replace(self, data: bytes) -> bytes:
        return ESCAPES.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data)


class WithoutInvalidCounts(_Repaired):
    """A stream of JSON, one object a line, in which token counts are null where they are no whole numbers."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield whole lines."""
        held: list[bytes] = []
        async for part in self._stream:
            whole, ended, begun = part.rpartition(b"\n")
            if ended:
                yield COUNT.sub(rb'"\1":null', b"".join((*held, whole, ended)))
                held = []
            held.append(begun)
        yield COUNT.sub(rb'"\1":null', b"".join(held))


async def replace_surrogates(response: Any) -> None:
    """Repair a response's characters, unless it is compressed."""
    _repair(response, WithoutSurrogates)


async def drop_invalid_counts(response: Any) -> None:
    """Repair a response's token counts, unless it is compressed."""
    _repair(response, WithoutInvalidCounts)


def _repair(response: Any, repaired: type[_Repaired]) -> None:
    """Exchange the stream of a response of httpx or of another library of its kind, whose class of streams the repaired one must have."""
    if "content-encoding" not in response.headers and hasattr(response.stream, "__aiter__"):
        response.stream = type(repaired.__name__, (repaired, type(response.stream)), {})(response.stream)
