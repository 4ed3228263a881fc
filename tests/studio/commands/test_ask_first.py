"""--ask-first in the terminal: what is proposed is shown, and decided by yes, edit or no."""

import io
import json

import pytest

from tests.studio.conftest import Outcome, Ramify

QUESTION = "In which city was the inventor of the ballpoint pen born?"
TOR = ("--strategy", "tor", "--model", "extractive", "--set", "max_depth=1", "--ask-first")
OTHER = "Who is the inventor of the telephone?"


class Terminal(io.StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> Ramify:
    """Run a command while a person types lines."""

    def call(command: tuple[str, ...], *lines: str) -> Outcome:
        monkeypatch.setattr("sys.stdin", Terminal("".join(f"{line}\n" for line in lines)))
        return ramify(*command)

    return call


def test_a_split_is_shown_and_approved(typed: Ramify) -> None:
    done = typed(("ask", QUESTION, *TOR, "splits", "--json"), "yes")
    assert (done.code, json.loads(done.out)["answer"]) == (0, "Budapest")
    assert f"Split `{QUESTION}` (branch 0) into these questions?" in done.err
    assert "first: Who is the inventor of the ballpoint pen?" in done.err
    assert "yes, edit or no" in done.err


def test_a_split_is_edited(typed: Ramify) -> None:
    done = typed(("ask", QUESTION, *TOR, "splits", "--json"), "perhaps", "E", OTHER, "")
    tree = {branch["path"]: branch["question"] for branch in json.loads(done.out)["tree"]}
    assert tree["0.0"] == OTHER
    assert tree["0.1"].startswith("In which city was")


def test_what_cannot_be_asked_is_asked_for_again_with_the_reason(typed: Ramify) -> None:
    done = typed(("ask", QUESTION, *TOR, "splits", "--json"), "edit", QUESTION, "", "no, one fact")
    [root] = json.loads(done.out)["tree"]
    assert "Not understood: " in done.err
    assert "cannot be asked" in done.err
    assert "not split: rejected by a person: one fact" in root["note"]


def test_an_unsure_answer_is_shown_before_it_is_used_and_before_it_is_given(typed: Ramify) -> None:
    done = typed(("ask", QUESTION, *TOR, "unsure", "--set", "tau=1"), "yes", "no")
    assert done.code == 0
    assert "Put this answer to `Who is the inventor of the ballpoint pen?` (branch 0.0) into" in done.err
    assert f"Give this answer to `{QUESTION}`?" in done.err
    assert "Unknown" in done.out
    assert "'Budapest' was rejected by a person" in done.out


def test_a_chat_asks_too(typed: Ramify) -> None:
    done = typed(("chat", *TOR, "splits"), QUESTION, "no", "/set ask_first=never", QUESTION)
    assert done.err.count("Split `") == 1
    assert "error" not in done.err
    assert "Budapest" in done.out


def test_ask_first_without_a_terminal_is_rejected(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    done = ramify("ask", QUESTION, *TOR, "splits")
    assert (done.code, done.out) == (2, "")
    last = done.err.splitlines()[-1]
    assert last.startswith("error: ask_first=splits ")
    assert last.endswith(", or omit --ask-first")


def test_an_input_that_ends_ends_the_question(typed: Ramify) -> None:
    done = typed(("ask", QUESTION, *TOR, "splits"))
    assert done.code == 2
    assert "error: the input ended before a decision was made" in done.err


def test_a_strategy_that_does_not_split_does_not_take_it(ramify: Ramify) -> None:
    done = ramify("ask", QUESTION, "--strategy", "naive", "--ask-first", "splits")
    assert (done.code, "naive has no setting 'ask_first'" in done.err) == (2, True)
