"""Confidences: they become as high as answers are right."""

import random

from ramify.evaluation.metrics.calibration import expected_calibration_error
from ramify.tools.extractive.calibration import Constants, Evidence, confidence
from training.calibrate import fit

AS_IT_IS: Constants = (1.0, 0.0, 0.0, 0.0)


def seen(choose: random.Random) -> Evidence:
    return Evidence(choose.random(), choose.random() / 2, choose.randint(3, 30))


def test_a_network_that_is_too_sure_of_long_questions_is_put_right() -> None:
    choose = random.Random(0)
    all_seen = [seen(choose) for _ in range(4000)]
    right = [float(choose.random() < one.place / (1 if one.words < 10 else 4)) for one in all_seen]
    known, new = slice(0, 2000), slice(2000, 4000)
    fitted = fit([one.features() for one in all_seen[known]], right[known])

    def wrong(constants: Constants) -> float:
        return expected_calibration_error([confidence(one, constants) for one in all_seen[new]], right[new])

    assert wrong(AS_IT_IS) > 0.15
    assert wrong(fitted) < 0.07


def test_an_answer_with_more_behind_it_is_surer() -> None:
    weak, strong = Evidence(0.3, 0.25, 6), Evidence(0.8, 0.05, 6)
    assert 0 < confidence(weak, AS_IT_IS) < confidence(strong, AS_IT_IS) < 1
    assert confidence(Evidence(0.0, 0.0, 0), AS_IT_IS) < 0.01
    assert confidence(Evidence(1.0, 1.0, 1), AS_IT_IS) > 0.99
