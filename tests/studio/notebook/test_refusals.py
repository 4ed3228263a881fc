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
    widget = chat()
    widget.box.value = question
    widget.send.click()
    assert words in html(widget.warning)
    assert (widget.turns, widget.box.value, widget.running) == ([], question, None)


async def test_a_long_question_is_asked() -> None:
    question = "Which river runs through the capital of France? " * 208
    turn = await answered(chat("naive"), question)
    assert "Seine" in html(turn)


async def test_a_question_in_japanese_gets_a_notice(tmp_path: Path) -> None:
    turn = await answered(chat("naive", model="extractive"), "フランスの首都はどこですか？")
    assert "reads English only" in html(turn)


async def test_a_deleted_index_is_shown_as_an_error_and_the_chat_continues(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    widget = chat(index=folder)
    told = html(await answered(widget))
    assert '<section class="error" role="alert">' in told
    assert "there is no index in" in told
    assert "ramify index" in told
    assert widget.box.value == QUESTION
    shutil.copytree(built, folder)
    assert "Warsaw" in html(await answered(widget, "Where was Marie Curie born?"))
    shutil.rmtree(folder)
    assert "there is no index in" in html(await answered(widget, "Where was she born?"))
    assert len(widget.conversation.messages) == 2


async def test_awaiting_raises_what_the_turn_shows(tmp_path: Path) -> None:
    widget = chat(index=str(tmp_path / "none"))
    with pytest.raises(IndexingError, match="no index"):
        await widget.ask(QUESTION)


async def test_an_unexpected_error_is_shown_too(caplog: pytest.LogCaptureFixture) -> None:
    def broken(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ZeroDivisionError("the disk <b>melted</b>")

    class Broken(Chat):
        async def _answer(self, turn: TurnWidget, options: dict[str, Any]) -> Any:
            return broken("", {})

    widget = Broken(index=river(), model=model())
    told = html(await answered(widget))
    assert "unexpected: ZeroDivisionError: the disk &lt;b&gt;melted" in told
    assert "a question failed" in caplog.text
    assert widget.running is None


async def test_no_text_is_markup() -> None:
    evil = but(finalize={"answer": EVIL}, decompose={"first": EVIL}, contextualize={"question": EVIL})
    widget = Chat(index=river(), strategy="tor", model=evil)
    for question in (EVIL, QUESTION):
        told = html(await answered(widget, question)).replace("<style>", "")
        assert EVIL not in told
        assert "<script" not in told
        assert "<img" not in told
        assert EVIL in unescape(told)


async def test_a_turn_is_taken_away_as_json_page_or_drawing(tmp_path: Path) -> None:
    widget = chat()
    with pytest.raises(UsageError, match="nothing was answered"):
        widget.save(tmp_path / "turn.json")
    turn = await answered(widget)
    assert json.loads(widget.save(tmp_path / "turn.json").read_text(encoding="utf-8")) == widget.results[0].to_json()
    assert widget.save(tmp_path / "turn.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert widget.save(tmp_path / "turn.mmd").read_text(encoding="utf-8").startswith("flowchart TD")
    with pytest.raises(UsageError, match=r"\.json, \.html, \.mmd"):
        widget.save(tmp_path / "turn.pdf")
    for suffix in ("json", "html", "mmd"):
        assert f'download="ramify-{turn.prefix}{suffix}"'.replace(f"-{suffix}", f".{suffix}") in html(turn)


def test_the_error_on_a_missing_extra_names_the_command_to_install_it() -> None:
    code = "import sys; sys.modules['ipywidgets'] = None\nfrom ramify.studio import Chat"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'ramify-rag[notebook]'" in done.stderr.splitlines()[-1]


def test_other_interfaces_load_neither_widgets_nor_torch() -> None:
    code = "import sys, ramify.studio, ramify.studio.cli\nprint([name for name in ('ipywidgets', 'torch') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
