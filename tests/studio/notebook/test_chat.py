"""The chat in a notebook, driven as a user drives it: text into the box, a click; without a browser."""

import asyncio
from typing import Any

import pytest

from ramify.studio import Chat
from ramify.studio.notebook._chat import TurnWidget
from ramify.tools.errors import UsageError
from tests.fakes import FakeModel
from tests.river import QUESTION, but, model, replies, river


def chat(strategy: str = "tor", **options: Any) -> Chat:
    return Chat(strategy=strategy, **{"index": river(), "model": model(), **options})


async def answered(chat: Chat, question: str = QUESTION) -> TurnWidget:
    """Ask through the box, wait for the end, and give the newest turn."""
    chat.box.value = question
    chat.send.click()
    await wait_idle(chat)
    return chat.turns[-1]


async def wait_idle(chat: Chat) -> None:
    """Wait until nothing runs; what went wrong is for the turn to tell."""
    if chat.running is not None:
        await asyncio.wait({chat.running})
    await asyncio.sleep(0)


async def wait_until(condition: Any) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 — a widget tells nobody what it shows
            await asyncio.sleep(0.01)


def html(widget: Any) -> str:
    """Give all that a widget and those in it say."""
    return " ".join([str(getattr(widget, "value", "")), *map(html, getattr(widget, "children", ()))])


async def test_a_question_is_answered_with_its_tree() -> None:
    widget = chat()
    turn = await answered(widget)
    told = html(turn)
    for words in (
        "Seine",
        "confidence",
        "The river <mark>Seine</mark> runs through Paris.",
        "5 model calls",
        "tor · FakeModel",
        "InMemoryVectorStore",
        "judged",
    ):
        assert words in told
    assert told.count('<article class="card') == len(widget.results[0].tree) == 3
    assert widget.box.value == ""
    assert (widget.send.disabled, widget.stop.disabled) == (False, True)


async def test_the_growing_tree_is_displayed() -> None:
    waiting = asyncio.Event()

    class Slow(FakeModel):
        async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            if "judge" in str(messages[-1].additional_kwargs["ramify"]["prompt"]):
                await waiting.wait()
            return await super()._agenerate(messages)

    widget = chat(model=Slow(replies=replies, logprobs=True))
    widget.box.value = QUESTION
    widget.send.click()
    assert "getting ready …" in html(widget)
    await wait_until(lambda: "judging …" in html(widget.turns[0]))
    growing = html(widget.turns[0])
    assert 'class="card working busy"' in growing
    assert "<b>Seine</b>" in growing
    waiting.set()
    await wait_idle(widget)
    assert "busy" not in html(widget.turns[0])


async def test_enter_sends_what_was_typed() -> None:
    widget = chat("naive")
    widget.box._handle_custom_msg({"event": "submit"}, [])  # as the browser tells: first the key, then the text
    widget.box.value = QUESTION
    await wait_until(lambda: widget.results)
    assert [result.question for result in widget.results] == [QUESTION]


async def test_only_one_question_at_a_time() -> None:
    widget = chat(model=model(latency=600))
    widget.box.value = QUESTION
    widget.send.click()
    assert (widget.send.disabled, widget.stop.disabled) == (True, False)
    assert "Stop" in widget.box.placeholder
    widget.box.value = "And another?"
    widget.box._handle_custom_msg({"event": "submit"}, [])
    await wait_until(lambda: "a question is being answered" in html(widget.warning))
    assert (len(widget.turns), widget.box.value) == (1, "And another?")
    with pytest.raises(UsageError, match="press Stop"):
        widget.ask("And another?")
    widget.stop.click()
    await wait_idle(widget)


async def test_a_hanging_model_is_stopped_and_the_question_stays_in_the_box() -> None:
    hanging = model(latency=600)
    widget = chat(model=hanging)
    widget.box.value = QUESTION
    widget.send.click()
    await wait_until(lambda: "splitting …" in html(widget.turns[0]))
    widget.stop.click()
    await wait_idle(widget)
    told = html(widget.turns[0])
    assert "Stopped after" in told
    assert "The tree so far" in told
    assert "busy" not in told
    assert (widget.box.value, widget.conversation.messages, widget.running) == (QUESTION, [], None)
    hanging.latency = 0
    assert "Seine" in html(await answered(widget))


async def test_a_follow_up_is_understood_from_the_turns_before() -> None:
    widget = chat(model=but(contextualize={"question": "Which river runs through Paris?"}))
    await answered(widget)
    first, second = widget.turns[0], await answered(widget, "And what runs through it?")
    assert "understood as: Which river runs through Paris?" in html(second)
    assert "And what runs through it?" in html(second)
    assert "understood as" not in html(first)
    assert '<details class="found" open="">' in html(second)
    assert '<details class="found">' in html(first)


async def test_every_turn_has_names_of_its_own() -> None:
    widgets = chat("naive"), chat("naive")
    turns = [await answered(widget) for widget in widgets for _ in range(2)]
    assert len({turn.prefix for turn in turns}) == 4
    assert all(f'id="{turn.prefix}source-1"' in html(turn) and f'href="#{turn.prefix}source-1"' in html(turn) for turn in turns)
