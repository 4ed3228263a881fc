"""The language of a text, and whether a question is English, by letters and small words."""

import json
import re
import unicodedata
from functools import lru_cache
from importlib.resources import files

from ramify.tools.english import word_set

ENGLISH = "English"
_SCRIPTS = (
    ("HANGUL", "Korean"), ("HIRAGANA", "Japanese"), ("KATAKANA", "Japanese"), ("CJK", "Chinese"), ("CYRILLIC", "Russian"),
    ("GREEK", "Greek"), ("ARABIC", "Arabic"), ("HEBREW", "Hebrew"), ("THAI", "Thai"), ("DEVANAGARI", "Hindi"),
)  # fmt: skip
"""By the first word of a letter's name; where several have letters, the first of them counts: Korean and Japanese use Chinese ones, too."""
_FOREIGN = 0.3
"""Share of letters of another script from which on a text is in that: names and terms in Latin letters are common in all languages."""
_MORE = 2
"""So many more small words than of English make a text one of another language."""
_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 2000
_LATIN_END = 0x250
_LATIN_MORE = range(0x1E00, 0x1F00)
_WEAK = 0.4
"""What an article or preposition counts beside a word that asks or links: names are full of them."""
_ENOUGH, _ASKED = 1.3, 0.8
"""From this on the small words of a language tell it; from this in what ends with a question mark."""
_ACCENTED = 1.5
"""What a word counts that asks or links and has letters that English lacks."""
ENGLISH_WORDS = word_set(
    "the of and a an is are was were be been do does did has have had what which who whom whose where when why how that this these "
    "those there with from its it his her their our your my you we they he she between both than by can could would should will for to "
    "at not or on in as if but about into after before during under over many much any some more most each i me one two first list name "
    "give tell show find per while against through no so"
)


def language_of(text: str) -> str | None:
    """Return the name of a text's language, such as "Korean"; None where its letters and small words do not tell."""
    text = text[:_LOOKED_AT]
    letters = [sign for sign in text if sign.isalpha()]
    scripts = [unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in letters if ord(letter) > 0x24F]
    for script, language in _SCRIPTS:
        if script in scripts and len(scripts) >= _FOREIGN * len(letters):
            return language
    words = [word.casefold() for word in _WORD.findall(text)]
    counts = {ENGLISH: sum(word in ENGLISH_WORDS for word in words)}
    counts |= {language: sum(word in telling or word in weak for word in words) for language, (telling, weak) in _small_words().items()}
    best = max(counts, key=lambda language: counts[language])
    others = sorted(counts.values())[-2]
    sure = best == ENGLISH or counts[best] >= counts[ENGLISH] + _MORE  # names have single words of other languages
    return best if sure and counts[best] > others else None


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
        for telling, weak in _small_words().values()
    )
    enough = _ASKED if question.rstrip().endswith("?") else _ENOUGH
    return other < enough or other <= len(words & ENGLISH_WORDS)


@lru_cache(maxsize=1)
def _small_words() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the small words of languages other than English: those that ask, link and refer; and those found in names or English, too."""
    lines = files(__package__).joinpath("languages.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["language"]: (word_set(row["telling"]), word_set(row["weak"])) for row in map(json.loads, lines)}
