"""Prompts asked of a real language model: the reply has the form, its span is measured, its cost is told.

The form of every reply is one that llama.cpp takes; of the prompts, in their variants, a few are asked, and all where
RAMIFY_COMBINATIONS is `all`.
"""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from ramify.nodes.asking.ask import Reply, ask, current_model
from ramify.nodes.asking.budget import Budget, call_context
from ramify.nodes.settings import Settings
from ramify.nodes.state import Replies, Usage
from ramify.nodes.tree import Passage, is_unknown
from ramify.prompts import ANSWER, DECIDE, DECOMPOSE, FILTER, FINALIZE, PLAN, RUBRIC, Prompt
from ramify.prompts.answer import CONCLUDING_ANSWER
from ramify.prompts.decide import WAYS, decide_prompt
from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.prompts.iterative import FILTER_RECORDS
from ramify.tools.models import ModelOptions, gguf
from ramify.tools.models.structured_call import json_schema
from ramify.tools.released import SMOLLM2
from tests.records.samples import ALL, sample
from tests.records.samples import NARROWED as CLOSED
from tests.smollm2 import NAME, REAL

pytestmark = REAL
FIELDS = {"judge": "sufficiency", "rubric": "verdict", "filter": "relevance"}
"""The field that a step reads the confidence of, where it is not the answer."""
BUILDING = {"prefer", "glean", "claims", "describe", "report", "map_report", "reduce", "summarize_cluster", "support"}
"""Asked once, without examples: each is long."""
ANSWERED = {"aggregate", "answer", "closed_book", "compress", "finalize", "summarize"}
LONGEST = {
    **{"filter": 1200, "plan": 1000, "decide": 512, "compress": 256, "decompose": 256, "answer": 512},
    **{"finalize": 512, "write": 512, "reduce": 640, "translate": 800, "search_or_answer": 256},
    **{
        "extract": 800,
        "glean": 800,
        "claims": 1100,
        "describe": 200,
        "report": 560,
        "map_report": 480,
        "reduce": 620,
        "summarize_cluster": 480,
        "support": 480,
    },
}
"""Tokens of a reply, for those that have several texts; 64 and the thought are enough for the others."""
PASSAGE = Passage(id="ulm", text="Ulm lies on the Danube.", source="ulm.txt", score=0.5, metadata={"title": "Ulm"})
NARROWED = [*map(decide_prompt, CLOSED), FILTER_RECORDS]
CONCLUDING = [CONCLUDING_ANSWER, decide_prompt(WAYS, concludes=True)]
"""With the answer in sentences, too."""
SWITCHED = [prompt for prompt in ALL if "dependent" in prompt.slots]


async def replied(prompt: Prompt[Any], dependent: bool = True, **options: Any) -> tuple[Reply[Any], Usage, Settings]:
    settings = Settings(model=NAME, style="full", num_predict=LONGEST.get(prompt.name, 128), num_ctx=4096, **options)
    slots = {name: value for name, value in {**sample(prompt), "dependent": dependent}.items() if name in prompt.slots}
    passages = (PASSAGE,) if slots.pop("passages", None) else None
    with call_context(settings, Budget.open(settings, Usage(), 0.0, reserves_final_call=False)) as work:
        reply = await ask(prompt, passages, FIELDS.get(prompt.name, "answer"), **slots)
    return reply, work.spent, settings


def check(prompt: Prompt[Any], reply: Reply[Any], spent: Usage, settings: Settings) -> None:
    asked = prompt.with_options(settings.thought, settings.shots, stated=False)
    assert isinstance(reply.value, asked.reply)
    assert spent.replies == {prompt.name: Replies(valid=1)}
    if (prompt.name in ANSWERED and reply.value.answer) or prompt.name in FIELDS:
        assert reply.confidence_source == "logprobs"
        assert 0 < reply.confidence <= 1
    read = sum(current_model(settings).count(str(message.content)) for message in asked.render(sample(prompt)))
    assert read * 0.9 < spent.prompt_tokens < settings.num_ctx - settings.num_predict
    assert 0 < spent.completion_tokens <= settings.num_predict


def some(prompts: Sequence[Prompt[Any]], *always: Prompt[Any]) -> pytest.MarkDecorator:
    """Run a test with prompts, all but a few of which are marked `combination`."""
    cases = [pytest.param(one, id=one.name, marks=() if one in always else pytest.mark.combination) for one in prompts]
    return pytest.mark.parametrize("prompt", cases)


def test_llama_cpp_takes_the_form_of_every_reply() -> None:
    engine = gguf.get_engine(str(SMOLLM2.path()), ModelOptions())
    asked = {"messages": [{"role": "user", "content": "?"}], "max_tokens": 1}
    with httpx.Client(headers={"Authorization": f"Bearer {engine.key}"}, timeout=None) as client:
        for prompt in [*ALL, *NARROWED, *CONCLUDING, DECOMPOSE_SEARCHED]:
            for thought in (True, False):
                form = {"name": prompt.name, "strict": True, "schema": json_schema(prompt.with_options(thought, 0).reply)}
                given = {**asked, "response_format": {"type": "json_schema", "json_schema": form}}
                told = client.post(f"{engine.address}/chat/completions", json=given)
                assert told.status_code == 200, (prompt.name, told.text)


@some([*(one for one in ALL if one.name not in BUILDING), DECOMPOSE_SEARCHED], ANSWER, DECIDE, FINALIZE)
async def test_with_a_thought_and_an_example(prompt: Prompt[Any]) -> None:
    check(prompt, *await replied(prompt, shots=1))


@some([*ALL, *NARROWED], ANSWER, FILTER, PLAN, RUBRIC)
async def test_without_a_thought_and_without_examples(prompt: Prompt[Any]) -> None:
    check(prompt, *await replied(prompt, thought=False, shots=0))


@pytest.mark.parametrize("prompt", CONCLUDING, ids=lambda prompt: str(prompt.name))
async def test_with_the_answer_in_sentences(prompt: Prompt[Any]) -> None:
    reply, spent, settings = await replied(prompt, thought=False, shots=0)
    check(prompt, reply, spent, settings)
    assert reply.value.text or is_unknown(reply.value.answer)


@some(SWITCHED, DECOMPOSE)
async def test_with_sub_questions_that_do_not_need_each_other(prompt: Prompt[Any]) -> None:
    reply, spent, settings = await replied(prompt, dependent=False, shots=1)
    assert isinstance(reply.value, prompt.with_options(settings.thought, 1, stated=False).reply)
    assert spent.replies == {prompt.name: Replies(valid=1)}


async def test_what_the_window_does_not_hold_is_left_out() -> None:
    settings = Settings(model=NAME, num_ctx=700, num_predict=128, thought=False)
    passages = tuple(PASSAGE.model_copy(update={"id": f"p{n}", "text": "The Danube is long. " * 40, "score": n / 10}) for n in range(5))
    with call_context(settings, Budget.open(settings, Usage(), 0.0, reserves_final_call=False)) as work:
        reply = await ask(ANSWER, passages, question="How long is the Danube?")
    assert reply.passages == passages[4:], "the most relevant one; neither another nor an example has room"
    assert 300 < work.spent.prompt_tokens < 700 - 128
    assert work.spent.replies == {"answer": Replies(valid=1)}
