"""Score a ranking of passages against gold sentences, as MultiHop-RAG does (Tang & Yang 2024).

A passage holds a gold sentence when the sentence, without spaces and newlines, stands in its text. One passage may hold several, which the
measures of `retrieval` have no word for; where each holds at most one, these agree with those.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from ramify.evaluation.metrics.retrieval import map_multihop_rag
from ramify.tools.errors import UsageError

ENOUGH = 0.75
"""Share of a gold passage's words that a retrieved passage has to hold to stand for it (as in PruneRAG's reference code)."""
_NO_SPACE = str.maketrans("", "", " \n")
Held = Sequence[frozenset[str]]
"""The gold sentences that each passage holds, best passage first."""


def held_facts(text: str, facts: Collection[str]) -> frozenset[str]:
    """Tell which gold sentences a passage holds."""
    passage = text.translate(_NO_SPACE)
    return frozenset(fact for fact in facts if fact.translate(_NO_SPACE) in passage)


def stands_for(passage: str, gold: str) -> bool:
    """Tell whether a retrieved passage holds enough of a gold passage's words to count as it."""
    wanted = _words(gold)
    return bool(wanted) and (wanted & _words(passage)).total() >= ENOUGH * wanted.total()


def fact_scores(held: Held, facts: Collection[str]) -> dict[str, float]:
    """Give everything that is reported of a ranking, under the names that `retrieval_scores` has."""
    if not (count := len(set(facts))):
        raise UsageError("there is no gold to be found", "score the retrieval of questions only whose gold sentences are known")
    told = {f"recall@{k}": recall_at(held, count, k) for k in (5, 10)}
    told |= {f"all_gold@{k}": float(recall_at(held, count, k) == 1) for k in (5, 10)}
    told |= {f"hits@{k}": float(any(held[:k])) for k in (1, 4, 10)}
    told |= {"precision@5": sum(map(bool, held[:5])) / 5}
    first = next((1 / rank for rank, one in enumerate(held[:10], 1) if one), 0.0)
    return {**told, "mrr@10": first, "map@10": map_at(held, count, 10), "map@10_official": map_multihop_rag(held, facts)}


def recall_at(held: Held, count: int, k: int) -> float:
    """Give the share of `count` gold sentences that the first k passages hold."""
    return len(frozenset().union(*held[:k])) / count


def map_at(held: Held, count: int, k: int) -> float:
    """Give, averaged over all gold sentences, the share of sentences found so far over the rank where each is found; never above 1."""
    seen: set[str] = set()
    total = 0.0
    for rank, one in enumerate(held[:k], 1):
        new = one - seen
        seen |= one
        total += len(new) * min(len(seen) / rank, 1.0)
    return total / count


def _words(text: str) -> "Counter[str]":
    return Counter(re.findall(r"\w+", text.casefold()))
