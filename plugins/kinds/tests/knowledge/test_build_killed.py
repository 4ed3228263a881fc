"""A graph build killed by SIGKILL at any point: the next run gives the file of an undisturbed build."""

from pathlib import Path

import pytest

from plugins.kinds.tests.knowledge.valley import SMALL, VALLEY, build_structure, dump, graph_file, open_graph, write
from ramify.kinds.knowledge.graph_file import GRAPH
from ramify.tools.index import Index
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.killing import killed_everywhere

MARROW = {**VALLEY, "Marrow Fair": "The Marrow Fair is held in Lisk each spring. Orla Finch opened the Marrow Fair with Ben Adair."}


def small(folder: Path) -> None:
    """Make the graph that is killed."""
    build_structure(folder, **SMALL)


SMALL_GRAPH = f"{__name__}:{small.__name__}"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    Index.build([write(tmp_path / "documents")], folder, WordEncoder())
    return folder


@fault(
    "processes",
    "killed while a graph is built",
    sees="the index without it, or with the old one",
    kept="the index; run again, the graph is that of an undisturbed run",
    code="killed",
)
def test_a_first_build(index: Path) -> None:
    copies = killed_everywhere(index, SMALL_GRAPH)
    build_structure(index, **SMALL)
    whole = 0
    for copy in copies:
        whole += (copy / GRAPH).exists()
        build_structure(copy, **SMALL)
        assert dump(copy) == dump(index), copy.name
    assert 0 < whole < len(copies)


@fault(
    "processes",
    "killed while a graph is built",
    sees="the index without it, or with the old one",
    kept="the index; run again, the graph is that of an undisturbed run",
    code="killed",
)
def test_an_update(index: Path) -> None:
    build_structure(index, **SMALL)
    before = dump(index)
    Index.build([write(index.parent / "documents", MARROW)], index, WordEncoder())
    copies = killed_everywhere(index, SMALL_GRAPH)
    assert any(dump(copy) == before for copy in copies)
    for copy in copies:
        open_graph(copy).search(["Marrow Fair"], 3)
    again = [build_structure(copy, **SMALL) for copy in copies]
    result = build_structure(index, **SMALL)
    assert 0 < result.rewritten < result.communities
    assert all(build.new_edges == result.new_edges for build in again)
    assert {dump(copy) for copy in copies} == {dump(index)}
    assert "marrow fair" in graph_file(index).graph().names
