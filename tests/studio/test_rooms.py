"""The way of a question through the rooms: down from the command line to the steps, back with the answer, and on to the page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

from ramify.graphs.run import ask
from tests.studio.conftest import Ramify

VALUES = {"graphs.run", "nodes.tree", "nodes.state", "nodes.tree.citation"}
"""What an answer is made of: its page reads that, and takes no step again."""
TEXTS = {"tools.english", "tools.text_location", "tools.quoting", "tools.scrub"}


class Way:
    """The rooms of ramify that the main thread enters, in order: on the way to the answer, and from there to the page."""

    def __init__(self) -> None:
        self.there: list[str] = []
        self.back: list[str] = []
        self.is_answered = False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Take in what Python tells of a call, or of the end of one."""
        if event == "return" and frame.f_code is ask.__code__:
            self.is_answered = True
        package, *names = str(frame.f_globals.get("__name__", "")).split(".")
        way = self.back if self.is_answered else self.there
        called = event == "call" and frame.f_code.co_flags & CO_OPTIMIZED  # a module or a class that is loaded is not
        if called and package == "ramify" and (room := ".".join(names[:2])) not in way:
            way.append(room)


@contextmanager
def followed() -> Iterator[Way]:
    way, before = Way(), sys.getprofile()
    sys.setprofile(way)
    try:
        yield way
    finally:
        sys.setprofile(before)


def test_a_question_goes_down_to_the_steps_and_its_answer_straight_to_the_page(ramify: Ramify, built: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ("ask", "Which river does the city lie on in which Marie Curie was born?", "--index", built, "--model", "extractive")
    with followed() as way:
        done = ramify(*asked, "--html", page)
    assert done.code == 0, done.err
    assert page.is_file()

    floors = list(dict.fromkeys(room.partition(".")[0] for room in way.there))
    assert [floor for floor in floors if floor != "tools"] == ["studio", "graphs", "nodes", "prompts"]
    assert {"studio.cli", "studio.commands", "graphs.run", "tools.models"} <= set(way.there)
    assert {"studio.drawing", "tools.pages"} & set(way.there) == set(), "nothing is drawn before there is an answer"

    assert {"studio.drawing", "tools.pages"} <= set(way.back)
    assert set(way.back) - VALUES - TEXTS == {"studio.console", "studio.drawing", "tools.new_files", "tools.pages"}
