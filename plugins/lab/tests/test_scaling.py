"""What is fused, fitted into a prompt, drawn or reported takes work in proportion to how much there is."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from plugins.lab.tests.few_lines import make_line, write_run
from ramify.lab.report import write_report
from ramify.nodes.asking.language_model import limit_passages, most_relevant
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Branch, Passage, merge_branches
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import result_page
from ramify.studio.drawing.terminal import print_answer
from ramify.tools.search.collection_set import fuse_ranks
from tests.counted_work import growth
from tests.studio.samples import result

NEARLY_LINEAR = 5.5


def passages(size: int) -> dict[str, Passage]:
    text = "The river floods the meadows in spring, and the bridge is closed."
    return {f"p{n}": Passage(id=f"p{n}", text=f"{n} of {size}: {text}", source="a.txt", score=n % 7 / 7) for n in range(size)}


def tree(size: int) -> dict[str, Branch]:
    """A root with so many branches below it, three at each."""
    paths = ["0", *(f"0.{n // 3}" if n % 3 == 0 else f"0.{n // 3}.{n % 3}" for n in range(size))]
    return {
        path: Branch(path=path, question=f"Who built bridge {path}?", status="leaf", answer="Nobody", evidence=("p1",)) for path in paths
    }


def fused(size: int) -> object:
    hits = [Passage(id=str(n), text=f"text {n}", source=str(n), score=0.5, value=0.5) for n in range(size)]
    return fuse_ranks({"one": hits, "other": hits[::2]}, 10)


def fitted(size: int) -> object:
    made = tuple(passages(size).values())
    kept = limit_passages(made, Settings(context_tokens=10**9))
    return most_relevant(kept, size * 5, lambda some: 10 * len(some))


def draw_with(draw: Callable[[Any], object]) -> Callable[[int], object]:
    return lambda size: draw(result(tree=tree(size), passages=passages(20)))


WORK: dict[str, Callable[[int], object]] = {
    "fusion of several indexes": fused,
    "fitting passages into a prompt": fitted,
    "merging branches": lambda size: merge_branches(tree(size), tree(size)),
    "page of a tree": draw_with(result_page),
    "tree in the terminal": draw_with(lambda given: print_answer(given, Console(file=StringIO(), width=100), tree=True)),
    "tree as Mermaid": draw_with(lambda given: tree_mermaid(given.tree)),
}


@pytest.mark.parametrize("what", WORK)
def test_the_work_grows_as_what_is_given_does(what: str) -> None:
    WORK[what](1)  # what is loaded once
    assert growth(WORK[what], 60) < NEARLY_LINEAR


def test_the_work_of_a_report_grows_as_its_rows_do(tmp_path: Path) -> None:
    def report(size: int) -> None:
        rows = [make_line(number, strategy) for number in range(size) for strategy in ("naive", "prune")]
        write_report(write_run(tmp_path / str(size), *rows))

    assert growth(report, 10) < NEARLY_LINEAR
