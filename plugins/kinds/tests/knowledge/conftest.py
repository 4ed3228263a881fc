"""The valley as an index with and without a graph, and copies of both."""

import shutil
from pathlib import Path

import pytest

from tests.tools.knowledge.graph_model import build_index
from tests.tools.knowledge.valley import SMALL, build_index_with_graph, copy_index


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index without a graph."""
    return build_index(tmp_path_factory.mktemp("valley") / "index")


@pytest.fixture
def folder(plain: Path, tmp_path: Path) -> Path:
    """Copy the index without a graph."""
    return Path(shutil.copytree(plain, tmp_path / "index"))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with a graph built by rules."""
    folder = tmp_path_factory.mktemp("valley") / "index"
    build_index_with_graph(folder, **SMALL)
    return folder


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """Copy the index with a graph."""
    return copy_index(built, tmp_path / "index")
