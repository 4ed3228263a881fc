"""Find a passage that looks as if it answered a question and does not: what a search hands to the reader besides the right one."""

import heapq
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from training.source import Document

_WORD = re.compile(r"\w{3,}")
_COMMON = 200


class Lookalikes:
    """An index of words over documents."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = list(documents)
        self._holding: dict[str, list[int]] = defaultdict(list)
        for number, document in enumerate(self.documents):
            for word in set(_words(f"{document.title or ''} {document.text}")):
                self._holding[word].append(number)

    def of(self, question: str, answers: Sequence[str], known: set[str], choose: random.Random, among: int = 6) -> Document | None:
        """Choose one of the likeliest documents that are not known as right and do not hold an answer."""
        held = [answer.casefold() for answer in answers if answer]
        wrong = [
            document
            for document in self.nearest(question, among * 3)
            if document.id not in known and not any(answer in f"{document.title}: {document.text}".casefold() for answer in held)
        ]
        return choose.choice(wrong[:among]) if wrong else None

    def nearest(self, question: str, count: int) -> list[Document]:
        """Give the documents that share most with a question, rare words counting for more."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(_words(question)):  # not a set: its order, another in each process, would settle ties
            found = self._holding.get(word, ())
            if 0 < len(found) <= max(_COMMON, len(self.documents) // 10):
                rare = math.log(len(self.documents) / len(found))
                for number in found:
                    scores[number] += rare
        return [self.documents[number] for number in heapq.nlargest(count, scores, key=scores.__getitem__)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
