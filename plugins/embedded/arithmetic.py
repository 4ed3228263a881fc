"""Combine the answers of two sub-questions: dates and numbers are parsed and compared, names are matched."""

import re
from statistics import fmean
from typing import Final, Literal, NamedTuple, cast, get_args

from ramify.embedded.encoders.packaged import similarity
from ramify.tools.english import MONTHS, NUMBER_WORDS, fold

Combination = Literal[
    "single",  # not to be split
    "bridge",  # the first answer is filled into the second question, whose answer is the answer
    "agree",  # both ask for the same thing: the answer that both give
    "earlier", "later", "more", "less",  # compares a date or number of two things: the answer is the name of one
    "before", "after", "exceeds",  # the same comparison as a yes/no question
    "same", "differ",  # whether both answers are the same, or not
    "both", "either",  # two yes/no answers: whether both, or at least one, is Yes
    "which",  # two yes/no answers: the name of the only thing whose answer is Yes
    "each",  # two questions in one sentence: both answers
]  # fmt: skip
TextPair = tuple[str, str]
_ASCENDING: Final = frozenset({"earlier", "before", "less"})
_BY_DATE: Final = frozenset({"earlier", "later", "before", "after"})
_YES_NO_ORDER: Final = frozenset({"before", "after", "exceeds"})
_BY_NUMBER: Final = frozenset({"more", "less", "exceeds"})
_NAME_PARTICLES: Final = frozenset({"of", "the", "and", "de", "la", "du", "von", "van"})
"""Small words inside names."""
_PUNCTUATION = " ,;:?!.\"“”„'‘’"


def parse_combination(text: str) -> Combination:
    """Return the combination that a text names, "single" for any other text."""
    return cast(Combination, text) if text in get_args(Combination) else "single"


def combine_answers(how: Combination, questions: TextPair, answers: TextPair, *, by_meaning: bool = True) -> str:
    """Return the answer combined from two answers; empty if they do not determine it.

    Names are compared by their meaning, too, for which the encoder is loaded, unless `by_meaning` is False.
    """
    if how in _BY_DATE | _BY_NUMBER:
        return _compare_order(how, questions, answers)
    folded = [fold(answer) for answer in answers]
    if how == "which":
        return compared_names(questions)[folded.index("yes")] if sorted(folded) == ["no", "yes"] else ""
    if how in ("both", "either"):
        settling, other = ("No", "Yes") if how == "both" else ("Yes", "No")
        return settling if fold(settling) in folded else other if folded == [fold(other)] * 2 else ""
    if how in ("same", "differ"):
        alike = is_same_answer(*answers, by_meaning=by_meaning)
        return "" if alike is None else _yes_or_no(alike == (how == "same"))
    if how == "agree":
        return answers[0] if is_same_answer(*answers, by_meaning=by_meaning) else ""
    if how == "each":
        return "; ".join(dict.fromkeys(answers)) if all(answers) else ""
    return answers[1] if how == "bridge" else ""


def _compare_order(how: Combination, questions: TextPair, answers: TextPair) -> str:
    """Return the thing that comes first in the order asked for; Yes or No where the question asks whether an order holds."""
    difference: float | None = None
    if how in _BY_DATE:
        dates = [date for answer in answers if (date := parse_date(answer))]
        difference = compare_dates(*dates) if len(dates) == 2 else None
    else:
        numbers = [number for answer in answers if (number := parse_quantity(answer))]
        difference = compare_quantities(*numbers) if len(numbers) == 2 else None
    if difference is None:
        return ""
    first = (difference < 0) == (how in _ASCENDING)
    if how in _YES_NO_ORDER:
        return _yes_or_no(first and difference != 0)
    return compared_names(questions)[0 if first else 1] if difference else ""


def _yes_or_no(holds: bool) -> str:
    return "Yes" if holds else "No"


def compared_names(questions: TextPair) -> TextPair:
    """Return the names of the two things compared: the words in which the questions differ, as whole names; empty if they are equal."""
    one, other = (question.split() for question in questions)
    if one == other:
        return "", ""
    shorter = min(len(one), len(other))
    before = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    behind = next((place for place in range(shorter - before) if one[-1 - place] != other[-1 - place]), shorter - before)
    while before and shorter == before + behind:
        before -= 1
    while (back := _name_before(one, before)) != before:
        before = back
    while behind:
        name = " ".join(one[before : len(one) - behind])
        if not _is_capitalized(one[-behind]) and name.count("(") <= name.count(")"):
            break
        behind -= 1
    first, second = (" ".join(words[before : len(words) - behind]) for words in (one, other))
    return _strip_name(first), _strip_name(second)


def _name_before(words: list[str], before: int) -> int:
    """Return the index of the first word of the name that continues at `before`, `before` if there is none."""
    place = before - 1
    while place > 0 and words[place] in _NAME_PARTICLES and before - place < 3:
        place -= 1
    return place if place > 0 and _is_capitalized(words[place]) and not words[place].endswith((",", ":", ";")) else before


def _is_capitalized(word: str) -> bool:
    return word.lstrip("\"“'‘(")[:1].isupper()


def _strip_name(name: str) -> str:
    return name.strip(_PUNCTUATION).removesuffix("'s").removesuffix("’s")


_MIN_SAME, _MAX_DIFFERENT = 0.815, 0.795
"""Cosine thresholds: the same country (American, United States), or different ones (French, German); right for 122 of 127 pairs."""
_COMPARISON_PHRASES = ("The country is {}.", "a person from {}")
"""Templates in which a country and its nationality are most similar, and different countries least."""


def is_same_answer(one: str, other: str, *, by_meaning: bool = True) -> bool | None:
    """Return whether two answers name the same thing; None if that cannot be decided. Without `by_meaning`, no encoder is loaded."""
    if not fold(one) or not fold(other):
        return None
    if fold(one) == fold(other):
        return True
    for compare in (_same_value, _same_words):
        if (decided := compare(one, other)) is not None:
            return decided
    return _same_meaning(one, other) if by_meaning else None


def _same_value(one: str, other: str) -> bool | None:
    """Compare dates and bare numbers; None for anything else."""
    dates, numbers = (parse_date(one), parse_date(other)), (parse_quantity(one), parse_quantity(other))
    if dates[0] and dates[1]:
        return not compare_dates(dates[0], dates[1])  # None: equal as far as both are given
    if numbers[0] and numbers[1] and one.strip()[0].isdigit() and other.strip()[0].isdigit():
        difference = compare_quantities(numbers[0], numbers[1])
        return None if difference is None else abs(difference) < 1e-9
    return None


def _same_words(one: str, other: str) -> bool | None:
    """Compare words: the same if one name contains the other; different if each of two long ones has a word of its own."""
    first, second = (set(fold(name).split()) for name in (one, other))
    if first <= second or second <= first:
        return True
    return False if first & second and len(first) > 1 and len(second) > 1 else None


def _same_meaning(one: str, other: str) -> bool | None:
    """Compare by embedding similarity; a place with its region ("Paris, France") by each part."""
    parts = [[part.strip() for part in name.split(",") if part.strip()] for name in (one, other)]
    if len(parts[0]) > 1 and len(parts[1]) > 1:
        parts = [[one], [other]]
    nearest = max(
        fmean(similarity(phrase.format(first), phrase.format(second)) for phrase in _COMPARISON_PHRASES)
        for first in parts[0]
        for second in parts[1]
    )
    if nearest >= _MIN_SAME:
        return True
    return False if nearest < _MAX_DIFFERENT else None


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?)\b\.?"
)
_DAY = r"\d{1,2}(?!\d)(?:st|nd|rd|th)?"
_ERA = r"(?:\s*(?:(?:[-–—]|to)\s*\d{1,4}\s*)?(?P<bc>BCE?\b|B\.\s?C\.))?"
"""`44 BC`, and the first year of `120–80 BC`."""
_WRITTEN_DATE = re.compile(
    rf"\b(?:(?P<before>{_DAY})(?: of)? )?(?P<month>{_MONTH}),? (?:(?P<after>{_DAY}),? )?(?P<year>\d{{3,4}})(?!\d){_ERA}", re.IGNORECASE
)
_ISO_DATE = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?(?!\d)")
_YEAR = re.compile(rf"(?<![\d,.])(?P<year>\d{{3,4}})(?!\d|,\d{{3}}|\.\d){_ERA}")
_FEW_DIGITS = re.compile(
    r"(?<!\d)(?:(?:AD|A\.D\.)\s*(?P<ad>\d{1,4})|(?P<year>\d{1,2})\s*(?:(?P<bc>BCE?\b|B\.\s?C\.)|(?:AD|CE)\b|A\.D\.))(?!\d)"
)
_SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12, "dozen": 12.0}
_UNITS: Final = {  # each unit with its size in metres, square metres, kilograms or seconds
    "length": "mm 0.001 millimetre 0.001 millimeter 0.001 cm 0.01 centimetre 0.01 centimeter 0.01 m 1 metre 1 meter 1 km 1000 "
    "kilometre 1000 kilometer 1000 mi 1609.344 mile 1609.344 yd 0.9144 yard 0.9144 ft 0.3048 foot 0.3048 feet 0.3048 in 0.0254 "
    "inch 0.0254 inche 0.0254",
    "area": "m² 1 km² 1e6 ha 1e4 hectare 1e4 acre 4046.86 mi² 2589988",
    "weight": "mg 1e-6 g 0.001 gram 0.001 kg 1 kilogram 1 t 1000 tonne 1000 ton 1000 lb 0.4536 pound 0.4536 oz 0.0283 ounce 0.0283",
    "time": "s 1 sec 1 second 1 min 60 minute 60 h 3600 hr 3600 hour 3600 day 86400 week 604800 month 2629800 year 31557600 "
    "decade 315576000",
}
_UNITS_BY_NAME: Final = {
    name: (measures, float(size)) for measures, listed in _UNITS.items() for name, size in re.findall(r"(?<!\S)(\S++) (\S++)", listed)
}
_NUMBER = re.compile(r"(?<![\w.,])(?P<sign>minus |[-−])?(?:[£$€]\s?)?(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<rest>\.\d+)?")
_NEXT_WORD = re.compile(r"[-\s]?(?P<word>[^\W\d_]+²?)\.?")
_SQUARE = re.compile(r"\b(?:square|sq\.?) (?P<unit>km|kilo|mi|m)\w*", re.IGNORECASE)
_SQUARE_UNITS: Final = {"km": "km", "kilo": "km", "mi": "mi", "m": "m"}
_RANGE_END = re.compile(r"^\s*(?:[-–—]|to\b)\s*\d[\d,]*(?:\.\d+)?")
_DATE_RANGE = re.compile(r"(?:(?<!\s)\s++(?:[–—]|(?:-|to)(?=\s))|[–—])\s*+")
_DAYS_PER_YEAR: Final = 365.25


class PartialDate(NamedTuple):
    """A date; the month or day is 0 if not given, and years before Christ are negative."""

    year: int
    month: int = 0
    day: int = 0


def parse_date(text: str) -> PartialDate | None:
    """Return the first date in a text, if any."""
    dates = [read for read in (_iso_date(text), _written_date(text), _year_alone(text)) if read is not None]
    return min(dates, key=lambda item: item[0])[1] if dates else None


def compare_dates(one: PartialDate, other: PartialDate) -> int | None:
    """Compare two dates as far as both are given: negative if the first is earlier, 0 for the same day, None if undecided."""
    for first, second in zip(one, other, strict=True):
        if 0 in (first, second):
            return None
        if first != second:
            return first - second
    return 0


def _iso_date(text: str) -> tuple[int, PartialDate] | None:
    match = _ISO_DATE.search(text)
    if match is None or not 1 <= int(match["month"]) <= 12:
        return None
    return match.start("year"), PartialDate(int(match["year"]), int(match["month"]), int(match["day"] or 0))


def _written_date(text: str) -> tuple[int, PartialDate] | None:
    match = _WRITTEN_DATE.search(text)
    if match is None:
        return None
    day = re.match(r"\d+", match["before"] or match["after"] or "0")
    month = MONTHS[match["month"][:3].casefold()]
    # The year at the end of this date is also found alone; the position is that of the whole date.
    return match.start(), PartialDate(_signed_year(match["year"], match["bc"]), month, int(day[0]) if day else 0)


def _year_alone(text: str) -> tuple[int, PartialDate] | None:
    match = _YEAR.search(text)
    few = _FEW_DIGITS.search(text)
    if few is not None and (match is None or few.start() < match.start()):
        return few.start(), PartialDate(_signed_year(few["ad"] or few["year"], few["bc"]))
    return (match.start(), PartialDate(_signed_year(match["year"], match["bc"]))) if match else None


def _signed_year(year: str, before_christ: str | None) -> int:
    return -int(year) if before_christ else int(year)


class Quantity(NamedTuple):
    """A number, the size of its unit, and what that measures; empty for a bare number."""

    number: float
    unit: float = 1.0
    measures: str = ""


def parse_quantity(text: str) -> Quantity | None:
    """Return the first number in a text with its scale and unit, a number in words, or the time between two dates, if any."""
    if (span := _time_between(text)) is not None:
        return span
    text = _SQUARE.sub(lambda match: f"{_SQUARE_UNITS[match['unit'].casefold()]}²", text)
    number = _NUMBER.search(text)
    if number is None:
        return _number_in_words(text)
    value = float(number["digits"].replace(",", "") + (number["rest"] or "")) * (-1 if number["sign"] else 1)
    return _parse_unit(value, _RANGE_END.sub("", text[number.end() :]))


def compare_quantities(one: Quantity, other: Quantity) -> float | None:
    """Return the difference, in the common unit; None if they measure different things. A bare number has the other's unit."""
    if not one.measures or not other.measures:
        return one.number - other.number
    return one.number * one.unit - other.number * other.unit if one.measures == other.measures else None


def _parse_unit(value: float, behind: str) -> Quantity:
    """Parse the scale and unit after a number, and a smaller unit after that: 6 ft 2 in."""
    word, rest = _next_word(behind)
    while word in _SCALES:
        value *= _SCALES[word]
        word, rest = _next_word(rest)
    known = _UNITS_BY_NAME.get(word) or _UNITS_BY_NAME.get(word.removesuffix("s"))
    if known is None or (word == "in" and rest.strip(" .)")):  # 30 in 1990
        return Quantity(value)
    measures, unit = known
    more = re.match(r"(?:,| and)? (?=\d)", rest)
    if more and (added := parse_quantity(rest[more.end() :])) and added.measures == measures and added.unit < unit:
        value += added.number * added.unit / unit
    return Quantity(value, unit, measures)


def _next_word(text: str) -> tuple[str, str]:
    match = _NEXT_WORD.match(text)
    return (match["word"].casefold(), text[match.end() :]) if match else ("", text)


def _number_in_words(text: str) -> Quantity | None:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    first = next((place for place, word in enumerate(words) if word in NUMBER_WORDS or word in ("hundred", "dozen")), None)
    if first is None:
        return None
    last = next((place for place in range(first, len(words)) if words[place] not in NUMBER_WORDS), len(words))
    return _parse_unit(float(sum(NUMBER_WORDS[word] for word in words[first:last]) or first == last), " " + " ".join(words[last:]))


def _time_between(text: str) -> Quantity | None:
    """Return the time between two dates joined by a dash."""
    ends = [end for part in _DATE_RANGE.split(text) if (end := parse_date(part)) is not None]
    if len(ends) != 2:
        return None
    days = [end.year * _DAYS_PER_YEAR + end.month * _DAYS_PER_YEAR / 12 + end.day for end in ends]
    return Quantity(days[1] - days[0], 86400.0, "time")
