"""The chain of retrieval, and the baselines: naive and closed book."""

import ramify.graphs as graphs
from tests.river import QUESTION, but, replies, river


def test_a_chain_is_a_path_and_each_question_knows_the_answers_before() -> None:
    chat = but()
    result = graphs.ask(QUESTION, "chain", model=chat, index=river())
    assert list(result.tree) == ["0", "0.0", "0.0.0"]
    assert [finding["answer"] for finding in chat.asked("next_question")[2]["history"]] == ["Paris", "Seine"]


def test_a_chain_stops_after_l_questions_with_at_most_two_calls_each_and_one_more() -> None:
    chat = but(next_question=lambda slots: {"done": False, "question": f"question {len(slots['history'])}?"})
    result = graphs.ask(QUESTION, "chain", model=chat, index=river(), max_depth=3)
    assert len(result.tree) == 4
    assert result.usage.llm_calls == 2 * 3 + 1


def test_a_chain_stops_when_a_question_repeats() -> None:
    chat = but(next_question={"done": False, "question": "Where?"})
    result = graphs.ask(QUESTION, "chain", model=chat, index=river())
    assert list(result.tree) == ["0", "0.0"]
    assert "repeats" in result.tree["0.0"].note


def test_naive_is_one_search_and_one_call() -> None:
    result = graphs.ask(QUESTION, "naive", model=but(), index=river(), style="short")
    assert (result.usage.llm_calls, result.usage.retrievals) == (1, 1)
    assert result.answer == replies("answer", {"question": QUESTION})["answer"]


def test_closed_book_never_searches() -> None:
    result = graphs.ask(QUESTION, "closed-book", model=but(), index=river())
    assert result.usage.retrievals == 0
    assert result.citations == []


def test_beside_unknown_is_noted_what_the_passages_tell_all_the_same() -> None:
    told = {"answer": "Unknown", "missing": "France; its capital\nis not told."}
    assert (
        graphs.ask(QUESTION, "naive", model=but(answer=told), index=river()).tree["0"].note == "missing: France, its capital is not told."
    )
    assert not graphs.ask(QUESTION, "naive", model=but(answer={**told, "answer": "Seine"}), index=river()).tree["0"].note


def test_a_chain_shows_what_is_known_where_there_is_no_answer_and_nothing_of_how_it_came_to_that() -> None:
    answers = iter([{"answer": "Unknown", "missing": "It is in Europe."}, {"answer": "Unknown"}])
    chat = but(answer=lambda slots: {**replies("answer", slots), **next(answers)})
    graphs.ask(QUESTION, "chain", model=chat, index=river())
    shown = [messages[-1].text for (name, _), messages in zip(chat.calls, chat.heard, strict=True) if name == "next_question"]
    assert "1. What is the capital of France? -> no answer (It is in Europe.)\n2. " in shown[2]
    assert shown[2].count("-> no answer\n") == 1
