"""Questions as phrases and phrases as questions, and where the words of a step stand."""

import pytest

from plugins.embedded.training.writing.aligned import place
from plugins.embedded.training.writing.contrasted import contrasted
from plugins.embedded.training.writing.phrases import asked, phrased
from plugins.embedded.training.writing.single import plainly_single
from plugins.embedded.training.writing.written import Written, ask, others, recased


@pytest.mark.parametrize(
    ("phrase", "question"),
    [
        ("the director of {s}", "Who is the director of {s}?"),
        ("{s}'s director", "Who is the director of {s}?"),
        ("the person who directed {s}", "Who directed {s}?"),
        ("the city where {s} was born", "In which city was {s} born?"),
        ("the place where {s} was born", "Where was {s} born?"),
        ("the country {s} is from", "Which country is {s} from?"),
        ("the company that acquired {s}", "Which company acquired {s}?"),
        ("the parents of {s}", "Who are the parents of {s}?"),
        ("the file that stores {s}", "Which file stores {s}?"),
    ],
)
def test_phrases_become_questions(phrase: str, question: str) -> None:
    assert asked(phrase) == question


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("Who wrote Salt Road?", "the person who wrote Salt Road"),
        ("What is the capital of Norway?", "the capital of Norway"),
        ("Which company acquired the yard?", "the company that acquired the yard"),
        ("In which city was Odile Marchetti born?", "the city where Odile Marchetti was born"),
        ("Where is the yard located?", "the place where the yard is located"),
    ],
)
def test_questions_become_phrases(question: str, phrase: str) -> None:
    assert phrased(question) == (phrase, question)


@pytest.mark.parametrize("question", ["How many ships were there?", "Who did she marry?", "When was it built?", "What is the yard called?"])
def test_questions_without_a_plain_phrase_become_none(question: str) -> None:
    assert phrased(question) is None


def test_a_step_is_found_in_its_question_by_the_words_that_matter() -> None:
    question = "Who was the husband of the painter who opened a gallery in Lyon?"
    span = place("painters that opened the gallery in Lyon", question)
    assert span
    assert question[span[0] : span[1]] == "the painter who opened a gallery in Lyon"
    assert place("sculptor in Lyon", question) is None


def test_the_comparison_follows_the_question() -> None:
    lines = ["when was Salt Road released", "when was Glass Ferry released", "which is highest of #1 , #2"]
    operators = ["select", "select", "comparison"]
    contrast = contrasted("Which film was released more recently, Salt Road or Glass Ferry?", lines, operators)
    assert contrast == ("later", "When was Salt Road released?", "When was Glass Ferry released?")


def test_questions_with_the_looks_of_two_are_not_taken_for_one() -> None:
    assert plainly_single("Who opened the yard and the mill in 1931?")
    assert not plainly_single("Who opened the yard that Odile Marchetti bought?")
    assert not plainly_single("Is the yard older than the mill or the bridge?")


def test_words_are_copied_as_in_the_source() -> None:
    assert recased("When did herpes begin?", ["Tell me about Herpes."]) == "When did Herpes begin?"
    assert ask(" who  wrote it ?") == "Who wrote it?"
    written = Written("", "", "Who directed Salt Road", "", "single", ("Who is the director of Salt Road?",))
    assert others(written) == ["is", "the", "director", "of", "?"]
