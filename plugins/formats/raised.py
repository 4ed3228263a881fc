"""Write raised and lowered text on the line, so that a raised digit never extends the number before it."""

import re

_NUMBER_MARK = re.compile(r"\d[\d ,;–-]*")
_POWER = re.compile(r"[-+−–]?\d+(?:[./]\d+)?")
_CHARGE = re.compile(r"\d*[-+−–]")
_ION = re.compile(r"[^\W\d_]\)?\d$")
_FORMULA = re.compile(r"[^\W_]?[\d\s+−·*/=()xyznkmij-]*[^\W_]?")
"""A mark that is an exponent if a number or a variable stands before it: "n", "n+1", "2k"."""
_ORDINAL = re.compile(r"(?:st|nd|rd|th|e|er|re|ère|ers|es|ème|eme|de|ste|o|a|os|as|ª|º)", re.IGNORECASE)
_LETTER_MARKS = re.compile(r"[a-df-n](?:, ?[a-df-n])*")
_VALUE = re.compile(r"(?:(?<![\d.,])\d{3,4}|\d[.,]\d+)$")
"""A number with too many digits to be raised to a power or counted as "1a"."""
_EXPONENT_LETTERS = frozenset("nkmijpqtxyzNT")
_LAST_NUMBER = re.compile(r"(?<![\d.,])\d+$")
_BASES = frozenset(["10", "100", "1000", "16", "60", *map(str, range(2, 10))])
"""Numbers that a raised number is a power of, not a note to."""
_PRODUCT = re.compile(r"[=+−·×*/(] ?[a-zα-ω]{2,3}$")
"""Variables of a formula, such as those of E = mc²."""
_VARIABLE = re.compile(r"(?<![^\W\d_])[^\W\d_]$")
_UNIT = re.compile(r"(?<![^\W\d_])(?:[cdkmnµμ]m|ft|yd|sec|hm|rad|(?:(?<=\d)|(?<=\d )|(?<=/)|(?<=per ))(?:in|mi|mile|miles|min))\.?$")
_OPERATORS = frozenset("-+−*/·×^=")
_ELEMENT = re.compile(r"[A-Z][a-z]?(?![^\W\d_])")
_FRACTION = re.compile(r"\s*[/⁄]")


def raised(before: str, mark: str, is_note: bool, after: str = "") -> str:
    """Return a raised text as it is written on the line behind `before`: "^5" for a power, "[1]" for a note, letters as they are.

    `is_note` is true if the mark is known to refer to a note; `after` is the text behind it.
    """
    mark = " ".join(mark.split())
    if not mark or mark[0] in "([{":
        return mark
    if is_note:
        written = f"[{mark}]"
    elif not any(character.isdigit() for character in mark):
        written = _raised_letters(before, mark)
    elif _FRACTION.match(after) and not before[-1:].isalpha():
        written = f" {mark}" if before[-1:].isdigit() else mark
    elif _is_power(before, mark):
        written = f"^{mark}" if mark.isalnum() or _POWER.fullmatch(mark) or _CHARGE.fullmatch(mark) else f"^({mark})"
    elif not before.strip() or before[-1].isspace():
        written = mark if _ELEMENT.match(after) else f"[{mark}]"
    elif _CHARGE.fullmatch(mark) and before[-1].isalpha():
        written = mark
    else:
        written = f"[{mark}]" if _NUMBER_MARK.fullmatch(mark) or before[-1].isdigit() else mark
    return _apart(written, after)


def lowered(before: str, mark: str, after: str = "") -> str:
    """Return a lowered text as it is written on the line behind `before`: "2" of H2O, "_2" behind a digit."""
    mark = " ".join(mark.split())
    return _apart(f"_{mark}" if mark[:1].isdigit() and before[-1:].isdigit() else mark, after)


def _raised_letters(before: str, mark: str) -> str:
    """Return "^n" for the exponent of a number or a variable; ordinals (1st), titles and signs are joined."""
    if _LETTER_MARKS.fullmatch(mark) and _VALUE.search(before[-16:]):
        return f"[{mark}]"
    if _ORDINAL.fullmatch(mark) and mark not in _EXPONENT_LETTERS:
        return mark
    if not any(character.isalnum() for character in mark):
        return mark
    is_base = before[-1:].isdigit() or (_VARIABLE.search(before) is not None and (before[-1].islower() or mark in "nkxNT"))
    if is_base and (mark in _EXPONENT_LETTERS or (_FORMULA.fullmatch(mark) and not mark.isalpha())):
        return f"^{mark}" if len(mark) == 1 else f"^({mark})"
    return mark


def _is_power(before: str, mark: str) -> bool:
    """Return whether a raised number or term is an exponent."""
    end = before[-16:]
    if mark[0] in "-+−–":
        return bool(end) and (end[-1].isalnum() or end[-1] in ")]")
    if not end or (_CHARGE.fullmatch(mark) and end[-1].isalpha()):
        return False
    if _ION.search(end) and _CHARGE.fullmatch(mark):
        return True
    if end[-1].isdigit():
        number = _LAST_NUMBER.search(end)
        return not _NUMBER_MARK.fullmatch(mark) or (number is not None and number[0] in _BASES and _POWER.fullmatch(mark) is not None)
    if any(base.search(end) for base in (_VARIABLE, _UNIT, _PRODUCT)):
        return _POWER.fullmatch(mark) is not None or _FORMULA.fullmatch(mark) is not None
    within = before[before.rfind("(") + 1 : -1].strip() if end[-1] == ")" else ""
    return (len(within) == 1 and within.isalpha()) or not _OPERATORS.isdisjoint(within)


def _apart(written: str, after: str) -> str:
    """Return a text with a space behind it where it would extend a number or a word that follows."""
    is_joined = after[:1].isdigit() and (written[-1:].isdigit() or written.endswith("]"))
    return f"{written} " if is_joined or (written.endswith("]") and after[:1].isalpha()) else written
