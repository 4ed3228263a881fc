"""Full-text search: segmenting questions and texts into words, and BM25 over the postings of a large index.

Chinese and Japanese put no space between words, and Korean joins particles to them: runs of these scripts are searched by pairs of
characters, as is usual (Lucene's CJKAnalyzer); three at a time would not find a noun of two syllables before another particle.

SQLite's FTS5 scores every passage with one of a question's words. A large index has postings instead: for each word the slots of its
passages, memory-mapped. Words are tokenized and stemmed by FTS5 in both cases. BM25 is Lucene's; updates keep the counts exact, and weights
are computed at query time.
"""

import json
import re
import sqlite3
import threading
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.tools.identifiers import find_identifiers, widen
from ramify.tools.index.hnsw import Positions, SlotMap
from ramify.tools.index.progress import Progress

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+")
_DECOMPOSED = re.compile("[\u1100-\u11ff\u302a-\u302f\u3099\u309a]")
"""Decomposed syllables, which some systems write."""

_STOP_WORDS = """
a about after all also although am an and any are as at be because been before being between both but by can could did do does
doing during each either for from further had has have having he her here hers him his how i if in into is it its itself just me
more most my no nor not of off on once one only or other our out over own same she should so some such than that the their them
then there these they this those through to too under until up very was we were what when where whether which while who whom whose
why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def query_words(query: str) -> list[str]:
    """Return the distinct words of a question, without stop words unless there are no others.

    Compatibility characters, such as full-width digits, are also given as ordinary ones.
    """
    folded = unicodedata.normalize("NFKC", query)
    texts = (query,) if folded == query else (query, folded)
    words = list(dict.fromkeys(word for text in texts for word in _WORD.findall(segment_words(text.lower()))))
    return [word for word in words if word not in STOP_WORDS] or words


def search_words(query: str) -> list[str]:
    """Return the words that a question is searched by: its own, in full width, and the spellings of its identifiers.

    The words of passages stay as they are written, so both widths have to be searched.
    """
    parts = [part for identifier in find_identifiers(query) for part in identifier.spellings]
    words = [*query_words(query), *parts]
    return list(dict.fromkeys([*words, *(widen(word) for word in words)]))


def segment_words(text: str) -> str:
    """Return a text with spaces between searchable words: runs of Chinese, Japanese or Korean become pairs of characters."""
    whole = unicodedata.normalize("NFC", text) if _DECOMPOSED.search(text) else text
    return _CJK.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0]))) or run[0]} ", whole)


def mentions_heading(query: str, heading: str) -> bool:
    """Return whether a question contains all words of a section's own heading, the last of "A > B"."""
    return set(query_words(heading.rpartition(" > ")[2])) <= set(query_words(query))


_TOKENIZING = threading.Lock()


def query_stems(query: str) -> list[str]:
    """Return the words of a question as tokenized and stemmed by FTS5."""
    with _TOKENIZING:
        database = _tokenizer()
        database.execute("DELETE FROM asked")
        database.execute("INSERT INTO asked VALUES (?)", [" ".join(search_words(query))])
        return [term for (term,) in database.execute("SELECT term FROM cut")]


@lru_cache(maxsize=1)
def _tokenizer() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    database.execute("CREATE VIRTUAL TABLE asked USING fts5(question, tokenize='porter unicode61')")
    database.execute("CREATE VIRTUAL TABLE cut USING fts5vocab(asked, row)")
    return database


MIN_POSTINGS_PASSAGES = 20_000
"""Number of passages above which an index has postings."""
_LABEL_WEIGHT = 2
_MAX_COUNT = int(np.iinfo(np.uint16).max)
"""Maximum stored count; larger ones are truncated."""
_SATURATION, _LENGTH_NORMALIZATION = 1.2, 0.75
"""k1 and b, those of SQLite."""
_PROGRESS_EVERY = 1000
"""Distinct words between two progress reports."""
_TABLE = "fts5(label, text, content='', tokenize='porter unicode61')"


class Postings(NamedTuple):
    """Postings: for each word the slots that contain it, with counts, concatenated."""

    counts: NDArray[np.uint16]
    slots: NDArray[np.int32]
    ends: NDArray[np.int64]
    """The end of each word's slots, preceded by 0."""
    lengths: NDArray[np.int32]
    """The number of words in each slot."""
    words: list[str]

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "Postings":
        """Read the files in the order of `POSTINGS_FILES`, memory-mapped; deleting the files does not affect open postings."""
        counts, slots, ends, lengths = (np.load(path, mmap_mode="r", allow_pickle=False) for path in paths[:-1])
        return cls(counts, slots, ends, lengths, json.loads(paths[-1].read_bytes()))

    def write(self, paths: Sequence[Path]) -> None:
        """Write the files, in the order of `POSTINGS_FILES`."""
        arrays: list[NDArray[Any]] = [self.counts, self.slots, self.ends, self.lengths]
        for path, values in zip(paths, arrays, strict=False):
            with path.open("wb") as file:
                np.save(file, values)
        paths[-1].write_bytes(json.dumps(self.words).encode())

    def renumbered(self, to: Positions, slots: int) -> "Postings":
        """Return the postings of the remaining slots with new numbers; to: the new slot of each slot, negative if it is dropped."""
        moved = to.astype(np.int32)[self.slots]
        remaining = moved >= 0
        passed = np.zeros(len(remaining) + 1, dtype=np.int64)
        np.cumsum(remaining, out=passed[1:])
        ends = passed[self.ends]
        used = np.diff(ends) > 0
        lengths = np.zeros(slots, dtype=np.int32)
        lengths[to[to >= 0]] = self.lengths[to >= 0]
        words = [word for word, has in zip(self.words, used, strict=True) if has]
        return Postings(self.counts[remaining], moved[remaining], np.concatenate([[0], ends[1:][used]]), lengths, words)

    def merged(self, others: "Postings") -> "Postings":
        """Return the postings of both, which must have different slots."""
        number = {word: place for place, word in enumerate(self.words)}
        words = self.words + [word for word in others.words if word not in number]
        number = {word: place for place, word in enumerate(words)}
        ends = np.concatenate([self.ends, np.full(len(words) - len(self.words), self.ends[-1])])
        of = np.repeat(np.array([number[word] for word in others.words], dtype=np.int64), np.diff(others.ends))
        order = np.argsort(of, kind="stable")
        at = ends[of[order] + 1]
        more = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(words)))])
        counts = np.insert(self.counts, at, others.counts[order])
        slots = np.insert(self.slots, at, others.slots[order])
        return Postings(counts, slots, ends + more, self.lengths + others.lengths, words)


class WordSearch:
    """BM25 search over postings."""

    def __init__(self, paths: Sequence[Path], slots: SlotMap) -> None:
        """Open the files of postings, in the order of `POSTINGS_FILES`."""
        self._slots = slots
        self._postings = Postings.read(paths)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self._postings.words)}

    @cached_property
    def _saturation(self) -> NDArray[np.float32]:
        """The length-normalized k1 of each slot, shape (slots,)."""
        lengths = self._postings.lengths
        mean = lengths.sum(dtype=np.int64) / max(len(self._slots.slot_of), 1)
        return np.asarray(_SATURATION * (1 - _LENGTH_NORMALIZATION + _LENGTH_NORMALIZATION * lengths / max(mean, 1)), dtype=np.float32)

    def search(self, query: str, n: int, among: Positions | None) -> dict[int, float]:
        """Return at most n positions with their BM25, the best first, of all or of `among`; ties go to the smaller position."""
        terms = [self._number[word] for word in query_stems(query) if word in self._number]
        if not terms:
            return {}
        scores = self._scores(terms)
        slots = np.flatnonzero(scores) if among is None else self._slots.slot_of[among][scores[self._slots.slot_of[among]] > 0]
        if len(slots) > n:
            least = np.partition(scores[slots], len(slots) - n)[len(slots) - n]
            slots = slots[scores[slots] >= least]
        positions = self._slots.positions[slots]
        order = np.lexsort((positions, -scores[slots]))[:n]
        return dict(zip(positions[order].tolist(), scores[slots[order]].tolist(), strict=True))

    def _scores(self, terms: Iterable[int]) -> NDArray[np.float32]:
        """Return the BM25 of each slot, shape (slots,)."""
        counts, slots, ends, lengths, _ = self._postings
        scores: NDArray[np.float32] = np.zeros(len(lengths), dtype=np.float32)
        for number in terms:
            own = slice(ends[number], ends[number + 1])
            having, count = slots[own], counts[own].astype(np.float32)
            rare = np.float32(np.log1p((len(self._slots.slot_of) - len(having) + 0.5) / (len(having) + 0.5)))
            scores[having] += rare * count / (count + self._saturation[having])
        return scores


def build_postings(database: sqlite3.Connection, slots: SlotMap, rows: Positions, progress: Progress) -> Postings:
    """Count the words of all passages; rows: those in the database, in order of id."""
    database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab(main, words, instance)")
    return _count_words(database, slots, rows, progress)


def update_postings(
    previous: Postings, previous_slots: SlotMap, database: sqlite3.Connection, slots: SlotMap, rows: Positions, progress: Progress
) -> Postings:  # fmt: skip
    """Return updated postings; only the words of passages without a previous slot are counted."""
    new_slots = previous_slots.map_to(slots)
    remaining = previous.renumbered(new_slots, len(slots))
    new = np.setdiff1d(slots.slot_of, new_slots)
    if not len(new):
        return remaining
    with closing(sqlite3.connect(":memory:")) as counting:
        counting.execute(f"CREATE VIRTUAL TABLE words USING {_TABLE}")
        counting.execute("CREATE VIRTUAL TABLE instances USING fts5vocab(words, instance)")
        for row in rows[slots.positions[new]].tolist():
            texts = database.execute("SELECT label, text FROM passages WHERE row = ?", [row]).fetchone()
            counting.execute("INSERT INTO words (rowid, label, text) VALUES (?, ?, ?)", [row, *map(segment_words, texts)])
        return remaining.merged(_count_words(counting, slots, rows, progress))


def _count_words(database: sqlite3.Connection, slots: SlotMap, rows: Positions, progress: Progress) -> Postings:
    """Return the postings of an FTS5 instance table, which lists word by word; words of a label count twice."""
    words: list[str] = []
    counts, having, ends = array("H"), array("q"), array("q", [0])
    last: tuple[str, int] | None = None
    for word, row, column in database.execute("SELECT term, doc, col FROM instances"):
        if last is None or last[0] != word:
            words.append(word)
            ends.append(ends[-1])
            if len(words) % _PROGRESS_EVERY == 0:
                progress(len(words), None, "words")
        if last != (word, row):
            last = (word, row)
            having.append(row)
            counts.append(0)
            ends[-1] += 1
        counts[-1] = min(counts[-1] + (_LABEL_WEIGHT if column == "label" else 1), _MAX_COUNT)
    by_row = np.argsort(rows)
    places = slots.slot_of[by_row[np.searchsorted(rows, np.frombuffer(having, dtype=np.int64), sorter=by_row)]].astype(np.int32)
    every = np.frombuffer(counts, dtype=np.uint16)
    lengths = np.bincount(places, weights=every, minlength=len(slots)).astype(np.int32)
    return Postings(every, places, np.frombuffer(ends, dtype=np.int64), lengths, words)
