"""ToR-RAG: a half without an answer is asked anew or split, the question itself is searched; and what the paper does instead."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel, library
from tests.river import FIRST, QUESTION, TEXTS, but, river

UNKNOWN = {"answer": "Unknown", "confidence": 0.9, "citations": []}
PARIS = {"answer": "Paris", "confidence": 0.97, "citations": [1]}
WELL = {"non_redundancy": 5, "consistency": 5, "decomposition": 5, "weaker": "neither"}
OTHER, BETTER = "Which stream is in France?", "What flows through Paris?"


def answering(known: Mapping[str, str]) -> Any:
    """Answer the questions in the table, no other."""
    return lambda slots: {**PARIS, "answer": known[slots["question"]]} if slots["question"] in known else UNKNOWN


def judging(answered: float = 5.0, unanswered: float = 0.0) -> Any:
    """Judge sufficiency by whether both halves have an answer, and all else as perfect."""
    return lambda slots: {**WELL, "sufficiency": unanswered if "no answer" in (slots["first_answer"], slots["second_answer"]) else answered}


def splitting(*pairs: tuple[str, str]) -> Any:
    """Split the question in one pair after another, the last again and again, and no other question."""
    tries = iter(pairs)

    def split(slots: Mapping[str, Any]) -> dict[str, Any]:
        first, second = next(tries, pairs[-1]) if slots["question"] == QUESTION else ("", "")
        return {"simple": not first, "first": first, "second": second}

    return split


def ask(chat: FakeModel, **options: Any) -> graphs.Result:
    return graphs.ask(QUESTION, "tor", model=chat, index=river(), **{"max_depth": 1, "style": "short", **options})


KNOWN = {FIRST: "Paris", BETTER: "Seine"}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("weaker", ["1", "2", "neither"])
def test_a_half_without_an_answer_is_asked_anew_though_the_mean_is_above_theta(order: int, weaker: str) -> None:
    chat = but(
        answer=answering(KNOWN),
        judge=lambda slots: {**judging()(slots), "weaker": weaker},
        decompose=splitting((FIRST, OTHER)[::order], (FIRST, BETTER)[::order]),  # type: ignore[arg-type]
    )
    tree = ask(chat).tree
    assert [tree[path].status for path in ("0", "0.0", "0.1", "0.2", "0.3")] == ["inner", "pruned", "pruned", "leaf", "leaf"]
    assert {tree[path].question: tree[path].answer for path in ("0.2", "0.3")} == KNOWN
    assert [call["question"] for call in chat.asked("answer")].count(FIRST) == 1, "its answer is carried over"
    findings = {finding["answer"] for finding in chat.asked("finalize")[0]["findings"]}
    assert findings == {"Paris", "Seine"}


@pytest.mark.parametrize("again", [(FIRST, OTHER), (FIRST, ""), ("", ""), (FIRST, QUESTION)])
def test_a_fork_stays_where_no_better_half_is_found_and_its_answer_is_not_lost(again: tuple[str, str]) -> None:
    chat = but(answer=answering(KNOWN), judge=judging(), decompose=splitting((FIRST, OTHER), again))
    tree = ask(chat).tree
    assert [tree[path].status for path in ("0", "0.0", "0.1")] == ["inner", "leaf", "leaf"]
    assert list(tree) == ["0", "0.0", "0.1"]
    assert {finding["answer"] for finding in chat.asked("finalize")[0]["findings"]} == {"Paris", "Unknown"}


def test_a_half_that_is_not_asked_better_is_split_below() -> None:
    def decompose(slots: Mapping[str, Any]) -> dict[str, Any]:
        pairs = {QUESTION: (FIRST, OTHER), OTHER: (BETTER, "Is it wide?")}
        first, second = pairs.get(slots["question"], ("", ""))
        return {"simple": not first, "first": first, "second": second}

    chat = but(answer=answering(KNOWN), judge=judging(), decompose=decompose)
    tree = ask(chat, max_depth=2).tree
    assert tree["0.1.0"].answer == "Seine"
    assert tree["0"].status == "inner"


def test_a_malformed_reply_leaves_the_fork_as_it_is() -> None:
    split = splitting((FIRST, OTHER))
    chat = but(answer=answering(KNOWN), judge=judging(), decompose=lambda slots: split(slots) if not slots["kept"] else "no JSON")
    tree = ask(chat).tree
    assert [tree[path].status for path in ("0", "0.0", "0.1")] == ["inner", "leaf", "leaf"]


@pytest.mark.parametrize(
    ("known", "options", "unanswered"),
    [
        ({FIRST: "Paris", OTHER: "Seine"}, {}, 0.0),
        (KNOWN, {"redecompositions": 0}, 0.0),
        (KNOWN, {"repair": False}, 0.0),
        (KNOWN, {}, 2.5),
    ],
)
def test_a_fork_is_kept_as_it_is_where_nothing_is_to_be_asked_anew(known: Any, options: dict[str, Any], unanswered: float) -> None:
    chat = but(answer=answering(known), judge=judging(0.0, unanswered), decompose=splitting((FIRST, OTHER), (FIRST, BETTER)))
    result = ask(chat, **options)
    assert list(result.tree) == ["0", "0.0", "0.1"]
    assert result.tree["0"].status == "inner"
    assert len(chat.asked("decompose")) == 1


def test_the_paper_judges_a_fork_of_two_unknowns_decomposes_again_and_prunes() -> None:
    count = iter(range(99))

    def anew(slots: Mapping[str, Any]) -> dict[str, Any]:
        number = next(count)
        return {"simple": False, "first": f"What is river {number}?", "second": f"Which town has {number} bridges?"}

    bad = {"sufficiency": 0, "non_redundancy": 1, "consistency": 1, "decomposition": 1, "weaker": "neither"}
    chat = but(answer=lambda slots: UNKNOWN, judge=bad, decompose=anew)
    result = ask(chat, preset="paper", max_depth=3)
    assert [name for name, _ in chat.calls].count("judge") == 2
    assert len(chat.asked("decompose")) == 2
    assert {branch.status for path, branch in result.tree.items() if path != "0"} == {"pruned"}
    assert "below theta" in result.tree["0.0"].note
    assert result.usage.llm_calls == 2 * (1 + 1 + 2 + 1) + 1, "two pairs, each scored, answered and judged; and the question itself"


ONLY_WHOLE = "The Seine is the river that runs through the capital of France."
"""Found by the words of the whole question alone."""
PARTS = ("Name Orrin?", "Name Belk?")
SHELF = library(ONLY_WHOLE, *(f"Orrin {n} name." for n in range(8)), *(f"Belk {n} name." for n in range(8)))


@pytest.mark.parametrize(("options", "reached"), [({}, True), ({"search_root": False}, False), ({"preset": "paper"}, False)])
def test_what_the_whole_question_finds_competes_for_the_final_call(options: dict[str, Any], reached: bool) -> None:
    chat = but(decompose=splitting(PARTS), answer={"answer": "Belk", "confidence": 0.97, "citations": []})
    result = graphs.ask(QUESTION, "tor", model=chat, index=SHELF, max_depth=1, style="short", final_k=20, **options)
    [final] = chat.asked("finalize")
    assert (ONLY_WHOLE in [passage["text"] for passage in final["passages"]]) is reached
    assert result.usage.retrievals == 2 + reached
    assert ("passages" in chat.asked("decompose")[0]) is reached
    assert [finding["path"] for finding in final["findings"]] == ["0.0", "0.1"]


def test_what_the_whole_question_finds_costs_no_call() -> None:
    calls = [[name for name, _ in chat.calls] for search in (True, False) for chat in [but()] if ask(chat, search_root=search)]
    assert calls[0] == calls[1]


def test_a_whole_question_that_was_searched_is_answered_without_another_search() -> None:
    chat = but(decompose={"simple": True, "first": "", "second": ""})
    result = ask(chat)
    assert (result.usage.retrievals, result.usage.llm_calls) == (1, 2)


ONE = {"simple": False, "first": "Which river runs through Paris?", "second": "", "citations": [1]}


@pytest.mark.parametrize("options", [{}, {"rubric": True}, {"judged": False}, {"repair": False}])
def test_what_passages_leave_open_may_be_one_question_beside_what_they_tell(options: dict[str, Any]) -> None:
    chat = but(decompose=lambda slots: ONE if slots["question"] == QUESTION else {"simple": True}, answer={"confidence": 0.97})
    result = graphs.ask(QUESTION, "tor", model=chat, index=river(), style="short", **options)
    assert list(result.tree) == ["0", "0.0"]
    assert not chat.asked("judge") + chat.asked("rubric"), "there is no pair to score"
    told = chat.asked("decompose")[0]["passages"][0]["text"]
    assert told in [passage["text"] for passage in chat.asked("finalize")[0]["passages"][:2]], "what tells a part reaches the final call"


def test_one_question_without_an_answer_is_dropped_and_the_whole_is_answered() -> None:
    chat = but(decompose=lambda slots: ONE, answer=answering({QUESTION: "Seine"}))
    result = graphs.ask(QUESTION, "tor", model=chat, index=library(*TEXTS), style="short", max_depth=1)
    assert (result.tree["0.0"].status, result.answer) == ("pruned", "Seine")


def test_a_question_that_was_not_searched_is_split_in_two() -> None:
    chat = but(decompose=ONE)
    assert list(ask(chat, search_root=False).tree) == ["0"]


def test_an_unsure_answer_cites_what_it_did_when_its_question_is_split() -> None:
    def split(slots: Mapping[str, Any]) -> dict[str, Any]:
        pairs = {QUESTION: (FIRST, OTHER), FIRST: ("Which town is it?", "Which land is it?")}
        first, second = pairs.get(slots["question"], ("", ""))
        return {"simple": not first, "first": first, "second": second, "citations": [3]}

    chat = but(decompose=split, answer={"answer": "Paris", "confidence": 0.5, "citations": [1]})
    half = ask(chat, max_depth=2).tree["0.0"]
    assert half.cited == half.evidence[:1]
