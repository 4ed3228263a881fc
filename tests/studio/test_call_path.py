"""The call path of a question through the packages: from the command line to the steps, back with the answer, and to the page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

from ramify.graphs.run import ask
from tests.studio.conftest import Ramify

RESULT_MODULES = {"graphs.run", "nodes.tree", "nodes.state", "nodes.tree.citation", "tools.passage"}
"""Modules that a page reads for the values of a result; it runs no step."""
MODEL_MODULES = {"nodes.asking"}
"""The command asks the model first whether it can read the question, and a model is entered from wherever it is asked."""
NOTICE_MODULES = {"tools.index", "tools.user_input"}
"""A last notice tells where an earlier version has read the documents of the index."""
TEXT_MODULES = {"tools.english", "tools.no_answer", "tools.text_location", "tools.quoting", "tools.scrub"}


class CallPath:
    """The packages of ramify that the main thread enters, in order, before and after the answer."""

    def __init__(self) -> None:
        self.before_answer: list[str] = []
        self.after_answer: list[str] = []
        self.is_answered = False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Record a call; the profiler of Python calls this."""
        if event == "return" and frame.f_code is ask.__code__:
            self.is_answered = True
        root, *names = str(frame.f_globals.get("__name__", "")).split(".")
        path = self.after_answer if self.is_answered else self.before_answer
        is_call = event == "call" and frame.f_code.co_flags & CO_OPTIMIZED  # not the import of a module or the definition of a class
        if is_call and root == "ramify" and (package := ".".join(names[:2])) not in path:
            path.append(package)


@contextmanager
def record_calls() -> Iterator[CallPath]:
    path, previous = CallPath(), sys.getprofile()
    sys.setprofile(path)
    try:
        yield path
    finally:
        sys.setprofile(previous)


def test_a_question_enters_each_package_once_and_its_answer_goes_to_the_page(ramify: Ramify, built: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("ask", "Which river does the city lie on in which Marie Curie was born?", "--index", built, "--model", "extractive")
    with record_calls() as path:
        outcome = ramify(*arguments, "--html", page)
    assert outcome.code == 0, outcome.err
    assert page.is_file()

    entered = [package for package in path.before_answer if package not in MODEL_MODULES]
    layers = list(dict.fromkeys(package.partition(".")[0] for package in entered))
    assert [layer for layer in layers if layer not in ("tools", "embedded")] == ["studio", "graphs", "nodes", "prompts"]
    assert {"studio.cli", "studio.commands", "graphs.run", "tools.models"} <= set(path.before_answer)
    assert {"studio.drawing", "tools.pages"} & set(path.before_answer) == set(), "no page is rendered before the answer"

    assert {"studio.drawing", "tools.pages"} <= set(path.after_answer)
    assert set(path.after_answer) - RESULT_MODULES - TEXT_MODULES - NOTICE_MODULES == {
        "studio.console",
        "studio.drawing",
        "tools.new_files",
        "tools.pages",
    }
