"""Write the values of cells as a spreadsheet program shows them: number formats of Excel."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);("$"#,##0)', 7: '"$"#,##0.00_);("$"#,##0.00)',
    8: '"$"#,##0.00_);("$"#,##0.00)', 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy",
    16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)",
    41: '#,##0_);(#,##0);"-"_);@', 42: '"$"#,##0_);("$"#,##0);"$-"_);@', 43: '#,##0.00_);(#,##0.00);"-"_);@',
    44: '"$"#,##0.00_);("$"#,##0.00);"$-"_);@', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"), 32: "h:mm", 33: "h:mm:ss", 34: "h:mm", 35: "h:mm:ss",
}  # fmt: skip
"""Codes of formats that files name by number only; dates are ISO, since their form depends on the reader's country."""

_TOKEN = re.compile(
    r'"[^"]*"?|\\.|[_*].|\[[^\]]*\]?|General|AM/PM|A/P|E[+-]|y+|m+|d+|h+|s+(?:\.0+)?|(?<=s\])\.0+|e+|g+|b+|.', re.IGNORECASE | re.DOTALL
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]")
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_MAX_CODE_CHARS = 255
_MAX_EXPONENT, _MAX_ZEROS = 21, 6
"""Numbers without a format have an exponent if they are larger, or have as many zeros in front."""
_MAX_DIGITS = 26
"""Fewer digits than `Decimal` computes with."""
_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
_LAST_DAY = 2958465
_LARGEST_EXACT = 2**53
"""The largest number up to which a float holds each whole number."""
_DUST = Decimal("0.001")
"""Seconds."""
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda value, bound: value < bound, "<=": lambda value, bound: value <= bound, ">": lambda value, bound: value > bound,
    ">=": lambda value, bound: value >= bound, "=": lambda value, bound: value == bound, "<>": lambda value, bound: value != bound,
}  # fmt: skip


class _Token(NamedTuple):
    """A part of a format: `kind` is text, digit, point, comma, percent, exponent, slash, general, at, date, minute, elapsed or half."""

    kind: str
    text: str


class _Section(NamedTuple):
    """A section of a format, for values that meet its condition."""

    tokens: tuple[_Token, ...]
    operator: str = ""
    bound: float = 0

    def has(self, *kinds: str) -> bool:
        """Return whether it contains a token of one of these kinds."""
        return any(token.kind in kinds for token in self.tokens)


def built_in_format(number: int) -> str:
    """Return the code of a format that every workbook has, "General" for unknown ones."""
    return _BUILT_IN.get(number, "General")


def format_text(text: str, code: str) -> str:
    """Return a text as its format shows it; "" if the format hides it."""
    sections = _parse(code)
    section = sections[3] if len(sections) > 3 else sections[-1] if sections[-1].has("at") else None
    return text if section is None else "".join(text if token.kind == "at" else token.text for token in section.tokens)


def format_number(value: float, code: str, from_1904: bool = False) -> str:
    """Return a number as its format shows it; "" if the format hides it. A date with day, month and year is written as ISO."""
    section, is_absolute = _choose_section(_parse(code), value)
    shown = abs(value) if is_absolute else value
    if section is None:
        return _general(value)
    if section.has("date", "minute", "elapsed", "half"):
        text = _date(section.tokens, shown, from_1904)
        return _general(value) if text is None else text.strip()
    number = _digits(abs(shown))
    if section.has("general", "at"):
        text = "".join(_general(abs(shown)) if token.kind in ("general", "at") else token.text for token in section.tokens)
    elif section.has("slash") and section.has("digit"):
        text = _fraction(section.tokens, number)
    elif section.has("exponent"):
        text = _scientific(section.tokens, number)
    else:
        text = _decimal(section.tokens, number)
    text = " ".join(text.split())
    return f"-{text}" if shown < 0 and any(character in "123456789" for character in text) else text


def _general(value: float) -> str:
    """Return a number with all its digits."""
    number = _digits(value)
    if number and not -_MAX_ZEROS < number.adjusted() < _MAX_EXPONENT:
        exponent = number.adjusted()
        return f"{number.scaleb(-exponent).normalize():f}E{exponent:+03}"
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _digits(value: float) -> Decimal:
    """Return a number as it is written in a file: whole if a float holds it exactly, else with the 15 digits that a workbook keeps."""
    return Decimal(int(value)) if value == int(value) and abs(value) <= _LARGEST_EXACT else Decimal(f"{value:.15g}")


@lru_cache(maxsize=1024)
def _parse(code: str) -> tuple[_Section, ...]:
    """Return the sections of a format."""
    sections, tokens = [], list[_Token]()
    operator, bound = "", 0.0
    for text in [*_TOKEN.findall(code[:_MAX_CODE_CHARS]), ";"]:
        if text == ";":
            sections.append(_Section(_mark_minutes(tokens), operator, bound))
            tokens, operator, bound = [], "", 0.0
        elif condition := _CONDITION.fullmatch(text):
            operator, bound = condition[1], float(condition[2])
        else:
            tokens.append(_token(text))
    return tuple(sections)


def _token(text: str) -> _Token:
    first = text[0].lower()
    if first == '"':
        return _Token("text", text.strip('"'))
    if first == "\\":
        return _Token("text", text[1:])
    if first == "_":
        return _Token("text", " ")
    if first == "*":
        return _Token("text", "")
    if first == "[":
        if elapsed := _ELAPSED.fullmatch(text):
            return _Token("elapsed", elapsed[1].lower())
        return _Token("text", text[2:-1].partition("-")[0] if text.startswith("[$") else "")
    if text.lower() == "general":
        return _Token("general", "")
    if text.upper() in ("AM/PM", "A/P"):
        return _Token("half", text)
    if first == "e" and text[1:] in ("+", "-"):
        return _Token("exponent", text[1])
    if first in "ymdhsegb" or (first == "." and len(text) > 1):
        return _Token("date", text.lower())
    kinds = {"0": "digit", "#": "digit", "?": "digit", ".": "point", ",": "comma", "%": "percent", "/": "slash", "@": "at"}
    return _Token(kinds.get(text, "text"), text)


def _mark_minutes(tokens: Sequence[_Token]) -> tuple[_Token, ...]:
    """Tell minutes from months: `m` and `mm` are minutes after an hour or before a second."""
    timed = [place for place, token in enumerate(tokens) if token.kind in ("date", "elapsed") and token.text[0] in "ymdhs"]
    marked = list(tokens)
    for at, place in enumerate(timed):
        before = tokens[timed[at - 1]].text[0] if at else ""
        after = tokens[timed[at + 1]].text[0] if at + 1 < len(timed) else ""
        if tokens[place].text in ("m", "mm") and tokens[place].kind == "date" and (before == "h" or after == "s"):
            marked[place] = _Token("minute", tokens[place].text)
    is_date = any(token.kind in ("date", "minute", "elapsed", "half") for token in marked)
    literal = ("point", "comma", "slash", "percent", "digit") if is_date else ()
    return tuple(_Token("text", token.text) if token.kind in literal else token for token in marked)


def _choose_section(sections: Sequence[_Section], value: float) -> tuple[_Section | None, bool]:
    """Return the section for a number, and whether it is shown without its sign."""
    numeric = [section for section in sections[:3] if not (len(sections) > 1 and section.has("at") and section is sections[-1])]
    if any(section.operator for section in numeric):
        for section in numeric:
            if not section.operator or _COMPARISONS[section.operator](value, section.bound):
                return section, section.operator in ("<", "<=") and section.bound <= 0
        return None, False
    if value < 0 and len(numeric) > 1:
        return numeric[1], True
    return numeric[2 if value == 0 and len(numeric) > 2 else 0], False


def _decimal(tokens: Sequence[_Token], number: Decimal) -> str:
    """Return digits in their places, with the text between them."""
    point = next((place for place, token in enumerate(tokens) if token.kind == "point"), len(tokens))
    digits = [place for place, token in enumerate(tokens) if token.kind == "digit"]
    whole_places, fraction_places = [place for place in digits if place < point], [place for place in digits if place > point]
    commas = [place for place, token in enumerate(tokens) if token.kind == "comma"]
    groups = [place for place in commas if whole_places and whole_places[0] < place < whole_places[-1]]
    percents = sum(token.kind == "percent" for token in tokens)
    number = number.scaleb(2 * percents - (3 * (len(commas) - len(groups)) if digits else 0))
    if number.adjusted() < _MAX_EXPONENT:
        decimals = min(len(fraction_places), _MAX_DIGITS - max(number.adjusted(), 0))
        number = number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, fraction = f"{number:f}".partition(".")
    places = _whole_digits(tokens, whole_places, whole.lstrip("0"), bool(groups))
    significant = len(fraction.rstrip("0"))
    for index, place in enumerate(fraction_places):
        digit = fraction[index] if index < len(fraction) else "0"
        places[place] = digit if index < significant or tokens[place].text == "0" else " " if tokens[place].text == "?" else ""
    if not any(places[place].strip() for place in fraction_places):
        places[point] = ""
    return "".join("" if token.kind == "comma" and digits else places.get(place, token.text) for place, token in enumerate(tokens))


def _whole_digits(tokens: Sequence[_Token], places: Sequence[int], digits: str, grouped: bool) -> dict[int, str]:
    """Return the text at each place before the point: a digit, but the first place takes all that are left."""
    texts: dict[int, str] = {}
    count = 0
    for place in reversed(places):
        taken = digits if place == places[0] else digits[-1:]
        digits = digits[: len(digits) - len(taken)]
        text = ""
        for digit in reversed(taken or {"0": "0", "?": " "}.get(tokens[place].text, "")):
            text = digit + ("," if grouped and count and count % 3 == 0 and digit != " " else "") + text
            count += 1
        texts[place] = text
    return texts


def _scientific(tokens: Sequence[_Token], number: Decimal) -> str:
    """Return a number with an exponent, which is a multiple of the digits before the point."""
    at = next(place for place, token in enumerate(tokens) if token.kind == "exponent")
    point = next((place for place, token in enumerate(tokens) if token.kind == "point"), at)
    step = max(1, sum(token.kind == "digit" for token in tokens[: min(point, at)]))
    decimals = sum(token.kind == "digit" for token in tokens[point:at])
    exponent = number.adjusted() // step * step if number else 0
    mantissa = number.scaleb(-exponent)
    if mantissa.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) >= 10**step:
        exponent, mantissa = exponent + step, mantissa.scaleb(-step)
    sign = "-" if exponent < 0 else tokens[at].text if tokens[at].text == "+" else ""
    return f"{_decimal(tokens[:at], mantissa)}E{sign}{_decimal(tokens[at + 1 :], Decimal(abs(exponent)))}"


def _fraction(tokens: Sequence[_Token], number: Decimal) -> str:
    """Return a number as a whole number and a fraction ("1 1/2"), or as a fraction alone."""
    slash = next(place for place, token in enumerate(tokens) if token.kind == "slash")
    end = slash + 1
    while end < len(tokens) and (tokens[end].kind == "digit" or tokens[end].text.isdigit()):
        end += 1
    below = "".join(token.text for token in tokens[slash + 1 : end])
    start = slash
    while start and tokens[start - 1].kind == "digit":
        start -= 1
    has_whole = any(token.kind == "digit" for token in tokens[:start])
    whole = int(number) if has_whole else 0
    rest = Fraction(number) - whole
    if below.isdigit() and int(below):
        count, size = int(rest * int(below) + Fraction(1, 2)), int(below)
    else:
        nearest = rest.limit_denominator(10 ** min(max(len(below), 1), 7) - 1)
        count, size = nearest.numerator, nearest.denominator
    if has_whole and count == size:
        whole, count = whole + 1, 0
    shown = f"{whole or ''} {count}/{size}" if count or not has_whole else f"{whole}"
    before, after = ("".join(token.text for token in part if token.kind == "text") for part in (tokens[:start], tokens[end:]))
    return f"{before.lstrip()}{shown.strip()}{after}"


def _date(tokens: Sequence[_Token], value: float, from_1904: bool) -> str | None:
    """Return a date or time; None if the number is none."""
    names = {token.text[0] for token in tokens if token.kind == "date"}
    places = sum(max(0, len(token.text.partition(".")[2])) for token in tokens if token.kind in ("date", "elapsed") and "." in token.text)
    has_seconds = "s" in names or places or any(token.kind == "elapsed" and token.text[0] == "s" for token in tokens)
    seconds = Decimal(f"{value:.15g}") * 86400
    if has_seconds:
        seconds = seconds.quantize(Decimal(1).scaleb(-min(places, 6)), ROUND_HALF_UP)
    else:  # minutes are not rounded, but for what a binary fraction lacks
        seconds = (seconds + _DUST).to_integral_value(ROUND_FLOOR)
    if any(token.kind == "elapsed" for token in tokens):
        return _elapsed(tokens, seconds)
    if not 0 <= value <= _LAST_DAY:
        return None
    moment = (_EPOCH_1904 if from_1904 else _EPOCH) + timedelta(seconds=float(seconds))
    if not from_1904 and value < 60:  # Excel takes 1900 for a leap year
        moment += timedelta(days=1)
    if {"y", "m", "d"} <= names and any(token.text in ("d", "dd") for token in tokens):
        return _iso(tokens, moment, names)
    halves = any(token.kind == "half" for token in tokens)
    return "".join(_date_part(token, moment, halves) for token in tokens)


def _iso(tokens: Sequence[_Token], moment: datetime, names: set[str]) -> str:
    """Return a date as ISO, without a time of midnight, with the text before and after it."""
    dated = [place for place, token in enumerate(tokens) if token.kind in ("date", "minute", "half")]
    before = "".join(token.text for token in tokens[: dated[0]])
    after = "".join(token.text for token in tokens[dated[-1] + 1 :])
    time = "" if moment.time() == datetime.min.time() else " %H:%M:%S" if "s" in names else " %H:%M" if "h" in names else ""
    return f"{before}{moment.date().isoformat()}{moment.strftime(time) if time else ''}{after}"


def _date_part(token: _Token, moment: datetime, halves: bool) -> str:
    name, size = token.text[:1], len(token.text.partition(".")[0])
    if token.kind == "half":
        return (("AM", "PM") if len(token.text) > 3 else ("A", "P"))[moment.hour >= 12]
    if token.kind == "minute":
        return f"{moment.minute:0{size}}"
    if token.kind != "date":
        return token.text
    match name:
        case "y" | "e":
            return f"{moment.year % 100:02}" if name == "y" and size < 3 else f"{moment.year}"
        case "m":
            month = _MONTHS[moment.month - 1]
            return {1: f"{moment.month}", 2: f"{moment.month:02}", 3: month[:3], 5: month[0]}.get(size, month)
        case "d":
            day = _DAYS[moment.weekday()]
            return {1: f"{moment.day}", 2: f"{moment.day:02}", 3: day[:3]}.get(size, day)
        case "h":
            return f"{(moment.hour % 12 or 12) if halves else moment.hour:0{min(size, 2)}}"
        case "s" | ".":
            decimals = len(token.text.partition(".")[2])
            seconds = f"{moment.second:0{min(size, 2)}}" if name == "s" else ""
            return seconds + (f".{moment.microsecond:06}"[: decimals + 1] if decimals else "")
    return ""


def _elapsed(tokens: Sequence[_Token], seconds: Decimal) -> str:
    """Return a duration: `[h]` are all its hours, `[m]` all minutes, `[s]` all seconds."""
    whole = int(abs(seconds))
    values = {"h": whole // 3600, "m": whole // 60, "s": whole}
    parts = {"h": whole // 3600 % 24, "m": whole // 60 % 60, "s": whole % 60}
    text = "-" if seconds < 0 else ""
    for token in tokens:
        name, _, decimals = token.text.partition(".")
        if token.kind == "elapsed":
            text += f"{values[name[0]]:0{len(name)}}"
        elif token.kind in ("date", "minute"):
            text += f"{parts.get(name[0], 0):0{min(len(name), 2)}}" if name else ""
            text += f"{abs(seconds) % 1:f}"[1 : len(decimals) + 2] if decimals else ""
        else:
            text += token.text
    return text
