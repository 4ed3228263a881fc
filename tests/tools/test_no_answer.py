"""Replies that give no answer are recognised in the languages that models reply in; names and sentences with such words are answers."""

import pytest

from ramify.tools.no_answer import MAX_CHARS, is_unknown
from tests.tools.answers_like_none import LOOKS_LIKE_NO_ANSWER, MORE_THAT_LOOK_LIKE_IT
from tests.tools.no_answer_phrasings import MORE_NO_ANSWER, NO_ANSWER

PHRASINGS = [*(phrase for phrases in NO_ANSWER.values() for phrase in phrases), *MORE_NO_ANSWER]
ANSWERS = [*LOOKS_LIKE_NO_ANSWER, *MORE_THAT_LOOK_LIKE_IT]


@pytest.mark.parametrize("phrase", PHRASINGS)
def test_a_reply_that_gives_no_answer(phrase: str) -> None:
    assert is_unknown(phrase)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_looks_like_none(answer: str) -> None:
    assert not is_unknown(answer)


@pytest.mark.parametrize("form", ["“{}”", "'{}'", "**{}**", "({})", " {} \n", "{}!", "`{}`"])
@pytest.mark.parametrize("phrase", ["Not mentioned in the passages", "Unknown", "Keine Angabe", "未提及", "알 수 없음"])
def test_quotes_punctuation_and_case_do_not_matter(phrase: str, form: str) -> None:
    assert is_unknown(form.format(phrase))
    assert is_unknown(form.format(phrase).upper())


@pytest.mark.parametrize("piece", ["not ", "the passages do not say ", "[1]", "(", "未", "- ", "not mentioned, "])
def test_a_long_reply_is_an_answer(piece: str) -> None:
    assert not is_unknown("x" + piece * (MAX_CHARS // len(piece) + 1))
