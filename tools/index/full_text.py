"""Full-text search: the words of questions and texts, and BM25 postings of a large index.

Chinese and Japanese put no space between words, and Korean joins particles to them: runs of these scripts are searched by pairs of
characters, as is usual (Lucene's CJKAnalyzer); three at a time would not find a noun of two syllables before another particle.

SQLite's FTS5 scores every passage with one of a question's words; a large index has postings that are mapped into memory instead. Their
words are those of FTS5, as it cut and stemmed them; so are a question's. BM25 is Lucene's, by bm25s (Lù, arXiv 2407.03618).
"""

import json
import re
import sqlite3
import threading
import unicodedata
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from ramify.tools.index.hnsw import Positions
from ramify.tools.index.manifest import NEXT, WORDS
from ramify.tools.index.progress import Progress

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+")
_APART = re.compile("[\u1100-\u11ff\u302a-\u302f\u3099\u309a]")
"""Parts of syllables, which some systems write apart."""

_STOP_WORDS = """
a about after all also although am an and any are as at be because been before being between both but by can could did do does
doing during each either for from further had has have having he her here hers him his how i if in into is it its itself just me
more most my no nor not of off on once one only or other our out over own same she should so some such than that the their them
then there these they this those through to too under until up very was we were what when where whether which while who whom whose
why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def query_words(query: str) -> list[str]:
    """Return the words of a question, each once, without stop words unless there is nothing else."""
    words = list(dict.fromkeys(_WORD.findall(searchable(query.lower()))))
    return [word for word in words if word not in STOP_WORDS] or words


def searchable(text: str) -> str:
    """Write a text with spaces between the words to search: each run of Chinese, Japanese or Korean as its pairs of characters."""
    whole = unicodedata.normalize("NFC", text) if _APART.search(text) else text
    return _CJK.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0]))) or run[0]} ", whole)


def match_any(query: str) -> str:
    """Write an FTS5 expression that any word of the question satisfies; every word is quoted, so none is an operator."""
    return " OR ".join(f'"{word}"' for word in query_words(query))


def names(query: str, heading: str) -> bool:
    """Return whether a question has all words of a section's own heading, the last of "A > B"."""
    return set(query_words(heading.rpartition(" > ")[2])) <= set(query_words(query))


POSTINGS_FROM = 20_000
"""Passages from which on words have postings of their own."""
LABEL_WEIGHT = 2
_SATURATION, _LENGTH = 1.2, 0.75
"""k1 and b, those of SQLite."""
_PARTS = ("data", "indices", "indptr")
"""What bm25s calls them."""
_REPORT_EVERY = 1000
"""After so many different words progress is told."""
_TOKENIZING = threading.Lock()


class Postings:
    """Search by words; positions are those of the passages in order of id."""

    def __init__(self, folder: Path) -> None:
        from bm25s import BM25

        self._bm25: BM25 = BM25(method="lucene", k1=_SATURATION, b=_LENGTH)
        self._bm25.nonoccurrence_array = None  # Lucene's BM25 has none
        self._bm25.scores = {part: np.load(folder / name, mmap_mode="r") for part, name in zip(_PARTS, WORDS, strict=False)}
        self._written = (folder / WORDS[-1]).read_bytes()  # now, before another index takes its place
        self._bm25.scores["num_docs"] = json.loads(self._written[: self._written.index(b"\n")])

    @cached_property
    def _known(self) -> dict[str, int]:
        words: list[str] = json.loads(self._written[self._written.index(b"\n") :])
        return {word: number for number, word in enumerate(words)}

    def search(self, query: str, n: int, among: Positions | None) -> dict[int, float]:
        """Return the n best positions by BM25, greater is better, of all or of some; ties go to the lesser."""
        asked = [self._known[word] for word in stems(query) if word in self._known]
        if not asked:
            return {}
        scores = self._bm25.get_scores_from_ids(asked)
        places = np.flatnonzero(scores) if among is None else among[scores[among] > 0]
        if len(places) > n:
            least = np.partition(scores[places], len(places) - n)[len(places) - n]
            places = places[scores[places] >= least]
        best = places[np.lexsort((places, -scores[places]))][:n]
        return dict(zip(best.tolist(), scores[best].tolist(), strict=True))


def stems(query: str) -> list[str]:
    """Return the words of a question as the full-text search cuts and stems them."""
    with _TOKENIZING:
        database = _tokenizer()
        database.execute("DELETE FROM asked")
        database.execute("INSERT INTO asked VALUES (?)", [" ".join(query_words(query))])
        return [term for (term,) in database.execute("SELECT term FROM cut")]


@lru_cache(maxsize=1)
def _tokenizer() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    database.execute("CREATE VIRTUAL TABLE asked USING fts5(question, tokenize='porter unicode61')")
    database.execute("CREATE VIRTUAL TABLE cut USING fts5vocab(asked, row)")
    return database


def write_postings(database: sqlite3.Connection, folder: Path, progress: Progress) -> None:
    """Write the postings of an index writer's passages as files to be published."""
    from bm25s import BM25

    words: dict[str, int] = {}
    passages = _passage_words(database, words, progress)
    made = BM25(method="lucene", k1=_SATURATION, b=_LENGTH)
    made.index((passages, words), show_progress=False, create_empty_token=False)
    for part, name in zip(_PARTS, WORDS, strict=False):
        with (folder / (NEXT + name)).open("wb") as file:
            np.save(file, made.scores[part])
    (folder / (NEXT + WORDS[-1])).write_bytes(json.dumps(len(passages)).encode() + b"\n" + json.dumps(list(words)).encode())


def _passage_words(database: sqlite3.Connection, words: dict[str, int], progress: Progress) -> list[list[int]]:
    """List the words of each passage, in order of id; a word of its label counts twice. `words` grows by those that are new."""
    shown = database.execute("SELECT row FROM passages WHERE hidden IS NULL ORDER BY id")
    places = {row: place for place, (row,) in enumerate(shown)}
    passages: list[list[int]] = [[] for _ in places]
    database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab(main, words, instance)")
    for word, row, column in database.execute("SELECT term, doc, col FROM temp.instances"):
        number = words.get(word)
        if number is None:
            number = words[word] = len(words)
            if number % _REPORT_EVERY == 0:
                progress(number, None, "words")
        passages[places[row]].extend([number] * LABEL_WEIGHT if column == "label" else [number])
    return passages
