"""All right answers of a perfect reader, to a question of every shape in every strategy, verify."""

import pytest

from ramify.testing import verify
from tests.graphs.shapes.table import SHAPES
from tests.graphs.test_shapes import ALWAYS, WIRINGS, asked

CASES = [pytest.param(wiring, marks=() if wiring in ALWAYS else pytest.mark.combination) for wiring in WIRINGS]


@pytest.mark.parametrize("wiring", CASES)
def test_a_right_answer_verifies(wiring: str) -> None:
    right = [asked(shape.name, wiring) for shape in SHAPES if shape.answer != "Unknown"]
    answers = {shape.question: shape.answer for shape in SHAPES}
    verified = [(result.question, verify(result)) for result in right if result.answer == answers[result.question]]
    assert verified
    assert {question: verification.summary() for question, verification in verified if not verification.holds} == {}
    assert all(verification.steps.total for _, verification in verified)
