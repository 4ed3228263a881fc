"""Pairs of sentences of which one denies the other, and pairs that agree in other words."""

import pytest

from ramify.embedded.checks.contradiction import contradicts

DENIED = [
    ("The deposit is refundable.", "The deposit is non-refundable."),
    ("Camping is prohibited.", "Camping is allowed."),
    ("Camping is permitted.", "Camping is forbidden."),
    ("The law forbids camping.", "The law allows camping."),
    ("She failed to reach the hut.", "She reached the hut."),
    ("The motor works without oil.", "The motor works with oil."),
]
AGREEING = [
    ("The deposit is not refundable.", "The deposit is non-refundable."),
    ("Camping is prohibited.", "Camping is not allowed."),
    ("Camping is not forbidden.", "Camping is permitted."),
    ("No camping is allowed on the beach.", "Camping is forbidden on the beach."),
    ("She failed to reach the hut.", "She did not reach the hut."),
]


@pytest.mark.parametrize("pair", DENIED)
def test_a_sentence_that_denies_the_other(pair: tuple[str, str]) -> None:
    assert contradicts(*pair)
    assert contradicts(*pair[::-1])


@pytest.mark.parametrize("pair", AGREEING)
def test_a_sentence_that_agrees_in_other_words(pair: tuple[str, str]) -> None:
    assert not contradicts(*pair)
    assert not contradicts(*pair[::-1])
