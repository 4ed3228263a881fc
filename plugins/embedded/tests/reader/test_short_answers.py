"""What the embedded reader says to a question and passages; only what any training worth the name gets right."""

from concurrent.futures import ThreadPoolExecutor

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from ramify.embedded.reader import short_answers as reading
from ramify.embedded.reader.calibration import MIN_CONFIDENCE
from ramify.embedded.reader.reading import (
    MAX_PIECES,
    PassageReading,
    PassageText,
    TextSpan,
    add_title,
    encode_pairs,
    read_context,
    read_contexts,
)
from ramify.embedded.reader.short_answers import AnswerCandidate, ShortAnswer, choose_likeliest, find_spans, find_yes_no, read_answer


def quote(title: str, text: str) -> PassageText:
    return PassageText(title=title, source="", text=text)


SOLARIS = quote(
    "Solaris (1972 film)", "Solaris is a Soviet film of 1972, directed by Andrei Tarkovsky. The score was composed by Eduard Artemyev."
)
BRIDGE = quote("Ostrel Bridge", "The Ostrel Bridge was opened in 1931. It is 240 metres long and was designed by Mirela Okonjo.")
LOOM = quote("Loom", "A loom is a machine that weaves cloth out of thread. Looms stood in many houses of the valley.")
PARIS = quote("Paris", "Paris is the capital of France. It lies on the Seine.")
PASSAGES = [LOOM, SOLARIS, BRIDGE, PARIS]
PLAIN = [
    ("Who directed Solaris?", "Andrei Tarkovsky", SOLARIS),
    ("Who composed the score of Solaris?", "Eduard Artemyev", SOLARIS),
    ("When was the Ostrel Bridge opened?", "1931", BRIDGE),
    ("Who designed the Ostrel Bridge?", "Mirela Okonjo", BRIDGE),
]
DIRECTOR = PLAIN[0][0]
YES_NO = ["Is Paris the capital of France?", "Was the Ostrel Bridge designed by Mirela Okonjo?"]
ODD = {
    "nothing": quote("", ""),
    "a title alone": quote("Solaris", ""),
    "blanks": quote("", " \n\t "),
    "signs without a letter": quote("", "\u200b\u0301\ufeff\x00\x07"),
    "other alphabets": quote("𝕊𝕠𝕝𝕒𝕣𝕚𝕤 🎬", "🎬🎬🎬 مرحبا ソラリス 솔라리스 e\u0301\u0301\u0301"),
    "one long word": quote("L", "x" * 5000),
    "more signs than positions": quote("L", "各" * 3000),
}


@pytest.fixture(autouse=True)
def _single(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every question to ask for one fact: how questions are split is no matter here."""
    monkeypatch.setattr(reading, "find_splits", lambda question: ())


def read_afresh(question: str, passages: list[PassageText]) -> ShortAnswer:
    read_context.cache_clear()
    return read_answer(question, passages)


def withheld(span: ShortAnswer) -> bool:
    return not span.answer or span.confidence < MIN_CONFIDENCE


@pytest.mark.parametrize(("question", "answer", "passage"), PLAIN)
def test_a_plain_fact_is_read_and_its_passage_cited(question: str, answer: str, passage: PassageText) -> None:
    span = read_afresh(question, PASSAGES)
    assert span.answer == answer
    assert MIN_CONFIDENCE <= span.confidence <= 1
    assert PASSAGES[span.passage - 1] == passage


@pytest.mark.parametrize(("question", "passage"), [(question, LOOM) for question, *_ in PLAIN] + [(DIRECTOR, BRIDGE), (DIRECTOR, PARIS)])
def test_an_answer_not_in_the_passage_is_withheld(question: str, passage: PassageText) -> None:
    assert withheld(read_afresh(question, [passage]))


@pytest.mark.parametrize(("question", "passage"), [(question, passage) for question, _, passage in PLAIN])
def test_the_passage_that_bears_on_a_question_is_the_more_relevant_one(question: str, passage: PassageText) -> None:
    contexts = [add_title(item["title"], item["text"]) for item in (passage, LOOM, PARIS)]
    bearing, *others = (passage_reading.relevance for passage_reading in read_contexts(question, contexts))
    assert bearing > 0.5 > max(others)


def test_nothing_is_read_where_there_are_no_passages() -> None:
    span = read_afresh(DIRECTOR, [])
    assert (span.answer, span.passage) == ("", 0)


@pytest.mark.parametrize("question", YES_NO)
def test_a_yes_no_question_gets_yes_or_no(question: str) -> None:
    span = read_afresh(question, PASSAGES)
    assert span.answer in {"Yes", "No"}
    relevant, irrelevant = read_contexts(
        question, tuple(add_title(passage["title"], passage["text"]) for passage in (PASSAGES[span.passage - 1], LOOM))
    )
    assert relevant.yes + relevant.no > irrelevant.yes + irrelevant.no


def test_no_answer_runs_out_of_a_title_or_a_bracket() -> None:
    passage_reading = PassageReading(
        0.9, 0.0, 0.0, (TextSpan(8, 21, 0.5), TextSpan(0, 12, 0.2), TextSpan(14, 21, 0.1), TextSpan(23, 34, 0.1), TextSpan(22, 29, 0.1))
    )
    candidates = find_spans("", [passage_reading], ["A Title Here: Solaris (novel) came."], [14])
    assert [candidate.answer for candidate in candidates] == ["A Title Here", "Solaris", "(novel)"]


def test_no_answer_crosses_a_record_field() -> None:
    row = "name: Ada Reed\nrole: engineer\nnote: long\nago"
    passage_reading = PassageReading(0.9, 0.0, 0.0, (TextSpan(6, 29, 0.5), TextSpan(21, 29, 0.2), TextSpan(36, 44, 0.1)))
    assert [candidate.answer for candidate in find_spans("", [passage_reading], [row], [0])] == ["Ada Reed", "engineer", "long\nago"]


def test_a_passage_needs_no_title() -> None:
    assert read_afresh(DIRECTOR, [quote("", SOLARIS["text"])]).answer == "Andrei Tarkovsky"


def test_the_answer_is_found_among_twenty_passages() -> None:
    passages = [quote(f"Village {number}", f"Village {number} lies in a valley.") for number in range(20)]
    passages[17] = SOLARIS
    span = read_afresh(DIRECTOR, passages)
    assert (span.answer, span.passage) == ("Andrei Tarkovsky", 18)


def test_a_passage_longer_than_the_network_is_read_as_far_as_it_goes() -> None:
    long = quote(SOLARIS["title"], SOLARIS["text"] + " It ran in many towns." * 400)
    assert read_afresh(DIRECTOR, [long]).answer == "Andrei Tarkovsky"
    assert len(encode_pairs([DIRECTOR], [long["text"]])[0]) == MAX_PIECES


@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
def test_an_odd_passage_is_no_obstacle(odd: PassageText) -> None:
    assert withheld(read_afresh(DIRECTOR, [odd]))
    span = read_afresh(DIRECTOR, [odd, SOLARIS])
    assert (span.answer, span.passage) == ("Andrei Tarkovsky", 2)


@pytest.mark.parametrize("question", ["?", ".", "각 " * 200, "?" * 400, "A" * 5000, "🎬" * 400, "who " * 100])
def test_an_odd_question_is_no_obstacle(question: str) -> None:
    for passages in ([SOLARIS], [ODD["blanks"], SOLARIS]):
        span = read_afresh(question, passages)
        assert 0 <= span.confidence <= 1
        read_in = passages[span.passage - 1]
        assert span.answer in add_title(read_in["title"], read_in["text"]) or span.answer in {"Yes", "No"}


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=3), st.sampled_from([DIRECTOR, *YES_NO, "who ?"]))
def test_probabilities_are_such_and_spots_lie_in_their_context(contexts: list[str], question: str) -> None:
    readings = read_contexts(question, tuple(contexts))
    assert len(readings) == len(contexts)
    for passage_reading, context in zip(readings, contexts, strict=True):
        check(passage_reading, context)


def check(passage_reading: PassageReading, context: str) -> None:
    assert min(passage_reading.span, passage_reading.yes, passage_reading.no) >= 0
    assert 0 <= passage_reading.relevance <= 1
    assert passage_reading.span + passage_reading.yes + passage_reading.no <= 1 + 1e-5
    probabilities = [spot.probability for spot in passage_reading.text_spans]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 <= sum(probabilities) <= 1 + 1e-5
    assert all(0 <= spot.start < spot.end <= len(context) for spot in passage_reading.text_spans)


def test_the_same_question_is_read_the_same_whatever_was_read_before() -> None:
    asked = [(question, PASSAGES) for question in (*YES_NO, *(question for question, *_ in PLAIN))]
    first = [read_afresh(*item) for item in asked]
    assert [read_afresh(*item) for item in reversed(asked)][::-1] == first
    read_context.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda item: read_answer(*item), asked * 2))
    assert together == first * 2


def test_the_runner_up_is_a_different_answer() -> None:
    best, values = choose_likeliest(find_yes_no([PassageReading(0.0, 0.5, 0.4, ())]))
    assert best is not None
    assert (best.answer, values) == ("Yes", (0.5, 0.4))
    whole, part, other = (
        AnswerCandidate("Andrei Tarkovsky", 0.6, 1, 10, 26),
        AnswerCandidate("Tarkovsky", 0.3, 1, 17, 26),
        AnswerCandidate("Lem", 0.1, 2, 12, 15),
    )
    assert choose_likeliest([part, other, whole]) == (whole, (pytest.approx(0.9), 0.1))
