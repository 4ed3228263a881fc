"""Addresses of model servers: refuse several in one setting, recognise local ones, find Ollama's."""

import os
import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ramify.tools.errors import UsageError
from ramify.tools.scrub import mask_address

ADDRESS_SEPARATOR = re.compile(r"(?<![\s,])[\s,]++(?=[a-z][a-z0-9+.-]*+://)", re.IGNORECASE)
"""White space or commas before another address; a comma within a password or query does not match."""
BARE_HOSTS = re.compile(r"[^/?#@]+")
"""Hosts without a scheme, as OLLAMA_HOST may contain."""
OLLAMA_START = "start it with `ollama serve`"
OLLAMA_PORT = 11434
DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK_BY_WILDCARD = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
"""OLLAMA_HOST may be the server's wildcard address, to which clients cannot connect."""


def split_addresses(text: str | None) -> tuple[str, ...]:
    """Return the addresses in a text, separated by spaces or commas, without duplicates."""
    text = (text or "").strip(" \t\r\n,")
    parts = re.split(r"[\s,]+", text) if BARE_HOSTS.fullmatch(text) else ADDRESS_SEPARATOR.split(text)
    return tuple({part.rstrip("/"): part for part in parts if part}.values())


def single_address(value: Any) -> Any:
    """Return the one address in a text or a list; UsageError if there are several, other values are unchanged."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        value = " ".join(value) or None
    addresses = split_addresses(value) if isinstance(value, str) else ()
    if len(addresses) > 1:
        what = f"base_url names {len(addresses)} model servers: {', '.join(map(mask_address, addresses))}"
        raise UsageError(what, "put a proxy before them and name its address alone (docs/operating.md, Several model servers)")
    return addresses[0] if addresses else value


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine."""
    name = urlsplit(url).hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def is_server_address(url: str) -> bool:
    """Return whether a text is the address of one HTTP server: with scheme, host and, if any, a valid port."""
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
        port = parts.port or (DEFAULT_PORTS.get(scheme, OLLAMA_PORT) if divider else OLLAMA_PORT)
    except ValueError:
        raise UsageError(f"{mask_address(named)!r} is not an address", "write it as http://127.0.0.1:11434") from None
    name = parts.hostname or ""
    name = LOOPBACK_BY_WILDCARD.get(name, name)
    credentials = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    host = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return urlunsplit((scheme or "http", credentials + host, parts.path.rstrip("/"), "", ""))
