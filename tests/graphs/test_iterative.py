"""Iterative RAG and the chain: when their loops go on, search anew and stop."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes.filter import priority
from ramify.nodes.state import Search
from ramify.nodes.tree import Passage
from ramify.prompts import Filtered
from ramify.tools.errors import UsageError
from ramify.tools.models.tokens import passage_length
from tests.fakes import library
from tests.river import QUESTION, TEXTS, but, replies, river

POOR: dict[str, Any] = {
    "relevant": [], "facts": [], "files": [], "pages": [], "is_sufficient": False, "relevance": 0.1, "suggested": ""
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


def test_a_plan_that_fails_ends_no_question() -> None:
    result = graphs.ask(QUESTION, "iterative", model=but(plan="no plan"), index=river())
    assert (result.answer, result.stopped_by, result.usage.retrievals) == ("Seine", "finished", 1)
    assert [notice for notice in result.notices if "searched as it is" in notice and "'plan' is malformed" in notice]


def test_a_round_that_fails_counts_as_read_and_the_loop_goes_on() -> None:
    chat = but(filter=lambda slots: "no JSON" if lost(chat) else replies("filter", slots))
    result = run(chat)
    assert (result.answer, result.stopped_by) == ("Seine", "finished")
    assert [notice for notice in result.notices if notice.startswith("round 1 of reading was lost, and its 4 passages with it")]
    first, again, second = ({quote["text"] for quote in call["passages"]} for call in chat.asked("filter"))
    assert first == again
    assert not first & second


def lost(chat: Any) -> bool:
    """Tell whether the first round is still read: the call, and the one that repairs it."""
    return len(chat.asked("filter")) <= 2


def test_where_every_round_fails_the_result_says_that_the_model_did() -> None:
    result = run(but(filter="no JSON"))
    assert (result.answer, result.stopped_by) == ("Unknown", "error")
    assert "rounds of reading that were lost: 5 of 5" in result.explanation
    assert len(result.notices) == 5


@pytest.mark.parametrize("prompt", ["plan", "filter", "compress"])
def test_a_call_on_the_whole_question_is_made_again_where_its_failure_may_pass(prompt: str) -> None:
    chat = but(**{prompt: lambda slots: cut_off() if len(chat.asked(prompt)) == 1 else replies(prompt, slots)})
    result = graphs.ask(QUESTION, "iterative", model=chat, index=river())
    assert (result.answer, result.stopped_by, result.notices) == ("Seine", "finished", [])


def cut_off() -> Any:
    raise OSError("the wire was cut")


@pytest.mark.parametrize("prompt", ["plan", "filter", "compress"])
def test_what_a_client_raises_over_a_reply_is_told_and_ends_no_run(prompt: str) -> None:
    result = run(but(**{prompt: lambda slots: cut_off()}))
    assert any("OSError: the wire was cut" in notice for notice in result.notices)
    assert (result.answer, result.stopped_by) == (("Seine", "finished") if prompt == "plan" else ("Unknown", "error"))


def test_a_call_on_the_whole_question_is_a_task_in_the_stream() -> None:
    begun: list[str] = []

    def watch(kind: str, event: Any) -> None:
        if kind == "tasks" and isinstance(event.get("input"), tuple):
            begun.append(event["name"])

    graphs.ask(QUESTION, "iterative", watch, model=but(), index=river())
    assert begun == ["plan", "filter", "compress"]


@pytest.mark.parametrize("file", ["강.pdf", "강.pdf:3", "강.pdf:9"])
def test_priority_adds_what_the_method_says(file: str) -> None:
    passage = Passage(id="1", text="서울의 강은 한강이다.", source="강.pdf", score=0.5, metadata={"page": 3, "title": "Han"})
    search = Search(files=(file,), pages=("강.pdf:3",), keywords=("한강", "HAN", "Rhine"))
    assert priority(passage, search) == 0.5 + 0.3 + 0.2 + 0.1 * 2


def test_a_file_is_promising_under_its_own_name_alone() -> None:
    passage = Passage(id="1", text="It rains.", source="report.txt", score=0.5)
    promising = [
        priority(passage, Search(files=(name,), pages=(name,))) > 0.5 for name in ("report.txt", "report.pdf:3", "other:report.txt")
    ]
    assert promising == [True, False, False]


def test_the_other_pages_of_a_file_are_read_next_when_the_model_copies_its_source() -> None:
    def promising(slots: Any) -> Any:
        source = next((quote["source"] for quote in slots["passages"] if "Q&A.pdf" in quote["source"]), "")
        shown = source.replace("&", "&amp;")  # as the prompt shows it
        return {**POOR, "relevance": 0.9, "files": [shown] if source else [], "pages": [shown] if source else []}

    shelf = library(*(f"River number {n}." for n in range(8)))
    shelf.add_texts(["Which river runs through a capital?"], metadatas=[{"source": "Q&A.pdf", "page": 7}])
    shelf.add_texts([f"Appendix {n}." for n in range(3)], metadatas=[{"source": "Q&A.pdf", "page": n} for n in range(3)])
    chat = but(filter=promising, plan={"sub_queries": []})
    graphs.ask(QUESTION, "iterative", model=chat, index=shelf, batch=2, hybrid=False)
    first, second = ([quote["source"] for quote in call["passages"]] for call in chat.asked("filter")[:2])
    assert "Q&A.pdf:7" in first
    assert all(source.startswith("Q&A.pdf") for source in second)


def long_passages(count: int) -> Any:
    """Make a shelf of passages that fill what is shown of one."""
    return library(*(f"Chapter {n}: " + f"river {n} runs on " * 120 for n in range(count)))


def counting(chat: Any) -> Any:
    """Give the model a tokenizer of its own: an estimate is careful, and holds fewer passages in a window."""
    return chat.model_copy(update={"custom_get_token_ids": lambda text: list(range(passage_length(text)))})


def read_by(chat: Any) -> list[list[str]]:
    """List what each round read."""
    return [[quote["source"] for quote in call["passages"]] for call in chat.asked("filter")]


def test_a_batch_of_twenty_is_shown_whole_in_one_round() -> None:
    chat = counting(but(filter=POOR))
    graphs.ask(QUESTION, "iterative", model=chat, index=long_passages(30))
    assert [len(batch) for batch in read_by(chat)] == [20, 10]


def test_what_the_window_did_not_hold_is_read_in_the_next_round() -> None:
    words = ["quay", "crane", "mole", "dock", "tide", "harbour"]
    chat = but(filter={**POOR, "relevance": 0.9}, plan={"keywords": words})
    shelf = long_passages(7)
    shelf.add_texts([" ".join(words * 40)], metadatas=[{"source": "port.txt"}])
    result = graphs.ask(QUESTION, "iterative", model=chat, index=shelf, num_ctx=2048, num_predict=256)
    rounds = read_by(chat)
    assert max(map(len, rounds)) < 8
    assert rounds[0][0] == "port.txt", "most promising by its keywords, though least similar"
    assert sorted(source for batch in rounds for source in batch) == [*(f"{n}.txt" for n in range(7)), "port.txt"]
    assert result.search is not None
    assert len(result.search.seen) == 8


def test_facts_count_where_no_passage_was_named_for_them() -> None:
    chat = but(
        filter={**POOR, "relevance": 0.9, "facts": ["The Seine runs through Paris."], "is_sufficient": True}, compress={"citations": []}
    )
    result = graphs.ask(QUESTION, "iterative", model=chat, index=river())
    [final] = chat.asked("compress")
    assert final["facts"] == ["The Seine runs through Paris."]
    assert len(final["passages"]) == len(TEXTS)
    assert result.answer == "Seine"
    assert [citation.cited for citation in result.citations] == [False] * 3


def test_the_final_call_keeps_to_the_limits_of_the_method() -> None:
    def found(slots: Any) -> dict[str, Any]:
        facts = [f"Fact {n} of a round." for n in range(len(slots["facts"]), len(slots["facts"]) + 9)]
        return {**POOR, "relevance": 0.9, "relevant": list(range(1, 21)), "facts": facts}

    chat = counting(but(filter=found))
    graphs.ask(QUESTION, "iterative", model=chat, index=long_passages(50), enough_facts=12)
    [final] = chat.asked("compress")
    assert (len(final["passages"]), len(final["facts"])) == (15, 10)
    assert max(len(quote["text"]) for quote in final["passages"]) <= 500
    for name, above in (("context_tokens", 20_001), ("num_predict", 4001)):
        with pytest.raises(UsageError, match=name):
            graphs.ask(QUESTION, "iterative", model=chat, index=river(), **{name: above})


def test_the_filter_asks_for_nothing_that_nobody_reads() -> None:
    read = {"relevant", "facts", "files", "pages", "is_sufficient", "relevance", "suggested"}
    assert set(Filtered.model_fields) == read


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
