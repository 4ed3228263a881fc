"""Scores of answers: against a published SQuAD metric, by their laws, and what is ours alone."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ramify.lab.metrics import containment, exact_match, normalize_answer, official_multihop_rag, token_f1
from ramify.nodes.tree import is_unknown

WORDS = [
    "the",
    "a",
    "An",
    "cat",
    "Cat's",
    "in",
    "Paris",
    "1,234",
    "3.5",
    "U.S.",
    "no",
    "yes",
    "—",
    "''",
    "Łódź",
    "대한민국",
    "unknown",
    ".",
    "Unknown",
]
answers = st.one_of(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), st.text(max_size=20))
golds = st.lists(answers, min_size=1, max_size=4)
ABSTENTIONS = ["Unknown", "unknown.", " Insufficient information. ", "No relevant information found", ""]


def published(answer: str, golds: list[str]) -> tuple[float, float]:
    """Ask the SQuAD metric of torchmetrics for EM and F1; what abstains is the empty answer there."""
    from torchmetrics.functional.text.squad import squad  # which takes four seconds to import

    said, right = [["" if is_unknown(text) else text for text in texts] for texts in ([answer], golds)]
    target = {"id": "1", "answers": {"text": right, "answer_start": [0] * len(right)}}
    scores = squad([{"id": "1", "prediction_text": said[0]}], [target])
    return float(scores["exact_match"]) / 100, float(scores["f1"]) / 100


@settings(max_examples=400, deadline=None)
@given(answers, golds)
@example("The Eiffel Tower!", ["eiffel tower"])
@example("a", ["the"])
@example("Unknown", ["the"])
@example("Insufficient information", ["Unknown"])
@example("in Paris, France", ["Paris", "Lyon, France", "in the city of Paris, France"])
@example("cat cat cat", ["cat"])
def test_em_and_f1_are_those_of_a_published_metric(answer: str, golds: list[str]) -> None:
    exact, f1 = published(answer, golds)
    assert exact_match(answer, golds) == exact
    assert token_f1(answer, golds) == pytest.approx(f1, abs=1e-6)


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "f1"),
    [
        ("The Chief of Protocol.", "chief of protocol", 1, 1),
        ("chief of the US protocol", "chief of protocol", 0, 6 / 7),
        ("Yes", "no", 0, 0),
        ("1,234", "1234", 1, 1),
        ("New   York", "new york", 1, 1),
    ],
)
def test_worked_scores(answer: str, gold: str, exact: float, f1: float) -> None:
    assert exact_match(answer, [gold]) == exact
    assert token_f1(answer, [gold]) == pytest.approx(f1)


@given(answers, golds)
def test_bounds_and_order_of_the_scores(answer: str, golds: list[str]) -> None:
    exact, f1, contained = (score(answer, golds) for score in (exact_match, token_f1, containment))
    assert exact in (0, 1)
    assert contained in (0, 1)
    assert 0 <= f1 <= 1
    assert exact <= f1
    assert exact <= contained


@given(answers, golds, st.randoms())
def test_the_order_of_golds_is_irrelevant_and_more_golds_never_lower_a_score(answer: str, golds: list[str], order: object) -> None:
    shuffled = sorted(golds, key=lambda _: order.random())  # type: ignore[attr-defined]
    for score in (exact_match, token_f1, containment):
        assert score(answer, shuffled) == score(answer, golds)
        assert score(answer, golds) >= score(answer, golds[:1])
        assert score(golds[0], golds) == 1


@given(answers, answers)
def test_em_and_f1_are_the_same_both_ways(one: str, other: str) -> None:
    assert exact_match(one, [other]) == exact_match(other, [one])
    assert token_f1(one, [other]) == token_f1(other, [one])


@given(answers)
def test_normalisation_is_idempotent(answer: str) -> None:
    assert normalize_answer(normalize_answer(answer)) == normalize_answer(answer) or is_unknown(normalize_answer(answer))


@pytest.mark.parametrize("abstention", ABSTENTIONS)
@pytest.mark.parametrize("gold", ABSTENTIONS[:3])
def test_all_ways_to_abstain_are_one_answer(abstention: str, gold: str) -> None:
    assert exact_match(abstention, [gold]) == token_f1(abstention, [gold]) == containment(abstention, [gold]) == 1
    assert official_multihop_rag(abstention, gold) == 1


@pytest.mark.parametrize("abstention", ABSTENTIONS)
def test_abstaining_is_never_half_right_and_an_answer_never_abstains(abstention: str) -> None:
    for gold in ("The unknown soldier", "Information Age", "Paris"):
        assert exact_match(abstention, [gold]) == token_f1(abstention, [gold]) == containment(abstention, [gold]) == 0
        assert exact_match(gold, [abstention or "Unknown"]) == token_f1(gold, [abstention or "Unknown"]) == 0
        assert containment(gold, [abstention or "Unknown"]) == 0


def test_containment_reads_whole_words() -> None:
    assert containment("It was Ada Venn, in 1961.", ["Ada Venn"]) == 1
    assert containment("It was Venn Ada", ["Ada Venn"]) == 0
    assert containment("He lived in Norway", ["no"]) == 0
    assert containment("the answer is: no.", ["yes", "No"]) == 1
    assert containment("Paris", ["Paris, France"]) == 0


def test_the_official_score_of_multihop_rag_is_satisfied_by_any_word() -> None:
    assert official_multihop_rag("Sam Altman", "Sam Bankman-Fried") == 1
    assert official_multihop_rag("Yes.", "Yes") == 0, "punctuation stays on the word there"
    assert official_multihop_rag("YES indeed", "yes") == 1
    assert official_multihop_rag('The answer to the question is "no" since he left.', "left") == 0
    assert official_multihop_rag('The answer to the question is "no" since he left.', "No") == 1
    assert official_multihop_rag("Unknown", "Paris") == 0
