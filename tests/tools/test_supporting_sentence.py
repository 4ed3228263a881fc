"""What is quoted of a passage: the sentence that carries the answer, not its beginning, and never a heading."""

import pytest

from ramify.tools.supporting_sentence import MAX_QUOTE_CHARS, QuestionAnswer, quote_support, split_statements

PORT = (
    "3.1 Connection Settings\n\nlisten_addresses (string)\n\n"
    "Specifies the TCP/IP address on which the server is to listen for connections. "
    "The default value is localhost, which allows only local connections to be made.\n\nport (integer)\n\n"
    "The TCP port the server listens on; 5432 by default. This parameter can only be set at server start."
)
KOREAN = "바르샤바는 폴란드의 수도이다. 마리 퀴리는 1867년 바르샤바에서 태어났다. "
WRAPPED = "The river rises in the mountains of the north and is joined by\nseveral others before the sea. It is 1,047 kilometres\nlong."


@pytest.mark.parametrize(
    ("question", "answer", "words"),
    [
        ("Which port does the server listen on by default?", "5432", "The TCP port the server listens on; 5432 by default."),
        ("On which address does it listen by default?", "localhost", "The default value is localhost"),
        ("Can the port be set at server start only?", "Yes", "This parameter can only be set at server start."),
    ],
)
def test_it_quotes_the_sentence_that_carries_the_answer(question: str, answer: str, words: str) -> None:
    quoted = quote_support(PORT, [QuestionAnswer(question, answer)])
    assert words in quoted
    assert "3.1" not in quoted


def test_a_passage_with_another_step_s_answer_is_quoted_for_that() -> None:
    text = "A pen writes. " * 30 + "It was patented in 1938 by László Bíró. " + "It sold well. " * 30
    asked = [
        QuestionAnswer("In which city was the inventor of the pen born?", "Budapest"),
        QuestionAnswer("Who invented the pen?", "László Bíró"),
    ]
    assert "patented in 1938 by László Bíró" in quote_support(text, asked)


def test_lines_that_were_broken_to_fit_a_page_are_one_sentence() -> None:
    quoted = quote_support(WRAPPED, [QuestionAnswer("How long is the river?", "1,047 kilometres")])
    assert "It is 1,047 kilometres long." in quoted


def test_a_long_answer_is_found_by_its_words_and_by_those_of_the_question() -> None:
    answer = "It allows only connections from the machine itself and none from any other address in the network around it"
    assert "localhost" in quote_support(PORT, [QuestionAnswer("What does the default of listen_addresses allow?", answer)])


def test_headings_and_tables_of_contents_are_not_quoted() -> None:
    text = "Isolation levels\n\n13.2 Transaction Isolation\n\n4.1 Levels . . . . . . . . 17\n\nThe strictest level is Serializable."
    assert split_statements(text, ["Isolation levels"]) == ["The strictest level is Serializable."]


@pytest.mark.parametrize("text", ["", "x" * 5000, "| a | b |\n" * 900, "\x1b[31m red\x00", "13.2 Transaction Isolation", KOREAN * 90])
def test_whatever_a_passage_is_something_short_and_harmless_is_quoted(text: str) -> None:
    quoted = quote_support(text, [QuestionAnswer("What is it?", "x")])
    assert len(quoted) <= MAX_QUOTE_CHARS + 10
    assert "\x1b" not in quoted
    assert bool(quoted) == bool(text)


def test_a_korean_sentence_is_quoted_alone() -> None:
    text = KOREAN + "그녀는 파리에서 공부하고 그곳에서 오래 일하며 많은 학생을 가르쳤다. " * 20
    quoted = quote_support(text, [QuestionAnswer("마리 퀴리는 언제 태어났습니까?", "1867년")])
    assert "1867년" in quoted
    assert len(quoted) < 200


def test_a_short_record_is_quoted_whole() -> None:
    record = "bridge: Lorn\nopened: 1958\nspans: 2"
    assert quote_support(record, [QuestionAnswer("When was the bridge at Lorn opened?", "1958")]) == "bridge: Lorn opened: 1958 spans: 2"
