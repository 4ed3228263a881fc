"""Score a ranking of documents against the gold ones, with ir_measures (MacAvaney et al. 2022); what it does not know is written out.

A ranking names the document of each passage retrieved, best first. A document counts where it comes first; a further passage of it takes
up a rank.
"""

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
    """Give everything that is reported of a ranking."""
    wanted = [("recall", 5), ("recall", 10), ("precision", 5), ("hits", 1), ("hits", 4), ("hits", 10), ("mrr", 10), ("map", 10)]
    standard = _computed(wanted, ranking, gold)
    every = {f"all_gold@{k}": all_gold_at(ranking, gold, k) for k in (5, 10)}
    return {**standard, **every, "map@10_official": map_multihop_rag(ranking, gold)}


def score_at(name: str, k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Give one measure of the first k."""
    return _computed([(name, k)], ranking, gold)[f"{name}@{k}"]


def all_gold_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Tell whether every gold document is among the first k: the condition of a multi-hop answer."""
    return float(set(_some(gold)) <= set(ranking[:k]))


def map_multihop_rag(ranking: Sequence[str | frozenset[str]], gold: Collection[str]) -> float:
    """Give what the script released with MultiHop-RAG (Tang & Yang 2024) calls MAP@10: new golds at a rank, over the rank, averaged.

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
    """Give the harmonic mean of precision and recall of what was cited (supporting-facts F1 of HotpotQA, Yang et al. 2018), by document."""
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
