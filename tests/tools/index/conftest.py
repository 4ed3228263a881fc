"""Shared fixtures."""

from pathlib import Path

import pytest

from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_duplicates import PARTS, page, prose, text
from tests.tools.index.test_index import write_records


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_records(tmp_path_factory.mktemp("corpus") / "records.jsonl", range(100))


@pytest.fixture(scope="module")
def index(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("index") / "index"
    Index.build([corpus], folder, WordEncoder())
    return Index.open(folder, WordEncoder())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "pump.html").write_text(page(PARTS), encoding="utf-8")
    (folder / "pump.txt").write_text(text(PARTS), encoding="utf-8")
    (folder / "other.txt").write_text(prose(9), encoding="utf-8")
    return folder
