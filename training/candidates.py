"""Spans that questions can be made of: dates, numbers, names, by their shape."""

import re
from dataclasses import dataclass

from ramify.tools.english import STOP, word_set

MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|"
    "Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\.?"
)
YEAR = r"(?:1\d{3}|20\d{2}|[3-9]\d{2})(?!\d)"
DATE = (
    rf"(?:(?:c\.|ca\.|circa|around|about)\s*)?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}(?:,? {YEAR})?|{MONTH} "
    rf"\d{{1,2}}(?!\d)(?:st|nd|rd|th)?(?:,? {YEAR})?|{MONTH},? {YEAR}|{YEAR})"
    r"(?: BC| AD| BCE)?"
)
NUMBER = (
    r"(?:[£$€]\s?)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?%| per ?cent| percent| million| billion| thousand)?"
    r"(?: (?:km²|km|kilometres|kilometers|miles|metres|meters|m|feet|ft|years|inhabitants|people|members|square "
    r"miles|square kilometres|hectares|acres|episodes|species|minutes)\b)?"
)
_CAPITAL = r"(?:[A-ZÀ-ÞŁŚŻČŠŽŐ][\w’'&./-]*|[A-Z]\.)"
_LINK = (
    r"(?:of the|of|de la|de|la|le|von|van der|van|der|den|di|da|du|del|al|el|ibn|bin|y|the|&|in(?= Physics|"
    r" Chemistry| Literature| Medicine))"
)
NAME = rf"{_CAPITAL}(?:(?: {_LINK})? {_CAPITAL})*(?: (?:I|II|III|IV|V|VI|VII|VIII)\b)?"
PLACE = rf"{NAME}(?:, {NAME}){{0,2}}"
_WORDS = {
    "date": re.compile(rf"(?<![\w,.]){DATE}(?![\w])"),
    "number": re.compile(
        rf"(?<![\w.]){NUMBER}(?!\w)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred)\b"
    ),
    "name": re.compile(NAME),
    "place": re.compile(PLACE),
}
_NAMED = frozenset(("name", "place"))
_NO_NAME = re.compile(rf"{MONTH}|BCE?|AD|CE")
_OPENERS = word_set(
    "The A An In On At He She It His Her Its They Their This That These As After Before From When While By For During With "
    "Both One Each Between Since Until Although Unlike Like There Today Later Many Some Most Because Among Under Only Having"
)


@dataclass(frozen=True)
class Candidate:
    """A span of a sentence."""

    text: str
    start: int


def candidates(sentence: str, kind: str) -> list[Candidate]:
    """Find the spans of a sentence that have the shape of a kind of answer."""
    found = []
    for match in _WORDS[kind].finditer(sentence):
        text, start = _trimmed(match[0], match.start())
        if text and text.casefold() not in STOP and text not in _OPENERS and not (kind in _NAMED and _NO_NAME.fullmatch(text)):
            found.append(Candidate(text, start))
    return found


def _trimmed(text: str, start: int) -> tuple[str, int]:
    """Drop a sentence's opening word from a name, and the signs around it."""
    first, space, rest = text.partition(" ")
    if first in _OPENERS:
        text, start = rest, start + len(first) + len(space)
    stripped = text.lstrip(" '\"“(,")
    start += len(text) - len(stripped)
    return re.sub(r"(?:['’]s?|[\s,.;:'\"”)]+)$", "", stripped) if not re.search(
        r"\b[A-Z]\.$|\b(?:Jr|Sr|Inc|Co|Ltd)\.$", stripped
    ) else stripped, start
