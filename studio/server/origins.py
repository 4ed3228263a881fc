"""Whose pages may use the development server: this machine's, the hosted Studio page's, and those that its operator adds."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from ramify.tools.errors import UsageError

LOOPBACK = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
HOSTED = "https://smith.langchain.com"
"""LangGraph Studio, which runs in the browser and asks the server from there."""
PORTS = {"http": 80, "https": 443}


def pattern(added: Sequence[str] = ()) -> str:
    """Give the one list of origins, as an expression that the whole of an origin has to match."""
    return "|".join((LOOPBACK, *(re.escape(origin) for origin in (HOSTED, *added))))


def origin_of(url: str) -> str:
    """Write an address as a browser names its origin; UsageError where it is none."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise _no_origin(url) from None
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise _no_origin(url)
    return f"{parts.scheme}://{place(parts.hostname, None if port == PORTS[parts.scheme] else port)}"


def place(host: str, port: int | None) -> str:
    """Write a host and its port as addresses do."""
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"


def _no_origin(url: str) -> UsageError:
    return UsageError(f"--allow-origin {url!r} is no origin", "write it as https://studio.example or http://192.168.1.5:2024")
