"""Mask secrets in texts, addresses and logs; errors, results, manifests and reports all use this module.

Known secrets are keys in environment variables and in configured addresses. In messages of programs and servers, anything that looks like a
key is masked, too; in data (passages, answers) only known secrets are.
"""

import base64
import json
import logging
import os
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ramify.tools.quoting import map_texts

MASK = "***"
ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,60}://[^\s\"'<>`|\\^]+")
MIN_MIXED_KEY_CHARS, MIN_KEY_CHARS = 16, 32
"""Least length of a key in an address: of letters and digits mixed, and of any characters."""
KEY_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
"""Names of environment variables and query parameters that contain keys."""
KEY_HEADER_NAME = re.compile(rf"{KEY_NAME.pattern}|^(?:proxy_)?authorization$|^cookie$|(?:^|_)auth$", re.IGNORECASE)
"""Names of headers and parameters that contain keys."""
SINGLE_WORD = re.compile(r"(?!\S+://)\S+")
"""A single word that is not an address."""
KEY_PATTERNS = (
    re.compile(r"(\bbearer\s+)[\w.~+/=-]{4,}", re.IGNORECASE),
    re.compile(r"(\bbasic\s+)(?=\S*[\d=])[\w+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(\b(?:api[-_ ]?key|access[-_]token|authorization|password)[\"']?\s*[:=]\s*[\"']?)[^\s\"',;}]{4,}", re.IGNORECASE),
    re.compile(r"(\b)(?:sk-[\w-]{6,}|hf_\w{16,}|gh[a-z]_\w{16,}|gsk_\w{16,}|AIza[\w-]{20,})"),
)
"""Keys recognized by what precedes them, or by their first letters."""
ADDRESS_VARIABLE_NAME = re.compile(r"_(?:URL|HOST|BASE|ENDPOINT|PROXY)$", re.IGNORECASE)
MIN_SECRET_CHARS = 4
"""A shorter secret may be part of a word."""
MIN_SECRET_CHARS_IN_DATA = 8

_registered: set[str] = set()


def scrub(text: str) -> str:
    """Return a message with everything that is, or looks like, a secret masked."""
    if known := _known_pattern(MIN_SECRET_CHARS):
        text = known.sub(MASK, text)
    text = ADDRESS.sub(lambda match: mask_address(match[0]), text)
    for pattern in KEY_PATTERNS:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def scrub_values(value: Any) -> Any:
    """Return nested values with `scrub` applied to every string."""
    return map_texts(value, scrub)


def mask_known(value: Any) -> Any:
    """Return nested values with known secrets, and nothing else, masked in every string."""
    pattern = _known_pattern(MIN_SECRET_CHARS_IN_DATA)
    return map_texts(value, partial(pattern.sub, MASK) if pattern else str)


def register_secrets(*secrets: str) -> None:
    """Register secrets to be masked."""
    _register(secret for secret in secrets if _is_key(secret))


def register_address(url: str) -> None:
    """Register the secrets in an address."""
    _register(_address_secrets(url))


def register_named_secrets(sent: Mapping[str, Any]) -> None:
    """Register the secrets in headers and parameters, nested ones included, by their names or form."""
    for name, value in sent.items():
        if isinstance(value, Mapping):
            register_named_secrets(value)
        elif isinstance(value, str) and (
            KEY_HEADER_NAME.search(name.replace("-", "_")) or (SINGLE_WORD.fullmatch(value) and is_key_like(value))
        ):
            register_secrets(value, value.rpartition(" ")[2])  # "Bearer KEY"


def _register(secrets: Iterable[str]) -> None:
    _registered.update(form for secret in secrets for form in _encodings(secret))


def _is_key(value: str) -> bool:
    """Return whether a value is a key, and not a placeholder for local servers such as "ollama", "EMPTY" or "none"."""
    return len(value) >= MIN_SECRET_CHARS_IN_DATA


def _known_pattern(shortest: int) -> re.Pattern[str] | None:
    """Return a pattern of all known secrets of at least this length; None if there are none."""
    secrets = frozenset(secret for secret in (*tuple(_registered), *_environment_secrets()) if len(secret) >= shortest)
    return _any_pattern(secrets) if secrets else None


@lru_cache(maxsize=32)
def _any_pattern(secrets: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(secret) for secret in sorted(secrets, key=lambda secret: (-len(secret), secret))))


def _environment_secrets() -> Iterator[str]:
    for name, value in os.environ.items():
        if KEY_NAME.search(name) and _is_key(value):
            yield from _encodings(value)
        elif ADDRESS_VARIABLE_NAME.search(name):
            yield from (form for secret in _address_secrets(value) for form in _encodings(secret))


def _address_secrets(url: str) -> Iterator[str]:
    parts = split_address(url)
    user, _, password = parts.user.partition(":")
    if parts.user:
        yield from (password or user, parts.user, base64.b64encode(unquote(parts.user).encode()).decode())
    for pair in re.split("[?&;#]", parts.query):
        name, _, value = pair.rpartition("=")
        if KEY_NAME.search(name.replace("-", "_")) or is_key_like(value):
            yield value
    yield from filter(is_key_like, parts.path.split("/"))


@lru_cache(maxsize=1024)
def _encodings(secret: str) -> frozenset[str]:
    """Return the forms in which servers may repeat a secret: decoded, percent-encoded, or escaped as in JSON."""
    secret = secret.strip()
    plain = unquote(secret)
    forms = (secret, plain, quote(plain, safe=""), quote(plain), json.dumps(plain)[1:-1], repr(plain)[1:-1])
    return frozenset(form for form in forms if len(form) >= MIN_SECRET_CHARS)


class AddressParts(NamedTuple):
    """The parts of an address, which may be malformed."""

    scheme: str
    """With its separator."""
    user: str
    """User and password, as written."""
    host: str
    path: str
    query: str
    """With its ? or #, and all that follows."""


def split_address(url: str) -> AddressParts:
    """Split an address; a password may contain a slash, though it should not."""
    before, divider, rest = url.partition("://")
    scheme, rest = (before + divider, rest) if divider else ("", url)
    location = re.split(r"[?#]", rest, maxsplit=1)[0]
    query = rest[len(location) :]
    if "@" not in location and "@" in query and not re.fullmatch(r"[^:]+(:\d*)?|\[.*\](:\d*)?", location.partition("/")[0]):
        user, _, rest = rest.rpartition("@")
        location = re.split(r"[?#]", rest, maxsplit=1)[0]
        query = rest[len(location) :]
    else:
        user, _, location = location.rpartition("@")
    host, slash, path = location.partition("/")
    return AddressParts(scheme, user, host, slash + path, query)


def mask_address(url: str) -> str:
    """Return an address without user and password, with the values of its query and key-like parts of its path masked."""
    parts = split_address(url)
    path = "/".join(MASK if is_key_like(part) else part for part in parts.path.split("/"))
    query = re.sub(r"(?<=[?&;#])(?:([^=&;#]*=)[^&;#]*|[^=&;#]+)", lambda pair: (pair[1] or "") + MASK, parts.query)
    return parts.scheme + parts.host + path + query


def is_key_like(text: str) -> bool:
    """Return whether a text may be a key: long with letters and digits, or very long."""
    mixed = re.search(r"[^\W\d_]", text) and re.search(r"\d", text)
    return len(text) >= MIN_KEY_CHARS or (len(text) >= MIN_MIXED_KEY_CHARS and mixed is not None)


CLIENT_LOGGERS = ("http", "openai", "ollama", "anthropic", "groq", "mistral", "google", "langchain", "urllib3", "aiohttp")
"""Prefixes of the names of the clients' loggers, which log addresses at INFO, and requests and replies at DEBUG."""


def mask_logs() -> None:
    """Mask keys in the logs of all clients imported so far. Loggers do not inherit filters, so each gets one."""
    for name in (*CLIENT_LOGGERS, *tuple(logging.root.manager.loggerDict)):
        if name.startswith(CLIENT_LOGGERS):
            logging.getLogger(name).addFilter(_mask_record)  # has no effect a second time


def _mask_record(record: logging.LogRecord) -> bool:
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
