"""Replies without halves of characters: the clients refuse a whole reply for one."""

import re
from collections.abc import AsyncIterator

import httpx

PAIR = rb"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
ESCAPES = re.compile(rb"\\(?:" + PAIR + rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)?", re.DOTALL)
LONGEST = len(r"\ud83d\ude00")


class Mended(httpx.AsyncByteStream):
    """A stream of JSON in which an escape that is half a character stands for none."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Hold an escape back until it has come whole."""
        held = b""
        async for part in self._stream:
            data = held + part
            begun = (escape.start() for escape in ESCAPES.finditer(data) if escape.start() > len(data) - LONGEST)
            cut = next(begun, len(data))
            held = data[cut:]
            yield _mended(data[:cut])
        yield _mended(held)

    async def aclose(self) -> None:
        """Close the stream itself."""
        await self._stream.aclose()


async def mend(response: httpx.Response) -> None:
    """Mend a response's stream; what is compressed is left alone."""
    if "content-encoding" not in response.headers and isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = Mended(response.stream)


def _mended(data: bytes) -> bytes:
    return ESCAPES.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data)
