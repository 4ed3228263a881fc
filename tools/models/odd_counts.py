"""Ollama's replies without counts of tokens that are no whole numbers: its client refuses a whole reply for one."""

import re
from collections.abc import AsyncIterator

import httpx

COUNT = re.compile(rb'(?<!\\)"((?:prompt_)?eval_count)"\s*:\s*(?!-?\d{1,18}\s*[,}])(?:-?[\d.]+(?:[eE][-+]?\d+)?|NaN|-?Infinity|"[^"\\]*")')


class WithoutOddCounts(httpx.AsyncByteStream):
    """A stream of JSON, an object a line, in which such a count stands for none."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Hold a line back until it has come whole."""
        held: list[bytes] = []
        async for part in self._stream:
            whole, ended, begun = part.rpartition(b"\n")
            if ended:
                yield _without_odd_counts(b"".join((*held, whole, ended)))
                held = []
            held.append(begun)
        yield _without_odd_counts(b"".join(held))

    async def aclose(self) -> None:
        """Close the stream itself."""
        await self._stream.aclose()


async def drop_odd_counts(response: httpx.Response) -> None:
    """Mend a response's stream; what is compressed is left alone."""
    if "content-encoding" not in response.headers and isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = WithoutOddCounts(response.stream)


def _without_odd_counts(lines: bytes) -> bytes:
    return COUNT.sub(rb'"\1":null', lines)
