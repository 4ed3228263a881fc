"""Milvus is a store like any other."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugins.stores.tests.milvus.test_index_in_milvus import at
from ramify.stores.milvus._collections import Corpus, MetadataEntry
from ramify.stores.milvus._schema import parse_address
from tests.tools.index.store_contract import Location, StoreContract, by_vectors

pytest.importorskip("milvus_lite", reason="milvus-lite is not installed: pip install 'ramify-rag[milvus]'")


class TestMilvus(StoreContract):
    keeps_the_old_state = False  # documents are replaced one by one

    def results(self, where: Location) -> object:
        return by_vectors(where)

    @pytest.fixture
    def where(self, tmp_path: Path) -> Location:
        return at(tmp_path)

    @contextmanager
    def held_by_another(self, where: Location) -> Iterator[None]:
        corpus = Corpus(parse_address(str(where)))
        corpus.upsert_entries([MetadataEntry("writer", "writer", "", {"by": "elsewhere:1", "until": 4e9})])
        yield
        corpus.upsert_entries([MetadataEntry("writer", "writer", "", {"by": "elsewhere:1", "until": 0})])
