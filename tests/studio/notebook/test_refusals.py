"""What cannot be asked or goes wrong in the chat is shown, and the chat lives on."""

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
from ramify.studio.notebook._chat import TurnWidget
from ramify.tools.errors import IndexingError, UsageError
from tests.river import QUESTION, but, model, river
from tests.studio.notebook.test_chat import answered, chat, html

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


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


async def test_japanese_is_told_that_the_model_reads_english(tmp_path: Path) -> None:
    turn = await answered(chat("naive", model="extractive"), "フランスの首都はどこですか？")
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
        async def _answer(self, turn: TurnWidget, options: dict[str, Any]) -> Any:
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
