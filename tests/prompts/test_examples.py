"""The worked examples and the thought: right by the schema in every variant, and switched by one setting each."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

import ramify.graphs as graphs
import ramify.prompts as prompts
from ramify.nodes.settings import Settings
from ramify.prompts import Prompt
from ramify.prompts.decide import WAYS, decide_prompt
from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.prompts.iterative import FILTER_RECORDS
from ramify.prompts.lenient_types import reply_fields
from tests.records.samples import ALL, NARROWED, sample
from tests.river import FINAL, QUESTION, but, model, replies, river

THINKING = {"aggregate", "compress", "decide", "decompose", "finalize", "judge", "next_question", "search_or_answer"}
ANSWERING = (
    prompts.AGGREGATE,
    prompts.ANSWER,
    prompts.CLOSED_BOOK,
    prompts.COMPRESS,
    prompts.CONDENSE,
    prompts.FINALIZE,
    prompts.SUMMARIZE,
)
VARIED = [*map(decide_prompt, NARROWED), DECOMPOSE_SEARCHED, FILTER_RECORDS]
NONE = dict.fromkeys(("answer", "settled", "suggest"), 0)
MOST = dict.fromkeys(("finalize", "compress", "write", "check", "translate", "users", "tasks", "overview"), 1) | NONE
"""Examples of a prompt that has room for fewer than others."""
"""What the steps make of a prompt."""
VARIANTS = [
    (prompt.with_options(thought, shots), dependent)
    for prompt, thought, shots, dependent in product([*ALL, *VARIED], (True, False), (1, 2, 3), (True, False))
]
"""Every prompt as it can be told, beside a value of its switch."""


def turns(messages: list[BaseMessage]) -> list[tuple[str, dict[str, Any]]]:
    """List the examples among messages: what was asked, and the reply."""
    shown = messages[1:-1]
    assert [type(message) for message in shown] == [HumanMessage, AIMessage] * (len(shown) // 2)
    return [(asked.text, json.loads(told.text)) for asked, told in zip(shown[::2], shown[1::2], strict=True)]


def told(prompt: Prompt[Any], **slots: Any) -> list[tuple[str, dict[str, Any]]]:
    """List the examples that a prompt shows."""
    return turns(prompt.render({name: {**sample(prompt), **slots}[name] for name in prompt.slots}))


def every() -> Iterator[tuple[Prompt[Any], bool, str, dict[str, Any]]]:
    """List every example of every variant."""
    for prompt, dependent in VARIANTS:
        for asked, reply in told(prompt, dependent=dependent):
            yield prompt, dependent, asked, reply


def test_every_example_is_a_reply_as_it_is_asked_for() -> None:
    for prompt, _, _, reply in every():
        assert list(reply) == prompt.reply.model_json_schema()["required"]
        assert prompt.reply.model_validate(reply).model_dump(mode="json", exclude_unset=True) == reply, "nothing is mended, nothing cut"


def test_an_example_cites_its_own_passages_and_no_other() -> None:
    for _, _, asked, reply in every():
        numbers = [*reply.get("citations", ()), *reply.get("relevant", ())]
        assert all(f'<passage n="{number}"' in asked for number in numbers)
        assert asked.count("{") == asked.count("{1}"), "no slot is left unfilled"


@pytest.mark.parametrize("dependent", [True, False])
@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.name)
def test_as_many_examples_are_shown_as_are_wanted(prompt: Prompt[Any], dependent: bool) -> None:
    counts = [len(told(prompt.with_options(thought=True, shots=shots), dependent=dependent)) for shots in range(4)]
    most = MOST.get(prompt.name, 2)
    assert counts[:3] == [min(shots, most) for shots in range(3)]
    assert most <= counts[3] <= 3


def test_independent_pairs_are_shown_where_sub_questions_may_not_depend() -> None:
    bridges = {(prompt.name, dependent) for prompt, dependent, asked, reply in every() if "{1}" in asked + json.dumps(reply)}
    assert bridges == {(name, True) for name in ("decide", "decompose", "rubric")}
    for prompt in (prompts.DECIDE, prompts.DECOMPOSE):
        replies = [reply for _, reply in told(prompt.with_options(thought=True, shots=1), dependent=False)]
        assert [len([reply for reply in replies if reply.get("questions") or reply.get("second")])] == [1]


@pytest.mark.parametrize("ways", [*NARROWED, WAYS])
@pytest.mark.parametrize("dependent", [True, False])
def test_no_example_goes_a_way_that_is_closed(ways: tuple[str, ...], dependent: bool) -> None:
    shown = [reply["action"] for _, reply in told(decide_prompt(ways).with_options(thought=True, shots=3), dependent=dependent)]
    assert shown == ["decompose", *(["answer"] if "answer" in ways else []), "decompose"], "which no ablation closes"
    action = decide_prompt(ways).reply.model_json_schema()["properties"]["action"]
    assert action.get("enum", [action.get("const")]) == list(ways)


@pytest.mark.parametrize(
    ("prompt", "field", "value"),
    [
        (prompts.DECOMPOSE, "simple", True),
        (prompts.NEXT_QUESTION, "done", True),
        (prompts.ENTITIES, "entities", []),
        (prompts.FILTER, "relevant", []),
        (prompts.RUBRIC, "verdict", "INVALID"),
        *[(prompt, "answer", "Unknown") for prompt in ANSWERING if prompt.name not in MOST],
    ],
)
def test_two_examples_show_the_other_outcome_as_well(prompt: Prompt[Any], field: str, value: Any) -> None:
    shown = [reply[field] for _, reply in told(prompt.with_options(thought=True, shots=2))]
    assert value in shown
    assert len({str(one) for one in shown}) == 2


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.name)
def test_a_thought_comes_before_the_commitment_or_not_at_all(prompt: Prompt[Any]) -> None:
    with_it, without = (prompt.with_options(thought, shots=3) for thought in (True, False))
    fields = list(with_it.reply.model_json_schema()["properties"])
    text = ["text"] if prompt.concludes else []
    assert fields == ["thought" for _ in THINKING & {prompt.name}] + text + list(reply_fields(prompt.reply))
    assert "thought" not in json.dumps(without.reply.model_json_schema()) + "".join(
        str(message.content) for message in without.render(sample(prompt))
    )


@pytest.mark.parametrize("name", sorted(THINKING))
def test_a_reply_without_its_thought_is_taken_and_a_thought_alone_is_not(name: str) -> None:
    [prompt] = [prompt.with_options(thought=True, shots=0) for prompt in ALL if prompt.name == name]
    slots = {"question": QUESTION, "history": []}
    given = dict(replies(name, slots))
    assert isinstance(prompt.reply.model_validate(given), prompt.reply)
    with pytest.raises(ValueError, match="it has none of the fields"):
        prompt.reply.model_validate({"thought": "It asks for one fact."})


def heard(**options: Any) -> dict[str, list[BaseMessage]]:
    """Ask by PruneRAG, and give the messages of the first call of each prompt."""
    chat = but()
    assert graphs.ask(QUESTION, "prune", model=chat, index=river(), **FINAL, **options).answer == "Seine"
    return {name: messages for (name, _), messages in reversed(list(zip(chat.calls, chat.heard, strict=True)))}


@pytest.mark.parametrize("shots", [0, 1, 2, 3])
@pytest.mark.parametrize("thought", [True, False])
def test_a_setting_each_switches_them(shots: int, thought: bool) -> None:
    for name, messages in heard(shots=shots, thought=thought).items():
        assert len(turns(messages)) == min(shots, MOST.get(name, 3))
        assert ('"thought"' in messages[-1].text) == thought
        assert ("examples" in messages[-1].text) == bool(shots)


def test_every_strategy_renders_its_prompts_with_thought_and_examples_if_nothing_else_is_said() -> None:
    assert (Settings().thought, Settings().shots) == (True, 2)
    assert [len(turns(messages)) for messages in heard().values()] == [1, 2]


def thoughtful(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reply as before, with a thought first."""
    return {"thought": "Seine, or is it the Loire?", **replies(prompt, slots)}


def test_the_confidence_is_that_of_the_answer_and_not_of_the_thought() -> None:
    plain = graphs.ask(QUESTION, "prune", model=but(), index=river())
    thought = graphs.ask(QUESTION, "prune", model=model(replies=thoughtful), index=river())
    assert thought.confidence == pytest.approx(plain.confidence)
    assert thought.confidence_source == "logprobs"


def test_examples_leave_a_small_window_before_any_passage_does() -> None:
    chat = but()
    graphs.ask(QUESTION, "naive", model=chat, index=river(), num_ctx=1152, num_predict=500, k=4, style="short")
    [messages] = chat.heard
    assert not turns(messages)
    assert messages[-1].text.count("<passage") == 4


def test_an_example_with_a_wrong_slot_or_another_reply_is_named() -> None:
    [example, *_] = prompts.AGGREGATE.examples
    misnamed = replace(prompts.AGGREGATE, shots=1, examples=(replace(example, slots={"quest": QUESTION}),))
    with pytest.raises(TypeError, match=r"'aggregate' has no slot .*quest"):
        misnamed.render(sample(misnamed))
    other = replace(prompts.AGGREGATE, shots=1, examples=(replace(example, reply=prompts.ENTITIES.examples[0].reply),))
    with pytest.raises(ValueError, match=r"Entities .*lacks .*answer"):
        other.render(sample(other))
