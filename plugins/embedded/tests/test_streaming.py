"""A reply's text field is handed on while it is written, whichever model writes it; what comes back is the same as without."""

from itertools import pairwise
from typing import Any

import pytest

from ramify.embedded.extractive import model as extractive
from ramify.nodes.asking.ask import ask
from ramify.nodes.tree import Passage
from ramify.prompts import ANSWER
from ramify.tools.models.reply_parsing import text_so_far
from tests.nodes.asking.test_ollama_path import CHOOSE, GOOD, QUESTION, at_work, fresh, passages
from tests.tools.llamacpp import WINDOW, Engine, engine
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama, ollama

__all__ = ["engine", "fresh", "ollama"]


def grows(texts: list[str]) -> bool:
    return all(longer.startswith(shorter) and longer != shorter for shorter, longer in pairwise(texts))


async def test_an_answer_of_ollama_is_handed_on_as_it_comes_and_is_the_same_reply(ollama: Ollama) -> None:
    ollama.when(QUESTION, Say(GOOD, sure=-0.25))
    texts: list[str] = []
    with at_work() as streamed:
        reply = await ask(ANSWER, passages(1), on_text=texts.append, question=QUESTION)
    with at_work() as whole:
        assert await ask(ANSWER, passages(1), question=QUESTION) == reply
    assert (streamed.spent, streamed.shown) == (whole.spent, whole.shown)
    assert texts[-1] == "Marie Curie"
    assert len(texts) > 1
    assert grows(texts)


async def test_a_thought_and_other_fields_are_not_handed_on(ollama: Ollama) -> None:
    ollama.when(QUESTION, Say({"thought": 'The answer: {"answer": "Pierre"}', **GOOD}))
    texts: list[str] = []
    with at_work(thought=True):
        await ask(ANSWER, passages(1), on_text=texts.append, question=QUESTION)
    assert all("Marie Curie".startswith(text) for text in texts)


async def test_a_reply_that_is_asked_for_again_begins_anew(ollama: Ollama) -> None:
    ollama.when(QUESTION, Say('{"answer": "Somebody", "citations": '), Say(GOOD))
    texts: list[str] = []
    with at_work():
        reply = await ask(ANSWER, passages(1), on_text=texts.append, question=QUESTION)
    assert reply.value.answer == texts[-1] == "Marie Curie"
    assert "Somebody" in texts


async def test_a_reply_of_llamacpp_is_handed_on(engine: Engine) -> None:
    texts: list[str] = []
    with at_work(model="openai:random", base_url=engine.address, num_ctx=WINDOW, num_predict=200) as work:
        reply = await ask(CHOOSE, (), on_text=texts.append, question=QUESTION)
    assert texts[-1] == reply.value.answer
    assert reply.confidence_source == "logprobs"
    assert work.spent.completion_tokens > 0


async def test_the_embedded_model_hands_its_answer_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractive, "reply_to", lambda prompt, slots: GOOD)
    texts: list[str] = []
    with at_work(model="extractive") as work:
        reply = await ask(ANSWER, (Passage(id="p", text="x", source="x", score=1.0),), on_text=texts.append, question=QUESTION)
    assert texts == ["Marie Curie"]
    assert (reply.confidence, reply.confidence_source, reply.cited_ids(), work.spent.llm_calls) == (0.9, "reader", ("p",), 1)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("", ""),
        ("<think>{", ""),
        ('<think>x</think>{"answer": "Par', "Par"),
        ('```json\n{"answer": "Par', "Par"),
        ('{"answer": "Par\\', "Par"),
        ('{"answer": 7', ""),
        ('{"other": "Par', ""),
        ("[1", ""),
        ('{"answer": "Paris", "citations": [1', "Paris"),
    ],
)
def test_what_an_unfinished_reply_holds(written: str, text: Any) -> None:
    assert text_so_far(written, "answer") == text
