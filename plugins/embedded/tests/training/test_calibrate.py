"""Confidences: they become as high as answers are right, and the thresholds are where they pay."""

import random

import pytest

from plugins.embedded.training.calibrate import (
    QuestionCase,
    RatedCase,
    ReadCase,
    describe_accepted,
    describe_min_confidence,
    describe_tau,
    fit_logistic,
    fit_weights,
    rate_cases,
    read_cases,
)
from ramify.embedded.reader import short_answers as reading
from ramify.embedded.reader.calibration import CalibrationWeights, Evidence, confidence
from ramify.embedded.reader.reading import PassageReading, TextSpan
from ramify.embedded.reader.short_answers import AnswerCandidate
from ramify.lab.metrics import expected_calibration_error

AS_IT_IS: CalibrationWeights = (1.0, 0.0, 0.0, 0.0, 0.0)
TEXT = "The Ostrel Bridge was designed by Mirela Okonjo."
NAME = (TEXT.index("Mirela"), len(TEXT) - 1)


def seen(choose: random.Random) -> Evidence:
    return Evidence(choose.random(), choose.random() / 2, choose.randint(3, 30), choose.choice((0.05, 0.95)))


def wrong(some: list[Evidence], right: list[float], constants: CalibrationWeights) -> float:
    return expected_calibration_error([confidence(evidence, constants) for evidence in some], right)


def test_overconfidence_on_long_questions_is_calibrated() -> None:
    choose = random.Random(0)
    every = [seen(choose) for _ in range(4000)]
    right = [
        float(choose.random() < evidence.likelihood / (1 if evidence.words < 10 else 2) * (1 if evidence.single > 0.5 else 0.5))
        for evidence in every
    ]
    weights = fit_logistic([evidence.features() for evidence in every[:2000]], right[:2000])
    assert wrong(every[2000:], right[2000:], AS_IT_IS) > 0.15
    assert wrong(every[2000:], right[2000:], weights) < 0.07
    assert weights[3] > 0, "what asks for one fact is likelier answered"


def test_an_answer_with_more_behind_it_is_surer() -> None:
    weak, strong = Evidence(0.3, 0.25, 6, 0.5), Evidence(0.8, 0.05, 6, 0.5)
    assert 0 < confidence(weak, AS_IT_IS) < confidence(strong, AS_IT_IS) < 1
    assert confidence(Evidence(0.0, 0.0, 0, 0.0), AS_IT_IS) < 0.01
    assert confidence(Evidence(1.0, 1.0, 1, 1.0), AS_IT_IS) > 0.99


def test_questions_are_read_as_the_reader_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = {"Who?": PassageReading(0.9, 0.01, 0.01, (TextSpan(*NAME, 0.9),)), "Did she?": PassageReading(0.1, 0.8, 0.1, ())}
    monkeypatch.setattr(reading, "find_splits", lambda question: ())
    monkeypatch.setattr(reading, "read_contexts", lambda question, contexts, reader: [readings[question]] * len(contexts))
    items = [QuestionCase("squad", "Who?", (TEXT,), ("Mirela Okonjo",)), QuestionCase("claim", "Did she?", (TEXT,), ("no",))]
    some = list(read_cases(items))
    assert [(case.found.answer, case.found.is_yes_no, case.right) for case in some] == [("Mirela Okonjo", False, 1.0), ("Yes", True, 0.0)]
    assert [case.evidence.single for case in some] == [1.0, 1.0]
    assert len(fit_weights(some)) == len(some[0].evidence.features()) + 1
    surer, less = rate_cases([some[0], some[0]], {False: AS_IT_IS, True: AS_IT_IS})
    assert surer.sure == less.sure > 0.5


def one(certainty: float, answer: str, *golds: str) -> RatedCase:
    return RatedCase(
        ReadCase(
            QuestionCase("squad", "Who?", (TEXT,), golds), AnswerCandidate(answer, certainty, 1, 0, 5), Evidence(certainty, 0.0, 1, 1.0)
        ),
        certainty,
    )


SOME = [one(0.9, "a", "a")] * 6 + [one(0.55, "b", "a"), one(0.5, "a", "a"), one(0.12, "b"), one(0.11, "b")]
"""Eight that have an answer, one of them read wrongly; two that have none."""


def test_an_answer_is_withheld_where_that_is_better_on_average() -> None:
    assert describe_min_confidence(SOME).startswith("MIN_CONFIDENCE = 0.15:")


def test_further_is_looked_where_too_few_are_right() -> None:
    assert describe_tau(SOME).startswith("TAU = 0.12:"), "there seven of eight are right"
    assert describe_tau(SOME[:6]).startswith("TAU = 0.0:")
    assert describe_tau(SOME[6:7]).startswith("TAU: no threshold")
    assert describe_accepted(SOME, 0.6) == "60% accepted, 100% of them right"
    assert describe_accepted(SOME, 0.95) == "0% accepted"
