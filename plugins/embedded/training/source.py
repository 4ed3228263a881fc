"""Load data folders, and find passages in them that are similar to a question but do not answer it."""

import gzip
import heapq
import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Document:
    """A titled text."""

    id: str
    title: str | None
    text: str


@dataclass(frozen=True)
class Folder:
    """Documents and questions of one data set."""

    name: str
    documents: dict[str, Document]
    questions: list[dict[str, Any]]


@lru_cache(maxsize=32)
def load_data_folder(path: Path) -> Folder:
    """Return the contents of a folder; one without a corpus has no documents."""
    corpus = path / "corpus.jsonl.gz"
    lines = _lines(corpus) if corpus.exists() else ()
    documents = {line["id"]: Document(line["id"], line["title"], line["text"]) for line in lines}
    return Folder(path.name, documents, list(_lines(path / "questions.jsonl.gz")))


def supporting_documents(folder: Folder, question: dict[str, Any]) -> list[Document]:
    """Return the documents that answer a question, without duplicates."""
    ids = dict.fromkeys(item["doc_id"] for item in question["supporting"])
    return [folder.documents[key] for key in ids if key in folder.documents]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


_WORD = re.compile(r"\w{3,}")
_COMMON = 200


class WordIndex:
    """An inverted index of documents, to find similar passages."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = list(documents)
        self._holding: dict[str, list[int]] = defaultdict(list)
        for number, document in enumerate(self.documents):
            for word in set(_words(f"{document.title or ''} {document.text}")):
                self._holding[word].append(number)

    def of(self, question: str, answers: Sequence[str], known: set[str], choose: random.Random, among: int = 6) -> Document | None:
        """Return one of the most similar documents that are not known to be right and do not contain an answer."""
        folded = [answer.casefold() for answer in answers if answer]
        wrong = [
            document
            for document in self.nearest(question, among * 3)
            if document.id not in known and not any(answer in f"{document.title}: {document.text}".casefold() for answer in folded)
        ]
        return choose.choice(wrong[:among]) if wrong else None

    def nearest(self, question: str, count: int) -> list[Document]:
        """Return the documents most similar to a question by inverse document frequency."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(_words(question)):  # not a set: its order, another in each process, would settle ties
            holders = self._holding.get(word, ())
            if 0 < len(holders) <= max(_COMMON, len(self.documents) // 10):
                rare = math.log(len(self.documents) / len(holders))
                for number in holders:
                    scores[number] += rare
        return [self.documents[number] for number in heapq.nlargest(count, scores, key=scores.__getitem__)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
