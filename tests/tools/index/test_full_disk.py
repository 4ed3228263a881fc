"""A full disk at any file: one clear error, no partial files, and the previous index is kept."""

import errno
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.publication import change_precision, publish_structure
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import write_records
from tests.tools.index.test_updates import search_all

INDEX_FILES = {".writing", "manifest.json", "passages.sqlite", "slots.npy", "vectors.faiss"}
COPY = "passages.1.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Index.build([write_records(tmp_path / "records.jsonl", range(20))], tmp_path / "index", WordEncoder())
    return tmp_path / "index"


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


class Full:
    """A file of which half is written, and then no more."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> "Full":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def write(self, data: bytes | str) -> int:
        with open(self.path, "wb") as file:
            file.write(b"half")
        raise full()


def fill_files(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the disk be full when a file of this name is written."""
    opened = Path.open

    def opening(self: Path, mode: str = "r", *more: Any, **how: Any) -> Any:
        return Full(self) if self.name == name and "w" in mode else opened(self, mode, *more, **how)

    def copying(source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise full()

    if name.startswith(COPY):
        monkeypatch.setattr(shutil, "copyfile", copying)
    else:
        monkeypatch.setattr(Path, "open", opening)


def fill_database(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the disk be full when a database of this name grows."""
    connect = sqlite3.connect

    def connecting(path: Any, *more: Any, **how: Any) -> sqlite3.Connection:
        made = connect(path, *more, **how)
        if Path(str(path)).name == name:
            made.execute(f"PRAGMA max_page_count = {made.execute('PRAGMA page_count').fetchone()[0] + 2}")
        return made

    monkeypatch.setattr(sqlite3, "connect", connecting)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@fault(
    "disk",
    "full while an index is updated",
    sees="error: the index cannot be written — make room",
    kept="the old index; what was encoded",
    code=1,
)
@pytest.mark.parametrize(
    ("fill", "name", "left"),
    [
        (fill_files, f"{COPY}.part", set()),
        (fill_database, COPY, {COPY}),
        (fill_files, "slots.1.npy", {COPY}),
        (fill_files, "vectors.1.faiss", {COPY}),
        (fill_files, "manifest.json.part", {COPY}),
    ],
)
def test_while_an_index_is_brought_up_to_date(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[..., None], name: str, left: set[str]
) -> None:
    before = search_all(folder)
    corpus = write_records(folder.parent / "records.jsonl", range(300))
    with monkeypatch.context() as patch:
        fill(patch, name)
        with pytest.raises(
            IndexingError, match=r"/index' cannot be written: .*(No space|disk is full).* — make room on its disk and run"
        ) as caught:
            Index.build([corpus], folder, WordEncoder())
    assert "\n" not in str(caught.value)
    assert names(folder) == INDEX_FILES | left
    assert search_all(folder) == before
    Index.build([corpus], folder, encoder := WordEncoder())
    assert not encoder.encoded or "vectors" not in name, "what was encoded before the disk was full is kept"
    Index.build([corpus], folder.parent / "new", WordEncoder())
    assert search_all(folder) == search_all(folder.parent / "new")
    assert names(folder) == {".writing", "manifest.json", COPY, "slots.1.npy", "vectors.1.faiss"}


@fault(
    "disk",
    "full while an index is built",
    sees="error: the index cannot be written — make room",
    kept="what was encoded, if anything",
    code=1,
)
@pytest.mark.parametrize(("fill", "name"), [(fill_database, "passages.sqlite"), (fill_files, "vectors.faiss")])
def test_while_an_index_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[..., None], name: str) -> None:
    corpus, folder = write_records(tmp_path / "records.jsonl", range(200)), tmp_path / "index"
    with monkeypatch.context() as patch:
        fill(patch, name)
        with pytest.raises(IndexingError, match="make room") as caught:
            Index.build([corpus], folder, WordEncoder())
    assert ("it resumes" in caught.value.remedy) == folder.exists()
    assert not folder.exists() if fill is fill_database else names(folder) == {".writing", "passages.sqlite", "unfinished.json"}
    Index.build([corpus], folder, WordEncoder())
    assert len(Index.open(folder, WordEncoder())) == 200


@fault(
    "disk",
    "full while the HNSW graph is rebuilt or a graph is written",
    sees="error: the index cannot be written — make room",
    kept="the index as it was",
    code=1,
)
def test_while_the_precision_changes_or_a_structure_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = search_all(folder)

    def half(path: Path) -> None:
        path.write_bytes(b"half")
        raise sqlite3.OperationalError("database or disk is full")

    with pytest.raises(sqlite3.OperationalError):
        publish_structure(folder, "graph", half)
    fill_files(monkeypatch, "vectors.1.faiss")
    with pytest.raises(IndexingError, match="make room"):
        change_precision(folder, "fp16")
    assert (search_all(folder), names(folder)) == (before, INDEX_FILES)


@fault(
    "disk",
    "folder that cannot be written",
    sees="error: the index cannot be written — check the permissions",
    kept="the index as it was",
    code=1,
)
def test_on_a_disk_that_is_read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, connect = search_all(folder), sqlite3.connect

    def connecting(path: Any, *more: Any, **how: Any) -> sqlite3.Connection:
        address = path if str(path).startswith("file:") else f"{Path(path).absolute().as_uri()}?mode=ro"
        return connect(address, *more, **{**how, "uri": True})

    monkeypatch.setattr(sqlite3, "connect", connecting)
    with pytest.raises(IndexingError, match=r"/index' cannot be written: .*readonly.* — check the folder's permissions"):
        Index.build([write_records(folder.parent / "records.jsonl", range(30))], folder, WordEncoder())
    assert (search_all(folder), names(folder) - {COPY}) == (before, INDEX_FILES)
