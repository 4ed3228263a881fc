"""Questions with their answers as statements: what thoughts and answers in sentences consist of."""

import re
from collections.abc import Sequence
from typing import Final

from plugins.embedded.training.countries import find_country
from plugins.embedded.training.source import Document
from plugins.embedded.training.writing.phrases import AUXILIARIES, opens, phrased
from plugins.embedded.training.writing.written import several
from ramify.tools.english import fold, strip_disambiguation
from ramify.tools.names import contains_name
from ramify.tools.supporting_sentence import QuestionAnswer, refers_back, supporting_lines

_LONGEST: Final = 240
_WHO = re.compile(r"who (?P<verb>[a-z]+) .+", re.IGNORECASE)
_AT: Final = r"(?P<at>(?:when|(?:on|in) (?:what|which) (?:date|year)|what year|where|in (?:what|which) (?:place|city|country)))"
_DONE: Final = "|".join(
    several(
        "born released founded established formed published located built opened educated buried filmed created introduced dissolved held "
        "fought signed"
    )
)
_FORMS: Final = tuple(
    (re.compile(asked, re.IGNORECASE), told, missing)
    for asked, told, missing in (
        (rf"{_AT} (?P<be>is|was|are|were) (?P<s>.+) (?P<did>{_DONE})", "{s} {be} {did} {place}", "{at} {s} {be} {did}"),
        (rf"{_AT} did (?P<s>.+) die", "{s} died {place}", "{at} {s} died"),
        (
            r"who (?P<be>is|was) (?P<s>.+) (?P<did>married to|directed by|written by|named after|founded by)",
            "{s} {be} {did} {answer}",
            "who {s} {be} {did}",
        ),
        (r"who did (?P<s>.+) marry", "{s} married {answer}", "who {s} married"),
        (
            r"(?:which|what) country (?P<be>is|was) (?P<s>.+?) (?P<did>from|in|located in)",
            "{s} {be} {did} {country}",
            "which country {s} {be} {did}",
        ),
        (
            r"in (?:which|what) country (?P<be>is|was) (?P<s>.+) a citizen",
            "{s} {be} a citizen of {country}",
            "which country {s} {be} a citizen of",
        ),
        (
            r"in (?:which|what) country (?P<be>is|was) (?P<s>(?-i:[A-Z]).+?)(?: located)?",
            "{s} {be} in {country}",
            "in which country {s} {be}",
        ),
        (r"when did (?P<s>.+) come out", "{s} came out {place}", "when {s} came out"),
        (r"(?:which|what) country does (?P<s>.+) come from", "{s} comes from {country}", "which country {s} comes from"),
        (r"(?:what|which) nationality (?P<be>is|was) (?P<s>.+)", "the nationality of {s} {be} {answer}", "the nationality of {s}"),
        (r"(?:who|what|when) (?P<be>is|was) (?P<s>[A-Z].*'s [a-z ]+)", "{s} {be} {answer}", "{s}"),
    )
)
_NO_PHRASE = re.compile(r" (?:that|who) (?:must|may|might) ")
"""An inverted question that was taken for a clause."""
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)? (?:of )?[A-Z]|[A-Z][a-z]+ \d{1,2}\b")
_BE = re.compile(r"(?:who|what|which) (?P<be>is|was|are|were) (?:the |\w+'s )", re.IGNORECASE)
_LEANS = re.compile(
    r"(?:but|and|or|instead|thus|so|both|one|another|here|then|for example|in addition|the (?:same|latter|former|film|song|album|book))\b",
    re.IGNORECASE,
)
"""How a sentence begins that does not stand alone."""
_PRONOUN = re.compile(r"(?:He|She|It) (?=[a-z])")


def statement(question: str, answer: str) -> str:
    """Return what an answer says, such as "Ada Rolle wrote Low Water", without a full stop; empty for a question of no plain form."""
    bare = question.strip().rstrip("? ")
    if (match := _WHO.fullmatch(bare)) and opens(match["verb"]) and match["verb"] not in AUXILIARIES:
        return f"{answer}{bare[3:]}"
    for form, told, _ in _FORMS:
        if match := form.fullmatch(bare):
            if "{country}" in told and fold(find_country(answer) or answer) != fold(answer):  # "French" is where nothing is
                return ""
            place = f"{'on' if _DAY.search(answer) else 'in'} {answer}"
            return told.format(**match.groupdict(), answer=answer, country=answer, place=place)
    phrase, be = _phrase(question), _BE.match(bare)
    return f"{phrase} {be['be'] if be else 'is'} {answer}" if phrase else ""


def wanted(question: str) -> str:
    """Return what a question asks for, as a noun phrase or an indirect question; empty if it has no plain form."""
    bare = question.strip().rstrip("? ")
    for form, _, missing in _FORMS:
        if match := form.fullmatch(bare):
            at = (match.groupdict().get("at") or "").casefold()
            return missing.format(**{**match.groupdict(), "at": at})
    return _phrase(question)


def _phrase(question: str) -> str:
    known = phrased(question)
    return known[0] if known and not _NO_PHRASE.search(known[0]) else ""


def missing_fact(question: str) -> str:
    """Return that what a question asks for is missing."""
    asked = wanted(question)
    return f"{asked} is missing" if asked else f"not told: {question[:1].lower()}{question[1:].rstrip('?')}"


def sentence_for(question: str, answer: str, document: Document, text: str) -> str:
    """Return a sentence that says an answer, made of its question or taken from a document's text; empty if none stands alone."""
    if said := statement(question, answer):
        return f"{said[:1].upper()}{said[1:]}" + "." * (not said.endswith("."))
    lines: Sequence[str] = supporting_lines(text, QuestionAnswer(question, answer))
    taken, name = " ".join(lines[:1]), strip_disambiguation(document.title or "")
    if contains_name(question, name):
        taken = _PRONOUN.sub(f"{name} ", taken, count=1) if _PRONOUN.match(taken) else taken
    whole = len(lines) == 1 and len(taken) <= _LONGEST and taken.endswith(".") and "\n" not in taken and taken[:1].isupper()
    return taken if whole and not refers_back(taken) and not _LEANS.match(taken) else ""
