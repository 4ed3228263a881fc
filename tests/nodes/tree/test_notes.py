"""Notes that are made often are known again, whatever a model has answered."""

import pytest

from ramify.nodes.tree.notes import SEARCHED, SIMPLE, WEAKER, filled_note, shorten_note, unsure_note

ANSWERS = ("Budapest", "it's; a 'trap'", 'both "and" it\'s', "a\nb\\n; c", "confidence 0.1, not above tau 2", "", "x" * 5000)


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_noted_often_folds_into_words(answer: str) -> None:
    note = "; ".join(
        [f"{filled_note(answer, '0.0.1')}, nothing surer, confidence 0.615", unsure_note(0.31, 0.95), SEARCHED, SIMPLE, WEAKER]
    )
    told = shorten_note(note)
    assert (told.words, told.rest) == (("filled", "unsure", "searched", "simple", "weaker"), "")
    assert set(told.meanings) == set(told.words)
    assert "0.95" in told.meanings["unsure"]
    assert "\n" not in note
    assert "\\n;" not in filled_note("a\n; b", "0.0")


def test_what_tau_was_calibrated_for_is_reported_with_it() -> None:
    told = shorten_note(unsure_note(0.31, 0.6, "extractive"))
    assert told.meanings == {"unsure": "its confidence is not above tau (0.6, calibrated for extractive)"}
    assert told.rest == ""


def test_what_has_no_confidence_is_noted_without_one() -> None:
    assert unsure_note(None, 0.6) == unsure_note(0.0, 0.6) == "not above tau 0.6"
    assert shorten_note(unsure_note(None, 0.6)).words == ("unsure",)


@pytest.mark.parametrize(
    "note", ["", "nothing was found", "the reply said: once more, because 'a' was not sure enough, they say", SIMPLE + " indeed"]
)
def test_what_is_noted_seldom_stays_as_it_is(note: str) -> None:
    assert shorten_note(note) == ((), note, {})
