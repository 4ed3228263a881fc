from collections.abc import AsyncIterator

import httpx
from hypothesis import given
from hypothesis import strategies as st

from ramify.tools.models._clients import RepairedStream

PIECES = [b"\\\\", b"\\ud83d", b"\\ude00", b"\\n", b"a", b"\\u00e9", b"\\", b"u"]


class Parts(httpx.AsyncByteStream):
    def __init__(self, parts: list[bytes]) -> None:
        self.parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            yield part


async def mended(*parts: bytes) -> bytes:
    return b"".join([part async for part in RepairedStream(Parts(list(parts)))])


async def test_half_a_character_is_replaced_and_a_whole_one_is_not() -> None:
    assert await mended(rb'{"a": "\ud83d, \ude00, \ud83d\ude00, \\ud83d"}') == rb'{"a": "\ufffd, \ufffd, \ud83d\ude00, \\ud83d"}'


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.lists(st.integers(0, 60), max_size=5).map(sorted))
async def test_where_a_stream_is_cut_does_not_matter(data: bytes, cuts: list[int]) -> None:
    parts = [data[first:last] for first, last in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert await mended(*parts) == await mended(data)
