"""The chat in a notebook, driven as a user drives it: text into the box, a click; without a browser."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ramify.studio import Chat
from ramify.studio.notebook.turn import Turn
from ramify.tools.errors import IndexingError, UsageError
from tests.fakes import FakeModel
from tests.river import QUESTION, but, model, replies, river

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def chat(strategy: str = "tor", **options: Any) -> Chat:
    return Chat(strategy=strategy, **{"index": river(), "model": model(), **options})


async def answered(chat: Chat, question: str = QUESTION) -> Turn:
    """Ask through the box, wait for the end, and give the newest turn."""
    chat.box.value = question
    chat.send.click()
    await over(chat)
    return chat.turns[-1]


async def over(chat: Chat) -> None:
    """Wait until nothing runs; what went wrong is for the turn to tell."""
    if chat.running is not None:
        await asyncio.wait({chat.running})
    await asyncio.sleep(0)


async def until(condition: Any) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 — a widget tells nobody what it shows
            await asyncio.sleep(0.01)


def html(widget: Any) -> str:
    """Give all that a widget and those in it say."""
    return " ".join([str(getattr(widget, "value", "")), *map(html, getattr(widget, "children", ()))])


async def test_a_question_is_answered_with_its_tree() -> None:
    door = chat()
    turn = await answered(door)
    told = html(turn)
    for words in (
        "Seine",
        "confidence",
        "The river <mark>Seine</mark> runs through Paris.",
        "7 model calls",
        "tor · FakeModel",
        "InMemoryVectorStore",
        "judged",
    ):
        assert words in told
    assert told.count('<article class="card') == len(door.results[0].tree) == 3
    assert door.box.value == ""
    assert (door.send.disabled, door.stop.disabled) == (False, True)


async def test_the_tree_grows_before_the_eyes() -> None:
    waiting = asyncio.Event()

    class Slow(FakeModel):
        async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            if "judge" in str(messages[-1].additional_kwargs["ramify"]["prompt"]):
                await waiting.wait()
            return await super()._agenerate(messages)

    door = chat(model=Slow(replies=replies, logprobs=True))
    door.box.value = QUESTION
    door.send.click()
    assert "getting ready …" in html(door)
    await until(lambda: "judging …" in html(door.turns[0]))
    growing = html(door.turns[0])
    assert 'class="card working busy"' in growing
    assert "<b>Seine</b>" in growing
    waiting.set()
    await over(door)
    assert "busy" not in html(door.turns[0])


async def test_enter_sends_what_was_typed() -> None:
    door = chat("naive")
    door.box._handle_custom_msg({"event": "submit"}, [])  # as the browser tells: first the key, then the text
    door.box.value = QUESTION
    await until(lambda: door.results)
    assert [result.question for result in door.results] == [QUESTION]


async def test_only_one_question_at_a_time() -> None:
    door = chat(model=model(latency=600))
    door.box.value = QUESTION
    door.send.click()
    assert (door.send.disabled, door.stop.disabled) == (True, False)
    assert "Stop" in door.box.placeholder
    door.box.value = "And another?"
    door.box._handle_custom_msg({"event": "submit"}, [])
    await until(lambda: "a question is being answered" in html(door.said))
    assert (len(door.turns), door.box.value) == (1, "And another?")
    with pytest.raises(UsageError, match="press Stop"):
        door.ask("And another?")
    door.stop.click()
    await over(door)


async def test_a_model_that_hangs_is_stopped_and_nothing_is_lost() -> None:
    hanging = model(latency=600)
    door = chat(model=hanging)
    door.box.value = QUESTION
    door.send.click()
    await until(lambda: "splitting …" in html(door.turns[0]))
    door.stop.click()
    await over(door)
    told = html(door.turns[0])
    assert "Stopped after" in told
    assert "What had grown" in told
    assert "busy" not in told
    assert (door.box.value, door.conversation.messages, door.running) == (QUESTION, [], None)
    hanging.latency = 0
    assert "Seine" in html(await answered(door))


async def test_a_follow_up_is_understood_from_the_turns_before() -> None:
    door = chat(model=but(contextualize={"question": "Which river runs through Paris?"}))
    await answered(door)
    first, second = door.turns[0], await answered(door, "And what runs through it?")
    assert "understood as: Which river runs through Paris?" in html(second)
    assert "And what runs through it?" in html(second)
    assert "understood as" not in html(first)
    assert '<details class="found" open="">' in html(second)
    assert '<details class="found">' in html(first)


async def test_every_turn_has_names_of_its_own() -> None:
    doors = chat("naive"), chat("naive")
    turns = [await answered(door) for door in doors for _ in range(2)]
    assert len({turn.prefix for turn in turns}) == 4
    assert all(f'id="{turn.prefix}source-1"' in html(turn) and f'href="#{turn.prefix}source-1"' in html(turn) for turn in turns)


@pytest.mark.parametrize(
    ("question", "words"), [("", "empty"), ("   ", "empty"), ("x" * 20_001, "20,001 characters")], ids=["nothing", "space", "too long"]
)
async def test_what_cannot_be_asked_stays_in_the_box(question: str, words: str) -> None:
    door = chat()
    door.box.value = question
    door.send.click()
    assert words in html(door.said)
    assert (door.turns, door.box.value, door.running) == ([], question, None)


async def test_a_long_question_is_asked() -> None:
    question = "Which river runs through the capital of France? " * 208
    turn = await answered(chat("naive"), question)
    assert "Seine" in html(turn)


async def test_korean_is_told_that_the_model_reads_english(tmp_path: Path) -> None:
    turn = await answered(chat("naive", model="extractive"), "프랑스의 수도는 어디입니까?")
    assert "reads English only" in html(turn)


async def test_an_index_that_disappeared_is_a_card_and_the_chat_lives_on(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    door = chat(index=folder)
    told = html(await answered(door))
    assert '<section class="error" role="alert">' in told
    assert "there is no index in" in told
    assert "ramify index" in told
    assert door.box.value == QUESTION
    shutil.copytree(built, folder)
    assert "Warsaw" in html(await answered(door, "Where was Marie Curie born?"))
    shutil.rmtree(folder)
    assert "there is no index in" in html(await answered(door, "Where was she born?"))
    assert len(door.conversation.messages) == 2


async def test_awaiting_raises_what_the_turn_shows(tmp_path: Path) -> None:
    door = chat(index=str(tmp_path / "none"))
    with pytest.raises(IndexingError, match="no index"):
        await door.ask(QUESTION)


async def test_what_nobody_foresaw_is_a_card_too(caplog: pytest.LogCaptureFixture) -> None:
    def broken(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ZeroDivisionError("the disk <b>melted</b>")

    class Broken(Chat):
        async def _answer(self, turn: Turn, options: dict[str, Any]) -> Any:
            return broken("", {})

    door = Broken(index=river(), model=model())
    told = html(await answered(door))
    assert "unexpected: ZeroDivisionError: the disk &lt;b&gt;melted" in told
    assert "a question failed" in caplog.text
    assert door.running is None


async def test_no_text_is_markup() -> None:
    evil = but(finalize={"answer": EVIL}, decompose={"first": EVIL}, contextualize={"question": EVIL})
    door = Chat(index=river(), strategy="tor", model=evil)
    for question in (EVIL, QUESTION):
        told = html(await answered(door, question)).replace("<style>", "")
        assert EVIL not in told
        assert "<script" not in told
        assert "<img" not in told
        assert EVIL in unescape(told)


async def test_a_turn_is_taken_away_as_json_page_or_drawing(tmp_path: Path) -> None:
    door = chat()
    with pytest.raises(UsageError, match="nothing was answered"):
        door.save(tmp_path / "turn.json")
    turn = await answered(door)
    assert json.loads(door.save(tmp_path / "turn.json").read_text(encoding="utf-8")) == door.results[0].to_json()
    assert door.save(tmp_path / "turn.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert door.save(tmp_path / "turn.mmd").read_text(encoding="utf-8").startswith("flowchart TD")
    with pytest.raises(UsageError, match=r"\.json, \.html, \.mmd"):
        door.save(tmp_path / "turn.pdf")
    for suffix in ("json", "html", "mmd"):
        assert f'download="ramify-{turn.prefix}{suffix}"'.replace(f"-{suffix}", f".{suffix}") in html(turn)


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['ipywidgets'] = None\nfrom ramify.studio import Chat"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'ramify-rag[notebook]'" in done.stderr.splitlines()[-1]


def test_the_other_doors_load_neither_widgets_nor_torch() -> None:
    code = "import sys, ramify.studio, ramify.studio.cli\nprint([name for name in ('ipywidgets', 'torch') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
