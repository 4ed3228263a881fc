"""The questions about real manuals: their shape and counts, and, where the manuals are, that every quote stands in them."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.real_documents.corpus import cache_folder
from plugins.lab.benchmarks.real_documents.questions import TYPES, Question, load
from plugins.lab.benchmarks.real_documents.quotes import contains_quote, is_in_manual, plain_text

CORPUS = cache_folder() / "corpus"


def test_the_set_has_the_counts_of_its_readme() -> None:
    questions = load()
    assert len({question.id for question in questions}) == len({question.question for question in questions}) == 90
    expected = dict(zip(TYPES, (30, 15, 5, 12, 12, 6, 10), strict=True))
    assert Counter(question.type for question in questions) == expected
    for split in ("development", "reporting"):
        counts = Counter(question.type for question in questions if question.split == split)
        assert sum(counts.values()) == 45
        assert all(abs(counts[kind] - number / 2) <= 0.5 for kind, number in expected.items())
    assert {manual for question in questions for manual in question.manual.split(", ")} == {"git", "postgresql", "python", "r"}


@pytest.mark.parametrize("question", load(), ids=lambda question: question.id)
def test_a_question_has_what_its_type_needs(question: Question) -> None:
    hops = {"two_hops": 2, "three_hops": 3, "unanswerable": 0}
    assert len(question.quotes) == hops.get(question.type, len(question.quotes) or 1)
    assert bool(question.items) == (question.type == "list_all")
    assert question.answer in ("yes", "no") or question.type != "yes_no"
    assert all(len(quote.quote.split()) <= 25 for quote in question.quotes)


@pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the manuals are not here: python plugins/lab/benchmarks/real_documents/corpus.py gets them"
)
@pytest.mark.parametrize("question", load(), ids=lambda question: question.id)
def test_every_quote_is_in_its_manual(question: Question) -> None:
    for quote in question.quotes:
        assert is_in_manual(plain_text(CORPUS / quote.source), quote.quote), quote


def test_a_quote_is_found_however_its_text_was_extracted() -> None:
    quote = "the “ﬁrst” commit-ish\nof a session is kept"
    assert contains_quote('It says: the "first" com-\nmit-ish of a | session is kept, and more.', quote)
    assert contains_quote("first commit-ish of a session is kept in the next passage", quote)
    assert not contains_quote("a session is kept", quote)
