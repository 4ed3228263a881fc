"""Shared fixtures."""

from pathlib import Path

import pytest

from plugins.stores.tests.milvus.test_index_in_milvus import at
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
from tests.tools.index.conftest import corpus as corpus


@pytest.fixture(scope="module")
def folder(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    place = tmp_path_factory.mktemp("folder") / "index"
    Index.build([corpus], place, WordEncoder())
    return Index.open(place, WordEncoder())


@pytest.fixture(scope="module")
def stored(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    place = at(tmp_path_factory.mktemp("milvus"))
    Index.build([corpus], place, WordEncoder())
    return Index.open(place, WordEncoder())
