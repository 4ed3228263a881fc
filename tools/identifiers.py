"""Identifiers in questions: codes, exact numbers, versions, clauses and file names; and which texts name them.

An identifier is exact: `E021` is not `E201`, its rival, which is another identifier of the same form. Years, dates, quantities, ordinals
and decimal numbers are no identifiers.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ramify.tools.english import ENGLISH_STOP_WORDS, MONTHS, word_set

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_NARROW = {narrow: wide for wide, narrow in _WIDE.items()}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–−"), "-")


def narrow(text: str) -> str:
    """Return a text with full-width letters, digits and signs as ASCII; its length is the same."""
    return text.translate(_WIDE)


def widen(text: str) -> str:
    """Return a text with ASCII letters, digits and signs in full width."""
    return text.translate(_NARROW)


class Identifier(NamedTuple):
    """An identifier in a question."""

    text: str
    """As the question writes it."""
    pattern: re.Pattern[str]
    """Matches it in a text of `fold_typography`."""
    rival: re.Pattern[str]
    """Matches identifiers of the same form, also itself."""
    is_exact: bool
    """Whether only text that names it can answer; otherwise text that names a rival instead cannot."""

    @property
    def spellings(self) -> list[str]:
        """Return the words of its other spellings: in one word, and its letters and numbers apart."""
        runs = _RUN.findall(self.text.casefold())
        return [] if len(runs) < 2 or "." in self.text else ["".join(runs), *runs]


def fold_typography(text: str) -> str:
    """Return a text with one kind of hyphen and without compatibility characters such as full-width digits."""
    return unicodedata.normalize("NFKC", text).translate(_DASHES)


_MARKERS = word_set(
    "error fault warning alarm code codes order invoice ticket part model serial article clause section sections paragraph rule regulation "
    "item number no nr num id ref reference case version versions v release form room port customer contract account employee patent "
    "standard batch lot position step chapter appendix table figure annex § # № firmware build revision rev"
)
"""Words before the number of something."""
_LINKS = word_set("number no nr num code id # № :")
"""Words between such a word and the number: `order no. 4711`."""
_VERSION_WORDS = word_set(
    "version versions v release § section sections clause paragraph article rule regulation chapter firmware build revision rev annex "
    "appendix table figure step item room standard"
)
_UNITS = word_set(
    "k m g t b s h d w v a hz khz mhz ghz mm cm km kg mg ml cl l lb lbs oz ft in mi mph kmh kw kwh mw gw mah ah wh kb mb gb tb kib mib gib "
    "px bit bits am pm st nd rd th min sec ms hrs hr yr yrs x p c f ph bn bps kbps mbps gbps dpi rpm"
)
_FILE_ENDINGS = word_set(
    "md txt pdf doc docx xls xlsx ppt pptx odt ods odp csv tsv json jsonl xml html htm yaml yml toml ini cfg conf log py js ts java c h "
    "cpp rs go rb sh bat ps1 sql ipynb eml msg zip gz tar exe dll so png jpg jpeg svg rst tex"
)
_EDGES = ".,;:!?()[]{}<>\"'“”‘’«»`*"
_POSSESSIVE = re.compile(r"['’]s$")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_MEASURE = re.compile(r"\d+(?:[.,]\d+)*-?([a-z]+)")
_NUMBER_AND_WORD = re.compile(r"\d+(?:[.,]\d+)*-[a-z]{2,}(?:-[a-z]+)*|\d+s")
_DATE = re.compile(r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})")
_GROUPED = re.compile(r"\d{1,3}(?:[,.'’]\d{3})+|\d{1,2}[/:]\d{1,2}[a-z]*|\d+,\d+")
_RANGE = re.compile(r"[1-9]\d*-[1-9]\d*|0-\d+")
_DOTTED = re.compile(r"v?(\d+(?:\.\d+)+)")
_CODE = re.compile(r"[^\W_]+(?:[-_./:][^\W_]+)*")
_RUN = re.compile(r"[^\W\d_]+|\d+")
_MIN_DIGITS = 3
"""Least digits of an identifier that is always exact; `F-16` may be left out by a text about it."""
_MIN_LONG_NUMBER = 5
"""Least digits of a number that is an identifier by itself."""
_MAX_SKELETON_LETTERS = 4
"""A longer letter part is a word, and other words are no rivals."""
_BEFORE, _AFTER = r"(?<![^\W_])(?<!\d[-.,/])", r"(?![^\W_])(?![-.,]\d)"
_NO_SUFFIX = r"(?!-[^\W\d_](?![^\W_]))"
"""`KX-200-B` is not `KX-200`."""
_GAP, _RIVAL_GAP = r"[-_ ./]?", r"[-_./]?"
_MARKER = rf"(?:(?:{'|'.join(sorted(filter(str.isalpha, _MARKERS), key=len, reverse=True))})s?\b|[#§№])[ .:]{{0,2}}"
_LABEL = re.compile(rf"[\W_]*(?:{_MARKER})?")
_AT_START = rf"(?:^[\W_]*|{_MARKER})"


@lru_cache(maxsize=4096)
def find_identifiers(question: str) -> tuple[Identifier, ...]:
    """Return the identifiers in a question, each once."""
    text = fold_typography(question)
    words = [_POSSESSIVE.sub("", word.strip(_EDGES)) for word in re.sub(r"([#§№])", r" \1 ", text).split()]
    words = [word for word in words if word]
    identifiers = (_identifier(words, place) for place in range(len(words)))
    return tuple({identifier.pattern.pattern: identifier for identifier in identifiers if identifier is not None}.values())


def _identifier(words: Sequence[str], place: int) -> Identifier | None:
    """Return the identifier that ends with a word; None if there is none."""
    word, before = words[place].casefold(), words[place - 1] if place else ""
    if not _CODE.fullmatch(word) and "_" not in word:
        return None
    if word.isdecimal():
        return _number(word, before, _marker(words, place), is_first=place == 1 and not before.isupper())
    if "_" in word.strip("_") or (word.rpartition(".")[2] in _FILE_ENDINGS and "." in word[1:]):
        return _name(words[place])
    if not any(sign.isdigit() for sign in word) or _DATE.fullmatch(word) or _GROUPED.fullmatch(word) or _NUMBER_AND_WORD.fullmatch(word):
        return None
    marker = _marker(words, place)
    if dotted := _DOTTED.fullmatch(word):
        return _version(dotted[1], before, marker, is_exact=word.startswith("v") or word.count(".") > 1, is_first=place == 1)
    measure = _MEASURE.fullmatch(word)
    if ((measure and measure[1] in _UNITS) or _RANGE.fullmatch(word)) and not marker:
        return None
    return _code(words[place], is_exact=_is_exact(word, marker))


def _marker(words: Sequence[str], place: int) -> str:
    """Return the word before an identifier that says what it is the number of, empty if there is none."""
    at = place - 1
    if at > 0 and len(words[at]) == 1 and words[at].isalpha():  # error E 021
        at -= 1
    while at > 0 and words[at].casefold() in _LINKS and words[at - 1].casefold() in _MARKERS:
        at -= 1
    return words[at].casefold() if at >= 0 and words[at].casefold() in _MARKERS else ""


def _is_exact(word: str, marker: str) -> bool:
    digits = [run for run in _RUN.findall(word) if run.isdecimal()]
    count = len("".join(digits))
    return bool(marker) or count > _MIN_DIGITS + 1 or (count >= _MIN_DIGITS and not any(map(_YEAR.fullmatch, digits)))


def _number(word: str, before: str, marker: str, is_first: bool) -> Identifier | None:
    """Return the identifier of a number by the word before it."""
    year, letters = _YEAR.fullmatch(word) is not None, before.isalpha() and before.casefold() not in _MARKERS
    if letters and len(before) == 1 and (marker or word.startswith("0")):
        return _code(f"{before} {word}", is_exact=True)
    if letters and not year and not is_first and _names_number(before, word):
        return _code(f"{before} {word}", is_exact=before.isupper() and len(word) >= _MIN_DIGITS)
    if len(word) >= _MIN_LONG_NUMBER and (marker or not word.endswith("000")):
        places = "".join(("[,.'’ ]?" if at and (len(word) - at) % 3 == 0 else "") + sign for at, sign in enumerate(word))
        own, other = (rf"(?:[a-z]{{1,3}}[-_]?)?{digits}" for digits in (places, rf"\d{{{len(word)}}}"))
        return _compiled(word, own, other, is_exact=True)
    if not marker:
        return None
    if len(word) >= _MIN_DIGITS:
        return _compiled(word, rf"(?:[a-z]{{1,3}}[-_]?)?{word}", rf"{_AT_START}(?:[a-z]{{1,3}}[-_]?)?\d{{{len(word)}}}", is_exact=True)
    return _compiled(word, rf"{_AT_START}0*{word}", rf"{_AT_START}\d+", is_exact=False)


def _names_number(before: str, number: str) -> bool:
    """Return whether a word and a number are one name: `Kestrel 16`, `DIN 912`, `ticket 4711`."""
    folded = before.casefold()
    if folded in MONTHS or folded in ENGLISH_STOP_WORDS or len(before) == 1:
        return False
    return len(number) > 1 or not before.isupper() if before[0].isupper() else len(number) >= _MIN_DIGITS and not number.endswith("00")


def _version(number: str, before: str, marker: str, is_exact: bool, is_first: bool) -> Identifier | None:
    """Return the identifier of a version or clause such as 2.14.1 or § 4.2; a decimal number is none."""
    groups = number.split(".")
    own = r"v?" + r"[._-]".join(groups)
    if not is_exact and marker not in _VERSION_WORDS:
        named = before[:1].isupper() and not is_first and before.casefold() not in ENGLISH_STOP_WORDS | MONTHS.keys()
        return _compiled(f"{before} {number}", own, rf"{re.escape(before.casefold())}[- ]?v?\d+(?:\.\d+)+", False) if named else None
    other = rf"v?\d+(?:[._-]\d+){{{len(groups) - 1}}}"
    return _compiled(number, own, other if len(groups) > 2 else rf"{_AT_START}v?\d+(?:\.\d+)+", is_exact=True)


def _name(word: str) -> Identifier:
    """Return the identifier of a file or a setting, such as `notes.txt` and `max_retries`."""
    folded = word.casefold()
    ending = folded.rpartition(".")[2] if "." in folded else ""
    other = rf"[\w-]+\.{re.escape(ending)}" if ending else r"[^\W_]+(?:_[^\W_]+)+"
    return _compiled(word, re.escape(folded), other, is_exact=True)


def _code(word: str, is_exact: bool) -> Identifier:
    """Return the identifier of letters and digits, whatever separates them."""
    runs = _RUN.findall(word.casefold())
    own, same_letters, same_lengths = runs[0], _run(runs[0], literal=True), _run(runs[0], literal=False)
    for run in runs[1:]:
        own += _GAP + run
        same_letters += _GAP + _run(run, literal=True)
        same_lengths += _RIVAL_GAP + _run(run, literal=False)
    letters = [run for run in runs if not run.isdecimal()]
    short = all(len(run) <= _MAX_SKELETON_LETTERS for run in letters) and is_exact
    others = [*([same_letters] if letters else []), *([same_lengths] if short else [])]
    return _compiled(word, own if " " in word else own + _NO_SUFFIX, "|".join(others), is_exact)


def _run(run: str, literal: bool) -> str:
    """Return a pattern of letters or digits like these: any number for a number, or one of the same length."""
    if run.isdecimal():
        return r"\d+" if literal else rf"\d{{{len(run)}}}"
    return re.escape(run) if literal else rf"[^\W\d_]{{{len(run)}}}"


def _compiled(text: str, own: str, other: str, is_exact: bool) -> Identifier:
    pattern, rival = (re.compile(f"{_BEFORE}(?:{part}){_AFTER}", re.IGNORECASE) for part in (own, other or own))
    return Identifier(text, pattern, rival, is_exact)


def names_identifier(text: str, identifier: Identifier) -> bool:
    """Return whether a text contains an identifier, in any typography."""
    return identifier.pattern.search(fold_typography(text)) is not None


def respell(question: str, texts: Sequence[str]) -> str:
    """Return a question with its identifiers spelled as in the first of the texts that names them."""
    for identifier in find_identifiers(question):
        spelled = next((match for text in texts if (match := identifier.pattern.search(fold_typography(text)))), None)
        if spelled is not None and spelled[0] not in question:
            question = identifier.pattern.sub(spelled[0].replace("\\", ""), fold_typography(question))
    return question


def missing_identifiers(question: str, texts: Iterable[str]) -> list[str]:
    """Return the exact identifiers of a question that occur in none of the texts."""
    exact = [identifier for identifier in find_identifiers(question) if identifier.is_exact]
    folded = [fold_typography(text) for text in texts] if exact else []
    return [identifier.text for identifier in exact if not any(identifier.pattern.search(text) for text in folded)]


def is_about(identifiers: Sequence[Identifier], text: str, at_start: bool = False) -> bool | None:
    """Return whether a text names one of the identifiers; False if it names rivals alone (at its start), None if neither."""
    folded = fold_typography(text)
    if any(identifier.pattern.search(folded) for identifier in identifiers):
        return True
    begin = _LABEL.match(folded)
    place = begin.end() if begin else 0
    rivals = (identifier.rival.match(folded, place) if at_start else identifier.rival.search(folded) for identifier in identifiers)
    return False if any(rivals) else None
