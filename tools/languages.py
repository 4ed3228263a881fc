"""Detect the language of a text, and whether a question is English, by letters and function words."""

import json
import re
import unicodedata
from functools import lru_cache
from importlib.resources import files

from ramify.tools.english import word_set

ENGLISH = "English"
CJK = frozenset({"Korean", "Japanese", "Chinese"})
_SCRIPTS = (
    ("HANGUL", "Korean"), ("HIRAGANA", "Japanese"), ("KATAKANA", "Japanese"), ("CJK", "Chinese"), ("CYRILLIC", "Russian"),
    ("GREEK", "Greek"), ("ARABIC", "Arabic"), ("HEBREW", "Hebrew"), ("THAI", "Thai"), ("DEVANAGARI", "Hindi"),
)  # fmt: skip
"""By the first word of a letter's Unicode name; the first script found decides, since Korean and Japanese also use Chinese characters."""
_MIN_SCRIPT_SHARE = 0.3
"""Least share of letters in another script: names and terms in Latin letters are common in all languages."""
_MIN_WORD_LEAD = 2
"""Function words of another language must exceed the English ones by this number."""
_WORD = re.compile(r"[^\W\d_]+")
_MAX_CHARS = 2000
_LATIN_END = 0x250
_LATIN_EXTENDED = range(0x1E00, 0x1F00)
_WEAK_WORD_WEIGHT = 0.4
"""Weight of an article or preposition, which also occur in names, relative to question words and conjunctions."""
_MIN_FOREIGN_SCORE, _MIN_FOREIGN_SCORE_IN_QUESTION = 1.3, 0.8
"""Least weighted number of another language's function words in a text, and in one that ends with a question mark."""
_ACCENTED_WORD_WEIGHT = 1.5
"""Weight of a question word or conjunction with non-ASCII letters."""
ENGLISH_WORDS = word_set(
    "the of and a an is are was were be been do does did has have had what which who whom whose where when why how that this these "
    "those there with from its it his her their our your my you we they he she between both than by can could would should will for to "
    "at not or on in as if but about into after before during under over many much any some more most each i me one two first list name "
    "give tell show find per while against through no so"
)


def detect_language(text: str) -> str | None:
    """Return the name of a text's language, such as "Korean"; None where its letters and function words do not determine it."""
    text = text[:_MAX_CHARS]
    letters = [sign for sign in text if sign.isalpha()]
    scripts = [unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in letters if ord(letter) > 0x24F]
    for script, language in _SCRIPTS:
        if script in scripts and len(scripts) >= _MIN_SCRIPT_SHARE * len(letters):
            return language
    words = [word.casefold() for word in _WORD.findall(text)]
    counts = {ENGLISH: sum(word in ENGLISH_WORDS for word in words)}
    counts |= {language: sum(word in telling or word in weak for word in words) for language, (telling, weak) in _small_words().items()}
    best = max(counts, key=lambda language: counts[language])
    others = sorted(counts.values())[-2]
    is_leading = best == ENGLISH or counts[best] >= counts[ENGLISH] + _MIN_WORD_LEAD  # names have single words of other languages
    return best if is_leading and counts[best] > others else None


def possible_languages(text: str) -> frozenset[str]:
    """Return the languages that a short text may be in, by its script or most function words; empty if these do not tell."""
    text = text[:_MAX_CHARS]
    scripts = {unicodedata.name(sign, "").split(" ")[0].split("-")[0] for sign in text if sign.isalpha() and ord(sign) > _LATIN_END}
    written = {language for script, language in _SCRIPTS if script in scripts}
    words = [word.casefold() for word in _WORD.findall(text)]
    english = [word for word in words if word in ENGLISH_WORDS]
    own = {language: [word for word in words if word in telling or word in weak] for language, (telling, weak) in _small_words().items()}
    most = max(map(len, own.values()))
    best = {language: seen for language, seen in own.items() if seen and len(seen) == most}
    if len(english) < most:
        return frozenset({*written, *best})
    are_shared = english in best.values()  # "in" and "do" are words of several languages: then it may be any
    return frozenset({*written, ENGLISH}) if english and not are_shared else frozenset(written)


def is_english_question(question: str) -> bool:
    """Return whether a question's letters and function words are English; a text of names and keywords alone also counts as English."""
    letters = [sign for sign in question if sign.isalpha()]
    latin = sum(ord(sign) < _LATIN_END or ord(sign) in _LATIN_EXTENDED for sign in letters)
    if 2 * latin < len(letters):
        return False
    # Function words are in lower case, or the first word.
    written = _WORD.findall(question.casefold() if question.isupper() else question)
    words = frozenset(word for word in [*(word.casefold() for word in written[:1]), *written] if word.islower())
    other = max(
        sum((1.0 if word.isascii() else _ACCENTED_WORD_WEIGHT) if word in telling else _WEAK_WORD_WEIGHT * (word in weak) for word in words)
        for telling, weak in _small_words().values()
    )
    enough = _MIN_FOREIGN_SCORE_IN_QUESTION if question.rstrip().endswith("?") else _MIN_FOREIGN_SCORE
    return other < enough or other <= len(words & ENGLISH_WORDS)


@lru_cache(maxsize=1)
def _small_words() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the function words of each language but English: question words, conjunctions and pronouns; and those also found in names."""
    lines = files(__package__).joinpath("languages.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["language"]: (word_set(row["telling"]), word_set(row["weak"])) for row in map(json.loads, lines)}
