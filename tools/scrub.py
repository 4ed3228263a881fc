"""Secrets out of text and addresses: what errors, results, manifests and reports say goes through here before it leaves.

Known are the keys of the environment and what stands in addresses that were named; what looks like a key is taken for one in texts of
programs and servers. Data (passages, answers) loses only what is known.
"""

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ramify.tools.quoting import map_texts

MASK = "***"
ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>`|\\^]+")
LONG, VERY_LONG = 16, 32
"""Letters from which on a part of an address may be a key."""
HOLDS_A_KEY = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
"""Names of environment variables, and of an address's parameters."""
CARRIES_A_KEY = re.compile(rf"{HOLDS_A_KEY.pattern}|^(?:proxy_)?authorization$|^cookie$|(?:^|_)auth$", re.IGNORECASE)
"""Names of headers and parameters."""
WORD = re.compile(r"(?!\S+://)\S+")
"""What is neither several words nor an address."""
MARKED = (
    re.compile(r"(\bbearer\s+)[\w.~+/=-]{4,}", re.IGNORECASE),
    re.compile(r"(\bbasic\s+)(?=\S*[\d=])[\w+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(\b(?:api[-_ ]?key|access[-_]token|authorization|password)[\"']?\s*[:=]\s*[\"']?)[^\s\"',;}]{4,}", re.IGNORECASE),
    re.compile(r"(\b)(?:sk-[\w-]{6,}|hf_\w{16,}|gh[a-z]_\w{16,}|gsk_\w{16,}|AIza[\w-]{20,})"),
)
"""What is a key by what stands before it, or by its first letters."""
NAMES_AN_ADDRESS = re.compile(r"_(?:URL|HOST|BASE|ENDPOINT|PROXY)$", re.IGNORECASE)
SHORTEST = 4
"""A shorter secret would take letters out of words."""
SHORTEST_IN_DATA = 8

_learned: set[str] = set()


def scrub(text: str) -> str:
    """Take out of a message whatever is, or looks like, a secret."""
    text = ADDRESS.sub(lambda found: shown(found[0]), _without(text, SHORTEST))
    for pattern in MARKED:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def scrubbed(value: Any) -> Any:
    """Take secrets out of every text in plain values, as `scrub` does."""
    return map_texts(value, scrub)


def without_known(value: Any) -> Any:
    """Take the known secrets, and nothing else, out of every text in plain values."""
    return map_texts(value, lambda text: _without(text, SHORTEST_IN_DATA))


def learn(*secrets: str) -> None:
    """Take note of keys, to be kept out of all text from now on."""
    _note(secret for secret in secrets if _is_key(secret))


def learn_address(url: str) -> None:
    """Take note of what is secret in an address."""
    _note(_in_address(url))


def learn_named(sent: Mapping[str, Any]) -> None:
    """Take note of what is secret in headers and parameters: by its name, or as it looks. What lies deeper is looked through, too."""
    for name, value in sent.items():
        if isinstance(value, Mapping):
            learn_named(value)
        elif isinstance(value, str) and (CARRIES_A_KEY.search(name.replace("-", "_")) or (WORD.fullmatch(value) and is_key_like(value))):
            learn(value, value.rpartition(" ")[2])  # a key may stand behind its scheme


def _note(secrets: Iterable[str]) -> None:
    _learned.update(form for secret in secrets for form in _forms(secret))


def _is_key(value: str) -> bool:
    """Tell a key from what local servers are given where they ask for any key at all: "ollama", "EMPTY", "none"."""
    return len(value) >= SHORTEST_IN_DATA


def _without(text: str, shortest: int) -> str:
    secrets = frozenset(one for one in (*tuple(_learned), *_in_environment()) if len(one) >= shortest)
    return _any_of(secrets).sub(MASK, text) if secrets else text


@lru_cache(maxsize=32)
def _any_of(secrets: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(one) for one in sorted(secrets, key=lambda one: (-len(one), one))))


def _in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if HOLDS_A_KEY.search(name) and _is_key(value):
            yield from _forms(value)
        elif NAMES_AN_ADDRESS.search(name):
            yield from (form for secret in _in_address(value) for form in _forms(secret))


def _in_address(url: str) -> Iterator[str]:
    parts = parts_of(url)
    user, _, password = parts.user.partition(":")
    if parts.user:
        yield from (password or user, parts.user, base64.b64encode(unquote(parts.user).encode()).decode())
    for pair in re.split("[&;#]", parts.query):
        name, _, value = pair.rpartition("=")
        if HOLDS_A_KEY.search(name.replace("-", "_")) or is_key_like(value):
            yield value
    yield from filter(is_key_like, parts.path.split("/"))


@lru_cache(maxsize=1024)
def _forms(secret: str) -> frozenset[str]:
    """Give a secret as servers may repeat it: decoded, encoded, or quoted as in JSON."""
    secret = secret.strip()
    plain = unquote(secret)
    forms = (secret, plain, quote(plain, safe=""), quote(plain), json.dumps(plain)[1:-1], repr(plain)[1:-1])
    return frozenset(form for form in forms if len(form) >= SHORTEST)


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
