"""Mask secrets in texts, addresses and logs: all that errors, results, manifests and reports say passes through here.

Known secrets are the keys of the environment and those in addresses that were named. In texts of programs and servers whatever looks like a
key is masked, too; in data (passages, answers) only known secrets are.
"""

import base64
import json
import logging
import os
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ramify.tools.quoting import map_texts

MASK = "***"
ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>`|\\^]+")
LONG, VERY_LONG = 16, 32
"""Lengths from which a part of an address may be a key."""
HOLDS_A_KEY = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
"""Names of environment variables, and of an address's parameters."""
CARRIES_A_KEY = re.compile(rf"{HOLDS_A_KEY.pattern}|^(?:proxy_)?authorization$|^cookie$|(?:^|_)auth$", re.IGNORECASE)
"""Names of headers and parameters."""
WORD = re.compile(r"(?!\S+://)\S+")
"""A single word that is no address."""
MARKED = (
    re.compile(r"(\bbearer\s+)[\w.~+/=-]{4,}", re.IGNORECASE),
    re.compile(r"(\bbasic\s+)(?=\S*[\d=])[\w+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(\b(?:api[-_ ]?key|access[-_]token|authorization|password)[\"']?\s*[:=]\s*[\"']?)[^\s\"',;}]{4,}", re.IGNORECASE),
    re.compile(r"(\b)(?:sk-[\w-]{6,}|hf_\w{16,}|gh[a-z]_\w{16,}|gsk_\w{16,}|AIza[\w-]{20,})"),
)
"""Keys recognized by what precedes them, or by their first letters."""
NAMES_AN_ADDRESS = re.compile(r"_(?:URL|HOST|BASE|ENDPOINT|PROXY)$", re.IGNORECASE)
SHORTEST = 4
"""A shorter secret may be part of a word."""
SHORTEST_IN_DATA = 8

_learned: set[str] = set()


def scrub(text: str) -> str:
    """Mask whatever is, or looks like, a secret in a message."""
    text = ADDRESS.sub(lambda found: shown(found[0]), _without(text, SHORTEST))
    for pattern in MARKED:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def scrubbed(value: Any) -> Any:
    """Mask secrets in every text of plain values, as `scrub` does."""
    return map_texts(value, scrub)


def without_known(value: Any) -> Any:
    """Mask known secrets, and nothing else, in every text of plain values."""
    return map_texts(value, lambda text: _without(text, SHORTEST_IN_DATA))


def learn(*secrets: str) -> None:
    """Register keys, to be masked from now on."""
    _note(secret for secret in secrets if _is_key(secret))


def learn_address(url: str) -> None:
    """Register the secrets in an address."""
    _note(_in_address(url))


def learn_named(sent: Mapping[str, Any]) -> None:
    """Register the secrets in headers and parameters, nested ones included, by their names or form."""
    for name, value in sent.items():
        if isinstance(value, Mapping):
            learn_named(value)
        elif isinstance(value, str) and (CARRIES_A_KEY.search(name.replace("-", "_")) or (WORD.fullmatch(value) and is_key_like(value))):
            learn(value, value.rpartition(" ")[2])  # a key may follow its scheme


def _note(secrets: Iterable[str]) -> None:
    _learned.update(form for secret in secrets for form in _forms(secret))


def _is_key(value: str) -> bool:
    """Return whether a value is a key, and not a placeholder for local servers such as "ollama", "EMPTY" or "none"."""
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
    for pair in re.split("[?&;#]", parts.query):
        name, _, value = pair.rpartition("=")
        if HOLDS_A_KEY.search(name.replace("-", "_")) or is_key_like(value):
            yield value
    yield from filter(is_key_like, parts.path.split("/"))


@lru_cache(maxsize=1024)
def _forms(secret: str) -> frozenset[str]:
    """Return a secret as servers may repeat it: decoded, encoded, or quoted as in JSON."""
    secret = secret.strip()
    plain = unquote(secret)
    forms = (secret, plain, quote(plain, safe=""), quote(plain), json.dumps(plain)[1:-1], repr(plain)[1:-1])
    return frozenset(form for form in forms if len(form) >= SHORTEST)


class Parts(NamedTuple):
    """The parts of an address, which may be malformed."""

    scheme: str
    """With its separator."""
    user: str
    """User and password, as written."""
    host: str
    path: str
    query: str
    """With its ? or #, and all that follows."""


def parts_of(url: str) -> Parts:
    """Split an address; a password may contain a slash, though it should not."""
    before, divider, rest = url.partition("://")
    scheme, rest = (before + divider, rest) if divider else ("", url)
    place = re.split(r"[?#]", rest, maxsplit=1)[0]
    query = rest[len(place) :]
    if "@" not in place and "@" in query and not re.fullmatch(r"[^:]+(:\d*)?|\[.*\](:\d*)?", place.partition("/")[0]):
        user, _, rest = rest.rpartition("@")
        place = re.split(r"[?#]", rest, maxsplit=1)[0]
        query = rest[len(place) :]
    else:
        user, _, place = place.rpartition("@")
    host, slash, path = place.partition("/")
    return Parts(scheme, user, host, slash + path, query)


def shown(url: str) -> str:
    """Return an address without user and password, with the values of its query and key-like parts of its path masked."""
    parts = parts_of(url)
    path = "/".join(MASK if is_key_like(one) else one for one in parts.path.split("/"))
    query = re.sub(r"(?<=[?&;#])(?:([^=&;#]*=)[^&;#]*|[^=&;#]+)", lambda pair: (pair[1] or "") + MASK, parts.query)
    return parts.scheme + parts.host + path + query


def is_key_like(text: str) -> bool:
    """Return whether a text may be a key: long with letters and digits, or very long."""
    mixed = re.search(r"[^\W\d_]", text) and re.search(r"\d", text)
    return len(text) >= VERY_LONG or (len(text) >= LONG and mixed is not None)


CLIENTS = ("http", "openai", "ollama", "anthropic", "groq", "mistral", "google", "langchain", "urllib3", "aiohttp")
"""Prefixes of the names of the clients' loggers, which log addresses at INFO, and requests and replies at DEBUG."""


def mask_logs() -> None:
    """Mask keys in the logs of all clients imported so far. Loggers do not inherit filters, so each gets one."""
    for name in (*CLIENTS, *tuple(logging.root.manager.loggerDict)):
        if name.startswith(CLIENTS):
            logging.getLogger(name).addFilter(_mask)  # has no effect a second time


def _mask(record: logging.LogRecord) -> bool:
    """Mask a record's message and traceback; a record without keys is unchanged."""
    try:
        message = record.getMessage()
    except (KeyError, TypeError, ValueError):  # logging itself reports arguments that do not fit the message
        return True
    if (masked := scrub(message)) != message:
        record.msg, record.args = masked, ()
    if record.exc_info and record.exc_info[1]:
        trace = "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
        if (masked := scrub(trace)) != trace:
            record.exc_info, record.exc_text = None, masked
    return True
