"""Does a name stand in a text? For all scripts, with inflected forms, and never inside another word or code.

A text is read as words: of letters and digits, of Hangul, of Katakana; where a script has no spaces, each character is a word. A name
stands in a text where its words follow each other there. A word may have an ending of the text's language (`inflection.py`), Korean
particles, or a possessive. Both sides are compared without case, accents, width and punctuation.

Limits: where a script has no spaces, a name of two characters or more is also found inside a longer word (京都 in 東京都), since words are
not known there. The language of a text is known by its script, letters and function words; where they do not tell, no ending is removed.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ramify.tools.english import ENGLISH_STOP_WORDS, word_set
from ramify.tools.inflection import TURKISH_ENDINGS, Inflection, are_korean_particles, languages_by_letters
from ramify.tools.languages import ENGLISH, ENGLISH_WORDS, possible_languages

Script = Literal["letters", "hangul", "katakana", "hiragana", "han", "joined"]
"""The kind of a word; "joined": a character of a script without spaces, such as Thai."""
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINED = "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ec0-\u0ec6\u1000-\u102a\u1780-\u17b3"
_JOINED_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_OTHERS = f"{_HAN}{_JOINED}{_JOINED_MARKS}\u3040-\u309f\u30a0-\u30ff\u31f0-\u31ff\uac00-\ud7a3"
_WORD = re.compile(
    rf"(?P<hangul>[\uac00-\ud7a3]+)|(?P<han>[{_HAN}])|(?P<hiragana>[\u3041-\u309f])|(?P<katakana>[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff]+)"
    rf"|(?P<joined>[{_JOINED}][{_JOINED_MARKS}]*)|(?P<letters>(?:(?![{_OTHERS}])[^\W_]|[{_INDIC}\u0300-\u036f])+(?:(?<=[^\W\d_])[+#]{{1,2}}(?!\w))?)"
)
_SOFT_HYPHENS = re.compile("[\u00ad\u200b\u2060\ufeff]")
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010]\n[ \t]*(?=[^\W\d_])")
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]")
"""Accents, and points of Hebrew and Arabic vowels; marks of other scripts tell letters apart (ガ, कि)."""
_PLAIN_LETTERS = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe"})
_HYPHENS, _APOSTROPHES = "-\u2010\u2011", "'\u2019\u02bc\u2018"
_POSSESSIVES = frozenset({"s", "d", "ll", "re", "ve"})
_ELIDED = word_set("l d j m n s t c qu jusqu lorsqu puisqu quelqu dell nell all sull dall coll un quest quell sant")
"""What stands before an apostrophe and a name in French and Italian."""
_NUMERALS = frozenset("〇零一二三四五六七八九十百千万萬億")
_KANA_PARTICLES = tuple(
    sorted(
        word_set(
            "は が を に で と の も へ や か より から まで など さん ちゃん くん さま です だ でし だっ "
            "として について による にて って という といっ では とは には にも でも なら"
        )
    )
)
"""What follows a name in Hiragana; a name in other characters may be followed by any Hiragana."""
_BEFORE_KANA = frozenset("はがをにでとのもへや")
_PREFIXES = {"\u05d0": "והבכלמש", "\u0627": "وفبكل"}
"""Letters written as one with the word after them, in Hebrew and in Arabic, by the first letter of the alphabet."""
_MIN_PREFIXED_CHARS = 3
_COMMON_WORDS = ENGLISH_WORDS | ENGLISH_STOP_WORDS | {"us"}
_ACRONYM_PLURAL = re.compile(r"[A-Z][A-Z0-9]+s")


class Word(NamedTuple):
    """A word of a text: its form for comparison, as it is written, its position and its script."""

    form: str
    written: str
    start: int
    end: int
    script: Script


def fold_word(word: str) -> str:
    """Return a word without case, accents and width; a letter that a mark makes another one is kept (ガ, й → и)."""
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", word.casefold()))
    return unicodedata.normalize("NFC", bare).translate(_PLAIN_LETTERS)


def _read_words(text: str) -> tuple[Word, ...]:
    words: list[Word] = []
    for match in _WORD.finditer(text):
        script: Script = match.lastgroup  # type: ignore[assignment]
        if form := fold_word(match[0]):  # marks without a letter are no word
            words.append(Word(form, match[0], match.start(), match.end(), script))
    return tuple(words)


def _normalize(text: str) -> str:
    return _SOFT_HYPHENS.sub("", unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65536)
def _name_words(name: str) -> tuple[Word, ...]:
    """Return the words of a name, without a possessive at its end."""
    text = _normalize(name)
    words = _read_words(text)
    if len(words) > 1 and words[-1].form == "s" and text[words[-1].start - 1] in _APOSTROPHES:
        return words[:-1]
    return words


@lru_cache(maxsize=64)
def _inflection(languages: frozenset[str]) -> Inflection:
    return Inflection(sorted(languages), fold_word)


class SearchableText:
    """A text in which names are looked up; reading it takes time in proportion to its length, and a lookup none."""

    def __init__(self, text: str) -> None:
        """Read the words of a text, and the basic forms that they may have."""
        self.text = _normalize(text)
        self.words = _read_words(self.text)
        languages = possible_languages(self.text)
        self._languages = languages if ENGLISH in languages else languages | languages_by_letters(self.text)
        self._inflection = _inflection(self._languages)
        self._forms: dict[tuple[str, str, bool], frozenset[str]] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self.words):
            for form in self._basic_forms(word, True) | self._basic_forms(word, False):
                self._places[form].append(place)

    def contains(self, name: str) -> bool:
        """Return whether a name stands in the text."""
        words = _name_words(name)
        return bool(words) and any(self._stands_at(words, place) for place in self._places.get(words[0].form, ()))

    def possible_names(self, max_words: int) -> Iterator[str]:
        """Yield what may be a name of up to so many words: each run of words, the last one also without endings."""
        for first, word in enumerate(self.words):
            for last in self.words[first : first + max_words]:
                yield from (self.text[word.start : last.start] + form for form in self._basic_forms(last, True))

    def _stands_at(self, name: Sequence[Word], first: int) -> bool:
        own = self.words[first : first + len(name)]
        if len(own) < len(name) or any(word.script != other.script for word, other in zip(own, name, strict=True)):
            return False
        last = len(name) - 1
        for number, (word, wanted) in enumerate(zip(own, name, strict=True)):
            if wanted.form != word.form and wanted.form not in self._basic_forms(word, number == last):
                return False
        if not last and not self.text.islower() and _is_common_word(own[0], name[0]):
            return False
        if not last and own[0].script == "han" and self._in_han_run(first):
            return False
        return self._begins_word(first) and self._ends_word(first + last)

    def _basic_forms(self, word: Word, is_last: bool) -> frozenset[str]:
        """Return the forms that a word of a name may have, of which this word of the text is one."""
        key = (word.form, word.script if not _ACRONYM_PLURAL.fullmatch(word.written) else word.written, is_last)
        if (known := self._forms.get(key)) is None:
            self._forms[key] = known = self._derive_forms(word, is_last)
        return known

    def _derive_forms(self, word: Word, is_last: bool) -> frozenset[str]:
        form = word.form
        if word.script == "hangul":
            cuts = range(2, len(form)) if is_last else ()
            return frozenset({form, *(form[:cut] for cut in cuts if are_korean_particles(form[cut:], form[cut - 1]))})
        if word.script != "letters":
            return frozenset({form})
        forms = {form, form[:-1]} if _ACRONYM_PLURAL.fullmatch(word.written) else {form}
        for alphabet, prefixes in _PREFIXES.items():
            if ord(alphabet) <= ord(form[0]) < ord(alphabet) + 0x40 and form[0] in prefixes and len(form) > _MIN_PREFIXED_CHARS:
                forms.add(form[1:])
        if form.isalpha():
            forms |= self._inflection.basic_forms(form, is_last)
        return frozenset(forms)

    def _begins_word(self, place: int) -> bool:
        """Return whether a name may begin with this word, and not within a longer word or code."""
        word = self.words[place]
        before = self.words[place - 1] if place else None
        gap = self.text[before.end : word.start] if before else " "
        if before is None or len(gap) > 1 or gap.isspace():
            return True
        if not gap:
            return _are_apart(before, word)
        if gap in _HYPHENS:
            return self._may_be_compound(before, word)
        if gap in _APOSTROPHES:
            return before.form in _ELIDED
        return _separates(gap, before, word)

    def _ends_word(self, place: int) -> bool:
        """Return whether a name may end with this word, and not within a longer word or code."""
        word = self.words[place]
        after = self.words[place + 1] if place + 1 < len(self.words) else None
        gap = self.text[word.end : after.start] if after else self.text[word.end :]
        if after is None or len(gap) > 1 or gap.isspace():
            return True
        if not gap:
            return _are_apart(word, after) or (word.script == "hiragana" and self._is_particle(after.start))
        if gap in _HYPHENS:
            return self._may_be_compound(after, word)
        if gap in _APOSTROPHES:
            return after.form in _POSSESSIVES or (after.form in TURKISH_ENDINGS and ENGLISH not in self._languages)
        return _separates(gap, word, after)

    def _in_han_run(self, place: int) -> bool:
        """Return whether a character has another one of Chinese writing directly beside it."""
        word = self.words[place]
        pairs = [(self.words[place - 1], word)] if place else []
        pairs += [(word, self.words[place + 1])] if place + 1 < len(self.words) else []
        return any(one.end == other.start and one.script == other.script == "han" for one, other in pairs)

    def _is_particle(self, start: int) -> bool:
        return self.text.startswith(_KANA_PARTICLES, start)

    def _may_be_compound(self, part: Word, name: Word) -> bool:
        """Return whether the part on the other side of a hyphen leaves the name a name: "German-born", but not "A1-B2", "Ann-Marie"."""
        if not part.form.isalpha() or (_is_code(part) and _is_code(name)):
            return False
        return part.script != "letters" or part.written.islower() or "German" in self._languages


def _is_code(word: Word) -> bool:
    return not word.form.isalpha() or (word.script == "letters" and word.written.isupper())


def _are_apart(one: Word, other: Word) -> bool:
    """Return whether two words without a sign between them are separate: of different scripts, or Chinese and no parts of one number."""
    if one.script != other.script:
        return True
    if one.script == "han":
        return not (one.form in _NUMERALS and other.form in _NUMERALS)
    return one.script == "joined" or (one.script == "hiragana" and one.form in _BEFORE_KANA)


def _separates(sign: str, one: Word, other: Word) -> bool:
    """Return whether a sign between two words separates them: not in "A_B", "R&D", "3.14", "a@b" and "main.py"."""
    if sign in "_&@" or (sign == "." and other.written[0].islower()):
        return False
    return not (sign in ".," and one.form[-1].isdigit() and other.form[0].isdigit())


def _is_common_word(word: Word, name: Word) -> bool:
    """Return whether a word of a text is a function word and the name is none, by its capitals: "it" or "It" for IT, "may" for May."""
    if word.form not in _COMMON_WORDS or name.written.islower():
        return False
    return word.written.islower() or (len(name.written) > 1 and name.written.isupper() and not word.written.isupper())


@lru_cache(maxsize=256)
def searchable(text: str) -> SearchableText:
    """Return a text in which names can be looked up; recent texts are kept."""
    return SearchableText(text)


def contains_name(text: str, name: str) -> bool:
    """Return whether a name stands in a text, also inflected, never inside another word or code."""
    return any(reading.contains(name) for reading in _readings(text))


@lru_cache(maxsize=256)
def _readings(text: str) -> tuple[SearchableText, ...]:
    """Return a text as it is, and without the hyphens at the ends of its lines, which may be those of the line breaks alone."""
    return tuple(searchable(reading) for reading in dict.fromkeys((text, _BROKEN_WORD.sub("", text))))


def names_in(text: str, names: Mapping[str, str] | Iterable[str]) -> list[str]:
    """Return the names (the keys, if they map to spellings) that stand in a text, without those that are part of a longer one there."""
    spellings = names if isinstance(names, Mapping) else {name: name for name in names}
    readings = _readings(text)
    contained = {key: spelling for key, spelling in spellings.items() if any(reading.contains(spelling) for reading in readings)}
    return [
        key
        for key, spelling in contained.items()
        if not any(key != other and len(spelling) < len(longer) and contains_name(longer, spelling) for other, longer in contained.items())
    ]


def missing_names(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the first two names that none of the texts contains."""
    return [name for name in names if not any(contains_name(text, name) for text in texts)][:2]
