"""English text: its words, sentences and names, normalized for comparison, and whether an answer says that it is not known."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Return a text in lower case without accents and punctuation, for comparison."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return " ".join(WORD.findall(bare.casefold().replace("’s", "").replace("'s", "").replace(".", " ")))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


STOP = word_set(
    "a an the of in on at to for from by with and or but as is was are were be been being am do does did has have had having it its he "
    "she his her him they them their this that these those there which who whom whose what when where why how than then so such not no "
    "nor if into about also both each other one some any all more most very can could will would shall should may might must s name "
    "called known i you we me my your out up off over under again once first second"
)
_ENDS = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-ZÀ-Þ0-9])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Dr|Mr|Mrs|Ms|St|Sr|Jr|No|vs|Prof|Gen|Col|Lt|Capt|Rev|Hon|Inc|Ltd|Co|Bros|c|ca|b|d|e\.g|i\.e|approx))\.$"
)
_SUFFIX = re.compile(r"(?:ational|ations|ation|ional|ings|ing|edly|ed|ors|or|ers|er|ions|ion|ies|es|s|ly|e|y)$")
UPPER = "[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĻŁŃŇŌŐŘŚŞŠŤŪŮŰŹŻŽ]"
"""A capital letter, as a regular expression."""
_CAPITAL = rf"{UPPER}[\w’'&./-]*"
_NAME = re.compile(rf"[\"“]([^\"”]{{2,60}})[\"”]|({_CAPITAL}(?:(?: (?:of|the|de|la|von|van))* (?:{_CAPITAL}|\d+\b))*)")


def abbreviates(word: str) -> bool:
    """Return whether a word is abbreviated with a full stop: Dr, Inc, a single capital."""
    return bool(_ABBREVIATION.fullmatch(f"{word.rstrip('.')}."))


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences."""
    parts: list[str] = []
    for part in _ENDS.split(text):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] += " " + part
        elif part.strip():
            parts.append(part.strip())
    return tuple(parts)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Cut the ending off a word, so that `directed` and `director` meet."""
    word = fold(word)
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= 3 else word


@lru_cache(maxsize=16384)
def content(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(stem(word) for word in fold(text).split() if word not in STOP)


def same_question(one: str, other: str) -> bool:
    """Return whether two questions are equal apart from case and punctuation."""
    return fold(one) == fold(other)


def bare_title(title: str) -> str:
    """Drop what tells two articles of one name apart: `Solaris (1972 film)` is Solaris."""
    return re.sub(r"\s*\([^)]*\)\s*$", "", title).strip()


def holds(text: str, name: str) -> bool:
    """Return whether a text contains a name, as whole words."""
    return bool(fold(name)) and f" {fold(name)} " in f" {fold(text)} "


def names_in(question: str) -> list[str]:
    """Return the names in a question: what is quoted, and capitalised words, without its first word if that is a stop word."""
    first, _, rest = question.partition(" ")
    text = rest if fold(first) in STOP else question
    found = [(quoted or name).strip(" ,.;:?'’\"") for quoted, name in _NAME.findall(text)]
    bare = [re.sub(r"['’]s$", "", name) for name in found]
    return [name for name in dict.fromkeys(bare) if content(name)]


def unnamed(names: Sequence[str], texts: Sequence[str], most: int = 2) -> list[str]:
    """Return the first names that none of the texts contains."""
    return [name for name in names if not any(holds(text, name) for text in texts)][:most]


UNKNOWN = "Unknown"

_DOCUMENTS = r"(?:passages?|documents?|texts?|articles?|sources?|contexts?|excerpts?|evidence|findings|information|corpus|question)"
_THE = r"(?:(?:any|all|none|of|the|these|those|this|given|provided|available|retrieved|above|supplied|search) )*"
_THEY = rf"{_THE}{_DOCUMENTS}"
_WITHIN = rf"(?: (?:in|by|from|within|based on|according to) {_THEY}(?: (?:provided|given|above|alone))?)?"
_PLAINLY = r"(?:(?:explicitly|directly|clearly|specifically) )?"
_TOLD = (
    r"(?:mentioned|specified|stated|given|provided|found|known|available|indicated|disclosed|reported|listed|included|described|discussed|"
    r"addressed|answered|determined|present|contained|clear|said|revealed|named|identified|applicable)"
)
_SAY = r"(?:say|state|mention|specify|tell|indicate|answer|reveal|disclose|name|identify)s?"
_HOLD = r"(?:contain|provide|give|include|have|offer)s?"
_NONE = r"(?:insufficient|not enough|no|no relevant|no sufficient|no specific)"
_MATTER = r"(?:answers?|information|details?|evidence|data|facts?|context|mention)"
_TAIL = r"(?:(?: (?!but\b|however\b|though\b|although\b|yet\b))[^\s;]+)*"
"""What may follow, unless it takes back what was said."""
_ON = rf"(?: (?:to|about|on|regarding|for|as to|of){_TAIL})?"

_WAYS = (
    r"|(?:(?:it|this|that|the answer) is )?(?:unknown|unspecified|undetermined|unanswerable)|n/a",
    rf"(?:there (?:is|was) )?{_NONE} {_MATTER}(?: (?:is|was|are|were))?(?: {_TOLD})?(?:{_WITHIN}|{_ON}{_WITHIN})",
    rf"none (?:is )?{_TOLD}{_WITHIN}",
    rf"(?:(?:it|this|that|(?:the )?answer|{_THEY}) )?(?:is |was |are )?not {_PLAINLY}{_TOLD}{_WITHIN}",
    rf"{_THEY} (?:do|does|did)(?: not|n't) {_PLAINLY}{_SAY}{_TAIL}",
    rf"none of {_THEY} {_SAY}{_TAIL}",
    rf"{_THEY} (?:do|does|did)(?: not|n't) {_PLAINLY}{_HOLD} (?:(?:the|any|an|enough|sufficient|relevant|specific|such) )*{_MATTER}{_TAIL}",
    rf"(?:(?:it|this|that|(?:the |this )?(?:answer|question)) )?(?:can ?not|can't|could not|couldn't) be {_PLAINLY}{_TOLD}{_WITHIN}",
    rf"(?:i )?(?:do not|don't) know(?: {_MATTER}| the answer)?",
    r"(?:i )?(?:do not|don't) have (?:(?:any|enough|sufficient) )?" + _MATTER + _TAIL,
    rf"(?:(?:i am |i'm )?unable to|i (?:can ?not|can't|could not|couldn't)) (?:answer|determine|find|say|tell|identify)"
    rf"(?: (?:the|this|that|it|who|what|when|where|which|how|whether|from|based){_TAIL})?",
)
_SAYS_SO = re.compile("|".join(f"(?:{way})" for way in _WAYS))
_PARTS = re.compile(r"[.,;:()\[\]]+(?:\s|$)|\s[(\[]|\s[-–—]+\s")


def is_unknown(answer: str) -> bool:
    """Return whether an answer as a whole says that it is not known, unlike a name that contains such words."""
    text = " ".join(answer.casefold().replace("’", "'").split())
    parts = [part.strip(" .!") for part in _PARTS.split(text)]
    return bool(_SAYS_SO.fullmatch(text.strip(" .!"))) or all(map(_SAYS_SO.fullmatch, parts))
