"""Score answers against the gold answers, from 0 to 1, the best over the golds; and majority baselines.

"Unknown", in any wording, is an answer with no words of its own: it matches only a gold that says so, as the empty answer does in
SQuAD 2.0 (Rajpurkar, Jia & Liang 2018).
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence

from ramify.nodes.tree import is_unknown

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)


def normal(answer: str) -> str:
    """Normalise as SQuAD does (Rajpurkar et al. 2016): lower case, no punctuation, no articles, single spaces."""
    if is_unknown(answer):
        return ""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, golds: Iterable[str]) -> float:
    """Return whether the answer is a gold after normalisation (EM of SQuAD)."""
    return float(normal(answer) in map(normal, golds))


def token_f1(answer: str, golds: Iterable[str]) -> float:
    """Return the harmonic mean of precision and recall of the answer's words (F1 of SQuAD)."""
    given = normal(answer).split()
    return max((_overlap(given, normal(gold).split()) for gold in golds), default=0.0)


def containment(answer: str, golds: Iterable[str]) -> float:
    """Return whether the answer contains a gold (accuracy of Mallen et al. 2023), as whole words: "no" is not in "Norway"."""
    given = normal(answer)
    return float(any(f" {gold} " in f" {given} " if gold else not given for gold in map(normal, golds)))


def official_multihop_rag(answer: str, gold: str) -> float:
    """Return whether answer and gold share a word, as the script released with MultiHop-RAG (Tang & Yang 2024) does; lenient.

    Not in the script: "Unknown" agrees with "Insufficient information".
    """
    if is_unknown(answer) and is_unknown(gold):
        return 1.0
    quoted = re.search(r'The answer to the question is "(.*?)"', answer)  # the sentence that the benchmark's prompt asks for
    given = quoted[1] if quoted else answer
    return float(not set(given.lower().split()).isdisjoint(gold.lower().split()))


def _overlap(given: list[str], gold: list[str]) -> float:
    if not given or not gold:
        return float(given == gold)
    shared = sum((Counter(given) & Counter(gold)).values())
    return 2 * shared / (len(given) + len(gold))


def majority(golds: Sequence[str]) -> list[str]:
    """Answer every question with the most frequent gold answer."""
    return majority_by_type(golds, [""] * len(golds))


def majority_by_type(golds: Sequence[str], types: Sequence[str]) -> list[str]:
    """Answer every question with the most frequent gold of its type."""
    of_type: dict[str, list[str]] = {}
    for gold, kind in zip(golds, types, strict=True):
        of_type.setdefault(kind, []).append(gold)
    best = {kind: most_frequent(found) for kind, found in of_type.items()}
    return [best[kind] for kind in types]


def most_frequent(golds: Sequence[str]) -> str:
    """Return the most frequent answer in its most frequent spelling; of equally frequent ones the first in the alphabet."""
    meaning = _first_of(Counter(map(normal, golds)))
    return _first_of(Counter(gold for gold in golds if normal(gold) == meaning))


def _first_of(counts: "Counter[str]") -> str:
    return min(counts, key=lambda one: (-counts[one], one))
