"""Dates as text tells them: as far as they are told, and which of two comes first."""

import re
from typing import NamedTuple

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
