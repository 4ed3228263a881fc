"""What the tests here share."""

import pytest

from ramify.tools.knowledge.index import GraphIndex
from tests.graphs.test_global import REPORTS
from tests.tools.knowledge.valley import SMALL, made, opened


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> GraphIndex:
    folder = tmp_path_factory.mktemp("valley") / "index"
    made(folder, **SMALL)
    found = opened(folder)
    assert {level.number: level.communities for level in found.reports.levels} == REPORTS
    return found
