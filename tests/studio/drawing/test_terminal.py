"""An answer in the terminal, and what page and terminal both say."""

import json
import re
from io import StringIO

import pytest
from rich.console import Console

from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import figure, shorten_note
from ramify.studio.drawing.page import result_page
from ramify.studio.drawing.phrases import STOP_REASONS, understood_as
from ramify.studio.drawing.terminal import print_answer
from ramify.tools.quoting import snippet
from tests.faults import fault
from tests.studio.drawing.test_page import EVIL, read
from tests.studio.samples import TREE, result


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_prints_everything_without_colour(width: int) -> None:
    drawn = terminal(width)
    assert "\x1b" not in drawn
    assert all(len(line) <= width for line in drawn.splitlines())
    words = " ".join(re.sub("[│├└─]", " ", drawn).split())
    for branch_ in TREE.values():
        assert f"{branch_.path} {branch_.status} " in words
        assert branch_.question in words
        assert shorten_note(branch_.note).rest in words
    assert "[1] Warsaw · Geography" in words
    assert "0.3 leaf · filled Which river" in words
    assert "judged 0.85" in words
    assert "9,210 tokens in, 431 out" in words


@fault("interfaces", "terminal commands in a document", sees="shown as their codes", kept="all", code=0)
def test_the_terminal_obeys_no_document() -> None:
    tree = {"0": Branch(path="0", question=EVIL, status="leaf", answer="[bold]x[/bold]\n" + EVIL, note=EVIL)}
    drawn = terminal(200, tree=tree, answer=EVIL, explanation=EVIL)
    assert "\x1b" not in drawn
    assert "[bold]x[/bold]" in drawn


@pytest.mark.parametrize("reason", STOP_REASONS)
def test_both_say_why_it_stopped(reason: str) -> None:
    assert STOP_REASONS[reason] in " ".join(terminal(400, stopped_by=reason).split())
    assert STOP_REASONS[reason].capitalize() in result_page(result(stopped_by=reason))


def test_both_say_that_a_passage_was_shown_and_not_cited() -> None:
    shown = [citation.model_copy(update={"cited": False}) for citation in result().citations]
    assert "shown, not cited" in terminal(120, citations=shown)
    assert "shown, not cited" not in terminal(120)
    words = "".join(read(result_page(result(citations=shown))).words)
    assert words.count("shown, not cited") == len(shown)
    assert "Vistula[1]" in "".join(read(result_page(result())).words)
    assert "Vistula[1]" not in words, "a number behind an answer is a claim"


def terminal(width: int, **changes: object) -> str:
    file = StringIO()
    print_answer(result(**changes), Console(file=file, width=width, highlight=False), tree=True)
    return file.getvalue()


@pytest.mark.parametrize(("model", "words"), [("extractive", "a language model"), ("ollama:llama3.1:8b", "a larger model")])
def test_after_unknown_both_say_what_to_try(model: str, words: str) -> None:
    changes = {"answer": "Unknown", "settled_by": "unsettled", "model": model}
    for told in (" ".join(terminal(400, **changes).split()), result_page(result(**changes))):
        assert "one of the findings is sure enough" in told
        assert "ry: a narrower question, another strategy, or " + words in told
    assert "a narrower question" not in terminal(400) + result_page(result())
    assert "a narrower question" not in terminal(400, answer="Unknown", stopped_by="calls"), "the note says what to raise"


def test_a_very_long_question_does_not_fill_the_screen() -> None:
    question = "x" * 10_000
    tree = {"0": Branch(path="0", question=question, status="leaf", note=question)}
    long = result(question=question, tree=tree)
    assert "x" * 299 + "…" in result_page(long)
    assert "x" * 300 not in result_page(long) + terminal(400, question=question, tree=tree)
    assert json.loads(json.dumps(long.to_json()))["tree"][0]["question"] == question


@pytest.mark.parametrize(("asked", "told"), [("who was  marie curie", ""), ("Who was she?", "understood as: Who was Marie Curie?")])
def test_only_a_changed_question_is_printed(asked: str, told: str) -> None:
    assert understood_as(asked, "Who was Marie Curie?") == told


def test_a_snippet_holds_the_answer() -> None:
    text = "First things. " * 30 + "The river is the Vistula, they say. " + "Last things. " * 30
    assert "the Vistula" in snippet(text, "the Vistula")
    assert snippet(text, "the Vistula").startswith("… The river")
    assert snippet("Short.", "absent") == "Short."
    assert len(snippet("x" * 900, "absent")) < 250


def test_a_figure_is_never_more_sure_than_it_is() -> None:
    assert [figure(value) for value in (0.0, 0.5, 0.999, 1.0)] == ["0.00", "0.50", "0.99", "1.00"]
