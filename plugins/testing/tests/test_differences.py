"""Which hop flipped: trees are aligned by their questions."""

from ramify.testing.differences import first_difference, is_moved
from ramify.testing.stored_results import Hop, Record, Sentence


def hop(path: str, question: str, answer: str | None, sentence: str = "", status: str = "leaf", source: str = "policy.pdf") -> Hop:
    sentences = [Sentence(text=sentence, where=f"{source}, page 3", source=source, digest=sentence)] if sentence else []
    return Hop(path=path, question=question, status=status, answer=answer, confidence=0.9, sentences=sentences)


def record(*hops: Hop) -> Record:
    return Record(answer=hops[0].answer or "Unknown", hops=list(hops), sentences=[sentence for hop in hops for sentence in hop.sentences])


def test_the_first_hop_that_changed_is_named_below_the_question_that_follows_from_it() -> None:
    before = record(
        hop("0", "Born where?", "Uppsala", status="inner"),
        hop("0.0", "Who?", "Anna", "The head is Anna."),
        hop("0.1", "Where was Anna born?", "Uppsala"),
    )
    after = record(
        hop("0", "Born where?", "Graz", status="inner"),
        hop("0.0", "Who?", "Jonas", "The head is Jonas."),
        hop("0.1", "Where was Jonas born?", "Graz"),
    )
    change = first_difference(before, after)
    assert change is not None
    assert change.hop.path == "0.0"
    [answers, sentences] = change.lines()
    assert "Anna → Jonas" in answers
    assert sentences == 'policy.pdf, page 3: "The head is Anna." → "The head is Jonas."'


def test_questions_are_aligned_where_they_stand_at_another_place() -> None:
    before = record(hop("0", "Which?", "A"), hop("0.0", "When was A?", "1900"), hop("0.1", "When was B?", "1950"))
    after = record(hop("0", "Which?", "A"), hop("0.0", "When was B?", "1950"), hop("0.1", "when was A", "1900"))
    assert first_difference(before, after) is None
    assert not is_moved(before, after)


def test_what_disappeared_and_what_is_new_is_said() -> None:
    before, after = record(hop("0", "How much?", "90", "Up to 90 euros.")), record(hop("0", "How much?", None, status="failed"))
    change = first_difference(before, after)
    assert change is not None
    assert "not cited any more" in change.lines()[1]
    assert change.lines({"Up to 90 euros."})[1].endswith("→ gone")
    back = first_difference(after, before)
    assert back is not None
    assert "newly cited" in back.lines()[1]


def test_an_answer_that_was_dropped_is_no_answer() -> None:
    before, after = record(hop("0", "How much?", "90")), record(hop("0", "How much?", "90", status="pruned"))
    assert first_difference(before, after) is not None


def test_the_same_answer_from_another_sentence_has_moved() -> None:
    before, after = (
        record(hop("0", "How much?", "90", "Up to 90 euros.")),
        record(hop("0", "How much?", "90", "At most 90 euros.", source="new.pdf")),
    )
    assert first_difference(before, after) is None
    assert is_moved(before, after)
