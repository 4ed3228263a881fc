"""Addresses of model servers: which are on this machine, and how to show one."""

from ipaddress import ip_address
from urllib.parse import urlsplit


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
    """Show an address without the user and password it may carry."""
    before, divider, rest = url.rpartition("://")
    authority, slash, path = rest.partition("/")
    return before + divider + authority.rpartition("@")[2] + slash + path
