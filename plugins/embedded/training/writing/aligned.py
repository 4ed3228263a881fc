"""Where the words of a decomposition step stand in its question."""

import re
from collections import Counter
from typing import Final

from plugins.embedded.training.writing.written import several, words

Place = tuple[int, int]

_LIGHT: Final = frozenset(
    several(
        "the a an of in on at to from by for with and is was are were be been being that which who whom whose what where when "
        "how did do does has have had "
        "it its s his her their as there return if this also than one"
    )
)
_WORD = re.compile(r"\w+(?:['’]s\b)?")
_DETERMINERS: Final = frozenset(several("the a an his her their"))


def light(word: str) -> bool:
    """Tell whether a word carries little meaning."""
    return word in _LIGHT


def heavy(text: str) -> list[str]:
    """Give the words of a text that carry meaning, without plural and tense."""
    return [_stem(word) for word in words(text) if word not in _LIGHT]


def _stem(word: str) -> str:
    cut = re.sub(r"(?:ies|es|s|ed|ing|e|y|d)$", "", word)
    return cut if len(cut) >= 3 else word


def place(step: str, question: str) -> Place | None:
    """Find the shortest run of words of a question that holds all words of a step that matter, and no others that matter."""
    wanted = Counter(heavy(step))
    if not wanted:
        return None
    tokens = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(question)]
    for start in range(len(tokens)):
        if not heavy(tokens[start][2]):
            continue
        left = Counter(wanted)
        for end in range(start, len(tokens)):
            for stem in heavy(tokens[end][2]):
                left[stem] -= 1
            if min(left.values()) < 0:
                break
            if not any(left.values()):
                return _with_determiner(tokens, start, end)
    return None


def _with_determiner(tokens: list[tuple[int, int, str]], start: int, end: int) -> Place:
    begin = start - 1 if start and tokens[start - 1][2].casefold() in _DETERMINERS else start
    return tokens[begin][0], tokens[end][1]
