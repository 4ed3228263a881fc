"""ramify chat: turns, commands, and errors that end a turn but not the conversation."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.studio.conftest import Outcome, Ramify
from tests.tools.ollama_server import Hang, Ollama, Say

BORN = {"text": "Curie was born in Warsaw [1].", "answer": "Warsaw", "confidence": 0.9, "citations": [1]}
RIVER = {"text": "Warsaw lies on the Vistula [1].", "answer": "Vistula", "confidence": 0.9, "citations": [1]}
UNDERSTOOD = "Which river does Warsaw lie on?"
MODEL = ("--model", "ollama:llama3.1:8b")


@pytest.fixture
def talk(ramify: Ramify, monkeypatch: pytest.MonkeyPatch, built: Path) -> Ramify:
    """Run `ramify chat` on lines as a program would write them."""

    def call(*lines: object) -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return ramify("chat", "--index", built, "--strategy", "naive", *MODEL)

    return call


@pytest.fixture
def answering(ollama: Ollama) -> Ollama:
    """A server that knows both answers, understands the follow-up, and is lost in thought over one question."""
    ollama.when("How tall", Hang())
    ollama.when("and on which river", Say({"question": UNDERSTOOD}))
    ollama.when(UNDERSTOOD, Say(RIVER))
    ollama.when("", Say(BORN))
    return ollama


def test_a_follow_up_is_understood_and_answered(talk: Ramify, answering: Ollama) -> None:
    done = talk("Where was Marie Curie born?", "and on which river does it lie?")
    assert done.code == 0
    assert done.out.index("Warsaw") < done.out.index("Vistula")
    assert f"understood as: {UNDERSTOOD}" in done.err
    assert "error" not in done.err


def test_an_error_ends_a_turn_and_not_the_conversation(talk: Ramify, answering: Ollama) -> None:
    done = talk("x" * 30_000, "/strategy oak", "/set k=0", "/tree", "/nonsense", "Where was Marie Curie born?")
    assert done.code == 0
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 5
    assert all(" — " in line for line in errors)
    assert all(words in "\n".join(errors) for words in ("30,000", "oak", "k=0", "nothing has been answered", "/nonsense"))
    assert "Warsaw" in done.out


def test_what_can_be_typed(talk: Ramify, answering: Ollama, tmp_path: Path) -> None:
    page = tmp_path / "answer.html"
    done = talk("Where was Marie Curie born?", "/tree", "/sources", f"/html {page}", "/set k=1", "/strategy tor", "/new", "/tree", "/help")
    assert "0 leaf" in done.out
    assert "curie.txt" in done.out
    assert "Marie Curie" in page.read_text(encoding="utf-8")
    assert all(words in done.err for words in ("k=1", "using tor from now on", "a new conversation", "nothing has been answered yet"))
    assert "/strategy NAME" in done.out


@pytest.mark.parametrize("leaving", ["/quit", "quit", "exit", " Quit ", "EXIT"])
def test_after_quit_nothing_is_asked(talk: Ramify, answering: Ollama, leaving: str) -> None:
    assert talk(leaving, "Where was Marie Curie born?").out == ""


def test_an_invalid_option_is_rejected_before_the_first_question(ramify: Ramify) -> None:
    assert ramify("chat", "--strategy", "oak").code == 2


def test_a_missing_index_is_reported_before_the_first_question(ramify: Ramify, tmp_path: Path) -> None:
    done = ramify("chat", "--index", tmp_path / "nowhere")
    assert (done.code, done.out) == (1, "")
    assert "nowhere" in done.err


def test_a_notice_is_given_once(ramify: Ramify, nowhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Who was Marie Curie?\nWho was Nikola Tesla?\n"))
    done = ramify("chat", "--strategy", "closed-book")
    assert done.err.count("using the extractive model") == 1
    assert "warning" not in done.err


def test_a_notice_of_a_failure_is_marked(ramify: Ramify, ollama: Ollama, built: Path) -> None:
    ollama.when("", Say(BORN))
    done = ramify("ask", "Where was Marie Curie born? " * 200, "--index", built, "--strategy", "prune", *MODEL, "--set", "num_ctx=1024")
    assert done.code == 1
    told, failed = done.err.splitlines()
    assert told.startswith("searched unchanged, not split: the prompt of ")
    assert failed.startswith("error: the prompt of ")


def test_a_question_in_another_language_gets_a_notice(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("ボールペンを発明した人はどの町で生まれましたか？\n"))
    done = ramify("chat", "--strategy", "naive", "--model", "extractive")
    assert done.code == 0
    assert "English only" in done.err
    assert "Unknown" in done.out


@pytest.mark.parametrize("strategy", ["prune", "iterative"])
def test_the_notice_on_other_languages_is_printed_once(ramify: Ramify, monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    asked = ("Wo wurde der Erfinder des Kugelschreibers geboren?", "¿Quién inventó el saxofón?")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join((asked[0], "Who invented the saxophone?", asked[1]))))
    done = ramify("chat", "--strategy", strategy, "--model", "extractive")
    assert [line.split(" does not look like English")[0] for line in done.err.splitlines() if "English" in line] == [repr(q) for q in asked]
    assert "English" not in done.out
    told = json.loads(ramify("ask", asked[0], "--strategy", strategy, "--model", "extractive", "--json").out)
    assert (told["answer"], len(told["notices"])) == ("Unknown", 1)
    assert told["notices"][0] in told["explanation"]


def test_ctrl_c_stops_the_answer_and_the_conversation_continues(answering: Ollama, built: Path) -> None:
    command = [str(Path(sys.executable).parent / "ramify"), "chat", "--index", str(built), "--strategy", "naive", *MODEL]
    chat = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert chat.stdin is not None
    chat.stdin.write("How tall was Marie Curie?\n")
    chat.stdin.flush()
    answering.wait_for_calls()
    chat.send_signal(signal.SIGINT)
    out, err = chat.communicate("Where was Marie Curie born?\n", timeout=60)
    assert "stopped" in err
    assert "Warsaw" in out
    assert chat.returncode == 0
