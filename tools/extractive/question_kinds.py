"""What kind of question it is: whether in English, the one language that the embedded model reads, and whether a phrase answers it."""

import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

from ramify.tools.english import word_set

_LATIN_END = 0x250
_LATIN_MORE = range(0x1E00, 0x1F00)
_QUOTED = 60
_WORD = re.compile(r"[^\W\d_]+")
_WEAK: Final = 0.4
"""What an article or preposition counts beside a word that asks or links: names are full of them."""
_ENOUGH, _ASKED = 1.3, 0.8
"""From this on the small words of a language tell it; from this in what ends with a question mark."""
_ACCENTED: Final = 1.5
"""What a word counts that asks or links and has letters that English lacks."""
_ENGLISH = word_set(
    "the of and a an is are was were be been do does did has have had what which who whom whose where when why how that this these "
    "those there with from its it his her their our your my you we they he she between both than by can could would should will for to "
    "at not or on in as if but about into after before during under over many much any some more most each i me one two first list name "
    "give tell show find per while against through no so"
)
Kind = Literal["how to", "list", ""]
_PERSON = r"(?:i|you|we|one|someone|somebody|people|users?|an? \w+)"
_HOW_TO = re.compile(
    rf"(?:and |so |then )?(?:how (?:do|can|could|should|would|may|might|must|does|shall) {_PERSON}\b|how (?:best )?to\b"
    r"|what (?:is|are|would be|'s) (?:the|a) (?:\w+ )?(?:way|ways|steps?|procedure) (?:to|of|for)\b"
    r"|(?:explain|describe|tell me|show me) how\b)",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"(?:please )?(?:list|enumerate)\b"
    r"|(?:please )?(?:name|give|tell|show|find)(?: me| us)? (?:all|every|each|a list|the list|the names of all)\b"
    r"|(?:what|which) are (?:all|the (?:available|different|possible|supported|valid|various|permitted|allowed))\b"
    r"|(?:what|which) (?:[\w-]+ ){1,6}?(?:are there|are (?:available|supported|possible|allowed))\b",
    re.IGNORECASE,
)


def objection(question: str) -> str | None:
    """Return why a question cannot be read, and what to do; None if it can."""
    if reads(question):
        return None
    start = f"{question[:_QUOTED].rstrip()}…" if len(question) > _QUOTED else question
    what = f"{start!r} does not look like English, and the extractive model reads English only"
    return f"{what} — name a language model, such as ollama:llama3.1:8b"


def reads(question: str) -> bool:
    """Return whether a question's letters and small words are English; names and keywords alone may be of any language."""
    letters = [sign for sign in question if sign.isalpha()]
    latin = sum(ord(sign) < _LATIN_END or ord(sign) in _LATIN_MORE for sign in letters)
    if 2 * latin < len(letters):
        return False
    # Small words are those that are not capitalised as names are, and the first, which always is.
    written = _WORD.findall(question.casefold() if question.isupper() else question)
    words = frozenset(word for word in [*(word.casefold() for word in written[:1]), *written] if word.islower())
    other = max(
        sum((1.0 if word.isascii() else _ACCENTED) if word in telling else _WEAK * (word in weak) for word in words)
        for telling, weak in _others()
    )
    enough = _ASKED if question.rstrip().endswith("?") else _ENOUGH
    return other < enough or other <= len(words & _ENGLISH)


@lru_cache(maxsize=1)
def _others() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return the small words of other languages: those that ask, link and refer; and those found in names or English, too."""
    lines = files(__package__).joinpath("languages.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple((word_set(listed["telling"]), word_set(listed["weak"])) for listed in map(json.loads, lines))


def open_ended(question: str) -> Kind:
    """Return the kind of a question that no phrase answers; empty for one that asks for a fact."""
    text = " ".join(question.split())
    if _HOW_TO.match(text):
        return "how to"
    return "list" if _LIST.match(text) else ""
