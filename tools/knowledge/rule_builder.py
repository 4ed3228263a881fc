"""Build a graph without a language model: names in text, and what connects them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ramify.tools.english import (
    ENGLISH_STOP_WORDS,
    UPPERCASE_LETTER,
    WORD,
    fold,
    is_abbreviation,
    sentences,
    strip_disambiguation,
    word_set,
)
from ramify.tools.errors import IndexingError
from ramify.tools.index.full_text import STOP_WORDS
from ramify.tools.index.progress import Progress, silent
from ramify.tools.knowledge.build import Reading, Structure, Structured, build_graph
from ramify.tools.knowledge.elements import Elements, Graph, Knowledge, Link, Mention, Piece, is_prose, linked, quoted, settled, title_key
from ramify.tools.knowledge.reports import QUOTED, Finding, Material, Report
from ramify.tools.languages import is_english_question
from ramify.tools.quoting import truncate_line

LONGEST = 100
"""Characters of a name; a longer run is a heading in capitals, or worse."""
_CAPITAL = rf"{UPPERCASE_LETTER}[\w’'&-]*(?:\.(?=[\w])[\w’'&-]+)*(?:(?<=\bSt)\.|(?<=\bMt)\.|(?<=\bDr)\.|(?<=\b[A-Z])\.(?= [A-Z]))?"
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
_SMALL = (
    ENGLISH_STOP_WORDS
    | STOP_WORDS
    | word_set("since within without despite although though according among upon toward towards like unlike near")
)
"""Words that open a sentence with a capital, and are taken for no name where nothing in the corpus tells."""
_TITLE_CASE = 5
"""A line of so many words, all of them capitalised, is a heading: its capitals tell nothing."""
_SEEN = 5
"""So often a word must have been seen before what stands beside it tells what it is."""
_BEFORE_A_WORD, _BESIDE_A_NUMBER = 0.5, 0.4


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
                    counted.before_word[key] += following[:1].islower() and following not in ENGLISH_STOP_WORDS
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


def names_of(sentence: str, known: Lexicon, titles: Titles) -> dict[str, str]:
    """Give the names of a sentence by key: capitalised runs, and titles of other documents as they are written there."""
    written = {} if _headline(sentence) else _capitalised(sentence, known)
    for key in spans_of(fold(sentence), titles.by_first):
        title = titles.written[key]
        within = any(f" {key} " in f" {other} " for other in written)
        if _SIGNS.search(title) or (" " in key and title in sentence and not within):
            written.setdefault(key, title)
    return {key: titles.written.get(key, name) for key, name in written.items()}


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
    return _bare(first) in _CALENDAR or is_abbreviation(first) or known.describes(first) or (not rest and known.common(first))


def _fits(key: str, name: str) -> bool:
    return len(key) > 1 and len(name) <= LONGEST and not key.replace(" ", "").isdigit()


def _headline(sentence: str) -> bool:
    words = [word for word in WORD.findall(sentence) if not word.isdigit()]
    return (
        len(words) >= _TITLE_CASE and all(word[0].isupper() or word in ENGLISH_STOP_WORDS for word in words) and sentence[-1:] not in ".!?"
    )


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


_SAMPLE, _LOOKED_AT = 200, 600
"""Passages that are looked at to find out whether a corpus is English, and characters of each."""
_TOLD = 1000
"""How often it is told how far reading is: every so many passages."""
MOST_FILES = 2
"""Files that a title may stand in and be a name."""
_NUMBERED = re.compile(r"^(?:[A-Z]\.)?(?:\d+(?:\.\d+)+\.?|\d+[.)])\s+(?=\S)")
"""A section: 9.8. Data Types, E.19.4 Thanks, 3) Ferry, but not "12 Years a Slave"."""
MOST_NAMES = 20
"""Names of a sentence that are connected with each other; of a table or a list the first."""
_MOST_WORDS = 300
_WORDS = 5
"""Words of a quoted report for each doubling of its community."""
_HEARD = 2
"""So often a name is told of before others are preferred."""
_TITLED, _LONGEST_NAME = 3, 30
"""Names in the title of a quoted report, at most a third of them all, and the characters of each."""
_FEW = 3
"""Names of a community on which there is but one thing to say, briefly: a corpus has many of these."""
_HIGHEST = 10.0


class ByRules:
    """Build without a model."""

    made_by = reported_by = QUOTED

    async def read(self, pieces: Sequence[Piece], progress: Progress) -> Reading:
        """Find names and what connects them; IndexingError where most of the documents are not in English."""
        sampled = pieces[:: max(1, len(pieces) // _SAMPLE)]
        foreign = sum(not is_english_question(piece.text[:_LOOKED_AT]) for piece in sampled)
        if 2 * foreign > len(sampled):
            what = "most of these documents do not look like English, and the names of a graph are found by rules for English"
            raise IndexingError(what, "name a language model with --model, such as ollama:llama3.1:8b, and a multilingual --embedding")
        found = []
        for number, elements in enumerate(quoted_elements(pieces), 1):
            found.append(elements)
            if number % _TOLD == 0 or number == len(pieces):
                progress(number, len(pieces), "passages for names")
        return Reading(found)

    async def settle(self, knowledge: Knowledge, progress: Progress) -> Graph:
        """Take one sentence for each element."""
        return settled(knowledge, quoted)

    async def report(self, materials: Sequence[Material], told: Callable[[int], None]) -> list[Report]:
        """Quote sentences."""
        reports = [quoted_report(material) for material in materials]
        told(len(reports))
        return reports


def build_graph_by_rules(folder: Path, structure: Structure | None = None, progress: Progress = silent) -> Structured:
    """Make the graph of the finished index in a folder without a model; blocking, and without an event loop: rules wait for nothing."""
    building = build_graph(folder, ByRules(), structure, progress)
    try:
        building.send(None)
    except StopIteration as finished:
        return finished.value  # type: ignore[no-any-return]
    building.close()
    raise AssertionError("building by rules waited for something")


def quoted_elements(pieces: Sequence[Piece]) -> Iterator[Elements]:
    """Yield the elements of each passage: each name and each connection with the sentence that tells of it."""
    known = lexicon(piece.text for piece in pieces)
    titles = titles_of(_telling(pieces), known)
    for piece in pieces:
        said = sentences(piece.text)
        # What a passage stands under is its topic, if that is a name: of several, the innermost.
        topic = next((key for title in reversed(piece.titles) if (key := title_key(title)) in titles.written), "")
        first: dict[str, Mention] = {}
        links: list[Link] = []
        if topic:
            first[topic] = Mention(topic, titles.written[topic], piece.id, description=said[0] if said else "")
        for sentence in said:
            names = names_of(sentence, known, titles)
            keys = list(names)[:MOST_NAMES]
            for key in keys:
                first.setdefault(key, Mention(key, names[key], piece.id, description=sentence))
            together = [topic, *keys] if topic and keys and topic not in keys else keys
            links += [linked(one, other, sentence, piece.id) for one, other in combinations(together, 2)]
        yield Elements(tuple(first.values()), tuple(links))


def in_sentences(pieces: Sequence[Piece], names: Iterable[str]) -> Iterator[Link]:
    """Connect names, given by their keys, where a sentence has both: for a text whose names a model related to nothing."""
    written = by_first_word(names)
    for piece in pieces:
        for sentence in sentences(piece.text):
            for one, other in combinations(dict.fromkeys(spans_of(fold(sentence), written)), 2):
                yield linked(one, other, sentence, piece.id)


def _telling(pieces: Sequence[Piece]) -> dict[str, str]:
    """List titles and headings as they are written, by key; those of numbered sections, and of parts of many files, name nothing."""
    written = {title_key(title): strip_disambiguation(title) for piece in pieces for title in piece.titles if not _NUMBERED.match(title)}
    files: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        for title in piece.titles:
            files[title_key(title)].add(piece.document.partition("#")[0])
    return {key: title for key, title in written.items() if len(files[key]) <= MOST_FILES}


def quoted_report(material: Material) -> Report:
    """Report on a community in sentences of its documents: those that tell of its most connected names, of each not too often."""
    room = min(_MOST_WORDS, round(_WORDS * math.log2(max(2, len(material.community.members)))))
    heard: Counter[str] = Counter()
    findings: dict[str, Finding] = {}
    told = {pair: edge.told for pair, edge in material.edges.items() if edge.told.text}
    edges = [one for one in told.items() if is_prose(one[1].text)] or list(told.items())[:1]
    if len(material.community.members) <= _FEW:
        edges = sorted(edges, key=lambda one: len(one[1].text))[:1]
    for pair, (text, passage) in edges:
        length = len(text.split())
        if text in findings or (findings and (length > room or any(heard[key] >= _HEARD for key in pair))):
            continue
        findings[text] = Finding(text, (passage,))
        heard.update(pair)
        room -= length
        if room <= 0:
            break
    return Report(
        community=material.community.id,
        title=", ".join(
            truncate_line(name, _LONGEST_NAME) for name in list(material.names.values())[: min(_TITLED, max(1, len(material.names) // 3))]
        ),
        summary="",
        rating=min(_HIGHEST, round(math.log2(len(material.community.members)), 1)),
        findings=tuple(findings.values()),
        made_by=QUOTED,
        digest=material.digest,
    )
