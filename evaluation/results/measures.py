"""Measures of a run's lines, and lines of two variants paired by question."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ramify.evaluation.metrics import bootstrap_interval, expected_calibration_error, paired_test, ratio_interval
from ramify.evaluation.results import Key, ResultLine, Run, read_run
from ramify.evaluation.task import Row
from ramify.tools.errors import UsageError

OF_CITATIONS = ("citation_precision", "citation_recall", "supporting_f1")
LineValue = Callable[[ResultLine], float | None]
"""A number of a line; None if it has none."""


def answer_score(name: str) -> LineValue:
    """Return a function that reads an answer score; a failed line scores 0, a line without a gold answer None."""
    return lambda line: 0.0 if line.failed and line.scored else _number(line.row.get(name))


def retrieval_score(name: str) -> LineValue:
    """Return a function that reads a retrieval score; a failed line scores 0 if it has gold documents, else None."""

    def value(line: ResultLine) -> float | None:
        if line.failed:
            return 0.0 if line.row.get("gold_documents") else None
        if line.searched and name in OF_CITATIONS:
            return None  # nothing was asked, so nothing was cited
        return _number((line.row.get("retrieval") or {}).get(name))

    return value


def all_found(line: ResultLine) -> float | None:
    """Return whether all gold was found and, for a strategy, shown to the model; None if the gold is unknown."""
    if line.failed:
        return 0.0 if line.row.get("gold_documents") else None
    return float(bool(line.row.get("gold_retrieved"))) if line.ranked else None


def spent(name: str) -> LineValue:
    """Return a function that reads a cost; None for a line without usage."""

    def value(line: ResultLine) -> float | None:
        usage = line.row.get("usage")
        return float(usage.get(name) or 0) if usage else None

    return value


def confident(lines: Sequence[ResultLine]) -> tuple[list[float], list[bool]]:
    """Return the confidences and the correctness of the lines that have an answer."""
    sure = [line for line in lines if not line.failed and line.scored and _number(line.row.get("confidence")) is not None]
    return [float(line.row["confidence"]) for line in sure], [line.right for line in sure]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, if it has one, and the number of lines."""

    value: float
    count: int
    low: float | None = None
    high: float | None = None


Estimator = Callable[[Sequence[ResultLine]], Estimate | None]


def percent(value: float) -> str:
    """Format a share from 0 to 1 as a percentage."""
    return f"{100 * value:.1f}"


def plain(value: float) -> str:
    """Format a count or a duration, with more digits if it is small."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


@dataclass(frozen=True)
class Measure:
    """A column of a table."""

    title: str
    meaning: str
    of: Estimator
    shown: Callable[[float], str] = percent
    better: int = 1
    """1 where more is better, -1 where less is, 0 where neither."""


def values_of(lines: Sequence[ResultLine], value: LineValue) -> list[float]:
    """Return the values of the lines that have one."""
    return [told for line in lines if (told := value(line)) is not None]


def mean_of(value: LineValue) -> Estimator:
    """Return an estimator: the mean over the lines that have a value, with its bootstrap interval."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        values = values_of(lines, value)
        return mean(values) if values else None

    return estimate


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean of some values with its bootstrap interval."""
    low, high = _interval_of(tuple(values))
    return Estimate(float(np.mean(values)), len(values), low, high)


@lru_cache(maxsize=4096)
def _interval_of(values: tuple[float, ...]) -> tuple[float, float]:
    """Cache the interval: the same figure is reported in several places."""
    return bootstrap_interval(values)


def quantile_of(value: LineValue, share: float) -> Estimator:
    """Return an estimator: a quantile over the lines that have a value."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        values = values_of(lines, value)
        return Estimate(float(np.quantile(values, share)), len(values)) if values else None

    return estimate


def answered(line: ResultLine) -> float | None:
    """Return whether a line has an answer; None for one without a gold answer."""
    return float(not line.failed and not line.row.get("abstained")) if line.scored else None


def refused(line: ResultLine) -> float | None:
    """Return whether an answerable question whose gold passages the model was shown is answered Unknown; None for others."""
    row = line.row
    counts = not line.failed and line.scored and row.get("gold_retrieved") and not row.get("unanswerable")
    return float(bool(row.get("abstained"))) if counts else None


def forgotten(gold: str) -> LineValue:
    """Return a function: whether the answer is wrong; None unless the line's `gold` is true and it has a gold answer."""
    return lambda line: float(not line.right) if line.row.get(gold) and line.scored else None


def abstention(share_of: str, among: str) -> Estimator:
    """Return an estimator: the share of `share_of` among the lines with `among`; None without unanswerable questions."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        rows = [line.row for line in lines if not line.failed]
        values = [float(bool(row.get(share_of))) for row in rows if row.get(among)]
        return mean(values) if values and any(row.get("unanswerable") for row in rows) else None

    return estimate


def _calibration_error(lines: Sequence[ResultLine]) -> Estimate | None:
    """Return the expected calibration error."""
    confidences, right = confident(lines)
    return Estimate(float(expected_calibration_error(confidences, right)), len(right)) if right else None


EM = Measure("EM", "exact match: the answer is a gold answer or alias after SQuAD's normalisation", mean_of(answer_score("em")))
F1 = Measure("F1", "token F1 against the best of the gold answers", mean_of(answer_score("f1")))
CONTAINED = Measure("contains", "a gold answer is contained in the answer", mean_of(answer_score("containment")))
_OFFICIAL = "the released MultiHop-RAG scorer: any whitespace-separated word shared with the gold answer"
OFFICIAL = Measure("official", _OFFICIAL, mean_of(answer_score("official")))
_FORGETTING = "evidence forgetting rate: of the questions whose gold passages were all shown to the model, those answered wrongly"
FORGETTING = Measure("EFR", _FORGETTING, mean_of(forgotten("gold_retrieved")), better=-1)
_FOUND = "evidence forgetting rate over what was retrieved, shown to the model or not: the paper's"
FORGETTING_FOUND = Measure("EFR found", _FOUND, mean_of(forgotten("gold_found")), better=-1)
_CALIBRATION = "expected calibration error: the mean distance between confidence and the share of right answers, over 10 bins"
CALIBRATION = Measure("ECE", _CALIBRATION, _calibration_error, better=-1)
_PRECISION = "precision of abstaining: of the questions answered Unknown, those without an answer in the data"
_RECALL = "recall of abstaining: of the questions without an answer in the data, those answered Unknown"
ANSWERED = Measure("answered", "questions with an answer, right or wrong: the rest is Unknown", mean_of(answered), better=0)
_JUDGED = (
    FORGETTING,
    FORGETTING_FOUND,
    ANSWERED,
    Measure(
        "refused",
        "over-refusal: of the questions whose gold passages were all shown to the model, those answered Unknown",
        mean_of(refused),
        better=-1,
    ),
    Measure(
        "supported",
        "sentences of the answers' texts that what they cite supports (`style=full`)",
        mean_of(lambda line: _number(line.row.get("supported"))),
    ),
    Measure("abst. P", _PRECISION, abstention("unanswerable", "abstained")),
    Measure("abst. R", _RECALL, abstention("abstained", "unanswerable")),
    CALIBRATION,
)
ANSWERS = (EM, F1, CONTAINED, *_JUDGED)
ANSWERS_BY_FACTS = (EM, F1, CONTAINED, OFFICIAL, *_JUDGED)


def _found(title: str, meaning: str, name: str = "", better: int = 1) -> Measure:
    return Measure(title, meaning, mean_of(retrieval_score(name or title)), better=better)


R10 = _found("recall@10", "share of the gold passages among the first 10")
HITS1 = _found("hits@1", "a gold passage is the first")
HITS4 = _found("hits@4", "any gold passage is among the first 4")
HITS10 = _found("hits@10", "any gold passage is among the first 10")
P5 = _found("P@5", "share of the first 5 places that gold passages take", "precision@5")
MRR10 = _found("MRR@10", "mean reciprocal rank of the first gold passage, within 10", "mrr@10")
WRONG = _found("wrong@5", "share of the first 5 places that passages of other groups than the gold's take", "wrong_group@5", -1)
SUPPORT = _found("support F1", "F1 of the cited documents against the gold ones", "supporting_f1")
RETRIEVAL = (
    _found("recall@5", "share of the gold passages among the first 5"),
    R10,
    _found("all@5", "all gold passages are among the first 5", "all_gold@5"),
    _found("all@10", "all gold passages are among the first 10", "all_gold@10"),
    *(HITS1, HITS4, HITS10, P5, MRR10),
    _found("MAP@10", "mean average precision within 10, as usually defined", "map@10"),
    _found("MAP@10 off.", "MAP@10 as the released MultiHop-RAG script computes it", "map@10_official"),
    WRONG,
    _found("cit. P", "precision of citations: of the documents an answer cites, those that are gold", "citation_precision"),
    _found("cit. R", "recall of citations: of the gold documents, those that the answer cites", "citation_recall"),
    SUPPORT,
)
GOLD = Measure("all gold", "all gold passages are among those found and, of a strategy, shown to the model", mean_of(all_found))


def tree_depth(line: ResultLine) -> float | None:
    """Return the levels that its tree reached below the root; None for a line without a tree."""
    return max((float(str(branch["path"]).count(".")) for branch in line.row.get("tree") or ()), default=None)


def _spent(title: str, meaning: str, name: str) -> Measure:
    return Measure(title, meaning, mean_of(spent(name)), plain, -1)


TOLD_TOKENS = ("prompt_tokens", "completion_tokens")
CALLS = _spent("calls", "model calls", "llm_calls")
TOKENS = Measure(
    "tokens",
    "tokens of prompts and replies",
    mean_of(lambda line: sum(line.row["usage"].get(name) or 0 for name in TOLD_TOKENS) if line.row.get("usage") else None),
    plain,
    -1,
)
SECONDS = _spent("s", "seconds of wall time on this machine", "wall_s")
PROMPT = _spent("prompt", "prompt tokens", "prompt_tokens")
COST = (
    CALLS,
    _spent("in a row", "critical path: calls that must be made one after another", "critical_path_calls"),
    PROMPT,
    _spent("completion", "completion tokens", "completion_tokens"),
    _spent("searches", "retrievals", "retrievals"),
    SECONDS,
    Measure("s p50", "median of the seconds", quantile_of(spent("wall_s"), 0.5), plain, -1),
    Measure("s p95", "95th percentile of the seconds", quantile_of(spent("wall_s"), 0.95), plain, -1),
)

TREE_DEPTH = Measure("tree depth", "levels that the tree reached below its root", mean_of(tree_depth), plain, 0)


SIGNIFICANT = 0.05
PRIOR = "closed-book"
Pairs = list[tuple[ResultLine, ResultLine]]


@dataclass(frozen=True)
class Scores:
    """What is compared: values by their titles, and by which of them a question counts as won."""

    values: Sequence[tuple[str, LineValue]]
    won: tuple[str, LineValue]
    browsed: bool = True
    """Whether the question browser can show the questions won."""


ANSWER_SCORES = Scores(
    (("EM", answer_score("em")), ("F1", answer_score("f1")), ("recall@5", retrieval_score("recall@5"))),
    ("answered correctly (EM)", answer_score("em")),
)


@dataclass(frozen=True)
class Difference:
    """The first less the second, over the questions that both were asked."""

    mean: float
    low: float
    high: float
    p: float


def common(first: Sequence[ResultLine], second: Sequence[ResultLine]) -> Pairs:
    """Return the pairs of lines on the same question."""
    others = {line.row["id"]: line for line in second}
    return [(line, others[line.row["id"]]) for line in first if line.row["id"] in others]


def difference(pairs: Pairs, value: LineValue) -> Difference | None:
    """Return the difference over the pairs in which both lines have the value; None if there are none."""
    if not (both := _both(pairs, value)):
        return None
    first, second = [a for a, _ in both], [b for _, b in both]
    low, high = bootstrap_interval([a - b for a, b in both])
    return Difference(float(np.mean(first) - np.mean(second)), low, high, paired_test(first, second))


def ratio(pairs: Pairs, value: LineValue) -> Estimate | None:
    """Return the mean of the first over that of the second, with its bootstrap interval; None if no pair has both, or the second is 0."""
    both = _both(pairs, value)
    if not sum(b for _, b in both):
        return None
    return Estimate(sum(a for a, _ in both) / sum(b for _, b in both), len(both), *ratio_interval(both))


def _both(pairs: Pairs, value: LineValue) -> list[tuple[float, float]]:
    return [(a, b) for one, other in pairs if (a := value(one)) is not None and (b := value(other)) is not None]


def shown_p(p: float) -> str:
    """Format a p value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def points(value: float) -> str:
    """Format a difference of shares in points; 0.0 has no sign."""
    told = f"{100 * value:+.1f}"
    return "0.0" if float(told) == 0 else told


@dataclass(frozen=True)
class Compared:
    """Two runs, and the lines of both on the same questions."""

    a: Run
    b: Run
    pairs: Mapping[tuple[Key, Key], Pairs]

    @property
    def answers(self) -> list[tuple[Row, Row]]:
        """Return the pairs of answers."""
        found = (pair for pairs in self.pairs.values() for pair in pairs)
        return [(a.row, b.row) for a, b in found if not (a.failed or b.failed or a.searched or b.searched)]


def read_runs(run_a: Path, run_b: Path) -> Compared:
    """Return two runs paired; UsageError if they cannot be compared."""
    a, b = read_run(run_a), read_run(run_b)
    shared = [dataset for dataset in a.datasets if dataset in b.datasets]
    if not shared:
        what = f"{str(run_a)!r} is on {', '.join(a.datasets)}, and {str(run_b)!r} on {', '.join(b.datasets)}"
        raise UsageError(what, "compare runs on the same data")
    for dataset in shared:
        if (one := a.described(dataset).get("sha256")) != (other := b.described(dataset).get("sha256")):
            what = f"the two runs have other data under the name {dataset!r} (sha256 {str(one)[:12]} and {str(other)[:12]})"
            raise UsageError(what, "run both on the same questions and documents")
    pairs = {groups: common(a.groups[groups[0]], b.groups[groups[1]]) for groups in _matched(a, b)}
    pairs = {groups: found for groups, found in pairs.items() if found}
    if not pairs:
        raise UsageError(
            "the two runs have no question in common that the same strategy answered", "run the same strategy on the same questions"
        )
    return Compared(a, b, pairs)


def _matched(a: Run, b: Run) -> Iterator[tuple[Key, Key]]:
    """Yield the groups with the same strategy and variant; if each run has only one beside the prior, those are matched."""
    sides = [{group for group in run.answered if group[1] != PRIOR} or set(run.answered) for run in (a, b)]
    same = [(group, group) for group in a.answered if group in b.answered]
    if sides[0] & sides[1] or any(len({group[1:] for group in side}) != 1 for side in sides):
        yield from same
        return
    yield from ((one, other) for one in a.answered for other in b.answered if one in sides[0] and other in sides[1] and one[0] == other[0])


def reply_counts(rows: Iterable[Row]) -> Counter[tuple[str, str]]:
    """Return the number of replies by prompt and form."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        told = (row.get("usage") or {}).get("replies") or {}
        counts.update({(prompt, form): number for prompt, forms in told.items() for form, number in forms.items()})
    return counts
