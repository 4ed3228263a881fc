"""Whether what a sentence cites says it: its names and numbers stand there, and a model finds that the rest is said."""

import re
from collections.abc import Sequence

from ramify.tools import relevance
from ramify.tools.english import content, fold, names_in
from ramify.tools.languages import ENGLISH, language_of
from ramify.tools.reader.reading import read_context

READER, NONE, MODEL = relevance.READER, relevance.NONE, "model"
_SHARE = 0.6
"""Share of a sentence's words in a passage from which on no model is asked."""
_RELEVANT = 0.3
"""The least relevance, from 0 to 1, that the reader gives to a passage that supports a sentence (`benchmarks/support.py`)."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_MONTHS = frozenset(
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
)
"""Names that a date may lack where it is written in figures."""
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LETTER = re.compile(r"[^\W\d_]")


def missing_facts(sentence: str, texts: Sequence[str]) -> list[str]:
    """List the numbers, and of English the names, of a sentence that none of the texts has."""
    there = " ".join(texts)
    numbers = set(_numbers(there))
    missing = [number for number in map(_plain, _NUMBER.findall(sentence)) if number not in numbers]
    if not _is_latin(there) or language_of(sentence) not in (
        ENGLISH,
        None,
    ):  # others capitalise otherwise
        return missing
    words = set(fold(there).split()) | _MONTHS
    first = fold(sentence).split()[:1]
    names = [name for name in names_in(sentence) if fold(name).split() != first]  # any word is capitalised there
    return [*(name for name in names if not words.issuperset(word for word in fold(name).split() if not word.isdigit())), *missing]


def supported(sentence: str, texts: Sequence[str], by: str = READER, language: str | None = None) -> bool:
    """Tell whether one of the texts says what a sentence says, as `by` finds: reader, or a cross-encoder by name or path; blocking.

    language: that of the sentence, where it is too short to tell.

    ModelError where there is no such model. A text in another language than the sentence is compared by names and numbers alone, one in
    other letters by numbers.
    """
    if not texts or missing_facts(sentence, texts):
        return False
    if not (_is_latin(sentence) and all(map(_is_latin, texts))) or _in_other_languages(language_of(sentence) or language, texts):
        return True
    words = content(sentence)
    if words and len(words & content(" ".join(texts))) >= _SHARE * len(words) and by == READER:
        return True
    if by == READER:
        return max(read_context(sentence, text).relevance for text in texts) >= _RELEVANT
    return max(relevance.entailment(by, sentence, texts)) >= 0.5


def _in_other_languages(own: str | None, texts: Sequence[str]) -> bool:
    theirs = {language_of(text) for text in texts}
    return own is not None and None not in theirs and own not in theirs


def _plain(number: str) -> str:
    return _THOUSANDS.sub("", number).lstrip("0") or "0"


def _numbers(text: str) -> list[str]:
    """List the numbers of a text, each by itself and by its parts, as a date may be written: 1852.03.03."""
    found = [_THOUSANDS.sub("", number) for number in _NUMBER.findall(text)]
    return [part.lstrip("0") or "0" for number in found for part in dict.fromkeys((number, *re.split(r"[.,]", number)))]


def _is_latin(text: str) -> bool:
    letters = _LETTER.findall(text)
    return 2 * sum(_LATIN.match(letter) is not None for letter in letters) >= len(letters)
