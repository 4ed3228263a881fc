"""The valley as an index with a graph, and a copy."""

from pathlib import Path

import pytest

from plugins.kinds.tests.knowledge.valley import SMALL, build_index_with_graph, copy_index


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
