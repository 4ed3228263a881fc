"""The other wirings of PruneRAG: staged, recursive, and with a part left out."""

from typing import Any

import pytest

import ramify.graphs as graphs
from tests.graphs.test_prune import ANSWERED, splitting
from tests.river import FIRST, QUESTION, but, model, replies, river


def test_an_entity_branch_is_searched_verbatim_and_summarised() -> None:
    named = {"action": "entities", "answer": "", "confidence": 0, "citations": [], "questions": [], "entities": ["Seine", "Paris"]}
    result = graphs.ask(QUESTION, model=but(decide=lambda slots: named), index=river())
    assert [(b.kind, b.question, b.status, b.answer) for path, b in result.tree.items() if path != "0"] == [
        ("entity", "Seine", "leaf", "The Seine is a river."),
        ("entity", "Paris", "leaf", "The Seine is a river."),
    ]


def test_staged_asks_for_entities_where_a_question_cannot_be_split() -> None:
    simple = {"simple": True, "first": "", "second": ""}
    staged = but(decompose=simple)
    result = graphs.ask(QUESTION, joint=False, model=staged, index=river())
    assert result.tree["0.0"].kind == "entity"
    assert [name for name, _ in staged.calls] == ["answer", "decompose", "entities", "summarize", "finalize"]


@pytest.mark.parametrize("entities", [True, False])
def test_staged_shows_what_was_found_for_a_question_to_what_splits_it(entities: bool) -> None:
    chat, blind = but(), but()
    graphs.ask(QUESTION, joint=False, entities=entities, model=chat, index=river())
    graphs.ask(QUESTION, joint=False, entities=entities, informed=False, model=blind, index=river())
    seen, unseen = chat.asked("decompose")[0], blind.asked("decompose")[0]
    assert seen["passages"] == chat.asked("answer")[0]["passages"]
    assert seen == {**unseen, "passages": seen["passages"]}


def test_recursive_backtrace_answers_branch_by_branch() -> None:
    def halves(slots: Any) -> dict[str, Any]:
        parts = [FIRST, "Which river runs through Rome?"] if slots["question"] == QUESTION else []
        return {**ANSWERED, **replies("answer", slots), "action": "decompose" if parts else "answer", "questions": parts}

    recursive = but(decide=halves)
    result = graphs.ask(QUESTION, backtrace="recursive", model=recursive, index=river())
    assert result.answer == result.tree["0"].answer == "Seine"
    assert result.tree["0"].status == "inner"
    findings = recursive.asked("aggregate")[0]["findings"]
    assert [finding["answer"] for finding in findings] == ["Paris", "Seine"]


def test_what_the_last_hop_says_is_taken_without_a_call() -> None:
    recursive = model()
    result = graphs.ask(QUESTION, backtrace="recursive", model=recursive, index=river())
    assert (result.answer, result.tree["0"].status) == ("Seine", "inner")
    assert not recursive.asked("aggregate")
    assert {citation.text for citation in result.citations} == {"The river Seine runs through Paris.", "France has the capital Paris."}


def test_without_confidence_any_answer_is_accepted() -> None:
    result = graphs.ask(QUESTION, confidence=False, model=but(decide=lambda s: {**ANSWERED, "confidence": 0.1}), index=river())
    assert result.tree["0"].status == "leaf"


@pytest.mark.parametrize("ablation", ["answers", "entities", "adaptive"])
def test_an_ablation_is_shown_to_the_model(ablation: str) -> None:
    told = model()
    graphs.ask(QUESTION, model=told, index=river(), **{ablation: False})
    may = told.asked("decide")[0]["may"]
    assert ("Do not choose answer. " in may) == (ablation in {"answers", "adaptive"})
    assert ("Do not choose entities. " in may) == (ablation in {"entities", "adaptive"})


@pytest.mark.parametrize(
    ("ablation", "chosen"),
    [("answers", ANSWERED), ("adaptive", ANSWERED), ("entities", {**ANSWERED, "action": "entities", "entities": ["Seine"]})],
)
def test_an_ablation_does_not_take_what_it_leaves_out(ablation: str, chosen: dict[str, Any]) -> None:
    wilful = but(decide={**chosen, "confidence": 0.99})
    result = graphs.ask(QUESTION, model=wilful, index=river(), **{ablation: False})
    assert "'decide' is malformed" in result.tree["0"].note
    assert len(wilful.asked("decide")) == 2, "asked once, repaired once"
    assert list(result.tree) == ["0"]
    assert wilful.asked("answer"), "the question is answered from what was found for it"


def test_an_answer_beside_another_way_is_not_taken_where_answers_are_left_out() -> None:
    both = {**ANSWERED, "action": "decompose", "confidence": 0.99}
    result = graphs.ask(QUESTION, model=but(decide=both, answer={**ANSWERED, "answer": "Seine"}), index=river(), answers=False)
    assert result.answer == "Seine"


@pytest.mark.parametrize(("ablation", "missing"), [("answers", "answer"), ("entities", "entities"), ("adaptive", "answer")])
def test_the_schema_of_an_ablation_has_no_room_for_what_it_leaves_out(ablation: str, missing: str) -> None:
    asked = but(decide=splitting)
    graphs.ask(QUESTION, model=asked, index=river(), **{ablation: False})
    schemas = [schema for schema in asked.schemas if "action" in schema.model_fields]
    assert schemas
    for schema in schemas:
        assert missing not in schema.model_fields
        assert missing not in str(schema.model_json_schema()["properties"]["action"].get("enum", ""))
