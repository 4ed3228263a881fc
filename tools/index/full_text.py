"""Full-text search: the words of questions and texts, and BM25 postings of a large index.

Chinese and Japanese put no space between words, and Korean joins particles to them: runs of these scripts are searched by pairs of
characters, as is usual (Lucene's CJKAnalyzer); three at a time would not find a noun of two syllables before another particle.

SQLite's FTS5 scores every passage with one of a question's words; a large index has postings instead: see `postings`.
"""

import re
import sqlite3
import threading
import unicodedata
from functools import lru_cache
from itertools import pairwise

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


_TOKENIZING = threading.Lock()


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
