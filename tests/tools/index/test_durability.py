"""The files of an index are synced before the manifest is replaced; permissions of the files."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ramify.tools.index import Index
from ramify.tools.index.publication import change_precision, publish_structure
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import write_records

Events = list[tuple[str, str]]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_records(tmp_path / "records.jsonl", range(20))


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Events:
    """The files that are written to the disk and renamed from now on, in order."""
    found: Events = []
    fsync, replace = os.fsync, os.replace

    def syncing(handle: int) -> None:
        found.append(("sync", Path(os.readlink(f"/proc/self/fd/{handle}")).name))
        fsync(handle)

    def replacing(source: str | Path, target: str | Path) -> None:
        found.append(("rename", Path(target).name))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", replacing)
    return found


def before_the_manifest(events: Events) -> Iterator[tuple[str, str]]:
    """What happened before a manifest took its place."""
    end = events.index(("rename", "manifest.json"))
    assert events[end - 1] == ("sync", "index")
    assert events[end + 1] == ("sync", "index"), "the rename, too, is to last"
    yield from events[:end]


@fault(
    "disk",
    "power lost while an index is published",
    sees="the old index, or one line: run the command again",
    kept="a manifest names only files on the disk",
    code="none",
)
def test_files_and_their_names_are_on_the_disk_before_the_manifest(tmp_path: Path, corpus: Path, events: Events) -> None:
    folder = tmp_path / "index"
    for numbers in (range(20), range(30)):
        events.clear()
        Index.build([write_records(corpus, numbers)], folder, WordEncoder())
        done = list(before_the_manifest(events))
        version = "" if numbers == range(20) else ".1"
        assert done[-2] == ("sync", "manifest.json.part")
        assert {("sync", f"passages{version}.sqlite"), ("sync", f"vectors{version}.faiss")} <= set(done[:-2])


@fault(
    "disk",
    "power lost while an index is published",
    sees="the old index, or one line: run the command again",
    kept="a manifest names only files on the disk",
    code="none",
)
def test_changed_precision_and_structures_are_synced_first(tmp_path: Path, corpus: Path, events: Events) -> None:
    folder = tmp_path / "index"
    Index.build([corpus], folder, WordEncoder())
    events.clear()
    change_precision(folder, "fp16")
    assert ("sync", "vectors.1.faiss") in before_the_manifest(events)
    events.clear()
    publish_structure(folder, "graph", lambda path: sqlite3.connect(path).close())
    assert ("sync", "graph.sqlite") in before_the_manifest(events)


def modes(folder: Path) -> dict[str, int]:
    """The rights of a folder, and of the files in it."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}


@pytest.mark.parametrize("mask", [0o022, 0o000, 0o077])
def test_a_new_index_is_its_owner_s_alone(tmp_path: Path, corpus: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        Index.build([corpus], tmp_path / "above" / "index", WordEncoder())
    finally:
        os.umask(before)
    found = modes(tmp_path / "above" / "index")
    assert found.pop("index") == 0o700
    assert len(found) > 3
    assert set(found.values()) == {0o600}
    assert modes(tmp_path / "above")["above"] == 0o700


@pytest.mark.parametrize(("given", "file"), [(0o755, 0o644), (0o775, 0o664), (0o750, 0o640), (0o777, 0o664)])
def test_files_have_the_permissions_of_an_existing_folder(tmp_path: Path, corpus: Path, given: int, file: int) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    folder.chmod(given)
    for numbers in (range(20), range(30)):
        Index.build([write_records(corpus, numbers)], folder, WordEncoder())
        found = modes(folder)
        assert found.pop("index") == given
        assert set(found.values()) == {file}


def test_a_shared_index_may_be_read_by_everybody_and_stays_so(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "index"
    Index.build([corpus], folder, WordEncoder())
    for numbers, shared in ((range(20), True), (range(30), False)):
        Index.build([write_records(corpus, numbers)], folder, WordEncoder(), shared=shared)
        found = modes(folder)
        assert found.pop("index") == 0o755
        assert set(found.values()) == {0o644}
