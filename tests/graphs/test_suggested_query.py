"""Iterative RAG searches the query that a round suggests for what is missing: at once, or after poor rounds as in the paper."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel, library
from tests.river import but

QUESTION = "Who founded the works that cast the bell of Marle Abbey?"
BELL = "The bell of Marle Abbey was cast by Orrin Foundry."
FOUNDER = "Orrin Foundry began under Hanne Dahl."
SHELF = library(BELL, FOUNDER, *(f"Shelf paper {n} about weather." for n in range(30)))
NOTHING: dict[str, Any] = {"relevant": [], "facts": [], "sources": [], "is_sufficient": False, "relevance": 0.1, "suggested": ""}
PAPER = {"patience": 3, "low_relevance": 0.3}


def read(slots: Mapping[str, Any], query: str = "Orrin Foundry began") -> dict[str, Any]:
    """Note what is told of the bell and of its founder; suggest a query while the founder is missing."""
    helpful = [number for number, passage in enumerate(slots["passages"], 1) if passage["text"] in (BELL, FOUNDER)]
    facts = [slots["passages"][number - 1]["text"] for number in helpful]
    enough = {BELL, FOUNDER} <= {*facts, *slots["facts"]}
    found = {"relevant": helpful, "facts": facts, "is_sufficient": enough, "relevance": 0.9 if helpful else 0.1}
    return {**NOTHING, **found, "suggested": "" if enough else query}


def reader(**changes: Any) -> FakeModel:
    plan = {"primary": "bell of Marle Abbey", "sub_queries": [], "keywords": [], "expected": []}
    told = {"answer": "Hanne Dahl", "confidence": 0.9, "citations": [1], "explanation": ""}
    return but(**{"plan": plan, "filter": read, "compress": told, **changes})


def ask(chat: FakeModel, **options: Any) -> graphs.Result:
    return graphs.ask(QUESTION, "iterative", model=chat, index=SHELF, **{"top_k": 2, "batch": 2, "style": "short", **options})


def test_what_is_missing_is_searched_as_soon_as_a_round_does_not_suffice() -> None:
    chat = reader()
    result = ask(chat)
    assert [FOUNDER in [passage["text"] for passage in call["passages"]] for call in chat.asked("filter")] == [False, True]
    assert FOUNDER in [passage["text"] for passage in chat.asked("compress")[0]["passages"]]
    assert (result.usage.llm_calls, result.usage.retrievals, result.stopped_by) == (4, 2, "finished")
    assert result.tree["0.1"].question == "Orrin Foundry began"
    assert result.tree["0.1"].status == "leaf"


def test_as_in_the_paper_it_is_searched_after_three_poor_rounds_alone() -> None:
    chat = reader(filter=lambda slots: {**read(slots), "relevance": 0.7})
    assert ask(chat, **PAPER).usage.retrievals == 1, "the rounds are relevant"
    poor = reader(filter=lambda slots: {**NOTHING, "suggested": "Orrin Foundry began"})
    result = ask(poor, **{**PAPER, "top_k": 10, "rounds": 4})
    assert len(result.tree) == 3
    before = [[passage["text"] for passage in call["passages"]] for call in poor.asked("filter")[:3]]
    assert len(before) == 3
    assert (result.usage.retrievals, len(poor.asked("filter"))) == (2, 4)


def test_the_preset_is_the_paper_s() -> None:
    _, settings = graphs.strategies.configure("iterative", {"preset": "paper"})
    assert {name: getattr(settings, name) for name in PAPER} == PAPER


@pytest.mark.parametrize("again", ["bell of Marle Abbey", "Bell of  Marle Abbey?", "BELL OF MARLE ABBEY."])
def test_a_query_that_was_searched_is_not_searched_again(again: str) -> None:
    assert ask(reader(filter={**NOTHING, "suggested": again})).usage.retrievals == 1


def test_nothing_is_searched_once_facts_suffice() -> None:
    chat = reader(filter=lambda slots: {**read(slots), "is_sufficient": True, "suggested": "Orrin Foundry began"})
    assert ask(chat).usage.retrievals == 1


def test_a_new_query_every_round_stays_within_the_maximum() -> None:
    count = iter(range(9))
    result = ask(reader(filter=lambda slots: {**NOTHING, "suggested": f"paper {next(count)}"}), top_k=30)
    most = graphs.strategies.max_calls("iterative", graphs.strategies.configure("iterative", {"style": "short"})[1])
    assert most is not None
    assert (result.usage.llm_calls, result.usage.retrievals) == (6, 5), "five rounds, a search after four of them, and nothing to compress"
    assert (most.calls, most.retrievals) == (7, 13)
