"""Numbers as spreadsheet programs show them in a number format, without the readers' code."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

_FORMAT_TOKEN = re.compile(
    r'"[^"]*"|\\.|_.|\*.|\[[^\]\[]*+\]|AM/PM|A/P|y+|m+|d+|h+|s+(?:\.0+)?|[#0?][#0?,.]*(?:E[+-]0+)?|.', re.IGNORECASE | re.DOTALL
)
_LARGEST_DAY = 2_958_465
"""Serial number of the last day that a workbook can show."""


def number_forms(stored: str, code: str, is_1904: bool, place: str) -> tuple[str, str, tuple[str, ...]]:
    """Return a number as it is shown, its place, and the other forms in which it may be read."""
    try:
        value = Decimal(stored)
        plain = f"{float(value):.15g}"
    except ArithmeticError:
        return stored, place, ()
    others = [stored, plain, format(Decimal(plain), "f")]
    if re.search(r"[ymdhs]", re.sub(r'"[^"]*"|\\.|\[[^hms\]\[][^\]\[]*+\]', "", code), re.IGNORECASE) and "General" not in code:
        others += _date_forms(float(value), is_1904)
    try:
        shown = show_number(Decimal(plain), code, is_1904)
        return shown, place, (*others, shown.removeprefix("-")) if not re.search("[1-9]", shown) else tuple(others)
    except (ArithmeticError, ValueError, OverflowError):
        return stored, place, tuple(others)


def _date_forms(serial: float, is_1904: bool) -> list[str]:
    if not 0 <= serial <= _LARGEST_DAY:
        return []
    moment = _moment(serial, is_1904)
    rounded = moment.replace(microsecond=0)
    hours, rest = divmod(round(serial * 86400), 3600)
    return [
        str(moment.date()), str(moment), str(rounded), str(rounded.time()), str(moment.time()), f"{rounded:%Y-%m-%d %H:%M}",
        f"{rounded:%H:%M}", f"{hours}:{rest // 60:02}", f"{hours}:{rest // 60:02}:{rest % 60:02}",
        str(timedelta(seconds=hours * 3600 + rest)),
    ]  # fmt: skip


def _moment(serial: float, is_1904: bool) -> datetime:
    first = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30) if serial >= 60 else datetime(1899, 12, 31)
    return first + timedelta(microseconds=round(serial * 86_400_000) * 1000)


def show_number(value: Decimal, code: str, is_1904: bool = False) -> str:
    """Return a number as a spreadsheet program shows it in a number format."""
    sections = re.findall(r'(?:"[^"]*"|\\.|\[[^\]\[]*+\]|[^;])+|(?<=;)(?=;|$)', code) or ["General"]
    has_conditions = "[<" in code or "[>" in code or "[=" in code
    place = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    section = sections[0 if has_conditions else place]
    tokens = _FORMAT_TOKEN.findall(section)
    if "general" in section.lower() or section == "@" or not any(token[0] in "#0?ymdhsYMDHS[" for token in tokens):
        return format(Decimal(f"{float(value):.10g}"), "f") if "general" in section.lower() or section == "@" else _literals(tokens)
    if any(token[0] in "ymdhsYMDHS" or re.fullmatch(r"\[[hms]+\]", token, re.IGNORECASE) for token in tokens):
        return _show_date(float(value), tokens, is_1904)
    return _show_decimal(-value if place == 1 else value, tokens)


def _literals(tokens: Sequence[str]) -> str:
    return "".join(_literal(token) for token in tokens)


def _literal(token: str) -> str:
    """Return what a token of a number format shows by itself."""
    if token[0] == '"':
        return token[1:-1]
    if token[0] == "[":
        return token[2:].split("-")[0].rstrip("]") if token.startswith("[$") else ""
    return token[1:] if token[0] == "\\" else " " if token[0] in "_*" else token


def _show_decimal(value: Decimal, tokens: Sequence[str]) -> str:
    digits = next((token for token in tokens if token[0] in "#0?"), "")
    pattern, _, exponent = digits.upper().partition("E")
    scaled = value * 100 ** sum(token == "%" for token in tokens) / 1000 ** (len(pattern) - len(pattern.rstrip(",")))
    places = len(re.sub(r"[^#0?]", "", pattern.partition(".")[2]))
    if exponent:
        shown = f"{scaled:.{places}E}"
    elif "/" in tokens:
        return _show_fraction(Fraction(scaled), tokens)
    else:
        whole, _, fraction = f"{abs(scaled.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)):f}".partition(".")
        whole = whole.rjust(pattern.partition(".")[0].count("0"), "0")
        if "," in pattern.rstrip(","):
            whole = f"{int(whole):,}".rjust(len(whole), "0")
        required = len(pattern.partition(".")[2].rstrip("#?,"))
        fraction = fraction[:required] + fraction[required:].rstrip("0")
        shown = f"{'-' if scaled < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"
    first = tokens.index(digits) if digits else 0
    return "".join(shown if place == first else "" if token[0] in "#0?" else _literal(token) for place, token in enumerate(tokens))


def _show_fraction(value: Fraction, tokens: Sequence[str]) -> str:
    """Return a number as a fraction with as many digits as are below its line, beside a whole number if the format has a place for it."""
    line = tokens.index("/")
    places = [place for place, token in enumerate(tokens) if token[0] in "#0?"]
    below = tokens[line + 1].rstrip() if line + 1 < len(tokens) else ""
    fraction = value.limit_denominator(10 ** max(len(below), 1) - 1)
    whole, rest = divmod(abs(fraction), 1) if sum(place < line for place in places) > 1 else (0, abs(fraction))
    shown = [str(whole)] if whole or not rest else []
    shown += [f"{rest.numerator}/{rest.denominator}"] if rest else []
    return f"{'-' if value < 0 else ''}{' '.join(shown)}"


def _show_date(serial: float, tokens: Sequence[str], is_1904: bool) -> str:
    moment, parts, clock = _moment(serial, is_1904), list[str](), False
    half = any(token.upper() in ("AM/PM", "A/P") for token in tokens)
    for place, token in enumerate(tokens):
        kind, following = token[0].lower(), next((later[0].lower() for later in tokens[place + 1 :] if later[0].lower() in "ymdhs"), "")
        if re.fullmatch(r"\[[hms]+\]", token, re.IGNORECASE):
            seconds = round(serial * 86400)
            parts.append(str(seconds // {"h": 3600, "m": 60, "s": 1}[token[1].lower()]))
            clock = True
        elif token.upper() in ("AM/PM", "A/P"):
            parts.append(f"{moment:%p}"[: 1 if token.upper() == "A/P" else 2])
        elif kind == "m" and not (clock or following == "s"):
            parts.append({1: str(moment.month), 2: f"{moment:%m}", 3: f"{moment:%b}", 5: f"{moment:%b}"[0]}.get(len(token), f"{moment:%B}"))
        elif kind in "ymdhs":
            number = {"y": moment.year % 100 if len(token) < 3 else moment.year, "m": moment.minute, "d": moment.day, "s": moment.second,
                      "h": (moment.hour + 11) % 12 + 1 if half else moment.hour}[kind]  # fmt: skip
            name = f"{moment:%a}" if token.lower() == "ddd" else f"{moment:%A}" if token.lower() == "dddd" else ""
            decimals = len(token.partition(".")[2])
            text = (
                f"{moment.second + moment.microsecond / 1e6:0{3 + decimals}.{decimals}f}"
                if decimals
                else str(number).rjust(min(len(token), 2), "0")
            )
            parts.append(name or text)
            clock = kind in "hs" or (clock and kind == "m")
        else:
            parts.append(_literal(token))
    return "".join(parts)
