"""What the tests here share."""

import shutil
from pathlib import Path

import pytest

from plugins.kinds.tests.knowledge.graph_model import build_index
from plugins.kinds.tests.knowledge.valley import SMALL, build_index_with_graph, open_graph
from plugins.kinds.tests.test_global import REPORTS
from ramify.kinds.knowledge.index import GraphIndex


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> GraphIndex:
    folder = tmp_path_factory.mktemp("valley") / "index"
    build_index_with_graph(folder, **SMALL)
    graph = open_graph(folder)
    assert {level.number: level.communities for level in graph.reports.levels} == REPORTS
    return graph


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index without a graph."""
    return build_index(tmp_path_factory.mktemp("valley") / "index")


@pytest.fixture
def folder(plain: Path, tmp_path: Path) -> Path:
    """Copy the index without a graph."""
    return Path(shutil.copytree(plain, tmp_path / "index"))
