"""Measures that aggregate the lines of a run, and comparisons of lines paired by question."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ramify.lab.metrics import bootstrap_interval, expected_calibration_error, paired_test, ratio_interval
from ramify.lab.results import GroupKey, ResultLine, Run, read_run
from ramify.lab.task import Row
from ramify.tools.errors import UsageError

CITATION_SCORES = ("citation_precision", "citation_recall", "supporting_f1")
LineValue = Callable[[ResultLine], float | None]
"""A function that returns a number of a line, or None if it has none."""


def answer_score(name: str) -> LineValue:
    """Return a function that reads an answer score; a failed line scores 0, a line without a gold answer None."""
    return lambda line: 0.0 if line.failed and line.has_gold else _as_number(line.row.get(name))


def retrieval_score(name: str) -> LineValue:
    """Return a function that reads a retrieval score; a failed line scores 0 if it has gold documents, else None."""

    def value(line: ResultLine) -> float | None:
        if line.failed:
            return 0.0 if line.row.get("gold_documents") else None
        if line.search_only and name in CITATION_SCORES:
            return None  # searches have no citations
        return _as_number((line.row.get("retrieval") or {}).get(name))

    return value


def all_gold_found(line: ResultLine) -> float | None:
    """Return 1 if all gold was retrieved and, for a strategy, shown to the model, else 0; None if the gold is unknown."""
    if line.failed:
        return 0.0 if line.row.get("gold_documents") else None
    return float(bool(line.row.get("gold_retrieved"))) if line.has_retrieval_scores else None


def cost_value(name: str) -> LineValue:
    """Return a function that reads a cost; None for a line without usage."""

    def value(line: ResultLine) -> float | None:
        usage = line.row.get("usage")
        return float(usage.get(name) or 0) if usage else None

    return value


def confidences_and_outcomes(lines: Sequence[ResultLine]) -> tuple[list[float], list[bool]]:
    """Return the confidences of the lines with a confidence and a gold, and whether their answers are right."""
    scored = [line for line in lines if not line.failed and line.has_gold and _as_number(line.row.get("confidence")) is not None]
    return [float(line.row["confidence"]) for line in scored], [line.right for line in scored]


def _as_number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


@dataclass(frozen=True)
class Estimate:
    """A value with its number of lines, and its 95 % interval if there is one."""

    value: float
    count: int
    low: float | None = None
    high: float | None = None


Estimator = Callable[[Sequence[ResultLine]], Estimate | None]


def format_percent(value: float) -> str:
    """Return a fraction formatted in percent."""
    return f"{100 * value:.1f}"


def format_number(value: float) -> str:
    """Return a formatted count or duration, with more digits if it is small."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


@dataclass(frozen=True)
class Measure:
    """A column of a table: an estimator and its format."""

    title: str
    meaning: str
    of: Estimator
    format: Callable[[float], str] = format_percent
    better: int = 1
    """1 if higher is better, -1 if lower is better, 0 if neither."""


def collect_values(lines: Sequence[ResultLine], value: LineValue) -> list[float]:
    """Return the values of the lines, without None."""
    return [number for line in lines if (number := value(line)) is not None]


def mean_estimator(value: LineValue) -> Estimator:
    """Return an estimator of the mean over the lines that have a value, with its bootstrap interval."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        values = collect_values(lines, value)
        return estimate_mean(values) if values else None

    return estimate


def estimate_mean(values: Sequence[float]) -> Estimate:
    """Return the mean of some values with its bootstrap interval."""
    low, high = _cached_interval(tuple(values))
    return Estimate(float(np.mean(values)), len(values), low, high)


@lru_cache(maxsize=4096)
def _cached_interval(values: tuple[float, ...]) -> tuple[float, float]:
    """Return the bootstrap interval, cached because the same figure is reported in several places."""
    return bootstrap_interval(values)


def quantile_estimator(value: LineValue, share: float) -> Estimator:
    """Return an estimator of a quantile over the lines that have a value."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        values = collect_values(lines, value)
        return Estimate(float(np.quantile(values, share)), len(values)) if values else None

    return estimate


def is_answered(line: ResultLine) -> float | None:
    """Return 1 if a line has an answer, else 0; None without a gold answer."""
    return float(not line.failed and not line.row.get("abstained")) if line.has_gold else None


def is_refused(line: ResultLine) -> float | None:
    """Return 1 if an answerable question is answered Unknown although its gold passages were shown, else 0; None for other lines."""
    row = line.row
    counts = not line.failed and line.has_gold and row.get("gold_retrieved") and not row.get("unanswerable")
    return float(bool(row.get("abstained"))) if counts else None


def forgetting_value(gold: str) -> LineValue:
    """Return a function that returns 1 for a wrong answer, else 0; None unless the field `gold` is true and there is a gold answer."""
    return lambda line: float(not line.right) if line.row.get(gold) and line.has_gold else None


def abstention_estimator(share_of: str, among: str) -> Estimator:
    """Return an estimator of the share of `share_of` among the lines with `among`; None without unanswerable questions."""

    def estimate(lines: Sequence[ResultLine]) -> Estimate | None:
        rows = [line.row for line in lines if not line.failed]
        values = [float(bool(row.get(share_of))) for row in rows if row.get(among)]
        return estimate_mean(values) if values and any(row.get("unanswerable") for row in rows) else None

    return estimate


def _calibration_error(lines: Sequence[ResultLine]) -> Estimate | None:
    """Return the expected calibration error."""
    confidences, right = confidences_and_outcomes(lines)
    return Estimate(float(expected_calibration_error(confidences, right)), len(right)) if right else None


EM = Measure("EM", "exact match: the answer is a gold answer or alias after SQuAD's normalisation", mean_estimator(answer_score("em")))
F1 = Measure("F1", "token F1 against the best of the gold answers", mean_estimator(answer_score("f1")))
CONTAINMENT = Measure("contains", "a gold answer is contained in the answer", mean_estimator(answer_score("containment")))
_OFFICIAL = "the released MultiHop-RAG scorer: any whitespace-separated word shared with the gold answer"
OFFICIAL = Measure("official", _OFFICIAL, mean_estimator(answer_score("official")))
_FORGETTING = "evidence forgetting rate: of the questions whose gold passages were all shown to the model, those answered wrongly"
FORGETTING = Measure("EFR", _FORGETTING, mean_estimator(forgetting_value("gold_retrieved")), better=-1)
_FORGETTING_FOUND = "evidence forgetting rate over what was retrieved, shown to the model or not: the paper's"
FORGETTING_FOUND = Measure("EFR found", _FORGETTING_FOUND, mean_estimator(forgetting_value("gold_found")), better=-1)
_CALIBRATION = "expected calibration error: the mean distance between confidence and the share of right answers, over 10 bins"
CALIBRATION = Measure("ECE", _CALIBRATION, _calibration_error, better=-1)
_PRECISION = "precision of abstaining: of the questions answered Unknown, those without an answer in the data"
_RECALL = "recall of abstaining: of the questions without an answer in the data, those answered Unknown"
ANSWERED_SHARE = Measure("answered", "questions with an answer, right or wrong: the rest is Unknown", mean_estimator(is_answered), better=0)
_OUTCOME_MEASURES = (
    FORGETTING,
    FORGETTING_FOUND,
    ANSWERED_SHARE,
    Measure(
        "refused",
        "over-refusal: of the questions whose gold passages were all shown to the model, those answered Unknown",
        mean_estimator(is_refused),
        better=-1,
    ),
    Measure(
        "supported",
        "sentences of the answers' texts that what they cite supports (`style=full`)",
        mean_estimator(lambda line: _as_number(line.row.get("supported"))),
    ),
    Measure("abst. P", _PRECISION, abstention_estimator("unanswerable", "abstained")),
    Measure("abst. R", _RECALL, abstention_estimator("abstained", "unanswerable")),
    CALIBRATION,
)
ANSWER_MEASURES = (EM, F1, CONTAINMENT, *_OUTCOME_MEASURES)
FACT_ANSWER_MEASURES = (EM, F1, CONTAINMENT, OFFICIAL, *_OUTCOME_MEASURES)


def _retrieval_measure(title: str, meaning: str, name: str = "", better: int = 1) -> Measure:
    return Measure(title, meaning, mean_estimator(retrieval_score(name or title)), better=better)


R10 = _retrieval_measure("recall@10", "share of the gold passages among the first 10")
HITS1 = _retrieval_measure("hits@1", "a gold passage is the first")
HITS4 = _retrieval_measure("hits@4", "any gold passage is among the first 4")
HITS10 = _retrieval_measure("hits@10", "any gold passage is among the first 10")
P5 = _retrieval_measure("P@5", "share of the first 5 places that gold passages take", "precision@5")
MRR10 = _retrieval_measure("MRR@10", "mean reciprocal rank of the first gold passage, within 10", "mrr@10")
WRONG_GROUP_5 = _retrieval_measure(
    "wrong@5", "share of the first 5 places that passages of other groups than the gold's take", "wrong_group@5", -1
)
SUPPORT_F1 = _retrieval_measure("support F1", "F1 of the cited documents against the gold ones", "supporting_f1")
RETRIEVAL_MEASURES = (
    _retrieval_measure("recall@5", "share of the gold passages among the first 5"),
    R10,
    _retrieval_measure("all@5", "all gold passages are among the first 5", "all_gold@5"),
    _retrieval_measure("all@10", "all gold passages are among the first 10", "all_gold@10"),
    *(HITS1, HITS4, HITS10, P5, MRR10),
    _retrieval_measure("MAP@10", "mean average precision within 10, as usually defined", "map@10"),
    _retrieval_measure("MAP@10 off.", "MAP@10 as the released MultiHop-RAG script computes it", "map@10_official"),
    WRONG_GROUP_5,
    _retrieval_measure("cit. P", "precision of citations: of the documents an answer cites, those that are gold", "citation_precision"),
    _retrieval_measure("cit. R", "recall of citations: of the gold documents, those that the answer cites", "citation_recall"),
    SUPPORT_F1,
)
ALL_GOLD = Measure(
    "all gold", "all gold passages are among those found and, of a strategy, shown to the model", mean_estimator(all_gold_found)
)


def tree_depth(line: ResultLine) -> float | None:
    """Return the depth of the tree below the root; None for a line without a tree."""
    return max((float(str(branch["path"]).count(".")) for branch in line.row.get("tree") or ()), default=None)


def _cost_measure(title: str, meaning: str, name: str) -> Measure:
    return Measure(title, meaning, mean_estimator(cost_value(name)), format_number, -1)


TOKEN_FIELDS = ("prompt_tokens", "completion_tokens")
MODEL_CALLS = _cost_measure("calls", "model calls", "llm_calls")
TOTAL_TOKENS = Measure(
    "tokens",
    "tokens of prompts and replies",
    mean_estimator(lambda line: sum(line.row["usage"].get(name) or 0 for name in TOKEN_FIELDS) if line.row.get("usage") else None),
    format_number,
    -1,
)
WALL_SECONDS = _cost_measure("s", "seconds of wall time on this machine", "wall_s")
PROMPT_TOKENS = _cost_measure("prompt", "prompt tokens", "prompt_tokens")
COST_MEASURES = (
    MODEL_CALLS,
    _cost_measure("in a row", "critical path: calls that must be made one after another", "critical_path_calls"),
    PROMPT_TOKENS,
    _cost_measure("completion", "completion tokens", "completion_tokens"),
    _cost_measure("searches", "retrievals", "retrievals"),
    WALL_SECONDS,
    Measure("s p50", "median of the seconds", quantile_estimator(cost_value("wall_s"), 0.5), format_number, -1),
    Measure("s p95", "95th percentile of the seconds", quantile_estimator(cost_value("wall_s"), 0.95), format_number, -1),
)

TREE_DEPTH = Measure("tree depth", "levels that the tree reached below its root", mean_estimator(tree_depth), format_number, 0)


SIGNIFICANCE_LEVEL = 0.05
PRIOR_STRATEGY = "closed-book"
LinePairs = list[tuple[ResultLine, ResultLine]]


@dataclass(frozen=True)
class ComparedScores:
    """The compared scores with their titles, and the score by which a question counts as won."""

    values: Sequence[tuple[str, LineValue]]
    won: tuple[str, LineValue]
    browsable: bool = True
    """Whether the question browser can filter by this score."""


ANSWER_SCORES = ComparedScores(
    (("EM", answer_score("em")), ("F1", answer_score("f1")), ("recall@5", retrieval_score("recall@5"))),
    ("answered correctly (EM)", answer_score("em")),
)


@dataclass(frozen=True)
class Difference:
    """Mean difference (first minus second) over common questions, with its 95 % interval and p value."""

    mean: float
    low: float
    high: float
    p: float


def pair_lines(first: Sequence[ResultLine], second: Sequence[ResultLine]) -> LinePairs:
    """Return the pairs of lines on the same question."""
    others = {line.row["id"]: line for line in second}
    return [(line, others[line.row["id"]]) for line in first if line.row["id"] in others]


def paired_difference(pairs: LinePairs, value: LineValue) -> Difference | None:
    """Return the mean difference over the pairs in which both lines have the value; None if there are none."""
    if not (both := _paired_values(pairs, value)):
        return None
    first, second = [a for a, _ in both], [b for _, b in both]
    low, high = bootstrap_interval([a - b for a, b in both])
    return Difference(float(np.mean(first) - np.mean(second)), low, high, paired_test(first, second))


def paired_ratio(pairs: LinePairs, value: LineValue) -> Estimate | None:
    """Return the ratio of the means, first / second, with its bootstrap interval; None without common values, or if the second is 0."""
    both = _paired_values(pairs, value)
    if not sum(b for _, b in both):
        return None
    return Estimate(sum(a for a, _ in both) / sum(b for _, b in both), len(both), *ratio_interval(both))


def _paired_values(pairs: LinePairs, value: LineValue) -> list[tuple[float, float]]:
    return [(a, b) for one, other in pairs if (a := value(one)) is not None and (b := value(other)) is not None]


def format_p(p: float) -> str:
    """Return a formatted p value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_points(value: float) -> str:
    """Return a difference of fractions formatted in percentage points; 0.0 has no sign."""
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else text


@dataclass(frozen=True)
class ComparedRuns:
    """Two runs with their lines paired by question."""

    a: Run
    b: Run
    pairs: Mapping[tuple[GroupKey, GroupKey], LinePairs]

    @property
    def answers(self) -> list[tuple[Row, Row]]:
        """Return the pairs of answered rows."""
        all_pairs = (pair for pairs in self.pairs.values() for pair in pairs)
        return [(a.row, b.row) for a, b in all_pairs if not (a.failed or b.failed or a.search_only or b.search_only)]


def read_run_pair(run_a: Path, run_b: Path) -> ComparedRuns:
    """Read two runs and pair their lines; UsageError if they cannot be compared."""
    a, b = read_run(run_a), read_run(run_b)
    shared = [dataset for dataset in a.datasets if dataset in b.datasets]
    if not shared:
        what = f"{str(run_a)!r} is on {', '.join(a.datasets)}, and {str(run_b)!r} on {', '.join(b.datasets)}"
        raise UsageError(what, "compare runs on the same data")
    for dataset in shared:
        if (one := a.dataset_entry(dataset).get("sha256")) != (other := b.dataset_entry(dataset).get("sha256")):
            what = f"the two runs have different data under the name {dataset!r} (sha256 {str(one)[:12]} and {str(other)[:12]})"
            raise UsageError(what, "run both on the same questions and documents")
    pairs = {groups: pair_lines(a.groups[groups[0]], b.groups[groups[1]]) for groups in _match_groups(a, b)}
    pairs = {groups: pairs_found for groups, pairs_found in pairs.items() if pairs_found}
    if not pairs:
        raise UsageError(
            "the two runs have no question in common that the same strategy answered", "run the same strategy on the same questions"
        )
    return ComparedRuns(a, b, pairs)


def _match_groups(a: Run, b: Run) -> Iterator[tuple[GroupKey, GroupKey]]:
    """Yield the pairs of groups with the same strategy and variant; if each run has only one besides the prior, those are matched."""
    sides = [{group for group in run.answered if group[1] != PRIOR_STRATEGY} or set(run.answered) for run in (a, b)]
    same = [(group, group) for group in a.answered if group in b.answered]
    if sides[0] & sides[1] or any(len({group[1:] for group in side}) != 1 for side in sides):
        yield from same
        return
    yield from ((one, other) for one in a.answered for other in b.answered if one in sides[0] and other in sides[1] and one[0] == other[0])


def count_replies(rows: Iterable[Row]) -> Counter[tuple[str, str]]:
    """Return the number of replies by prompt and form."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        replies = (row.get("usage") or {}).get("replies") or {}
        counts.update({(prompt, form): number for prompt, forms in replies.items() for form, number in forms.items()})
    return counts
