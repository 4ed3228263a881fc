"""Measure the recall of gold paragraphs by full-text search, when the passages are distributed among the sub-questions."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from plugins.embedded.training.source import Document
from ramify.tools.index.full_text import segment_words
from ramify.tools.index.passage_store import SCHEMA, PassageStore


class WordSearch:
    """The word search of an index (BM25) over documents, each a passage of its own."""

    def __init__(self, documents: Iterable[Document], file: Path) -> None:
        self.ids = [""]
        database = sqlite3.connect(file)
        database.create_function("searchable", 1, segment_words, deterministic=True)
        database.executescript(SCHEMA)
        for document in documents:
            row = (document.id, document.id, document.title or "", document.text, "{}", b"")
            database.execute("INSERT INTO passages (id, document, label, text, metadata, digest) VALUES (?, ?, ?, ?, ?, ?)", row)
            self.ids.append(document.id)
        database.commit()
        database.close()
        self.store = PassageStore(file)

    def search(self, question: str, k: int) -> list[str]:
        """Return the ids of the best documents, the best first."""
        return [self.ids[row] for row, _ in self.store.by_words(question, k)]


def interleave(rankings: Sequence[Sequence[str]], k: int) -> list[str]:
    """Return the best of each ranking in turn, then the second best of each, until there are k different ones."""
    rounds = chain.from_iterable(zip_longest(*rankings))
    return list(dict.fromkeys(document for document in rounds if document is not None))[:k]


def gold_share(words: WordSearch, questions: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return the share of the gold documents among k passages of all sub-questions together."""
    return len(gold.intersection(interleave([words.search(question, k) for question in questions], k))) / len(gold)
