"""What is shown while a question is answered."""

from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from ramify.graphs.run import ask
from ramify.studio.console.answering import LiveTree
from tests.fakes import FakeModel, library

LIBRARY = ("Marie Curie was born in Warsaw.", "Warsaw lies on the Vistula.")


def replies(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = {"answer": "Warsaw", "confidence": 0.5, "citations": [1]}
    return {
        "decompose": {"simple": False, "first": "Where was Curie born?", "second": "Which river flows there?"},
        "judge": {"sufficiency": 4, "non_redundancy": 4, "consistency": 4, "decomposition": 4, "weaker": "1"},
        "finalize": {**answer, "settled_by": "agreement"},
    }.get(prompt, answer)


def pictures(strategy: str = "tor") -> list[str]:
    """What stands on the terminal after each event of a run."""
    watching = LiveTree(Console(file=StringIO()))
    drawn = []

    def watch(kind: str, event: Any) -> None:
        watching(kind, event)
        console = Console(file=StringIO(), width=100)
        console.print(watching.render())
        drawn.append(console.file.getvalue())

    ask("Which river flows through Curie's town?", strategy, watch, model=FakeModel(replies=replies), index=library(*LIBRARY), max_depth=1)
    return drawn


def test_it_shows_the_step_of_each_branch() -> None:
    drawn = "\n".join(pictures())
    for words in ("0 splitting …", "0.0 searching …", "0.1 answering …", "0 judging …", "→ Warsaw", "concluding"):
        assert words in drawn


def test_an_answer_is_shown_before_its_step_is_over() -> None:
    assert any("0.0 answered" in picture and "0.1 answering …" in picture for picture in pictures())


def test_nothing_is_left_at_work() -> None:
    assert "…" not in pictures()[-1]


def test_nothing_is_drawn_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    file = StringIO()
    with LiveTree(Console(file=file)) as watching:
        ask("Where was Curie born?", "naive", watching, model=FakeModel(replies=replies), index=library(*LIBRARY))
    assert file.getvalue() == ""
    assert capsys.readouterr().err == ""


def test_on_a_terminal_the_picture_vanishes() -> None:
    file = StringIO()
    with LiveTree(Console(file=file, force_terminal=True, width=100)) as watching:
        ask("Where was Curie born?", "naive", watching, model=FakeModel(replies=replies), index=library(*LIBRARY))
    drawn = file.getvalue()
    assert "Where was Curie born?" in drawn
    assert drawn.endswith("\x1b[2K")
