"""Builds killed at any operation on a file: the old index or the new one is opened, never half of one, and the next build completes it."""

from pathlib import Path

import pytest

from ramify.tools.errors import IndexingError
from ramify.tools.index import Index, hnsw, publication
from ramify.tools.index.folder import require_manifest
from ramify.tools.index.index_store import is_searchable
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_incremental_update import change, words
from tests.tools.index.test_index import write_records
from tests.tools.index.test_updates import search_all
from tests.tools.killing import killed_everywhere

COUNT = 120
OTHERS = {"manifest.json", ".writing", ".checked"}


def update(folder: Path) -> list[str]:
    """Build the index of the records beside a folder; return the texts that were encoded."""
    Index.build([folder.parent / "records.jsonl"], folder, encoder := WordEncoder(), batch_size=50)
    return encoder.encoded


def update_large(folder: Path) -> list[str]:
    """Do it where an index of a few passages is a large one."""
    hnsw.MAX_SCANNED = publication.MIN_POSTINGS_PASSAGES = 50
    return update(folder)


@pytest.fixture(params=[update, update_large], ids=["small", "large"])
def act(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param is update_large:
        monkeypatch.setattr(hnsw, "MAX_SCANNED", 50)
        monkeypatch.setattr(publication, "MIN_POSTINGS_PASSAGES", 50)
    return f"{__name__}:{request.param.__name__}"


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - OTHERS


@fault(
    "processes",
    "killed between two files of an index",
    sees="nothing: the old index is searched",
    kept="everything; nothing is encoded again",
    code="killed",
)
def test_an_update(tmp_path: Path, act: str) -> None:
    folder = tmp_path / "index"
    write_records(tmp_path / "records.jsonl", range(COUNT))
    update(folder)
    before = search_all(folder)
    change(tmp_path / "records.jsonl", COUNT)
    copies = killed_everywhere(folder, act)
    update(tmp_path / "new")
    after = search_all(tmp_path / "new")
    states = [search_all(copy) for copy in copies]
    assert all(state in (before, after) for state in states)
    assert before in states
    assert after in states, "killed while old files were deleted"
    for copy, state in zip(copies, states, strict=True):
        published = (copy / "slots.1.npy").exists()
        encoded = update(copy)
        assert encoded == [] or not published, copy.name
        assert state == before or encoded == []
        assert (search_all(copy), files(copy)) == (after, {*require_manifest(copy).sha256})
        if "large" in act:
            assert words(copy) == words(tmp_path / "new")


def test_a_first_build(tmp_path: Path, act: str) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    write_records(tmp_path / "records.jsonl", range(COUNT))
    copies = killed_everywhere(folder, act)
    update(tmp_path / "new")
    after = search_all(tmp_path / "new")
    for copy in copies:
        if is_searchable(copy):
            assert len(Index.open(copy, WordEncoder())) == COUNT
        else:
            with pytest.raises(IndexingError, match=r"half-written|there is no index"):
                Index.open(copy, WordEncoder())
        update(copy)
        assert (search_all(copy), files(copy)) == (after, {*require_manifest(copy).sha256})
