"""The parts of an address, and how much of it may be shown: the place, and of path and query what is no secret."""

import re
from typing import NamedTuple

MASK = "***"
ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>`|\\^]+")
LONG = 16
VERY_LONG = 32


class Parts(NamedTuple):
    """An address taken apart, also one that is not quite right."""

    scheme: str
    """With its divider."""
    user: str
    """User and password, as they are written."""
    host: str
    path: str
    query: str
    """With its ? or #, and all that follows."""


def parts_of(url: str) -> Parts:
    """Take an address apart; a password may hold a slash, though it should not."""
    before, divider, rest = url.partition("://")
    scheme, rest = (before + divider, rest) if divider else ("", url)
    place, query = _divided(rest)
    if "@" not in place and "@" in query and not re.fullmatch(r"[^:]+(:\d*)?|\[.*\](:\d*)?", place.partition("/")[0]):
        user, _, place = rest.rpartition("@")
        place, query = _divided(place)
    else:
        user, _, place = place.rpartition("@")
    host, slash, path = place.partition("/")
    return Parts(scheme, user, host, slash + path, query)


def shown(url: str) -> str:
    """Show an address without user, password, the values of its query, and parts of its path that look like keys."""
    parts = parts_of(url)
    path = "/".join(MASK if is_key_like(one) else one for one in parts.path.split("/"))
    query = re.sub(r"(?<=[?&;#])(?:([^=&;#]*=)[^&;#]*|[^=&;#]+)", lambda pair: (pair[1] or "") + MASK, parts.query)
    return parts.scheme + parts.host + path + query


def is_key_like(text: str) -> bool:
    """Tell what may be a key: long, and letters and digits mixed, or very long."""
    mixed = re.search(r"[^\W\d_]", text) and re.search(r"\d", text)
    return len(text) >= VERY_LONG or (len(text) >= LONG and mixed is not None)


def _divided(rest: str) -> tuple[str, str]:
    place = re.split(r"[?#]", rest, maxsplit=1)[0]
    return place, rest[len(place) :]
