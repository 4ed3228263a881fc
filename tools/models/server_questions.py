"""Small questions to a server about itself, each with one deadline for the whole of the answer."""

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from ramify.tools.server_address import is_loopback

LONGEST = 2**24
"""Bytes of an answer that are read."""


@dataclass(frozen=True)
class Told:
    """What a server answered; `body` is None where that was no JSON."""

    status: int
    body: Any


def inquire(url: str, patience: float, asked: object = None, headers: Mapping[str, str] | None = None) -> Told | None:
    """Ask an address, by POST where there is something to say; None where no answer came whole in time. Blocking."""
    asking = partial(_inquire, url, patience, asked, dict(headers or {}))
    # An event loop of its own: only there can a trickling answer be cut off. A thread that has none is as good as another.
    if threading.current_thread() is not threading.main_thread() and not _has_loop():
        return asyncio.run(asking())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(asking())).result()


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _inquire(url: str, patience: float, asked: object, headers: dict[str, str]) -> Told | None:
    import httpx

    # Reading certificates takes longer than the question.
    client = httpx.AsyncClient(headers=headers, timeout=patience, trust_env=not is_loopback(url), verify=url.startswith("https:"))
    method, read = ("GET" if asked is None else "POST"), bytearray()
    try:
        async with asyncio.timeout(patience), client, client.stream(method, url, json=asked) as reply:
            async for part in reply.aiter_bytes():
                read += part
                if len(read) > LONGEST:
                    return None
            return Told(reply.status_code, _json(bytes(read)))
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
        return None


def _json(read: bytes) -> Any:
    try:
        return json.loads(read)
    except (ValueError, RecursionError):
        return None
