"""Words, sentences and names of English text, by plain rules."""

import re
import unicodedata
from functools import lru_cache
from typing import TypedDict

from ramify.tools.unknown import is_unknown as is_unknown


class Quote(TypedDict):
    """A passage as a prompt hands it over."""

    title: str
    source: str
    text: str


UNKNOWN = "Unknown"


def word_set(text: str) -> frozenset[str]:
    """Give the words of a list written out as a text."""
    return frozenset(text.split())


STOP = word_set(
    "a an the of in on at to for from by with and or but as is was are were be been being am do does did "
    "has have had having it its he she his her "
    "him they them their this that these those there which who whom whose what when where why how than then "
    "so such not no nor if into about also "
    "both each other one some any all more most very can could will would shall should may might must s name "
    "called known i you we me my your "
    "out up off over under again once first second"
)
WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_ENDS = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-ZÀ-Þ0-9])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Dr|Mr|Mrs|Ms|St|Sr|Jr|No|vs|Prof|Gen|Col|Lt|Capt|Rev|Hon|Inc|Ltd|Co|Bros|c|ca|b|d|e\.g|i\.e|approx))\.$"
)
_SUFFIX = re.compile(r"(?:ational|ations|ation|ional|ings|ing|edly|ed|ors|or|ers|er|ions|ion|ies|es|s|ly|e|y)$")


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
def fold(text: str) -> str:
    """Bring a text to lower case without accents and punctuation, for comparing names."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return " ".join(WORD.findall(bare.casefold().replace("’s", "").replace("'s", "").replace(".", " ")))


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
