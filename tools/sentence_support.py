"""Whether what a sentence cites says it: its names and numbers stand there, and a model finds that the rest is said."""

import re
from collections.abc import Sequence

from ramify.tools import relevance
from ramify.tools.english import content, fold, names_in
from ramify.tools.languages import language_of
from ramify.tools.reader.reading import read_context

READER, NONE, MODEL = relevance.READER, relevance.NONE, "model"
_SHARE = 0.6
"""Share of a sentence's words in a passage from which on no model is asked."""
_RELEVANT = 0.3
"""The least relevance, from 0 to 1, that the reader gives to a passage that supports a sentence (`benchmarks/support.py`)."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LETTER = re.compile(r"[^\W\d_]")


def missing_facts(sentence: str, texts: Sequence[str]) -> list[str]:
    """List the names and numbers (dates, too) of a sentence that none of the texts has; names only where all is in Latin letters."""
    there = " ".join(texts)
    numbers = set(_numbers(there))
    missing = [number for number in _numbers(sentence) if number not in numbers]
    if not (_is_latin(sentence) and _is_latin(there)):
        return missing
    words = set(fold(there).split())
    first = fold(sentence).split()[:1]
    names = [name for name in names_in(sentence) if fold(name).split() != first]  # any word is capitalised there
    return [*(name for name in names if not words.issuperset(fold(name).split())), *missing]


def supported(sentence: str, texts: Sequence[str], by: str = READER) -> bool:
    """Tell whether one of the texts says what a sentence says, as `by` finds: reader, or a cross-encoder by name or path; blocking.

    ModelError where there is no such model. A text in another language than the sentence is compared by names and numbers alone, one in
    other letters by numbers.
    """
    if not texts or missing_facts(sentence, texts):
        return False
    if not (_is_latin(sentence) and all(map(_is_latin, texts))) or _in_other_languages(sentence, texts):
        return True
    words = content(sentence)
    if words and len(words & content(" ".join(texts))) >= _SHARE * len(words) and by == READER:
        return True
    if by == READER:
        return max(read_context(sentence, text).relevance for text in texts) >= _RELEVANT
    return max(relevance.entailment(by, sentence, texts)) >= 0.5


def _in_other_languages(sentence: str, texts: Sequence[str]) -> bool:
    own, theirs = language_of(sentence), {language_of(text) for text in texts}
    return own is not None and None not in theirs and own not in theirs


def _numbers(text: str) -> list[str]:
    return [_THOUSANDS.sub("", number) for number in _NUMBER.findall(text)]


def _is_latin(text: str) -> bool:
    letters = _LETTER.findall(text)
    return 2 * sum(_LATIN.match(letter) is not None for letter in letters) >= len(letters)
