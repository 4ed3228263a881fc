"""What the writer is given to make a follow-up self-contained, and when it is not asked at all."""

from collections.abc import Sequence

import pytest

from ramify.tools.extractive import asking
from ramify.tools.extractive.asking import contextualize

PAINTER = {"asked": "Who painted Guernica?", "answer": "Pablo Picasso", "sure": True}
UNSURE = {"asked": "Where was the painter of Guernica born?", "answer": "Lyon", "sure": False}
UNKNOWN = {"asked": "Who is his best friend?", "answer": "Unknown", "sure": True}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """What the writer was given."""
    given: list[tuple[str, list[str]]] = []

    def rewrite(question: str, turns: Sequence[str]) -> str:
        given.append((question, list(turns)))
        return "Rewritten?"

    monkeypatch.setattr(asking, "rewrite", rewrite)
    return given


def test_a_follow_up_is_written_anew_from_what_was_asked_and_surely_answered(given: list[tuple[str, list[str]]]) -> None:
    assert contextualize({"question": "And when?", "turns": [PAINTER, UNSURE, UNKNOWN]}) == {"question": "Rewritten?"}
    assert given == [("And when?", ["Who painted Guernica?", "Pablo Picasso", UNSURE["asked"], UNKNOWN["asked"]])]


def test_what_follows_nothing_or_is_not_english_stays_as_it_is(given: list[tuple[str, list[str]]]) -> None:
    for question, turns in (("And when?", []), ("Wo wurde ihr Vater geboren?", [PAINTER]), ("어디에서?", [PAINTER])):
        assert contextualize({"question": question, "turns": turns}) == {"question": question}
    assert given == []
