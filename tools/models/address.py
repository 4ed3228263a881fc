"""Addresses of model servers: which are on this machine, and how to show one."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from ramify.tools.address_parts import shown


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this machine."""
    name = urlsplit(url).hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def without_credentials(url: str) -> str:
    """Show an address without the user, the password and the keys it may carry."""
    return shown(url)


def is_address(url: str) -> bool:
    """Tell whether an address can be one of a server: a scheme, a host, and a port that is a number."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
