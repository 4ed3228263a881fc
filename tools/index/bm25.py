"""The words of a large index in postings that are mapped into memory: SQLite would weigh every passage with one of a question's words.

Words are those of the full-text search, as it cut and stemmed them; so are a question's. BM25 is Lucene's, by bm25s (Lù, arXiv 2407.03618).
"""

import json
import sqlite3
import threading
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from ramify.tools.index.hnsw import Positions
from ramify.tools.index.manifest import NEXT, WORDS, Manifest
from ramify.tools.index.progress import Progress
from ramify.tools.index.search_words import query_words

FROM = 20_000
"""Passages from which on words have postings of their own."""
LABEL_WEIGHT = 2
_SATURATION, _LENGTH = 1.2, 0.75
"""k1 and b, those of SQLite."""
_PARTS = ("data", "indices", "indptr")
"""What bm25s calls them."""
_TOLD = 1000
"""After so many different words progress is told."""
_ASKING = threading.Lock()


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


def lacks_postings(manifest: Manifest) -> bool:
    """Tell whether an index is large and has none: it was made by a version that made none."""
    return manifest.passages > FROM and not manifest.sha256.keys() >= set(WORDS)


def stems(query: str) -> list[str]:
    """Return the words of a question as the full-text search cuts and stems them."""
    with _ASKING:
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
    """Write the postings of the passages of a draft as upcoming files."""
    from bm25s import BM25

    words: dict[str, int] = {}
    passages = _cut(database, words, progress)
    made = BM25(method="lucene", k1=_SATURATION, b=_LENGTH)
    made.index((passages, words), show_progress=False, create_empty_token=False)
    for part, name in zip(_PARTS, WORDS, strict=False):
        with (folder / (NEXT + name)).open("wb") as file:
            np.save(file, made.scores[part])
    (folder / (NEXT + WORDS[-1])).write_bytes(json.dumps(len(passages)).encode() + b"\n" + json.dumps(list(words)).encode())


def _cut(database: sqlite3.Connection, words: dict[str, int], progress: Progress) -> list[list[int]]:
    """List the words of each passage, in order of id; a word of its label counts twice. `words` grows by those that are new."""
    shown = database.execute("SELECT row FROM passages WHERE hidden IS NULL ORDER BY id")
    places = {row: place for place, (row,) in enumerate(shown)}
    passages: list[list[int]] = [[] for _ in places]
    database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab(main, words, instance)")
    for word, row, column in database.execute("SELECT term, doc, col FROM temp.instances"):
        number = words.get(word)
        if number is None:
            number = words[word] = len(words)
            if number % _TOLD == 0:
                progress(number, None, "words")
        passages[places[row]].extend([number] * LABEL_WEIGHT if column == "label" else [number])
    return passages
