"""Dates and numbers as text tells them, as far as they are told, and which of two comes first or is larger."""

import re
from typing import Final, NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?)\b\.?"
)
_DAY = r"\d{1,2}(?!\d)(?:st|nd|rd|th)?"
_ERA = r"(?:\s*(?:(?:[-–—]|to)\s*\d{1,4}\s*)?(?P<bc>BCE?\b|B\.\s?C\.))?"
"""`44 BC`, and the first year of `120–80 BC`."""
_WRITTEN = re.compile(
    rf"\b(?:(?P<before>{_DAY})(?: of)? )?(?P<month>{_MONTH}),? (?:(?P<after>{_DAY}),? )?(?P<year>\d{{3,4}})(?!\d){_ERA}", re.IGNORECASE
)
_ISO = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?(?!\d)")
_YEAR = re.compile(rf"(?<![\d,.])(?P<year>\d{{3,4}})(?!\d|,\d{{3}}|\.\d){_ERA}")
_FEW_DIGITS = re.compile(
    r"(?<!\d)(?:(?:AD|A\.D\.)\s*(?P<ad>\d{1,4})|(?P<year>\d{1,2})\s*(?:(?P<bc>BCE?\b|B\.\s?C\.)|(?:AD|CE)\b|A\.D\.))(?!\d)"
)
_SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12, "dozen": 12.0}
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS: Final = {word: float(value) for value, word in enumerate(_COUNTED.split())} | {
    word: 10.0 * tens for tens, word in enumerate(_TENS.split(), 2)
}
_UNITS: Final = {  # with how many metres, square metres, kilograms or seconds each is
    "length": "mm 0.001 millimetre 0.001 millimeter 0.001 cm 0.01 centimetre 0.01 centimeter 0.01 m 1 metre 1 meter 1 km 1000 "
    "kilometre 1000 kilometer 1000 mi 1609.344 mile 1609.344 yd 0.9144 yard 0.9144 ft 0.3048 foot 0.3048 feet 0.3048 in 0.0254 "
    "inch 0.0254 inche 0.0254",
    "area": "m² 1 km² 1e6 ha 1e4 hectare 1e4 acre 4046.86 mi² 2589988",
    "weight": "mg 1e-6 g 0.001 gram 0.001 kg 1 kilogram 1 t 1000 tonne 1000 ton 1000 lb 0.4536 pound 0.4536 oz 0.0283 ounce 0.0283",
    "time": "s 1 sec 1 second 1 min 60 minute 60 h 3600 hr 3600 hour 3600 day 86400 week 604800 month 2629800 year 31557600 "
    "decade 315576000",
}
_KNOWN: Final = {name: (measures, float(size)) for measures, listed in _UNITS.items() for name, size in re.findall(r"(\S+) (\S+)", listed)}
_NUMBER = re.compile(r"(?<![\w.,])(?P<sign>minus |[-−])?(?:[£$€]\s?)?(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<rest>\.\d+)?")
_WORD_BEHIND = re.compile(r"[-\s]?(?P<word>[^\W\d_]+²?)\.?")
_SQUARE = re.compile(r"\b(?:square|sq\.?) (?P<unit>km|kilo|mi|m)\w*", re.IGNORECASE)
_BRIEF: Final = {"km": "km", "kilo": "km", "mi": "mi", "m": "m"}
_UP_TO = re.compile(r"^\s*(?:[-–—]|to\b)\s*\d[\d,]*(?:\.\d+)?")
_DASH = re.compile(r"\s*[–—]\s*|\s+(?:-|to)\s+")
_DAYS: Final = 365.25


class When(NamedTuple):
    """A date; the month or day is 0 where it is not told, and years before Christ are negative."""

    year: int
    month: int = 0
    day: int = 0


def when(text: str) -> When | None:
    """Read the first date of a text; None where there is none."""
    found = [read for read in (_iso(text), _written(text), _year(text)) if read is not None]
    return min(found, key=lambda item: item[0])[1] if found else None


def in_order(one: When, other: When) -> int | None:
    """Compare two dates as far as both are told: negative where the first is earlier, 0 for the same day, None where nothing tells."""
    for first, second in zip(one, other, strict=True):
        if 0 in (first, second):
            return None
        if first != second:
            return first - second
    return 0


def _iso(text: str) -> tuple[int, When] | None:
    found = _ISO.search(text)
    if found is None or not 1 <= int(found["month"]) <= 12:
        return None
    return found.start("year"), When(int(found["year"]), int(found["month"]), int(found["day"] or 0))


def _written(text: str) -> tuple[int, When] | None:
    found = _WRITTEN.search(text)
    if found is None:
        return None
    day = re.match(r"\d+", found["before"] or found["after"] or "0")
    month = _MONTHS.index(found["month"][:3].casefold()) + 1
    # The year that this date ends with is found by itself as well: it counts from where the date begins.
    return found.start(), When(_signed(found["year"], found["bc"]), month, int(day[0]) if day else 0)


def _year(text: str) -> tuple[int, When] | None:
    found = _YEAR.search(text)
    few = _FEW_DIGITS.search(text)
    if few is not None and (found is None or few.start() < found.start()):
        return few.start(), When(_signed(few["ad"] or few["year"], few["bc"]))
    return (found.start(), When(_signed(found["year"], found["bc"]))) if found else None


def _signed(year: str, before_christ: str | None) -> int:
    return -int(year) if before_christ else int(year)


class Quantity(NamedTuple):
    """A number, the size of its unit, and what that measures; nothing for a bare number."""

    number: float
    unit: float = 1.0
    measures: str = ""


def quantity(text: str) -> Quantity | None:
    """Read the first number of a text with its scale and unit, a number in words, or the time between two dates; None without any."""
    if (span := _between(text)) is not None:
        return span
    text = _SQUARE.sub(lambda match: f"{_BRIEF[match['unit'].casefold()]}²", text)
    found = _NUMBER.search(text)
    if found is None:
        return _in_words(text)
    value = float(found["digits"].replace(",", "") + (found["rest"] or "")) * (-1 if found["sign"] else 1)
    return _measured(value, _UP_TO.sub("", text[found.end() :]))


def larger(one: Quantity, other: Quantity) -> float | None:
    """Tell by how much the first is larger; None where they measure different things. A bare number is of the other's unit."""
    if not one.measures or not other.measures:
        return one.number - other.number
    return one.number * one.unit - other.number * other.unit if one.measures == other.measures else None


def _measured(value: float, behind: str) -> Quantity:
    """Read scale and unit behind a number; a smaller unit right after counts in: 6 ft 2 in."""
    word, rest = _next_word(behind)
    while word in _SCALES:
        value *= _SCALES[word]
        word, rest = _next_word(rest)
    known = _KNOWN.get(word) or _KNOWN.get(word.removesuffix("s"))
    if known is None or (word == "in" and rest.strip(" .)")):  # 30 in 1990
        return Quantity(value)
    measures, unit = known
    more = re.match(r"(?:,| and)? (?=\d)", rest)
    if more and (added := quantity(rest[more.end() :])) and added.measures == measures and added.unit < unit:
        value += added.number * added.unit / unit
    return Quantity(value, unit, measures)


def _next_word(text: str) -> tuple[str, str]:
    found = _WORD_BEHIND.match(text)
    return (found["word"].casefold(), text[found.end() :]) if found else ("", text)


def _in_words(text: str) -> Quantity | None:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    first = next((place for place, word in enumerate(words) if word in _WORDS or word in ("hundred", "dozen")), None)
    if first is None:
        return None
    last = next((place for place in range(first, len(words)) if words[place] not in _WORDS), len(words))
    return _measured(sum(_WORDS[word] for word in words[first:last]) or float(first == last), " " + " ".join(words[last:]))


def _between(text: str) -> Quantity | None:
    """Read two dates with a dash between them as the time from one to the other."""
    ends = [end for part in _DASH.split(text) if (end := when(part)) is not None]
    if len(ends) != 2:
        return None
    days = [end.year * _DAYS + end.month * _DAYS / 12 + end.day for end in ends]
    return Quantity(days[1] - days[0], 86400.0, "time")
