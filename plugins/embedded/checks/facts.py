"""Facts of a sentence: its numbers, dates, names and code words, in forms that can be compared however they are written."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ramify.tools.english import ENGLISH_STOP_WORDS, MONTHS, NUMBER_WORDS, content_stems, find_names, fold, stem
from ramify.tools.identifiers import narrow

_LETTERS = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe"})
"""Letters that Unicode does not take apart."""
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-‐­]\s*\n\s*(?=[a-zß-ÿ])")
"""The hyphen of a word that continues on the next line."""
_BROKEN_COMPOUND = re.compile(r"(?<=[^\W\d_])([-‐])[ \n](?=[a-zß-ÿ])(?!(?:and|or|und|oder|et|ou|y|o|e)\b)")
_MINUS, _SPACES = re.compile("[−‐‑‒–](?=\\d)"), re.compile("[\u00a0\u2007\u2009\u202f]")
_CELSIUS = re.compile(r"°\s?[CK]\b")
"""A unit whose letter a full stop would make an initial."""
_CODE = re.compile(
    r"(?<![\w.+-])[\w.+-]++@[\w.-]+\w"
    r"|(?<!\w)(?=[A-Za-z_]*\d)(?=\d*[A-Za-z_])[A-Za-z_\d]+(?:[-/.][A-Za-z_\d]+)*(?![A-Za-z_\d])"
    r"|\b\w+(?:_\w+)+|\b\d+(?:\.\d+){2,}\b|\b[A-Z]{2,}-\S\b|(?<![\w:]):[a-z]\w+"
)
"""Addresses, identifiers, versions, keys and commands: words that are compared whole."""
_QUOTED_CODE = re.compile(r"`([^`\n]+)`")
_NUMBERED_NAME = re.compile(r"(?<![\w.])([A-ZÀ-Þ][\w-]*[^\W\d_]) (\d{1,3}(?:\.\d+)*)(?![\d,:]|\.\d|[ -]?(?:[^\W\d_]{1,2}\b|[°%€$]))")
"""A name with a number, as "Boeing 747"."""
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s|er|e|ème)?", re.IGNORECASE)
_UNIT_AFTER = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)*)(?!(?:st|nd|rd|th|s|er)\b)([A-Za-zµ]{1,3}\b)")
"""A number directly followed by its unit, as in `30s` or `64MB`."""
_NUMBER = re.compile(r"(?<![\dA-Za-z.])\d{1,3}(?:[ ,.']\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,:]\d+)*")
_GROUPED, _SEPARATORS = re.compile(r"\d{1,3}(?:[ ,.']\d{3})+"), re.compile(r"[ ,.']")
_OTHER_MONTH_NAMES = (
    "januar janvier enero gennaio januari janeiro", "februar février febrero febbraio februari fevereiro", "märz mars marzo maart março",
    "avril abril aprile", "mai mayo maggio mei maio", "juni juin junio giugno junho", "juli juillet julio luglio julho",
    "août agosto augustus", "septembre septiembre settembre setembro", "oktober octobre octubre ottobre outubro",
    "novembre noviembre novembro", "dezember décembre diciembre dicembre dezembro",
)  # fmt: skip
_MONTHS = MONTHS | {name: number for number, names in enumerate(_OTHER_MONTH_NAMES, 1) for name in names.split()}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_ORDINAL_DAY = re.compile(rf"(?<![\d.,:])(\d{{1,2}})\. (?={_MONTH}\b)".replace("?P<month>", "?:"), re.IGNORECASE)
"""The day of a date with a full stop, which ends no sentence."""
_DATES = (
    re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?!\d)(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?\b", re.IGNORECASE),
    re.compile(
        rf"(?<![\d.,:])\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:(?:of|de)\s+)?)?{_MONTH}(?:,?\s+(?:(?:of|de|del)\s+)?(?P<year>\d{{4}}))?\b",
        re.IGNORECASE,
    ),
    re.compile(r"(?<!\d)(?P<year>\d{4})([-./])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<day>\d{1,2})([-./])\s?(?P<month>\d{1,2})\2\s?(?P<year>\d{4})(?!\d)"),
    re.compile(r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日일])?"),
)
_MAX_DAY = 31
_MULTIPLIERS = {100: "hundred", 1000: "thousand"}
_NUMBER_WORDS = NUMBER_WORDS | {word: value for value, word in _MULTIPLIERS.items()}
_VAGUE = frozenset({"0", "1", "2", "3"})
"""Values of number words that count what the sentence itself names ("both of the two")."""
_DIMENSIONS = {
    "time": ("second seconds sec secs s", "minute minutes min mins", "hour hours h hr hrs", "day days", "week weeks", "month months",
             "year years", "millisecond milliseconds ms"),
    "length": ("metre metres meter meters m", "kilometre kilometres kilometer kilometers km", "centimetre centimetres centimeter cm",
               "millimetre millimetres millimeter mm", "mile miles mi", "foot feet ft", "inch inches"),
    "mass": ("gram grams g", "kilogram kilograms kg", "tonne tonnes ton tons t", "pound pounds lb lbs"),
    "data": ("byte bytes", "kilobyte kilobytes kb", "megabyte megabytes mb", "gigabyte gigabytes gb", "bit bits"),
    "money": ("euro euros eur €", "dollar dollars usd $", "pence", "cent cents"),
    "": ("percent %", "degree degrees °", "volt volts v", "watt watts w", "bar bars", "litre litres liter liters l",
         "hundred hundreds", "thousand thousands", "million millions", "billion billions"),
}  # fmt: skip
_UNITS = {unit: names.split()[0] for group in _DIMENSIONS.values() for names in group for unit in names.split()}
_DIMENSION = {names.split()[0]: name or names.split()[0] for name, group in _DIMENSIONS.items() for names in group}
_FOLLOWING = re.compile(r"[ -]?(%|°|€|\$|[^\W\d_]+)")
_DEMONYM = re.compile(r"(?:ish|ese|ian|an|ic|ch|er|i)$")
_VOWELS = re.compile(r"(?<!^)[aeiouy]")


class Number(NamedTuple):
    """A number with all values that its notation may have, and its unit."""

    values: frozenset[str]
    unit: str = ""
    written: str = ""
    in_words: bool = False

    def equals(self, other: "Number") -> bool:
        """Return whether both are the same number, in units that do not contradict each other."""
        return bool(self.values & other.values) and (not self.unit or not other.unit or self.unit == other.unit)

    def rivals(self, other: "Number") -> bool:
        """Return whether both measure the same, with another result."""
        return not self.equals(other) and _DIMENSION.get(self.unit) == _DIMENSION.get(other.unit)


class Date(NamedTuple):
    """A date, or a part of one; 0 where a part is missing."""

    day: int
    month: int
    year: int
    written: str = ""

    def equals(self, other: "Date") -> bool:
        """Return whether no part contradicts the other's; `5/6/2000` is either of two days."""
        pairs = (self[:3], (self.month, self.day, self.year)) if self.day and self.month and self.written[:1].isdigit() else (self[:3],)
        return any(all(one == two or not one or not two for one, two in zip(pair, other[:3], strict=True)) for pair in pairs)


class Facts(NamedTuple):
    """The facts of a text, in their order, and its other content words."""

    numbers: tuple[Number, ...]
    dates: tuple[Date, ...]
    names: tuple[str, ...]
    codes: tuple[str, ...]
    words: frozenset[str]
    """Stems of its content words, numbers and names left out."""


@lru_cache(maxsize=4096)
def normalize(text: str) -> str:
    """Return a text with the words joined that a line end or an ill-set hyphen has broken, and with plain letters, spaces and signs."""
    text = _CELSIUS.sub("°", _MINUS.sub("-", _SPACES.sub(" ", narrow(text).translate(_LETTERS))))
    return _ORDINAL_DAY.sub(r"\1 ", _BROKEN_COMPOUND.sub(r"\1", _BROKEN_WORD.sub("", text)))


@lru_cache(maxsize=4096)
def read_facts(text: str, named: bool = True) -> Facts:
    """Return the facts of a text; names only where they are `named`, since other languages have other rules for capital letters."""
    rest, dates = text, []
    for pattern in _DATES:
        for match in pattern.finditer(rest):
            if date := _date(match):
                dates.append(date)
                rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
    rest = _UNIT_AFTER.sub(lambda match: f"{match[1]} {match[2]}" if match[2].casefold() in _UNITS else match[0], rest)
    codes = [match[0] for match in _CODE.finditer(rest) if not _ORDINAL.fullmatch(match[0])] + _QUOTED_CODE.findall(rest)
    plain = _CODE.sub(lambda match: match[0] if _ORDINAL.fullmatch(match[0]) else " " * len(match[0]), rest)
    names = tuple(name for name in map(_bare_name, find_names(plain)) if name) if named else ()
    numbered = tuple(match[0] for match in _NUMBERED_NAME.finditer(rest) if named and fold(match[1]) not in ENGLISH_STOP_WORDS)
    names = (*numbered, *(name for name in names if not any(fold(longer).startswith(without_articles(name)) for longer in numbered)))
    numbers = tuple(_numbers(_without(plain, [name for name in numbered if not plain.startswith(name)])))
    in_names = {part for name in names for part in fold(name).split()}
    words = frozenset(word for word in content_stems(plain) if not word.isdigit() and word not in {stem(part) for part in in_names})
    return Facts(
        numbers, tuple(dates), names, tuple(dict.fromkeys(filter(None, map(fold, codes)))), words - {stem(word) for word in _NUMBER_WORDS}
    )


def _date(match: re.Match[str]) -> Date | None:
    day, month, year = (match[name] for name in ("day", "month", "year"))
    if not month.isdigit() and not day and not year and not (month[0].isupper() and len(month) > 4 and month != "March"):
        return None  # a word such as "may" or "mars", or an abbreviation of something else
    if (day and int(day) > _MAX_DAY) or (month in ("may", "march") and not year):
        return None  # "the Heron 16 may not be towed"
    number = int(month) if month.isdigit() else _MONTHS[month.casefold()]
    return Date(int(day or 0), number, int(year or 0), match[0]) if number <= 12 or (day and int(day) <= 12) else None


def _numbers(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        following = _FOLLOWING.match(text, match.end())
        before = text[match.start() - 1 : match.start()]
        decade = following is not None and following[0] == "s" and len(match[0]) == 4
        word = following[1].casefold() if following and not decade else ""
        unit = "" if word in ("am", "pm") else _UNITS.get(word, "")
        if word == "pm":
            yield Number(frozenset({str(int(hour) + 12) for hour in _values(match[0]) if hour.isdigit() and int(hour) < 12}), "", match[0])
            continue
        yield Number(_values(match[0]), unit or _UNITS.get(before, ""), match[0])
    words = [*(word.casefold() for word in re.findall(r"[^\W\d_]+", text)), ""]
    value = 0
    for word, behind in pairwise(words):
        if (number := _NUMBER_WORDS.get(word)) is None:
            continue
        value = value * number if number in _MULTIPLIERS and value else value + number
        follows = behind in _NUMBER_WORDS and (_NUMBER_WORDS[behind] in _MULTIPLIERS or 0 < _NUMBER_WORDS[behind] < 10 <= number)
        if not follows:
            yield Number(frozenset({str(value)}), _UNITS.get(behind, ""), word, in_words=True)
            value = 0


def _values(number: str) -> frozenset[str]:
    """Return the values that a number may have: 1,000 is a thousand, 1.000 a thousand or one."""
    if ":" in number:
        return frozenset({number, number.removesuffix(":00")})
    values = set()
    if _GROUPED.fullmatch(number):
        values.add(_SEPARATORS.sub("", number))
    whole, separator, decimals = number.rpartition("," if number.rfind(",") > number.rfind(".") else ".")
    if not separator:
        values.add(_SEPARATORS.sub("", number))
    elif re.search("[.,]", whole) and not _GROUPED.fullmatch(whole):
        return frozenset({number})  # a version
    elif separator == "." or len(decimals) != 3:
        decimals = decimals if len(decimals) == 3 else decimals.rstrip("0")
        values.add(_SEPARATORS.sub("", whole) + (f".{decimals}" if decimals else ""))
    return frozenset(value.lstrip("0") or "0" if "." not in value else value for value in values)


def is_vague(number: Number) -> bool:
    """Return whether a number counts what the sentence itself names, as "the two" does, and "two years" does not."""
    return number.in_words and not number.unit and number.values <= _VAGUE


def _without(text: str, names: Sequence[str]) -> str:
    """Return a text without the numbers of these names."""
    for name in names:
        text = text.replace(name, name.rpartition(" ")[0])
    return text


def without_articles(name: str) -> str:
    """Return a folded name without stop words."""
    return " ".join(word for word in fold(name).split() if word not in ENGLISH_STOP_WORDS)


def _bare_name(name: str) -> str:
    bare = re.sub(r"(?: (?:[\d.,]+|of|the|de|la|von|van)){1,20}+$", "", name)
    words = [word for word in fold(bare).split() if word not in ENGLISH_STOP_WORDS and not word.isdigit()]
    return "" if all(word in _NUMBER_WORDS or word in _UNITS or word in _MONTHS or len(word) == 1 for word in words) else bare


@lru_cache(maxsize=16384)
def same_word(one: str, other: str) -> bool:
    """Return whether two folded words are one word in other forms, as Germany and German, Pole and Poland, labs and laboratories."""
    short, long = sorted((stem(one), stem(other)), key=len)
    if one == other or (len(short) >= 3 and long.startswith(short) and len(long) - len(short) <= 10 and short == long[: len(short)]):
        return True
    if not (_DEMONYM.search(one) or _DEMONYM.search(other)) or one[:2] != other[:2]:
        return False
    bones = sorted((_VOWELS.sub("", one), _VOWELS.sub("", other)), key=len)
    return one[:4] == other[:4] or (len(bones[0]) >= 3 and bones[1].startswith(bones[0]))
