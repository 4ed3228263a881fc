"""Iterative RAG and the chain: when their loops go on, search anew and stop."""

from typing import Any

import ramify.graphs as graphs
from ramify.nodes.filter import priority
from ramify.nodes.state import Search
from ramify.nodes.tree import Passage
from tests.fakes import library
from tests.river import QUESTION, TEXTS, but, replies, river

POOR: dict[str, Any] = {
    "relevant": [], "facts": [], "topics": [], "files": [], "pages": [], "is_sufficient": False, "relevance": 0.1, "suggested": ""
}  # fmt: skip
SHELF = library(*TEXTS, *(f"Filler number {n} about nothing." for n in range(40)))


def run(chat: Any, **options: Any) -> graphs.Result:
    """Ask with Iterative RAG over many passages."""
    return graphs.ask(QUESTION, "iterative", model=chat, index=SHELF, batch=4, **options)


def test_the_filter_reads_until_the_rounds_are_used_up_and_says_so() -> None:
    chat = but(filter=POOR)
    result = run(chat)
    assert len(chat.asked("filter")) == 5
    assert result.stopped_by == "rounds"
    assert result.answer == "Unknown"
    assert {branch.status for path, branch in result.tree.items() if path != "0"} == {"pruned"}


def test_no_passage_is_read_twice() -> None:
    chat = but(filter=POOR)
    run(chat)
    read = [quote["text"] for call in chat.asked("filter") for quote in call["passages"]]
    assert len(read) == len(set(read)) == 20


def test_enough_facts_stop_the_loop() -> None:
    chat = but(
        filter=lambda slots: {**POOR, "relevant": [1], "relevance": 0.9, "facts": [f"fact {n} of {len(slots['facts'])}" for n in range(3)]}
    )
    result = run(chat)
    assert len(chat.asked("filter")) == 2
    assert result.stopped_by == "finished"


def test_three_poor_rounds_search_the_suggested_query() -> None:
    chat = but(filter={**POOR, "suggested": "Tiber"})
    result = run(chat)
    grown = [branch for branch in result.tree.values() if branch.question == "Tiber"]
    assert len(grown) == 1
    assert grown[0].evidence


def test_what_helped_hangs_on_the_branch_that_found_it() -> None:
    result = graphs.ask(QUESTION, "iterative", model=but(), index=river())
    helped = {key for branch in result.tree.values() for key in branch.evidence}
    assert len(helped) == 2
    assert result.explanation


def test_without_a_plan_the_question_itself_is_searched_and_the_tree_says_so() -> None:
    result = graphs.ask(QUESTION, "iterative", model=but(plan="no plan"), index=river())
    assert result.tree["0.0"].question == QUESTION
    assert "no plan" in result.tree["0"].note
    assert result.answer == "Seine"


def test_priority_adds_what_the_method_says() -> None:
    passage = Passage(id="1", text="서울의 강은 한강이다.", source="강.pdf", score=0.5, metadata={"page": 3, "title": "Han"})
    search = Search(files=("강.pdf",), pages=("강.pdf:3",), keywords=("한강", "HAN", "Rhine"))
    assert priority(passage, search) == 0.5 + 0.3 + 0.2 + 0.1 * 2


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
    result = graphs.ask(QUESTION, "naive", model=but(), index=river())
    assert (result.usage.llm_calls, result.usage.retrievals) == (1, 1)
    assert result.answer == replies("answer", {"question": QUESTION})["answer"]


def test_closed_book_never_searches() -> None:
    result = graphs.ask(QUESTION, "closed-book", model=but(), index=river())
    assert result.usage.retrievals == 0
    assert result.citations == []
