"""Names in English text by their shape: capitalised runs, and titles wherever they are written.

What is no name is told by counting, not by lists: a word that is written small elsewhere, one that mostly stands before another word
(American, French), one that mostly stands beside a number (November).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ramify.tools.english import STOP, UPPER, WORD, abbreviates, fold, sentences, word_set
from ramify.tools.index.full_text import STOP_WORDS

LONGEST = 100
"""Characters of a name; a longer run is a heading in capitals, or worse."""
_CAPITAL = rf"{UPPER}[\w’'&-]*(?:\.(?=[\w])[\w’'&-]+)*(?:(?<=\bSt)\.|(?<=\bMt)\.|(?<=\bDr)\.|(?<=\b[A-Z])\.(?= [A-Z]))?"
_INNER = "of|the|de|la|le|el|du|des|di|da|del|al|von|van|der|den|zu|bin|ibn"
_RUN = re.compile(rf"{_CAPITAL}(?:(?: (?:{_INNER})){{0,2}} (?:{_CAPITAL}|\d+\b))*")
_TOKEN = re.compile(r"[^\W\d_][\w’'-]*|\d+")
_POSSESSIVE = re.compile(r"[’']s?$")
_SIGNS = re.compile(r"[^\W_][-_./+][^\W_]")
"""What a title has that is a name however it is written: git-rebase, pg_dump."""
_CALENDAR = word_set(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov "
    "dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun"
)
_SMALL = STOP | STOP_WORDS | word_set("since within without despite although though according among upon toward towards like unlike near")
"""Words that open a sentence with a capital, and are taken for no name where nothing in the corpus tells."""
_TITLE_CASE = 5
"""A line of so many words, all of them capitalised, is a heading: its capitals tell nothing."""
_SEEN = 5
"""So often a word must have been seen before what stands beside it tells what it is."""
_BEFORE_A_WORD, _BESIDE_A_NUMBER = 0.5, 0.4


class Named(NamedTuple):
    """A name in a text: the sentence it stands in, its key and how it is written."""

    sentence: int
    key: str
    name: str


class Lexicon(NamedTuple):
    """How often words are written small, within a sentence capitalised, before another word, beside a number; by the folded word."""

    small: Counter[str]
    capital: Counter[str]
    before_word: Counter[str]
    beside_number: Counter[str]
    runs: Counter[str]
    """Runs of capitalised words that do not open a sentence."""

    def common(self, word: str) -> bool:
        """Tell whether a word is more often written small than capitalised within a sentence."""
        key = _bare(word)
        small, capital = self.small[key], self.capital[key]
        return key in _SMALL if not (small or capital) else small >= capital

    def describes(self, word: str) -> bool:
        """Tell whether a capitalised word mostly describes another, or dates something: no name by itself."""
        key = _bare(word)
        seen = self.capital[key]
        if seen < _SEEN:
            return False
        return self.before_word[key] > _BEFORE_A_WORD * seen or self.beside_number[key] > _BESIDE_A_NUMBER * seen


def lexicon(texts: Iterable[str]) -> Lexicon:
    """Count the words of a corpus."""
    counted = Lexicon(Counter(), Counter(), Counter(), Counter(), Counter())
    for text in texts:
        for sentence in sentences(text):
            if _headline(sentence):
                continue
            counted.runs.update(run[0] for run in _RUN.finditer(sentence) if run.start())
            words = [*_TOKEN.findall(sentence), ""]
            for place, word in enumerate(words[:-1]):
                key, following = _bare(word), words[place + 1]
                if word[0].islower():
                    counted.small[key] += 1
                elif word[0].isupper() and place:
                    counted.capital[key] += 1
                    counted.before_word[key] += following[:1].islower() and following not in STOP
                    counted.beside_number[key] += following[:1].isdigit() or words[place - 1][:1].isdigit()
    return counted


class Titles(NamedTuple):
    """The titles of a corpus: how each is written, by its key, and their keys by the first word."""

    written: Mapping[str, str]
    by_first: Mapping[str, Iterable[tuple[str, ...]]]


def titles_of(written: Mapping[str, str], known: Lexicon) -> Titles:
    """Take the titles that are names wherever they are written: several words, a word with signs in it, or one that is not common."""
    telling = {
        key: _spelled(title, known)
        for key, title in written.items()
        if _fits(key, title) and (_SIGNS.search(title) or not _says_little(key.split(), known))
    }
    return Titles(telling, by_first_word(telling))


def _spelled(title: str, known: Lexicon) -> str:
    """Write a title that is written small, as a file's name may be, as the texts write it."""
    small = title.islower() and not _SIGNS.search(title)
    return title.title() if small and all(known.capital[word] > known.small[word] for word in title.split()) else title


def names_of(text: str, known: Lexicon, titles: Titles) -> list[Named]:
    """List the names of a text, sentence by sentence: capitalised runs, and titles of other documents as they are written there."""
    found: list[Named] = []
    for place, sentence in enumerate(sentences(text)):
        written = {} if _headline(sentence) else _capitalised(sentence, known)
        for key in spans_of(fold(sentence), titles.by_first):
            title = titles.written[key]
            within = any(f" {key} " in f" {other} " for other in written)
            if _SIGNS.search(title) or (" " in key and title in sentence and not within):
                written.setdefault(key, title)
        found += [Named(place, key, titles.written.get(key, name)) for key, name in written.items()]
    return found


def by_first_word(keys: Iterable[str]) -> dict[str, list[tuple[str, ...]]]:
    """Group names by their first word, the longest first."""
    grouped: dict[str, list[tuple[str, ...]]] = {}
    for key in keys:
        words = tuple(key.split())
        grouped.setdefault(words[0], []).append(words)
    return {first: sorted(names, key=lambda words: (-len(words), words)) for first, names in grouped.items()}


def spans_of(key: str, names: Mapping[str, Iterable[tuple[str, ...]]]) -> list[str]:
    """List the names written in a folded text, from left to right, the longest at each place."""
    words = key.split()
    found: list[str] = []
    place = 0
    while place < len(words):
        fitting = next((name for name in names.get(words[place], ()) if tuple(words[place : place + len(name)]) == name), None)
        if fitting:
            found.append(" ".join(fitting))
        place += len(fitting) if fitting else 1
    return found


def _capitalised(sentence: str, known: Lexicon) -> dict[str, str]:
    """Find the capitalised runs of a sentence by their key; a word that opens it, or follows a mark, is no name for its capital alone."""
    written: dict[str, str] = {}
    for run in _RUN.finditer(sentence):
        words = run[0].split()
        if run.start() == 0 and not known.runs[run[0]]:
            while words and (words[0].isdigit() or known.common(words[0])):
                words.pop(0)
        name = _POSSESSIVE.sub("", " ".join(words)).strip(" .,-&")
        key = fold(name)
        if _fits(key, name) and not _says_little(words, known):
            written.setdefault(key, name)
    return written


def _says_little(words: list[str], known: Lexicon) -> bool:
    """Tell whether a single word, be there a number behind it, is no name by itself."""
    first, *rest = words
    if not all(word.isdigit() for word in rest):
        return False
    return _bare(first) in _CALENDAR or abbreviates(first) or known.describes(first) or (not rest and known.common(first))


def _fits(key: str, name: str) -> bool:
    return len(key) > 1 and len(name) <= LONGEST and not key.replace(" ", "").isdigit()


def _headline(sentence: str) -> bool:
    words = [word for word in WORD.findall(sentence) if not word.isdigit()]
    return len(words) >= _TITLE_CASE and all(word[0].isupper() or word in STOP for word in words) and sentence[-1:] not in ".!?"


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()
