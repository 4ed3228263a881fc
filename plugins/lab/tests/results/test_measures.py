"""Forgetting (PruneRAG), and precision and recall of abstaining (SelfAware, Yin et al. 2023)."""

from typing import Any

import pytest

from ramify.lab.results import ResultLine
from ramify.lab.results.measures import ANSWER_MEASURES, FORGETTING, Measure

PRECISION, RECALL = (next(measure for measure in ANSWER_MEASURES if measure.title == title) for title in ("abst. P", "abst. R"))


def value(measure: Measure, *rows: dict[str, Any]) -> float | None:
    estimate = measure.of([ResultLine(number, {"error": None, "em": 0.0, **row}) for number, row in enumerate(rows, 1)])
    return estimate and estimate.value


def test_evidence_is_forgotten_where_it_was_all_found_and_the_answer_is_wrong() -> None:
    given = [(True, 1.0), (True, 0.0), (True, 0.0), (False, 0.0), (False, 1.0)]
    rows = [{"gold_retrieved": retrieved, "em": em} for retrieved, em in given]
    assert value(FORGETTING, *rows) == pytest.approx(2 / 3)
    assert value(FORGETTING, *rows, {"gold_retrieved": True, "em": None}) == pytest.approx(2 / 3), "an open question is not wrong"
    assert value(FORGETTING, {"gold_retrieved": False}) is None
    assert value(FORGETTING) is None


def test_abstaining_has_precision_and_recall() -> None:
    given = [(True, True), (True, False), (False, True), (False, True)]
    rows = [{"abstained": abstained, "unanswerable": unanswerable} for abstained, unanswerable in given]
    assert value(PRECISION, *rows) == 1 / 2
    assert value(RECALL, *rows) == pytest.approx(1 / 3)
    assert value(PRECISION, *rows, {"abstained": True, "unanswerable": False, "error": "lost"}) == 1 / 2
    assert value(PRECISION, {"abstained": False, "unanswerable": True}) is None
    assert value(RECALL, {"abstained": True, "unanswerable": False}) is None
