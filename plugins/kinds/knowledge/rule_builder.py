"""Build a graph without a language model: capitalized names and titles, connected when they share a sentence."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ramify.kinds.knowledge.build import Extraction, GraphBuild, GraphOptions, write_graph
from ramify.kinds.knowledge.communities import EXTRACTIVE, ReportMaterial
from ramify.kinds.knowledge.elements import (
    Elements,
    Graph,
    Knowledge,
    Link,
    Mention,
    Piece,
    is_prose,
    make_link,
    pick_description,
    title_key,
    to_graph,
)
from ramify.tools.english import (
    ENGLISH_STOP_WORDS,
    MONTHS,
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
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.reports import Report, ReportFinding
from ramify.tools.languages import is_english_question
from ramify.tools.names import names_in
from ramify.tools.quoting import truncate_line
from ramify.tools.supporting_sentence import split_sentences

MAX_NAME_CHARS = 100
"""Characters of the longest name; longer capitalized runs are headings."""
_CAPITAL = rf"{UPPERCASE_LETTER}[\w’'&-]*(?:\.(?=[\w])[\w’'&-]+)*(?:(?<=\bSt)\.|(?<=\bMt)\.|(?<=\bDr)\.|(?<=\b[A-Z])\.(?= [A-Z]))?"
_INNER = "of|the|de|la|le|el|du|des|di|da|del|al|von|van|der|den|zu|bin|ibn"
_RUN = re.compile(rf"{_CAPITAL}(?:(?: (?:{_INNER})){{0,2}} (?:{_CAPITAL}|\d+\b))*")
_TOKEN = re.compile(r"[^\W\d_][\w’'-]*|\d+")
_POSSESSIVE = re.compile(r"[’']s?$")
_SIGNS = re.compile(r"[^\W_][-_./+][^\W_]")
"""Punctuation that marks a title as a name in any spelling: git-rebase, pg_dump."""
_CALENDAR = MONTHS.keys() | word_set("monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun")
_COMMON_WORDS = (
    ENGLISH_STOP_WORDS
    | STOP_WORDS
    | word_set("since within without despite although though according among upon toward towards like unlike near")
)
"""Words that are not names at the beginning of a sentence, unless the corpus shows otherwise."""
_MIN_HEADLINE_WORDS = 5
"""Minimum words of a line that counts as a heading if all are capitalized; its capitals are ignored."""
_MIN_OCCURRENCES = 5
"""Occurrences of a word before its context decides whether it is a modifier."""
_MAX_BEFORE_WORD_SHARE, _MAX_BESIDE_NUMBER_SHARE = 0.5, 0.4


class Lexicon(NamedTuple):
    """Counts by folded word: lowercase, capitalized within a sentence, before a lowercase word, beside a number."""

    lowercase: Counter[str]
    capitalized: Counter[str]
    before_word: Counter[str]
    beside_number: Counter[str]
    runs: Counter[str]
    """Runs of capitalized words that do not begin a sentence."""

    def is_common(self, word: str) -> bool:
        """Return whether a word is lowercase at least as often as capitalized within sentences."""
        key = _bare_word(word)
        small, capital = self.lowercase[key], self.capitalized[key]
        return key in _COMMON_WORDS if not (small or capital) else small >= capital

    def is_modifier(self, word: str) -> bool:
        """Return whether a capitalized word mostly modifies another word or a date, so it is no name by itself."""
        key = _bare_word(word)
        seen = self.capitalized[key]
        if seen < _MIN_OCCURRENCES:
            return False
        return self.before_word[key] > _MAX_BEFORE_WORD_SHARE * seen or self.beside_number[key] > _MAX_BESIDE_NUMBER_SHARE * seen


def count_words(texts: Iterable[str]) -> Lexicon:
    """Count the words of a corpus."""
    counted = Lexicon(Counter(), Counter(), Counter(), Counter(), Counter())
    for text in texts:
        for sentence in sentences(text):
            if _is_headline(sentence):
                continue
            counted.runs.update(run[0] for run in _RUN.finditer(sentence) if run.start())
            words = [*_TOKEN.findall(sentence), ""]
            for place, word in enumerate(words[:-1]):
                key, following = _bare_word(word), words[place + 1]
                if word[0].islower():
                    counted.lowercase[key] += 1
                elif word[0].isupper() and place:
                    counted.capitalized[key] += 1
                    counted.before_word[key] += following[:1].islower() and following not in ENGLISH_STOP_WORDS
                    counted.beside_number[key] += following[:1].isdigit() or words[place - 1][:1].isdigit()
    return counted


class Titles(NamedTuple):
    """The titles of a corpus that are names: spelling by key, and keys by first word."""

    written: Mapping[str, str]
    by_first: Mapping[str, Iterable[tuple[str, ...]]]


def name_titles(written: Mapping[str, str], known: Lexicon) -> Titles:
    """Return the titles that are names: of several words, with punctuation inside, or of one uncommon word."""
    telling = {
        key: _spell_title(title, known)
        for key, title in written.items()
        if _is_valid_name(key, title) and (_SIGNS.search(title) or not _is_no_name(key.split(), known))
    }
    return Titles(telling, group_by_first_word(telling))


def _spell_title(title: str, known: Lexicon) -> str:
    """Return a lowercase title, such as a file's name, with the capitals it has in the texts."""
    small = title.islower() and not _SIGNS.search(title)
    return title.title() if small and all(known.capitalized[word] > known.lowercase[word] for word in title.split()) else title


def names_in_sentence(sentence: str, known: Lexicon, titles: Titles) -> dict[str, str]:
    """Return the names of a sentence by key: capitalized runs, and titles of other documents as they are spelled there."""
    written = {} if _is_headline(sentence) else _capitalized_names(sentence, known)
    for key in find_spans(fold(sentence), titles.by_first):
        title = titles.written[key]
        within = any(f" {key} " in f" {other} " for other in written)
        if _SIGNS.search(title) or (" " in key and title in sentence and not within):
            written.setdefault(key, title)
    return {key: titles.written.get(key, name) for key, name in written.items()}


def group_by_first_word(keys: Iterable[str]) -> dict[str, list[tuple[str, ...]]]:
    """Return names as word tuples, grouped by first word, the longest first."""
    grouped: dict[str, list[tuple[str, ...]]] = {}
    for key in keys:
        words = tuple(key.split())
        grouped.setdefault(words[0], []).append(words)
    return {first: sorted(names, key=lambda words: (-len(words), words)) for first, names in grouped.items()}


def find_spans(key: str, names: Mapping[str, Iterable[tuple[str, ...]]]) -> list[str]:
    """Return the names in a folded text from left to right, the longest match at each position."""
    words = key.split()
    spans: list[str] = []
    place = 0
    while place < len(words):
        fitting = next((name for name in names.get(words[place], ()) if tuple(words[place : place + len(name)]) == name), None)
        if fitting:
            spans.append(" ".join(fitting))
        place += len(fitting) if fitting else 1
    return spans


def _capitalized_names(sentence: str, known: Lexicon) -> dict[str, str]:
    """Return the capitalized runs of a sentence by key; the first word of a sentence counts only if it is not common."""
    written: dict[str, str] = {}
    for run in _RUN.finditer(sentence):
        words = run[0].split()
        if run.start() == 0 and not known.runs[run[0]]:
            while words and (words[0].isdigit() or known.is_common(words[0])):
                words.pop(0)
        name = _POSSESSIVE.sub("", " ".join(words)).strip(" .,-&")
        key = fold(name)
        if _is_valid_name(key, name) and not _is_no_name(words, known):
            written.setdefault(key, name)
    return written


def _is_no_name(words: list[str], known: Lexicon) -> bool:
    """Return whether a single word, with or without numbers after it, is no name by itself."""
    first, *rest = words
    if not all(word.isdigit() for word in rest):
        return False
    return _bare_word(first) in _CALENDAR or is_abbreviation(first) or known.is_modifier(first) or (not rest and known.is_common(first))


def _is_valid_name(key: str, name: str) -> bool:
    return len(key) > 1 and len(name) <= MAX_NAME_CHARS and not key.replace(" ", "").isdigit()


def _is_headline(sentence: str) -> bool:
    words = [word for word in WORD.findall(sentence) if not word.isdigit()]
    return (
        len(words) >= _MIN_HEADLINE_WORDS
        and all(word[0].isupper() or word in ENGLISH_STOP_WORDS for word in words)
        and sentence[-1:] not in ".!?"
    )


def _bare_word(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


_LANGUAGE_SAMPLE, _SAMPLE_CHARS = 200, 600
"""Passages sampled to detect whether a corpus is English, and characters read of each."""
_PROGRESS_EVERY = 1000
"""Passages between two progress reports."""
MAX_TITLE_FILES = 2
"""A title in more files than this is no name."""
_NUMBERED_HEADING = re.compile(r"^(?:[A-Z]\.)?(?:\d+(?:\.\d+)+\.?|\d+[.)])\s+(?=\S)")
"""A section number: 9.8. Data Types, E.19.4 Thanks, 3) Ferry, but not "12 Years a Slave"."""
MAX_NAMES_PER_SENTENCE = 20
"""Names of a sentence that are connected with each other; in a table or a list, the first ones."""
_MAX_REPORT_WORDS = 300
_WORDS_PER_DOUBLING = 5
"""Words of an extractive report for each doubling of its community's size."""
_MAX_MENTIONS_PER_NAME = 2
"""Findings about a name after which other names are preferred."""
_MAX_TITLE_NAMES, _MAX_TITLE_NAME_CHARS = 3, 30
"""Names in the title of an extractive report, at most a third of all, and characters of each."""
_SMALL_COMMUNITY = 3
"""Maximum size of a community that gets a single finding, the shortest."""
_MAX_RATING = 10.0


class RuleBuilder:
    """Build a graph by rules for English, without a model."""

    made_by = reported_by = EXTRACTIVE

    async def read(self, pieces: Sequence[Piece], progress: Progress) -> Extraction:
        """Extract names and links; IndexingError if most of the documents are not in English."""
        sampled = pieces[:: max(1, len(pieces) // _LANGUAGE_SAMPLE)]
        foreign = sum(not is_english_question(piece.text[:_SAMPLE_CHARS]) for piece in sampled)
        if 2 * foreign > len(sampled):
            what = "most of these documents do not look like English, and the names of a graph are found by rules for English"
            raise IndexingError(what, "name a language model with --model, such as ollama:llama3.1:8b, and a multilingual --embedding")
        extracted = []
        for number, elements in enumerate(extract_by_rules(pieces), 1):
            extracted.append(elements)
            if number % _PROGRESS_EVERY == 0 or number == len(pieces):
                progress(number, len(pieces), "passages for names")
        return Extraction(extracted)

    async def describe(self, knowledge: Knowledge, progress: Progress) -> Graph:
        """Return the graph, with one quoted sentence as the description of each element."""
        return to_graph(knowledge, pick_description)

    async def report(self, materials: Sequence[ReportMaterial], on_done: Callable[[int], None]) -> list[Report]:
        """Return extractive reports, made of quoted sentences."""
        reports = [extractive_report(material) for material in materials]
        on_done(len(reports))
        return reports


def build_graph_by_rules(folder: Path, structure: GraphOptions | None = None, progress: Progress = ignore_progress) -> GraphBuild:
    """Build the graph of the finished index in a folder without a model; blocking, works without an event loop."""
    building = write_graph(folder, RuleBuilder(), structure, progress)
    try:
        building.send(None)
    except StopIteration as finished:
        return finished.value  # type: ignore[no-any-return]
    building.close()
    raise AssertionError("building by rules must not await")


def extract_by_rules(pieces: Sequence[Piece]) -> Iterator[Elements]:
    """Yield the elements of each passage: names and links with the sentence each was found in."""
    known = count_words(piece.text for piece in pieces)
    titles = name_titles(_informative_titles(pieces), known)
    for piece in pieces:
        piece_sentences = sentences(piece.text)
        # The topic of a passage is its innermost heading that is a name.
        topic = next((key for title in reversed(piece.titles) if (key := title_key(title)) in titles.written), "")
        first: dict[str, Mention] = {}
        links: list[Link] = []
        if topic:
            first[topic] = Mention(topic, titles.written[topic], piece.id, description=piece_sentences[0] if piece_sentences else "")
        for sentence in piece_sentences:
            names = names_in_sentence(sentence, known, titles)
            keys = list(names)[:MAX_NAMES_PER_SENTENCE]
            for key in keys:
                first.setdefault(key, Mention(key, names[key], piece.id, description=sentence))
            together = [topic, *keys] if topic and keys and topic not in keys else keys
            links += [make_link(one, other, sentence, piece.id) for one, other in combinations(together, 2)]
        yield Elements(tuple(first.values()), tuple(links))


def links_in_sentences(pieces: Sequence[Piece], names: Mapping[str, str]) -> Iterator[Link]:
    """Yield a link for each two of the names (spelling by key) that share a sentence; used where a model returned no relations."""
    for piece in pieces:
        for sentence in (unit for part in sentences(piece.text) for unit in split_sentences(part)):
            for one, other in combinations(names_in(sentence, names), 2):
                yield make_link(one, other, sentence, piece.id)


def _informative_titles(pieces: Sequence[Piece]) -> dict[str, str]:
    """Return titles and headings by key, without numbered sections and headings that occur in many files."""
    written = {
        title_key(title): strip_disambiguation(title) for piece in pieces for title in piece.titles if not _NUMBERED_HEADING.match(title)
    }
    files: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        for title in piece.titles:
            files[title_key(title)].add(piece.document.partition("#")[0])
    return {key: title for key, title in written.items() if len(files[key]) <= MAX_TITLE_FILES}


def extractive_report(material: ReportMaterial) -> Report:
    """Return a report of quoted sentences about the most connected names of a community, with a limit for each name."""
    remaining = min(_MAX_REPORT_WORDS, round(_WORDS_PER_DOUBLING * math.log2(max(2, len(material.community.members)))))
    mentions: Counter[str] = Counter()
    findings: dict[str, ReportFinding] = {}
    descriptions = {pair: edge.description for pair, edge in material.edges.items() if edge.description.text}
    edges = [item for item in descriptions.items() if is_prose(item[1].text)] or list(descriptions.items())[:1]
    if len(material.community.members) <= _SMALL_COMMUNITY:
        edges = sorted(edges, key=lambda item: len(item[1].text))[:1]
    for pair, (text, passage) in edges:
        length = len(text.split())
        if text in findings or (findings and (length > remaining or any(mentions[key] >= _MAX_MENTIONS_PER_NAME for key in pair))):
            continue
        findings[text] = ReportFinding(text, (passage,))
        mentions.update(pair)
        remaining -= length
        if remaining <= 0:
            break
    return Report(
        community=material.community.id,
        title=", ".join(
            truncate_line(name, _MAX_TITLE_NAME_CHARS)
            for name in list(material.names.values())[: min(_MAX_TITLE_NAMES, max(1, len(material.names) // 3))]
        ),
        summary="",
        rating=min(_MAX_RATING, round(math.log2(len(material.community.members)), 1)),
        findings=tuple(findings.values()),
        made_by=EXTRACTIVE,
        digest=material.digest,
    )
