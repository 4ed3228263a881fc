"""The one way to the model: what a reply cites, and what is booked of a call that goes well and of one that does not."""

from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage

import ramify.graphs as graphs
from ramify.prompts import DECIDE
from tests.fakes import FakeModel
from tests.river import QUESTION, but, model, river

LONG = "Seine " * 50
"""About as long as `TIGHT` lets a reply be."""


@pytest.mark.parametrize(("cited", "places"), [([1], [0]), ([2, 1, 2], [1, 0]), ([0, -1, 2, 9], [1]), ([3], [2])])
def test_citations_are_the_passages_by_their_numbers_and_those_that_are_not_there_are_passed_over(
    cited: list[int], places: list[int]
) -> None:
    chat = but(answer={"answer": "Marne", "citations": cited})
    result = graphs.ask(QUESTION, "naive", model=chat, index=river(), k=3)
    shown = [quote["text"] for quote in chat.asked("answer")[0]["passages"]]
    assert [citation.text for citation in result.citations] == [shown[place] for place in places]


@pytest.mark.parametrize("cited", [[1], [3], [2, 3]])
def test_a_passage_with_the_answer_is_cited_where_the_number_is_that_of_another(cited: list[int]) -> None:
    result = graphs.ask(QUESTION, "naive", model=but(answer={"answer": "Seine", "citations": cited}), index=river(), k=3)
    assert next(citation.text for citation in result.citations if citation.cited) == "The river Seine runs through Paris."
    others = [citation for citation in result.citations if citation.cited and "Seine" not in citation.text]
    assert not others


def test_an_unknown_cites_nothing_and_a_plain_run_has_nothing_to_notice() -> None:
    result = graphs.ask(QUESTION, "naive", model=but(answer={"answer": "Unknown"}), index=river())
    assert (result.answer, result.citations, result.notices) == ("Unknown", [], [])


def test_a_call_that_timed_out_counts_as_if_it_had_written_to_the_limit() -> None:
    result = graphs.ask(QUESTION, "naive", model=model(latency=60.0), index=river(), timeout=0.05, num_predict=77)
    assert (result.usage.llm_calls, result.usage.completion_tokens) == (1, 77)
    assert result.usage.prompt_tokens > 50


def test_a_reply_that_is_repaired_costs_both_calls() -> None:
    said = iter(["no JSON " * 40, {"answer": "Seine", "confidence": 0.9, "citations": [1]}])
    once = graphs.ask(QUESTION, "naive", model=but(answer={"answer": "Seine"}), index=river(), style="short").usage
    twice = graphs.ask(QUESTION, "naive", model=but(answer=lambda slots: next(said)), index=river(), style="short").usage
    assert (twice.llm_calls, twice.critical_path_calls) == (2, 2)
    assert twice.prompt_tokens > 2 * once.prompt_tokens
    assert twice.completion_tokens > once.completion_tokens + 50


def wordy(answer: str = LONG) -> FakeModel:
    """Make a model that splits for ever, is never sure, and writes about as much as it may."""

    def said(slots: Mapping[str, Any]) -> dict[str, Any]:
        return {"answer": answer, "confidence": 0.5, "citations": [1]}

    def halves(slots: Mapping[str, Any]) -> list[str]:
        return [f"{slots['question']} a", f"{slots['question']} b"]

    return but(
        answer=said,
        decompose=lambda slots: {"simple": False, "first": halves(slots)[0], "second": halves(slots)[1]},
        decide=lambda slots: {**said(slots), "answer": "", "action": "decompose", "questions": halves(slots), "entities": []},
        finalize={"answer": answer},
        compress={"answer": answer},
    )


TIGHT = {"num_predict": 150, "context_tokens": 50}
WIDE = {"max_depth": 3, "dependent": False}


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("prune", WIDE),
        ("tor", {**WIDE, "redecompositions": 0}),
        ("iterative", {}),
        ("chain", {}),
        ("ircot", {}),
        ("react", {}),
        ("naive", {}),
    ],
)
def test_long_replies_keep_the_budget_of_tokens_also_side_by_side_and_step_after_step(strategy: str, options: dict[str, Any]) -> None:
    for allowed in range(400, 6400, 400):
        result = graphs.ask(QUESTION, strategy, model=wordy(), index=river(), max_tokens=allowed, **TIGHT, **options)
        assert result.usage.tokens <= allowed


def test_the_tokens_of_the_final_call_are_reserved() -> None:
    for allowed in range(1600, 10_000, 350):
        chat = wordy("Seine")
        result = graphs.ask(QUESTION, "tor", model=chat, index=river(), max_tokens=allowed, **TIGHT, **WIDE)
        assert result.stopped_by == "tokens"
        assert chat.calls[-1][0] == "finalize"
        assert result.answer == "Seine"


COPIED = DECIDE.examples[0].thought
CHOSEN: dict[str, Any] = {"action": "answer", "questions": [], "entities": []}
ACCEPTED: dict[str, Any] = {"tau": 0.0, "reconsider": False, "style": "short"}


def thinking(first: str, then: str = "The passage names the river.", **changed: Any) -> FakeModel:
    """Make a model whose first decision has one thought and whose next ones have another, with other answers."""
    said = iter([{**CHOSEN, "thought": first, "answer": "Loire", "confidence": 0.9, "citations": [1], **changed}])
    other = {**CHOSEN, "thought": then, "answer": "Seine", "confidence": 0.9, "citations": [2]}
    return but(decide=lambda slots: next(said, other))


@pytest.mark.parametrize("thought", [COPIED, COPIED.upper(), f" {COPIED.rstrip('.')} !"])
def test_a_reply_with_the_thought_of_an_example_is_asked_for_again_without_examples(thought: str) -> None:
    chat = thinking(thought)
    result = graphs.ask(QUESTION, "prune", model=chat, index=river(), **ACCEPTED)
    assert (result.answer, result.usage.llm_calls) == ("Seine", 2)
    assert [any(isinstance(message, AIMessage) for message in messages) for messages in chat.heard] == [True, False]
    assert result.usage.replies["decide"].valid == 1


@pytest.mark.parametrize("options", [{"shots": 0}, {"thought": False}])
def test_without_examples_or_thoughts_no_reply_is_asked_for_again(options: dict[str, Any]) -> None:
    result = graphs.ask(QUESTION, "prune", model=thinking(COPIED), index=river(), **ACCEPTED, **options)
    assert (result.answer, result.usage.llm_calls) == ("Loire", 1)


def test_a_thought_of_its_own_is_not_asked_for_again() -> None:
    result = graphs.ask(QUESTION, "prune", model=thinking("Passage 1 says so."), index=river(), **ACCEPTED)
    assert (result.answer, result.usage.llm_calls) == ("Loire", 1)


def test_it_is_asked_for_again_once_and_only_within_the_budget() -> None:
    always = graphs.ask(QUESTION, "prune", model=thinking(COPIED, then=COPIED), index=river(), **ACCEPTED)
    assert (always.answer, always.usage.llm_calls) == ("Seine", 2)
    limited = graphs.ask(QUESTION, "prune", model=thinking(COPIED), index=river(), **ACCEPTED, max_calls=2)
    assert (limited.answer, limited.usage.llm_calls, limited.stopped_by) == ("Loire", 1, "finished")


def test_a_malformed_reply_without_examples_leaves_the_first_one() -> None:
    said = iter([{**CHOSEN, "thought": COPIED, "answer": "Loire", "confidence": 0.9, "citations": [1]}])
    result = graphs.ask(QUESTION, "prune", model=but(decide=lambda slots: next(said, "no JSON")), index=river(), **ACCEPTED)
    assert (result.answer, result.usage.llm_calls) == ("Loire", 2)
