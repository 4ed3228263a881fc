"""Which sentences of an answer are marked as unsupported, over right and wrong ones."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.sentence_support import DEVELOPMENT, REPORTED, Judged, judge, shares


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    """Check all sentences."""
    return judge()


@pytest.mark.parametrize("half", [DEVELOPMENT, REPORTED])
def test_wrong_sentences_are_marked_and_right_ones_are_not(judged: list[Judged], half: str) -> None:
    figures = shares(judged, half)
    assert figures.rights >= 70
    assert figures.wrongs >= 45
    assert figures.right <= 0.03, "right sentences marked"
    assert figures.wrong >= 0.6, "wrong sentences marked"
