"""The columns of the tables, each with what it means."""

from collections.abc import Callable, Sequence

from ramify.evaluation.metrics.answers import abstention_precision, abstention_recall, efr
from ramify.evaluation.metrics.calibration import expected_calibration_error
from ramify.evaluation.results.measures import (
    Estimate,
    Measure,
    all_found,
    by_metric,
    confident,
    found,
    mean_of,
    plain,
    quantile_of,
    score,
    spent,
)
from ramify.evaluation.results.run import Line


def _forgetting(lines: Sequence[Line]) -> float | None:
    return efr((bool(line.row.get("gold_retrieved")), line.row.get("em") or 0.0) for line in lines)


def _forgetting_found(lines: Sequence[Line]) -> float | None:
    return efr((bool(line.row.get("gold_found")), line.row.get("em") or 0.0) for line in lines)


def _forgotten_found(line: Line) -> float | None:
    """Tell whether all gold was found and the answer is wrong all the same; none where not all gold was found."""
    return float(not line.right) if line.row.get("gold_found") and line.scored else None


def _forgotten(line: Line) -> float | None:
    """Tell whether all gold was retrieved and the answer is wrong all the same; none where not all gold was retrieved."""
    return float(not line.right) if line.row.get("gold_retrieved") and line.scored else None


def _abstaining(metric: Callable[[Sequence[bool], Sequence[bool]], float | None]) -> Callable[[Sequence[Line]], float | None]:
    """Measure abstaining, in data in which there is something to abstain from."""

    def measured(lines: Sequence[Line]) -> float | None:
        given = [line for line in lines if not line.failed]
        unanswerable = [bool(line.row.get("unanswerable")) for line in given]
        return metric([bool(line.row.get("abstained")) for line in given], unanswerable) if any(unanswerable) else None

    return measured


def _abstained_rightly(line: Line) -> float | None:
    """Tell of an abstention whether the question has no answer."""
    return float(bool(line.row.get("unanswerable"))) if line.row.get("abstained") and not line.failed else None


def _unanswerable_seen(line: Line) -> float | None:
    """Tell of a question without an answer whether the strategy abstained."""
    return float(bool(line.row.get("abstained"))) if line.row.get("unanswerable") and not line.failed else None


def _calibration_error(lines: Sequence[Line]) -> Estimate | None:
    """Estimate how far confidence is from being right."""
    confidences, right = confident(lines)
    return Estimate(float(expected_calibration_error(confidences, right)), len(right)) if right else None


EM = Measure("EM", "exact match: the answer is a gold answer or alias after SQuAD's normalisation", mean_of(score("em")))
F1 = Measure("F1", "token F1 against the best of the gold answers", mean_of(score("f1")))
CONTAINED = Measure("contains", "a gold answer is contained in the answer", mean_of(score("containment")))
_OFFICIAL = "the released MultiHop-RAG scorer: any whitespace-separated word shared with the gold answer"
OFFICIAL = Measure("official", _OFFICIAL, mean_of(score("official")))
_FORGETTING = "evidence forgetting rate: of the questions whose gold passages were all shown to the model, those answered wrongly"
FORGETTING = Measure("EFR", _FORGETTING, by_metric(_forgetting, _forgotten), better=-1)
_FOUND = "evidence forgetting rate over what was retrieved, shown to the model or not: the paper's"
FORGETTING_FOUND = Measure("EFR found", _FOUND, by_metric(_forgetting_found, _forgotten_found), better=-1)
_CALIBRATION = "expected calibration error: the mean distance between confidence and the share of right answers, over 10 bins"
CALIBRATION = Measure("ECE", _CALIBRATION, _calibration_error, better=-1)
_PRECISION = "precision of abstaining: of the questions answered Unknown, those without an answer in the data"
_RECALL = "recall of abstaining: of the questions without an answer in the data, those answered Unknown"
_JUDGED = (
    FORGETTING,
    FORGETTING_FOUND,
    Measure("Unknown", "questions answered Unknown, rightly or not", mean_of(score("abstained")), better=0),
    Measure("abst. P", _PRECISION, by_metric(_abstaining(abstention_precision), _abstained_rightly)),
    Measure("abst. R", _RECALL, by_metric(_abstaining(abstention_recall), _unanswerable_seen)),
    CALIBRATION,
)
ANSWERS = (EM, F1, CONTAINED, *_JUDGED)
ANSWERS_BY_FACTS = (EM, F1, CONTAINED, OFFICIAL, *_JUDGED)


def _found(title: str, meaning: str, name: str = "", better: int = 1) -> Measure:
    return Measure(title, meaning, mean_of(found(name or title)), better=better)


R10 = _found("recall@10", "share of the gold passages among the first 10")
HITS1 = _found("hits@1", "a gold passage is the first")
HITS4 = _found("hits@4", "any gold passage is among the first 4")
HITS10 = _found("hits@10", "any gold passage is among the first 10")
P5 = _found("P@5", "share of the first 5 places that gold passages take", "precision@5")
MRR10 = _found("MRR@10", "mean reciprocal rank of the first gold passage, within 10", "mrr@10")
WRONG = _found("wrong@5", "share of the first 5 places that passages of other groups than the gold's take", "wrong_group@5", -1)
RETRIEVAL = (
    _found("recall@5", "share of the gold passages among the first 5"),
    R10,
    _found("all@5", "all gold passages are among the first 5", "all_gold@5"),
    _found("all@10", "all gold passages are among the first 10", "all_gold@10"),
    *(HITS1, HITS4, HITS10, P5, MRR10),
    _found("MAP@10", "mean average precision within 10, as usually defined", "map@10"),
    _found("MAP@10 off.", "MAP@10 as the released MultiHop-RAG script computes it", "map@10_official"),
    WRONG,
    _found("support F1", "F1 of the cited documents against the gold ones", "supporting_f1"),
)
GOLD = Measure("all gold", "all gold passages are among those found and, of a strategy, shown to the model", mean_of(all_found))


def _spent(title: str, meaning: str, name: str) -> Measure:
    return Measure(title, meaning, mean_of(spent(name)), plain, -1)


CALLS = _spent("calls", "model calls", "llm_calls")
SECONDS = _spent("s", "seconds of wall time on this machine", "wall_s")
COST = (
    CALLS,
    _spent("in a row", "critical path: calls that must be made one after another", "critical_path_calls"),
    _spent("prompt", "prompt tokens", "prompt_tokens"),
    _spent("completion", "completion tokens", "completion_tokens"),
    _spent("searches", "retrievals", "retrievals"),
    SECONDS,
    Measure("s p50", "median of the seconds", quantile_of(spent("wall_s"), 0.5), plain, -1),
    Measure("s p95", "95th percentile of the seconds", quantile_of(spent("wall_s"), 0.95), plain, -1),
)
