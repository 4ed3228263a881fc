"""Addresses of model servers: how several are written, which are on this machine, how to show one, and where Ollama is."""

import os
import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ramify.tools.errors import UsageError
from ramify.tools.scrub import shown

BETWEEN = re.compile(r"[\s,]+(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
"""What divides two addresses: a password or a query may hold a comma, too, but not one with an address behind it."""
BARE = re.compile(r"[^/?#@]+")
"""Hosts without a scheme, as Ollama's may be written."""
OLLAMA_START = "start it with `ollama serve`"
OLLAMA_PORT = 11434
PORTS = {"http": 80, "https": 443}
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
"""OLLAMA_HOST is also what the server listens on: on all addresses, which is nowhere to connect to."""


def addresses(text: str | None) -> tuple[str, ...]:
    """List the addresses that are written with spaces or commas between them, each once."""
    text = (text or "").strip(" \t\r\n,")
    parts = re.split(r"[\s,]+", text) if BARE.fullmatch(text) else BETWEEN.split(text)
    return tuple({part.rstrip("/"): part for part in parts if part}.values())


def as_one_text(value: Any) -> Any:
    """Write one address or several as one text, with spaces between, which is what a form has a field for; anything else as it is."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        value = " ".join(value) or None
    return " ".join(addresses(value)) or value if isinstance(value, str) else value


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine."""
    name = urlsplit(url).hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def without_credentials(url: str) -> str:
    """Show an address, or several, without the users, the passwords and the keys they may carry."""
    several = addresses(url)
    return " ".join(map(shown, several)) if len(several) > 1 else shown(url)


def is_address(url: str) -> bool:
    """Return whether an address can be a server's: a scheme, a host, and a port that is a number."""
    try:
        parts = urlsplit(url)
        alone = "," not in (parts.hostname or "") + parts.path  # a second one, without its scheme
        return parts.scheme in ("http", "https") and bool(parts.hostname) and alone and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def ollama_host(base_url: str | None) -> str:
    """Return the address of Ollama's server: the one named, else OLLAMA_HOST in any of its forms, else Ollama's own."""
    named = base_url or os.environ.get("OLLAMA_HOST") or ""
    scheme, divider, rest = named.strip().strip("\"'").rpartition("://")
    parts = urlsplit(f"//{rest}")
    try:
        port = parts.port or (PORTS.get(scheme, OLLAMA_PORT) if divider else OLLAMA_PORT)
    except ValueError:
        raise UsageError(f"{without_credentials(named)!r} is not an address", "write it as http://127.0.0.1:11434") from None
    name = parts.hostname or ""
    name = ANY_ADDRESS.get(name, name)
    credentials = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    place = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return urlunsplit((scheme or "http", credentials + place, parts.path.rstrip("/"), "", ""))
