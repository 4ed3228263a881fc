"""Models that think: each is asked not to, and by another way where that does not help; a thought is never the answer."""

import json
from typing import Any

import pytest

from ramify.tools.models import Model, ModelOptions, resolve_model
from ramify.tools.models.reply_parsing import span_confidence, split_thought
from tests.tools.ollama_replies import Answer, Fail, Request, Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.openai_server import Reply, completion, serving
from tests.tools.questions import GOOD, QUESTION, Answered, fresh

__all__ = ["fresh", "ollama"]


MARIE = json.dumps(GOOD)


LONG = "Let me see. " * 200


def thinker(name: str = "qwen3:8b", **options: Any) -> Model:
    return resolve_model(f"ollama:{name}", ModelOptions(**options))


async def test_a_model_that_can_think_is_asked_not_to(qwen: Ollama) -> None:
    qwen.when("polonium", Say(GOOD))
    for name in ("qwen3:8b", "llama3.1:8b"):
        model = thinker(name)
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
        assert model.learned_notices == []
    assert [sent.get("think") for sent in qwen.requests] == [False, None]
    assert all(sent["format"] and sent["options"]["num_predict"] == 512 for sent in qwen.requests)


async def test_a_form_that_is_dropped_without_thinking_is_asked_for_in_words(qwen: Ollama) -> None:
    qwen.when("polonium", Say(f"Here it is:\n```json\n{MARIE}\n```"))
    model = thinker()
    for _ in range(2):
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert [(sent["think"], "format" in sent) for sent in qwen.requests] == [(False, True), (False, False)]
    assert model.learned_notices == [
        "ollama:qwen3:8b does not enforce the schema of its replies while thinking is off: they are parsed from its text"
    ]


@pytest.mark.parametrize("said", ["It was Marie Curie.", '{"name": "Marie Curie"}', ""])
async def test_thinking_is_turned_on_if_replies_are_malformed_without_it(qwen: Ollama, said: str) -> None:
    qwen.when("polonium", lambda sent: Say(GOOD, thought=LONG) if sent["think"] else Say(said))
    model = thinker()
    assert (await model.reply(QUESTION, Answered)).parsed is None
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    off, on = qwen.requests
    assert (on["think"], "format" in on) == (True, True)
    assert on["options"]["num_predict"] == off["options"]["num_predict"] + model.thought_tokens == 512 + 2048
    assert model.learned_notices == [
        "ollama:qwen3:8b does not reply in JSON while thinking is off: thinking is turned on, and "
        "each reply may take 2048 additional tokens"
    ]


@pytest.mark.parametrize(
    "said",
    [
        Say(GOOD, thought=LONG),
        Say(GOOD, thought=LONG, sure=None),
        Say({**GOOD, "why": "She did. " * 50}, thought="Let me see. " * 40),
        Say(f"<think>{LONG}</think>{MARIE}"),
    ],
)
async def test_a_model_that_thinks_anyway_gets_additional_tokens(qwen: Ollama, said: Say) -> None:
    qwen.when("polonium", said)
    model = thinker(num_predict=300)
    cut = await model.reply(QUESTION, Answered)
    assert (cut.parsed, cut.error) == (None, "it thought until num_predict: think less")
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert [(sent["think"], sent["options"]["num_predict"]) for sent in qwen.requests] == [(False, 300), (True, 300 + 2048)]
    assert "ollama:qwen3:8b thinks although thinking is turned off" in model.learned_notices[0]


async def test_a_thought_without_a_start_tag_gets_additional_tokens(qwen: Ollama) -> None:
    qwen.when("polonium", Say(f"{LONG}</think>{MARIE}"))
    model = thinker(num_predict=300)
    assert (await model.reply(QUESTION, Answered)).parsed is None
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)


async def test_a_thought_that_did_no_harm_is_noticed_as_well(qwen: Ollama) -> None:
    qwen.when("polonium", Say(GOOD, thought="Let me see. " * 30))
    model = thinker()
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert "thinks although" in model.learned_notices[0]


@pytest.mark.parametrize(
    ("taken", "asked"),
    [
        ((False, True, "low", None), [False, False]),
        (("low", None), [False, "low", "low"]),
        ((None,), [False, "low", None, None]),
    ],
)
async def test_a_refused_thinking_option_is_not_sent_again(qwen: Ollama, taken: tuple[Any, ...], asked: Any) -> None:
    def reply(sent: Request) -> Answer:
        return Say(GOOD) if sent.get("think") in taken else Fail(400, '"qwen3:8b" does not support thinking')

    qwen.when("polonium", reply)
    model = thinker()
    for _ in range(2):
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert [sent.get("think") for sent in qwen.requests] == asked
    assert len(model.learned_notices) == (len(asked) > 2)


async def test_gpt_oss_is_asked_to_think_little(qwen: Ollama) -> None:
    qwen.when("polonium", Say(GOOD, thought=LONG))
    model = thinker("gpt-oss:20b")
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert [(sent["think"], sent["options"]["num_predict"]) for sent in qwen.requests] == [("low", 512 + 2048)]
    assert model.learned_notices == [
        "ollama:gpt-oss:20b cannot turn thinking off: it is set to the lowest level, and each reply may take 2048 additional tokens"
    ]


async def test_records_of_models_are_independent(qwen: Ollama) -> None:
    qwen.models["deepseek-r1:8b"] = 131072
    qwen.thinkers["deepseek-r1:8b"] = "qwen3"
    qwen.when("polonium", Say(GOOD, thought=LONG))
    await thinker().reply(QUESTION, Answered)
    assert thinker(seed=1).learned_notices, "shared by all who call the same"
    assert thinker("deepseek-r1:8b").learned_notices == []


DRAFT = '<think>\nPerhaps {"answer": "Pierre Curie", "confidence": 0.2}? No.\n</think>\n\n'


@pytest.mark.parametrize("apart", [True, False])
async def test_the_answer_is_what_follows_the_thought_and_its_tokens_alone_count(qwen: Ollama, apart: bool) -> None:
    def sure(token: str) -> float:
        return -0.5 if token.strip() in ("Marie", "Curie") else -7

    draft = DRAFT.replace("Pierre Curie", "Marie Sklodowska")
    said = Say(GOOD, thought=draft, sure=sure) if apart else Say(draft + MARIE, sure=lambda token: sure(token))
    qwen.when("polonium", said)
    reply = await thinker().reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)
    assert span_confidence(reply.raw, "answer") == pytest.approx(0.6065, abs=1e-4)
    assert "think" not in reply.raw.text


async def test_a_draft_in_a_thought_that_does_not_end_is_not_the_answer(qwen: Ollama) -> None:
    qwen.when("polonium", Say(DRAFT.replace("</think>", LONG)))
    assert (await thinker().reply(QUESTION, Answered)).parsed is None


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        (MARIE, "", MARIE),
        ("<think>\n\n</think>\n\n{}", "", "\n\n{}"),
        ("<think>a</think>b<think>c</think>{}", "abc", "{}"),
        ("a {} b</think>{}", "a {} b", "{}"),
        ("Yes. <think>a {}", "a {}", "Yes. "),
        ('{"answer": "</think>"}', "", '{"answer": "</think>"}'),
        ('```json\n{"answer": "<think>"}\n```', "", '```json\n{"answer": "<think>"}\n```'),
        ("<think>" * 20_000, "", ""),
        ("</think>" * 20_000, "", ""),
    ],
)
def test_where_a_thought_ends(text: str, thought: str, said: str) -> None:
    assert split_thought(text) == (thought, said)


@pytest.mark.parametrize("content", [MARIE, DRAFT + MARIE])
async def test_a_thinking_model_behind_openais_protocol_is_read_as_any_other(content: str) -> None:
    message = {"role": "assistant", "content": content, "reasoning_content": DRAFT}
    choice = {**completion()["choices"][0], "message": message}
    with serving(lambda asked: (200, completion(choices=[choice]))) as server:
        reply = await resolve_model("openai:qwen3", ModelOptions(base_url=server.address)).reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)


@pytest.mark.parametrize("content", [None, "", f"<think>{LONG}", '\n{"answer": "Mar'])
async def test_a_thought_that_was_cut_off_gets_additional_tokens(content: str | None) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        if asked["max_completion_tokens"] > 512:
            return 200, completion(MARIE)
        choice = {**completion(content)["choices"][0], "finish_reason": "length"}
        return 200, completion(choices=[choice], usage={"prompt_tokens": 300, "completion_tokens": 512, "total_tokens": 812})

    with serving(reply) as server:
        model = resolve_model("openai:qwen3", ModelOptions(base_url=server.address))
        cut = await model.reply(QUESTION, Answered)
        assert (cut.parsed, cut.error) == (None, "it thought until num_predict: think less")
        assert cut.remedy == "raise num_predict and num_ctx, or use a model that does not think"
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert model.learned_notices == ["openai:qwen3 thinks before it replies: each reply may take 2048 additional tokens"]


async def test_a_reply_that_is_cut_off_in_itself_is_not_taken_for_a_thought(ollama: Ollama) -> None:
    ollama.when("polonium", Say({"answer": "Marie Curie " * 400, "confidence": 0.9}))
    model = thinker("llama3.1:8b")
    cut = await model.reply(QUESTION, Answered)
    assert (cut.parsed, cut.error) == (None, "it was cut off before its end: write less")
    assert model.learned_notices == []
