"""The columns of the tables, each with what it means."""

from ramify.evaluation.metrics.abstention import abstention_precision, abstention_recall
from ramify.evaluation.report.measures import (
    Measure,
    abstained_rightly,
    abstention,
    all_found,
    calibration_error,
    forgetting,
    found,
    mean_of,
    percent,
    plain,
    quantile_of,
    score,
    spent,
    unanswerable_seen,
)

EM = Measure("EM", "exact match: the answer is a gold answer or alias after SQuAD's normalisation", mean_of(score("em")), percent)
F1 = Measure("F1", "token F1 against the best of the gold answers", mean_of(score("f1")), percent)
CONTAINED = Measure("contains", "a gold answer is contained in the answer", mean_of(score("containment")), percent)
OFFICIAL = Measure(
    "official",
    "the released MultiHop-RAG scorer: any whitespace-separated word shared with the gold answer",
    mean_of(score("official")),
    percent,
)
FORGETTING = Measure(
    "EFR",
    "evidence forgetting rate: of the questions whose gold passages were all retrieved, those answered wrongly",
    forgetting,
    percent,
    -1,
)
ABSTAINS = Measure("Unknown", "questions answered Unknown, rightly or not", mean_of(score("abstained")), percent, 0)
ABSTAINED_RIGHTLY = Measure(
    "abst. P",
    "precision of abstaining: of the questions answered Unknown, those without an answer in the data",
    abstention(abstention_precision, abstained_rightly),
    percent,
)
ABSTAINED_SEEN = Measure(
    "abst. R",
    "recall of abstaining: of the questions without an answer in the data, those answered Unknown",
    abstention(abstention_recall, unanswerable_seen),
    percent,
)
CALIBRATION = Measure(
    "ECE",
    "expected calibration error: the mean distance between confidence and the share of right answers, over 10 bins",
    calibration_error,
    percent,
    -1,
)
ANSWERS = (EM, F1, CONTAINED, FORGETTING, ABSTAINS, ABSTAINED_RIGHTLY, ABSTAINED_SEEN, CALIBRATION)
ANSWERS_BY_FACTS = (EM, F1, CONTAINED, OFFICIAL, FORGETTING, ABSTAINS, ABSTAINED_RIGHTLY, ABSTAINED_SEEN, CALIBRATION)


def _found(title: str, name: str, meaning: str) -> Measure:
    return Measure(title, meaning, mean_of(found(name)), percent)


RETRIEVAL = (
    _found("recall@5", "recall@5", "share of the gold passages among the first 5"),
    _found("recall@10", "recall@10", "share of the gold passages among the first 10"),
    _found("all@5", "all_gold@5", "all gold passages are among the first 5"),
    _found("all@10", "all_gold@10", "all gold passages are among the first 10"),
    _found("hits@1", "hits@1", "a gold passage is the first"),
    _found("hits@4", "hits@4", "any gold passage is among the first 4"),
    _found("hits@10", "hits@10", "any gold passage is among the first 10"),
    _found("P@5", "precision@5", "share of the first 5 places that gold passages take"),
    _found("MRR@10", "mrr@10", "mean reciprocal rank of the first gold passage, within 10"),
    _found("MAP@10", "map@10", "mean average precision within 10, as usually defined"),
    _found("MAP@10 off.", "map@10_official", "MAP@10 as the released MultiHop-RAG script computes it"),
    Measure(
        "wrong@5",
        "share of the first 5 places that passages of other groups than the gold's take",
        mean_of(found("wrong_group@5")),
        percent,
        -1,
    ),
    _found("support F1", "supporting_f1", "F1 of the cited documents against the gold ones"),
)
R10, HITS1, P5, MRR10, WRONG = (
    next(measure for measure in RETRIEVAL if measure.title == title) for title in ("recall@10", "hits@1", "P@5", "MRR@10", "wrong@5")
)
GOLD = Measure("all gold", "all gold passages are among those found and, of a strategy, shown to the model", mean_of(all_found), percent)

CALLS = Measure("calls", "model calls", mean_of(spent("llm_calls")), plain, -1)
SECONDS = Measure("s", "seconds of wall time on this machine", mean_of(spent("wall_s")), plain, -1)
COST = (
    CALLS,
    Measure("in a row", "critical path: calls that must be made one after another", mean_of(spent("critical_path_calls")), plain, -1),
    Measure("prompt", "prompt tokens", mean_of(spent("prompt_tokens")), plain, -1),
    Measure("completion", "completion tokens", mean_of(spent("completion_tokens")), plain, -1),
    Measure("searches", "retrievals", mean_of(spent("retrievals")), plain, -1),
    SECONDS,
    Measure("s p50", "median of the seconds", quantile_of(spent("wall_s"), 0.5), plain, -1),
    Measure("s p95", "95th percentile of the seconds", quantile_of(spent("wall_s"), 0.95), plain, -1),
)
