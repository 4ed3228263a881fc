"""What stands above a passage when it is embedded and searched: chosen metadata, its title and headings, each once."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_NUMBER = re.compile(r"^(?:[A-Z]\.)?\d+(?:\.\d+)*[.:)]?\s+(?=\S)")
_SEPARATOR = re.compile(r"\s+[—–|·»:-]+\s+|:\s+")
_WORD = re.compile(r"\w+")


def label(metadata: Mapping[str, Any], fields: Iterable[str] = ()) -> str:
    """Return chosen fields, title and headings, outermost first; what another of them says already is left out."""
    chosen = [value for field in fields for value in _values(metadata.get(field))]
    headings = [heading.strip() for heading in str(metadata.get("heading") or "").split(" > ")]
    title = str(metadata.get("title") or "").strip()
    parts = list(dict.fromkeys(part for part in (*chosen, title, *headings) if part))
    return " > ".join(part for place, part in enumerate(parts) if not _is_said(part, parts, place))


def _values(given: Any) -> list[str]:
    """Write the value of a field, or the values of a list."""
    values = given if isinstance(given, list) else [given]
    return [text for value in values if value is not None and (text := " ".join(str(value).split()))]


def _is_said(part: str, parts: list[str], place: int) -> bool:
    """Tell whether an earlier part is the same but for its number, or a later one begins with it, or is it without the site's name."""
    words = _words(part)
    if any(words and words == _words(earlier) for earlier in parts[:place]):
        return True
    after = parts[place + 1 : place + 2]
    if not words or not after:
        return False
    following = _words(after[0])
    longer = len(following) > len(words) and (following[: len(words)] == words or words in _without_site(after[0]))
    return longer or (place == 0 and following in _without_site(part))


def _without_site(title: str) -> list[list[str]]:
    """Return what a title says with names of its site or book left out, at its end or its beginning."""
    names = [_words(name) for name in _SEPARATOR.split(title)]
    cuts = range(1, len(names))
    return [[word for name in part for word in name] for cut in cuts for part in (names[:cut], names[cut:])]


def _words(part: str) -> list[str]:
    return _WORD.findall(_NUMBER.sub("", part).casefold())
