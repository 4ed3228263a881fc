"""Score a ranking against gold documents, with ir_measures (MacAvaney et al. 2022), or gold sentences, as MultiHop-RAG does.

A ranking of documents lists the document of each passage, best first. A document counts at its first rank; a further passage of it takes
up a rank. A passage contains a gold sentence if the sentence, without spaces and newlines, is part of its text (Tang & Yang 2024). One
passage may contain several; where each contains at most one, both kinds of scores agree.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ramify.tools.errors import UsageError

if TYPE_CHECKING:
    from ir_measures.measures import Measure


PRINTED = {
    "recall": "R",  # the share of the gold documents that are among the first k
    "hits": "Success",  # whether any gold document is among the first k
    "precision": "P",  # the share of the first k places that gold documents take
    "mrr": "RR",  # one over the rank of the first gold document, 0 beyond k
    "map": "AP",  # the precision at the rank of each gold document, averaged over all (average precision of TREC)
}
"""Our names of the measures, and those of ir_measures."""


def retrieval_scores(ranking: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Return all reported scores of a ranking."""
    wanted = [("recall", 5), ("recall", 10), ("precision", 5), ("hits", 1), ("hits", 4), ("hits", 10), ("mrr", 10), ("map", 10)]
    standard = _computed(wanted, ranking, gold)
    every = {f"all_gold@{k}": all_gold_at(ranking, gold, k) for k in (5, 10)}
    return {**standard, **every, "map@10_official": map_multihop_rag(ranking, gold)}


def score_at(name: str, k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Return one score of the first k."""
    return _computed([(name, k)], ranking, gold)[f"{name}@{k}"]


def all_gold_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return whether every gold document is among the first k: the condition of a multi-hop answer."""
    return float(set(_some(gold)) <= set(ranking[:k]))


def map_multihop_rag(ranking: Sequence[str | frozenset[str]], gold: Collection[str]) -> float:
    """Return what the script released with MultiHop-RAG (Tang & Yang 2024) calls MAP@10: new golds at a rank, over the rank, averaged.

    That is not a precision: it forgets the golds of earlier ranks, so that a perfect ranking of 2, 3 or 4 golds scores .75, .611, .521.
    Of each passage the document is given, or the gold sentences that it holds.
    """
    seen: set[str] = set()
    total = 0.0
    for rank, held in enumerate(ranking[:10], 1):
        new = ({held} if isinstance(held, str) else held) & set(gold) - seen
        total += len(new) / rank
        seen |= new
    return total / min(len(_some(gold)), 10)


def supporting_facts_f1(cited: Collection[str], gold: Collection[str]) -> float:
    """Return the F1 of the cited documents against the gold ones (supporting-facts F1 of HotpotQA, Yang et al. 2018)."""
    shared = len(set(cited) & set(_some(gold)))
    return 2 * shared / (len(set(cited)) + len(set(gold)))


def _computed(wanted: Sequence[tuple[str, int]], ranking: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    measures = {f"{name}@{k}": _measure(name, k) for name, k in wanted}
    from ir_measures import calc_aggregate

    # Ranks stand for documents there: an id may hold what trec_eval cannot read, and may come twice, which it refuses.
    first: dict[str, int] = {}
    for rank, document in enumerate(ranking):
        first.setdefault(document, rank)
    relevant = {str(first.get(one, f"missing {number}")): 1 for number, one in enumerate(dict.fromkeys(_some(gold)))}
    told = calc_aggregate(list(measures.values()), {"": relevant}, {"": {str(rank): -float(rank) for rank in range(len(ranking))}})
    return {name: float(told[measure]) for name, measure in measures.items()}


def _measure(name: str, k: int) -> "Measure":
    try:
        import ir_measures
    except ImportError as error:
        raise UsageError("retrieval is scored with ir_measures, which is not installed", "pip install 'ramify-rag[eval]'") from error
    measure: Measure = getattr(ir_measures, PRINTED[name]) @ k
    return measure


def _some(gold: Collection[str]) -> Collection[str]:
    if not gold:
        raise UsageError("there is no gold to be found", "score the retrieval of questions only whose gold documents are known")
    return gold


ENOUGH = 0.75
"""Share of a gold passage's words that a retrieved passage has to hold to stand for it (as in PruneRAG's reference code)."""
_NO_SPACE = str.maketrans("", "", " \n")
Held = Sequence[frozenset[str]]
"""The gold sentences that each passage holds, best passage first."""


def held_facts(text: str, facts: Collection[str]) -> frozenset[str]:
    """Return the gold sentences that a passage contains."""
    passage = text.translate(_NO_SPACE)
    return frozenset(fact for fact in facts if fact.translate(_NO_SPACE) in passage)


def stands_for(passage: str, gold: str) -> bool:
    """Return whether a retrieved passage has enough of a gold passage's words to count as it."""
    wanted = _words(gold)
    return bool(wanted) and (wanted & _words(passage)).total() >= ENOUGH * wanted.total()


def fact_scores(held: Held, facts: Collection[str]) -> dict[str, float]:
    """Return all reported scores of a ranking, under the names of `retrieval_scores`."""
    if not (count := len(set(facts))):
        raise UsageError("there is no gold to be found", "score the retrieval of questions only whose gold sentences are known")
    told = {f"recall@{k}": recall_at(held, count, k) for k in (5, 10)}
    told |= {f"all_gold@{k}": float(recall_at(held, count, k) == 1) for k in (5, 10)}
    told |= {f"hits@{k}": float(any(held[:k])) for k in (1, 4, 10)}
    told |= {"precision@5": sum(map(bool, held[:5])) / 5}
    first = next((1 / rank for rank, one in enumerate(held[:10], 1) if one), 0.0)
    return {**told, "mrr@10": first, "map@10": map_at(held, count, 10), "map@10_official": map_multihop_rag(held, facts)}


def recall_at(held: Held, count: int, k: int) -> float:
    """Return the share of `count` gold sentences that the first k passages hold."""
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
