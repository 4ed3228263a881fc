"""What kind of answer a question expects."""

import re
from dataclasses import dataclass
from typing import Literal

from ramify.tools.extractive.grammar import is_person_noun
from ramify.tools.extractive.text import word_set

Kind = Literal["person", "place", "date", "number", "title", "name", "choice", "yes_no", "phrase"]

_PLACES = word_set(
    "city country town village place state county province region river sea ocean lake island mountain continent "
    "birthplace deathplace capital seat home "
    "street district neighborhood neighbourhood municipality location nation kingdom suburb hometown department territory peak bay valley"
)
_DATES = word_set("year date day month decade century era birthday time")
_NUMBERS = word_set("population number percentage age height length area size distance amount salary income total score speed weight depth")
_TITLES = word_set("film movie song album book novel play opera show series magazine newspaper poem story game single work")
_NAMES = word_set(
    "university school college company prize award foundation team band party organization organisation group "
    "label language nationality agency "
    "league network club church institution firm manufacturer studio theory element mineral war battle bridge "
    "tower palace building museum airport "
    "station employer award religion ethnicity field mater headquarters publisher developer distributor network character novelist bassist"
)
_TYPES = word_set("man woman person boy girl people individual figure")
_AUXILIARY = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b", re.I)
_HOW = re.compile(r"\bhow (many|much|long|old|tall|high|large|far|big|deep|wide|heavy|fast|often|populous)\b", re.I)
_WH_NOUN = re.compile(
    r"\b(?:[Ww]hich|[Ww]hat|[Ww]hose)\s+(?!is\b|was\b|are\b|were\b|did\b|does\b|do\b|the\b|else\b|of\b)((?:[\w'-]+\s+){1,4}?)"
    r"(?=(?:is|was|are|were|did|does|do|has|had|have|can|the|[a-z]+s|[a-z]+ed|[A-Z][\w.]*|won|gave|cast|made|"
    r"wrote|of|took|began|held|ran|led|that|who|where)\b)"
)
_OF = re.compile(
    r"^(?:what|who|which) (?:is|was|are|were) (?:the )?(?:name of (?:the )?)?(?:(?:(?! of ).)*?['’]s? )?([a-z][\w -]*?)(?: "
    r"(?:of|that|where|with|whose|in|named|which|who|on|by|about|below|for)\b|$)",
    re.I,
)
_PLAIN_NOUN = re.compile(r"^(?:[a-z]+ )?(?:which|what) (?:(?:[A-Z][a-z]+|[a-z]+) )??([a-z-]+) [a-z]", re.I)
_OPTIONS = re.compile(r"[,:]?\s+(?P<one>[^,:]+?),? or (?P<other>[^,?]+?)\??$")


@dataclass(frozen=True)
class Expected:
    """The kind of an answer, the noun that the question names it by, and what it may choose from."""

    kind: Kind
    noun: str = ""
    options: tuple[str, ...] = ()


def expected(question: str) -> Expected:
    """Tell what kind of answer a question expects."""
    text = " ".join(question.split()).rstrip("? ")
    if options := _options(text):
        return Expected("choice", options=options)
    if _AUXILIARY.match(text):
        return Expected("yes_no")
    if re.match(r"how (?:long|tall|high|deep|wide) (?:is|was)\b", text, re.I):
        return Expected("number", "length")
    noun = _noun(text)
    if noun:
        return Expected(_kind_of(noun), noun)
    return Expected(_kind_of_word(text))


def _options(text: str) -> tuple[str, ...]:
    found = _OPTIONS.search(text) if re.match(r"^(?:which|who|what|is|was|did|are)\b", text, re.I) else None
    if found is None or not (found["one"][:1].isupper() and found["other"][:1].isupper()) or len(found["one"].split()) > 8:
        return ()
    return (found["one"].strip(), found["other"].strip())


def _noun(text: str) -> str:
    """Give the noun of `which river`, or of `what is the capital of`."""
    for pattern in (_OF, _WH_NOUN) if _OF.match(text) else (_WH_NOUN,):
        found = pattern.search(text)
        if found and found[1].strip():
            words = re.findall(r"[\w-]+", found[1].casefold())
            known = [word for word in words if _is_known(word)]
            return str(known[-1] if known else words[-1])
    plain = _PLAIN_NOUN.match(text)
    return plain[1].casefold() if plain and _is_known(plain[1].casefold()) else ""


def _is_known(word: str) -> bool:
    return any(word in nouns for nouns in (_PLACES, _DATES, _NUMBERS, _TITLES, _NAMES)) or is_person_noun(word)


def names_a_thing(noun: str) -> bool:
    """Tell whether a noun stands for something with a name, which can be looked up: a film or a father, not a population."""
    return is_type(noun) or is_person_noun(noun)


def is_type(noun: str) -> bool:
    """Tell whether a noun says what a thing is, not how it relates to another: river, not father."""
    return noun in _TYPES or any(noun in nouns for nouns in (_PLACES, _TITLES, _NAMES))


def _kind_of(noun: str) -> Kind:
    kinds: tuple[tuple[frozenset[str], Kind], ...] = (
        (_PLACES, "place"),
        (_DATES, "date"),
        (_NUMBERS, "number"),
        (_TITLES, "title"),
        (_NAMES, "name"),
    )
    if is_person_noun(noun):
        return "person"
    return next((kind for nouns, kind in kinds if noun in nouns), "phrase")


def _kind_of_word(text: str) -> Kind:
    if how := _HOW.search(text):
        return "date" if how[1].casefold() == "old" else "number"
    for word, kind in _WORDS:
        if re.search(rf"\b{word}\b", text, re.I):
            return kind
    return "phrase"


_WORDS: tuple[tuple[str, Kind], ...] = (("when", "date"), ("where", "place"), ("who", "person"), ("whom", "person"), ("whose", "person"))
