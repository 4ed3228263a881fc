"""Versions of a document: dates and version numbers of files, and passages that are versions of each other.

The version of a document is stated by its metadata (front matter), else by its path, else by its title. Two passages are versions of each
other if they are from files with different versions, and have mostly the same words.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from ramify.tools.english import MONTHS, WORD, fold
from ramify.tools.supporting_sentence import is_record

_DATE_FIELDS = ("effective", "valid", "inforce", "asof", "date", "published", "issued", "released", "updated", "revised", "year")
"""Beginnings of the names of metadata fields with a date, in the order in which they are used."""
_VERSION_FIELDS = ("version", "revision", "release", "edition", "rev")
_LATE_FIELDS = ("lastmodified", "modified")
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH_NAME = rf"(?P<name>{'|'.join(MONTHS)})[a-z]*\.?"
_DATES = tuple(
    re.compile(rf"(?<![\d.])(?:{pattern})(?!\d)", re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}(?P<gap>[-_./]?)(?P<month>0[1-9]|1[0-2])(?P=gap)(?P<day>0[1-9]|[12]\d|3[01])",
        rf"(?P<day>\d{{1,2}})[-_./](?P<month>\d{{1,2}})[-_./]{_YEAR}",
        rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[-_. ]+)?\b{_MONTH_NAME}[-_, ]+{_YEAR}",
        rf"{_MONTH_NAME}[-_ ]+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[-_ ]+{_YEAR}",
        rf"{_YEAR}[-_./](?P<month>0[1-9]|1[0-2])",
        _YEAR,
    )
)
_NUMBER = re.compile(r"(?:(?<![^\W_])(?:v|ver|version|rev|revision|release|edition|r)[-_. ]{0,2}(?P<marked>\d{1,4}(?:[._]\d+)*)|"
                     r"(?<![\w.])(?P<dotted>\d{1,3}(?:\.\d+)+))(?![^\W_])", re.IGNORECASE)  # fmt: skip
_MIN_SHARED, _MIN_SHARED_IN_SAME_DOCUMENT = 0.6, 0.4
"""Least share of common words of two versions of a passage, and of one whose documents have the same name or title and heading.

A passage with parts under several headings has none of its own."""


class Version(NamedTuple):
    """The date and the number of a version, each empty if it is not known."""

    date: tuple[int, ...] = ()
    number: tuple[int, ...] = ()

    def __str__(self) -> str:
        number = ".".join(map(str, self.number))
        return ", ".join(filter(None, ("-".join(f"{part:02}" for part in self.date), number and f"version {number}")))

    def is_comparable(self, other: "Version") -> bool:
        """Return whether one of the two versions is known to be newer."""
        return self._order(other) != other._order(self)

    def _order(self, other: "Version") -> tuple[int, ...]:
        return self.date if self.date and other.date and self.date != other.date else self.number if self.number and other.number else ()


class VersionedText(NamedTuple):
    """A passage with the version of its document."""

    source: str
    title: str
    heading: str
    text: str
    version: str

    @property
    def file(self) -> str:
        """Return its file, without the number of a record in it."""
        return self.source.partition("#")[0]


@lru_cache(maxsize=4096)
def parse_version(text: str) -> Version:
    """Return the first date and version number in a text."""
    dates = ((match.start(), order, match) for order, pattern in enumerate(_DATES) if (match := pattern.search(text)))
    best = min(dates, default=None, key=lambda item: item[1])
    date = _date(best[2]) if best else ()
    rest = text[: best[2].start()] + " " + text[best[2].end() :] if best and date else text
    number = _NUMBER.search(rest)
    parts = re.split(r"[._]", number["marked"] or number["dotted"]) if number else []
    return Version(date, tuple(map(int, parts)))


def _date(match: re.Match[str]) -> tuple[int, ...]:
    groups = {"name": None, "month": None, "day": None} | match.groupdict()
    month = MONTHS[groups["name"].lower()] if groups["name"] else int(groups["month"] or 0)
    parts = (int(groups["year"] or 0), month, int(groups["day"] or 0) if month else 0)
    return tuple(part for part in parts if part) if month <= 12 and parts[2] <= 31 else parts[:1]


def document_version(metadata: Mapping[str, Any], source: str) -> str:
    """Return the date and version number of a passage's document, as text; empty if it states none."""
    fields = {
        re.sub(r"[\W_]", "", str(name).casefold()): str(value) for name, value in metadata.items() if isinstance(value, str | int | float)
    }
    stated = [value for wanted in _DATE_FIELDS for name, value in fields.items() if name.startswith(wanted)]
    numbers = [f"version {value}" for wanted in _VERSION_FIELDS for name, value in fields.items() if name.startswith(wanted)]
    later = [fields[name] for name in _LATE_FIELDS if name in fields]
    texts = [*numbers, *stated, re.sub(r"\.[a-z]\w{1,4}$", "", source.partition("#")[0]), fields.get("title", ""), *later]
    versions = [parse_version(text) for text in texts]
    date = next((version.date for version in versions if version.date), ())
    return str(Version(date, next((version.number for version in versions if version.number), ())))


def versions_among(passages: Sequence[VersionedText]) -> list[tuple[int, int]]:
    """Return the pairs of passages, by index, that are versions of each other and differ."""
    dated = [place for place, passage in enumerate(passages) if passage.version]
    return [pair for pair in combinations(dated, 2) if are_versions(passages[pair[0]], passages[pair[1]])]


def are_versions(one: VersionedText, other: VersionedText) -> bool:
    """Return whether two passages are versions of each other and differ."""
    if one.file == other.file or fold(one.text) == fold(other.text):
        return False
    if not parse_version(one.version).is_comparable(parse_version(other.version)):
        return False
    if is_record(one.text) and is_record(other.text):
        return one.text.strip().partition("\n")[0] == other.text.strip().partition("\n")[0]
    same = (one.heading == other.heading or not (one.heading and other.heading)) and (
        _name(one.file) == _name(other.file) or (bool(one.title) and _name(one.title) == _name(other.title))
    )
    return shared_words(one.text, other.text) >= (_MIN_SHARED_IN_SAME_DOCUMENT if same else _MIN_SHARED)


def _name(text: str) -> str:
    """Return the words of a name without its dates and numbers."""
    words = re.sub(r"[\d_]+", " ", text.casefold())
    return " ".join(word for word in WORD.findall(words) if word not in ("v", "ver", "version", "rev", "revision", *MONTHS))


def shared_words(one: str, other: str) -> float:
    """Return the share of words that two texts have in common."""
    words, others = _count_words(one), _count_words(other)
    common = sum(min(words[word], others[word]) for word in words.keys() & others.keys())
    return 2 * common / max(1, words.total() + others.total())


@lru_cache(maxsize=4096)
def _count_words(text: str) -> Counter[str]:
    return Counter(fold(text).split())


class OtherVersion(NamedTuple):
    """What another version of a passage says in place of an answer."""

    passage: VersionedText
    value: str
