"""IRCoT, Self-Ask and the ReAct agent: what each searches for, when it stops, and what its answer rests on."""

import pytest

import ramify.graphs as graphs
from tests.river import FIRST, QUESTION, but, river

THOUGHTS = ["The capital of France is Paris.", "The river Seine runs through Paris.", "So the answer is: Seine."]


def test_ircot_searches_for_the_question_and_for_each_sentence_until_one_says_answer_is() -> None:
    chat = but()
    result = graphs.ask(QUESTION, "ircot", model=chat, index=river(), style="short")
    assert [branch.question for branch in result.tree.values()] == [QUESTION, *THOUGHTS]
    assert (result.tree["0"].answer, result.usage.retrievals) == ("Seine", 3)
    assert chat.calls[-1][0] == "finalize", "a reader answers from what was found"
    assert [call["sentences"] for call in chat.asked("next_thought")] == [THOUGHTS[:count] for count in range(3)]


def test_a_sentence_of_ircot_is_written_from_all_that_was_found_within_the_cap() -> None:
    chat = but()
    graphs.ask(QUESTION, "ircot", model=chat, index=river(), k=1)
    counts = [len(call["passages"]) for call in chat.asked("next_thought")]
    assert counts[0] == 1 < counts[-1]
    chat = but()
    graphs.ask(QUESTION, "ircot", model=chat, index=river(), final_k=2)
    assert {len(call["passages"]) for call in chat.asked("next_thought")} == {2}


@pytest.mark.parametrize("sentence", ["The capital of France is Paris.", ""])
def test_ircot_stops_where_a_sentence_says_nothing_new(sentence: str) -> None:
    result = graphs.ask(QUESTION, "ircot", model=but(next_thought={"sentence": sentence}), index=river())
    assert len(result.tree) == (2 if sentence else 1)
    assert "says nothing new" in list(result.tree.values())[-1].note
    assert result.answer == "Seine", "the reader answers all the same"


@pytest.mark.parametrize(("strategy", "asking"), [("self-ask", "follow_up"), ("react", "search_or_answer")])
class TestChains:
    def test_the_final_answer_is_given_without_a_further_call_and_cites_what_was_found(self, strategy: str, asking: str) -> None:
        chat = but()
        result = graphs.ask(QUESTION, strategy, model=chat, index=river(), style="short")
        assert list(result.tree) == ["0", "0.0", "0.0.0"]
        assert (result.answer, chat.calls[-1][0]) == ("Seine", asking)
        assert {citation.text for citation in result.citations if citation.cited}
        assert result.usage.llm_calls == 5

    def test_what_needs_no_further_question_is_looked_up_all_the_same(self, strategy: str, asking: str) -> None:
        at_once = {"done": True, "question": "", "answer": "Seine"}
        result = graphs.ask(QUESTION, strategy, model=but(**{asking: at_once}), index=river())
        assert [branch.question for branch in result.tree.values()] == [QUESTION, QUESTION]
        assert result.usage.retrievals == 1
        assert result.citations

    def test_at_the_limit_a_final_call_answers(self, strategy: str, asking: str) -> None:
        chat = but(**{asking: lambda slots: {"done": False, "question": f"thing {len(slots['history'])}?", "answer": ""}})
        result = graphs.ask(QUESTION, strategy, model=chat, index=river(), max_depth=2)
        assert (len(result.tree), chat.calls[-1][0], result.answer) == (3, "finalize", "Seine")

    def test_an_answer_that_is_not_known_is_unknown(self, strategy: str, asking: str) -> None:
        gives_up = {"done": True, "question": "", "answer": "Unknown"}
        chat = but(**{asking: lambda slots: gives_up if slots["history"] else {"done": False, "question": FIRST, "answer": ""}})
        result = graphs.ask(QUESTION, strategy, model=chat, index=river())
        assert (result.answer, result.confidence, result.stopped_by) == ("Unknown", None, "finished")


def test_react_condenses_what_a_search_found_in_the_light_of_those_before() -> None:
    chat = but()
    graphs.ask(QUESTION, "react", model=chat, index=river())
    first, second = chat.asked("condense")
    assert (first["query"], first["history"], second["question"]) == (FIRST, [], QUESTION)
    assert [finding["answer"] for finding in second["history"]] == ["Paris is the capital."]
    assert [finding["answer"] for finding in chat.asked("search_or_answer")[2]["history"]] == ["Paris is the capital.", "It is the Seine."]
