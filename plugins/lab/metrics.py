"""Metrics of answers and of retrieval, with confidence intervals and significance tests."""

import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramify.nodes.tree import is_unknown
from ramify.tools.errors import UsageError

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)


def normalize_answer(answer: str) -> str:
    """Return the answer normalised as in SQuAD (Rajpurkar et al. 2016): lower case, no punctuation, no articles, single spaces."""
    if is_unknown(answer):
        return ""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, golds: Iterable[str]) -> float:
    """Return whether the answer is a gold after normalisation (EM of SQuAD)."""
    return float(normalize_answer(answer) in map(normalize_answer, golds))


def token_f1(answer: str, golds: Iterable[str]) -> float:
    """Return the harmonic mean of precision and recall of the answer's words (F1 of SQuAD)."""
    words = normalize_answer(answer).split()
    return max((_overlap_f1(words, normalize_answer(gold).split()) for gold in golds), default=0.0)


def containment(answer: str, golds: Iterable[str]) -> float:
    """Return whether the answer contains a gold (accuracy of Mallen et al. 2023), as whole words: "no" is not in "Norway"."""
    normalized = normalize_answer(answer)
    return float(any(f" {gold} " in f" {normalized} " if gold else not normalized for gold in map(normalize_answer, golds)))


def official_multihop_rag(answer: str, gold: str) -> float:
    """Return whether answer and gold share a word, as the script released with MultiHop-RAG (Tang & Yang 2024) does; lenient.

    Unlike in the script, "Unknown" equals "Insufficient information".
    """
    if is_unknown(answer) and is_unknown(gold):
        return 1.0
    quoted = re.search(r'The answer to the question is "(.*?)"', answer)  # the sentence that the benchmark's prompt asks for
    text = quoted[1] if quoted else answer
    return float(not set(text.lower().split()).isdisjoint(gold.lower().split()))


def _overlap_f1(words: list[str], gold: list[str]) -> float:
    if not words or not gold:
        return float(words == gold)
    shared = sum((Counter(words) & Counter(gold)).values())
    return 2 * shared / (len(words) + len(gold))


def majority_by_type(golds: Sequence[str], types: Sequence[str]) -> list[str]:
    """Return for each question the most frequent gold of its type (a majority baseline)."""
    of_type: dict[str, list[str]] = {}
    for gold, kind in zip(golds, types, strict=True):
        of_type.setdefault(kind, []).append(gold)
    best = {kind: most_frequent_answer(answers) for kind, answers in of_type.items()}
    return [best[kind] for kind in types]


def most_frequent_answer(golds: Sequence[str]) -> str:
    """Return the most frequent answer in its most frequent spelling; ties are broken alphabetically."""
    meaning = _most_common(Counter(map(normalize_answer, golds)))
    return _most_common(Counter(gold for gold in golds if normalize_answer(gold) == meaning))


def _most_common(counts: Counter[str]) -> str:
    return min(counts, key=lambda answer: (-counts[answer], answer))


_CONFIDENCE_LEVEL = 0.95
_MAX_DRAWN_CELLS = 2_000_000
"""Maximum number of values drawn at once, to limit memory."""


def bootstrap_interval(values: Sequence[float], seed: int = 0, resamples: int = 2000) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of a mean (Efron 1979): resample the questions and take percentiles of the means."""
    return _percentile_interval(_resampled_sums(values, seed, resamples) / len(values))


def ratio_interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the first values' mean over the second's, resampling questions with both values."""
    first, second = _resampled_sums(pairs, 0, 2000).T
    return _percentile_interval(first[second > 0] / second[second > 0])


def _resampled_sums(values: Sequence[Any], seed: int, resamples: int) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64)
    draw = np.random.default_rng(seed)
    return np.concatenate(
        [sample[draw.integers(0, len(sample), (rows, len(sample)))].sum(axis=1) for rows in _batch_sizes(resamples, len(sample))]
    )


def _percentile_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - _CONFIDENCE_LEVEL) / 2, (1 + _CONFIDENCE_LEVEL) / 2])
    return float(low), float(high)


def paired_test(a: Sequence[float], b: Sequence[float], seed: int = 0, resamples: int = 10_000) -> float:
    """Return the two-sided p of a difference between two strategies on the same questions (sign-flip permutation test, Fisher 1935).

    Under the null hypothesis, the sign of each question's difference is random. The observed signs count as one of the flips, so p > 0.
    """
    difference = np.array([one - other for one, other in zip(a, b, strict=True)], dtype=np.float64)
    # Differences of equal size are flipped together: only the number of positive ones matters, and scores have few sizes.
    sizes, counts = np.unique(np.round(np.abs(difference[difference != 0]), 12), return_counts=True)
    observed = abs(difference.sum())
    draw = np.random.default_rng(seed)
    extreme = 0
    for rows in _batch_sizes(resamples, len(sizes)):
        sums = (2 * draw.binomial(counts, 0.5, (rows, len(sizes))) - counts) @ sizes
        extreme += int(np.count_nonzero(np.abs(sums) >= observed - 1e-9))
    return (1 + extreme) / (1 + resamples)


def holm_correction(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for the number of comparisons, in the given order (Holm 1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return [float(value) for value in adjusted]


def _batch_sizes(rows: int, width: int) -> list[int]:
    """Return batch sizes that add up to `rows` and fit in memory."""
    most = max(1, _MAX_DRAWN_CELLS // max(width, 1))
    return [min(most, rows - start) for start in range(0, rows, most)]


class Bin(NamedTuple):
    """Answers with a confidence in (`low`, `high`] (0 is in the first bin): mean confidence, share of right answers, and size."""

    low: float
    high: float
    confidence: float
    right: float
    size: int


class RiskCoverage(NamedTuple):
    """The share of wrong answers (risk) among the most confident ones at each coverage; `area` is the AURC, lower is better."""

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float


def reliability_bins(confidences: Sequence[float], right: Sequence[float], bins: int = 10) -> list[Bin]:
    """Return the non-empty bins of equal width (reliability diagram, DeGroot & Fienberg 1983)."""
    confidence, hit = _validate_confidences(confidences, right)
    edges = np.linspace(0, 1, bins + 1)
    places = np.searchsorted(edges[1:-1], confidence, side="left")
    members = [(number, places == number) for number in np.unique(places)]
    return [
        Bin(float(edges[number]), float(edges[number + 1]), float(confidence[inside].mean()), float(hit[inside].mean()), int(inside.sum()))
        for number, inside in members
    ]


def expected_calibration_error(confidences: Sequence[float], right: Sequence[float], bins: int = 10) -> float:
    """Return the mean distance between confidence and accuracy of the bins, weighted by size (ECE, Naeini et al. 2015; Guo et al. 2017)."""
    non_empty = reliability_bins(confidences, right, bins)
    return sum(interval.size * abs(interval.confidence - interval.right) for interval in non_empty) / len(confidences)


def risk_coverage(confidences: Sequence[float], right: Sequence[float]) -> RiskCoverage:
    """Return the risk at every coverage (El-Yaniv & Wiener 2010) and the area below (Geifman & El-Yaniv 2017).

    Answers of equal confidence are treated as one step, because their order is arbitrary.
    """
    confidence, hit = _validate_confidences(confidences, right)
    order = np.argsort(-confidence, kind="stable")
    last = np.flatnonzero(np.append(np.diff(confidence[order]) != 0, True))
    answered = last + 1
    risk = np.cumsum(1 - hit[order])[last] / answered
    coverage = answered / len(confidence)
    area = float(np.sum(risk * np.diff(coverage, prepend=0)))
    return RiskCoverage(tuple(map(float, coverage)), tuple(map(float, risk)), area)


def _validate_confidences(confidences: Sequence[float], right: Sequence[float]) -> tuple[NDArray[np.float64], ...]:
    if len(confidences) != len(right) or not len(confidences):
        raise UsageError(f"{len(confidences)} confidences for {len(right)} answers", "give one for each answer, and at least one answer")
    if outside := [value for value in confidences if not 0 <= value <= 1]:
        raise UsageError(f"the confidence {outside[0]!r} is not between 0 and 1", "give confidences from 0 to 1")
    return np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64)


MIN_COVERAGE = 0.75
"""Minimum share of a gold passage's words that a retrieved passage must contain to count as it (as in PruneRAG's reference code)."""
_NO_SPACE = str.maketrans("", "", " \n")


def contained_facts(text: str, facts: Collection[str]) -> frozenset[str]:
    """Return the gold sentences that a passage contains."""
    passage = text.translate(_NO_SPACE)
    return frozenset(fact for fact in facts if fact.translate(_NO_SPACE) in passage)


def covers_passage(passage: str, gold: str) -> bool:
    """Return whether a retrieved passage contains enough of a gold passage's words to count as it."""
    gold_words = _count_words(gold)
    return bool(gold_words) and (gold_words & _count_words(passage)).total() >= MIN_COVERAGE * gold_words.total()


def retrieval_scores(gold_by_rank: Sequence[frozenset[str]], gold: Collection[str]) -> dict[str, float]:
    """Return all reported scores of a ranking; `gold_by_rank` has the golds (documents or sentences) found at each rank.

    If no rank has two golds, and no gold occurs twice, these are the measures of trec_eval.
    """
    count = len(set(gold))
    found_at = {k: len(frozenset().union(*gold_by_rank[:k])) for k in (5, 10)}
    return {
        **{f"recall@{k}": found_at[k] / count for k in (5, 10)},
        **{f"all_gold@{k}": float(found_at[k] == count) for k in (5, 10)},
        **{f"hits@{k}": float(any(gold_by_rank[:k])) for k in (1, 4, 10)},
        "precision@5": sum(map(bool, gold_by_rank[:5])) / 5,
        "mrr@10": next((1 / rank for rank, golds in enumerate(gold_by_rank[:10], 1) if golds), 0.0),
        **_average_precisions(gold_by_rank[:10], count),
    }


def _average_precisions(gold_by_rank: Sequence[frozenset[str]], count: int) -> dict[str, float]:
    """Return MAP@10, at most 1, and the value that the script released with MultiHop-RAG (Tang & Yang 2024) calls MAP@10.

    MAP is the mean, over all golds, of the precision at the rank where each is found. The script ignores the golds of
    earlier ranks, so that a perfect ranking of 2, 3 or 4 golds scores .75, .611, .521.
    """
    seen: set[str] = set()
    usual = official = 0.0
    for rank, golds in enumerate(gold_by_rank, 1):
        new = golds - seen
        seen |= golds
        usual += len(new) * min(len(seen) / rank, 1.0)
        official += len(new) / rank
    return {"map@10": usual / count, "map@10_official": official / min(count, 10)}


def citation_scores(cited: Collection[str], gold: Collection[str]) -> dict[str, float | None]:
    """Return precision, recall and F1 (HotpotQA's supporting-facts F1, Yang et al. 2018) of cited documents; precision may be None."""
    shared = len(set(cited) & set(gold))
    return {
        "citation_precision": shared / len(set(cited)) if cited else None,
        "citation_recall": shared / len(set(gold)),
        "supporting_f1": 2 * shared / (len(set(cited)) + len(set(gold))),
    }


def _count_words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def pareto_front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names of the points (cost, quality) on the Pareto front, the cheapest first."""
    front: list[str] = []
    for name, (_, quality) in sorted(points.items(), key=lambda point: (point[1][0], -point[1][1])):
        if not front or quality > points[front[-1]][1]:
            front.append(name)
    return front
