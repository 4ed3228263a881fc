"""Where a thought ends, and what of a reply is the answer."""

from typing import Any

import pytest

from ramify.tools.models import ModelOptions, resolve
from ramify.tools.models.confidence import span_confidence
from ramify.tools.models.reply_parsing import parted
from tests.tools.models.test_thinking import LONG, MARIE, thinker
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.openai_server import Reply, completion, serving
from tests.tools.questions import GOOD, QUESTION, Answered, fresh

__all__ = ["fresh", "ollama"]

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
    assert parted(text) == (thought, said)


@pytest.mark.parametrize("content", [MARIE, DRAFT + MARIE])
async def test_a_thinking_model_behind_openais_protocol_is_read_as_any_other(content: str) -> None:
    message = {"role": "assistant", "content": content, "reasoning_content": DRAFT}
    choice = {**completion()["choices"][0], "message": message}
    with serving(lambda asked: (200, completion(choices=[choice]))) as server:
        reply = await resolve("openai:qwen3", ModelOptions(base_url=server.address)).reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)


@pytest.mark.parametrize("content", [None, "", f"<think>{LONG}", '\n{"answer": "Mar'])
async def test_a_server_whose_model_was_cut_off_in_its_thought_is_given_room_for_it(content: str | None) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        if asked["max_completion_tokens"] > 512:
            return 200, completion(MARIE)
        choice = {**completion(content)["choices"][0], "finish_reason": "length"}
        return 200, completion(choices=[choice], usage={"prompt_tokens": 300, "completion_tokens": 512, "total_tokens": 812})

    with serving(reply) as server:
        model = resolve("openai:qwen3", ModelOptions(base_url=server.address))
        cut = await model.reply(QUESTION, Answered)
        assert (cut.parsed, cut.error) == (None, "it thought until num_predict: think less")
        assert cut.remedy == "raise num_predict and num_ctx, or take a model that does not think"
        assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert model.told == ["openai:qwen3 thinks before it replies: each reply may take 2048 tokens more"]


async def test_a_reply_that_is_cut_off_in_itself_is_not_taken_for_a_thought(ollama: Ollama) -> None:
    ollama.when("polonium", Say({"answer": "Marie Curie " * 400, "confidence": 0.9}))
    model = thinker("llama3.1:8b")
    cut = await model.reply(QUESTION, Answered)
    assert (cut.parsed, cut.error) == (None, "it was cut off before its end: write less")
    assert model.told == []
