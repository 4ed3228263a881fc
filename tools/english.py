"""Words, sentences and names of English text, by their shape."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ramify.tools.folded_text import fold


def word_set(text: str) -> frozenset[str]:
    """Give the words of a list written out as a text."""
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
    """Tell whether a word is one that is written short, with a full stop: Dr, Inc, a single capital."""
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
    """Give the stems of the words that carry meaning."""
    return frozenset(stem(word) for word in fold(text).split() if word not in STOP)


def same_question(one: str, other: str) -> bool:
    """Tell whether two questions are the same but for case and punctuation."""
    return fold(one) == fold(other)


def bare_title(title: str) -> str:
    """Drop what tells two articles of one name apart: `Solaris (1972 film)` is Solaris."""
    return re.sub(r"\s*\([^)]*\)\s*$", "", title).strip()


def holds(text: str, name: str) -> bool:
    """Tell whether a text has a name in it, as whole words."""
    return bool(fold(name)) and f" {fold(name)} " in f" {fold(text)} "


def names_in(question: str) -> list[str]:
    """List the names of a question: what is in quotation marks, and words with capitals; not its first word where that is a small one."""
    first, _, rest = question.partition(" ")
    text = rest if fold(first) in STOP else question
    found = [(quoted or name).strip(" ,.;:?'’\"") for quoted, name in _NAME.findall(text)]
    bare = [re.sub(r"['’]s$", "", name) for name in found]
    return [name for name in dict.fromkeys(bare) if content(name)]


def unnamed(names: Sequence[str], texts: Sequence[str], most: int = 2) -> list[str]:
    """List the first names that none of the texts has in it."""
    return [name for name in names if not any(holds(text, name) for text in texts)][:most]
