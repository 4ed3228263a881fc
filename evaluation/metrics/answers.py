"""Score an answer against the gold answers, from 0 to 1, the best over the golds; and many for abstaining and forgetting.

Saying that the answer is not known, however it is said, is one answer with no words of its own: it agrees only with a gold that says so,
as the empty answer does in SQuAD 2.0 (Rajpurkar, Jia & Liang 2018).
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
    """Tell whether the answer is a gold after normalisation (EM of SQuAD)."""
    return float(normal(answer) in map(normal, golds))


def token_f1(answer: str, golds: Iterable[str]) -> float:
    """Give the harmonic mean of precision and recall of the answer's words (F1 of SQuAD)."""
    given = normal(answer).split()
    return max((_overlap(given, normal(gold).split()) for gold in golds), default=0.0)


def containment(answer: str, golds: Iterable[str]) -> float:
    """Tell whether a gold stands in the answer (the accuracy of Mallen et al. 2023), as whole words: "no" is not in "Norway"."""
    given = normal(answer)
    return float(any(f" {gold} " in f" {given} " if gold else not given for gold in map(normal, golds)))


def official_multihop_rag(answer: str, gold: str) -> float:
    """Tell whether answer and gold share a word, as the script released with MultiHop-RAG (Tang & Yang 2024) does; lenient.

    Not in the script: "Unknown" agrees with "Insufficient information".
    """
    if is_unknown(answer) and is_unknown(gold):
        return 1.0
    quoted = re.search(r'The answer to the question is "(.*?)"', answer)  # the sentence that the benchmark's prompt asks for
    given = quoted[1] if quoted else answer
    return float(not set(given.lower().split()).isdisjoint(gold.lower().split()))


def abstention_precision(abstained: Sequence[bool], unanswerable: Sequence[bool]) -> float | None:
    """Give the share of unanswerable questions among those abstained from (SelfAware, Yin et al. 2023); None where it never abstained."""
    return _share(unanswerable, abstained)


def abstention_recall(abstained: Sequence[bool], unanswerable: Sequence[bool]) -> float | None:
    """Give the share of unanswerable questions that it abstained from (SelfAware); None where there are none."""
    return _share(abstained, unanswerable)


def efr(rows: Iterable[tuple[bool, float]]) -> float | None:
    """Give the share of wrong answers (EM = 0) among the questions with all gold retrieved (PruneRAG); None where there are none.

    A row tells whether all gold was retrieved, and EM.
    """
    scores = [exact for retrieved, exact in rows if retrieved]
    return sum(exact == 0 for exact in scores) / len(scores) if scores else None


def _overlap(given: list[str], gold: list[str]) -> float:
    if not given or not gold:
        return float(given == gold)
    shared = sum((Counter(given) & Counter(gold)).values())
    return 2 * shared / (len(given) + len(gold))


def _share(told: Sequence[bool], among: Sequence[bool]) -> float | None:
    picked = [one for one, counts in zip(told, among, strict=True) if counts]
    return sum(picked) / len(picked) if picked else None
