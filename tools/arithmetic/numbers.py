"""Numbers as text tells them, with what they measure."""

import re
from typing import Final, NamedTuple

from ramify.tools.arithmetic.dates import when

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
