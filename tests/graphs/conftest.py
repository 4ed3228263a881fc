"""What the tests here share."""

import pytest

from ramify.tools.knowledge.index import GraphIndex
from tests.graphs.test_global import REPORTS
from tests.tools.knowledge.valley import SMALL, build_index_with_graph, open_graph


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> GraphIndex:
    folder = tmp_path_factory.mktemp("valley") / "index"
    build_index_with_graph(folder, **SMALL)
    found = open_graph(folder)
    assert {level.number: level.communities for level in found.reports.levels} == REPORTS
    return found
