"""Collections whose creation, upload or deletion was killed: nobody gets the documents of another user, and no half document is indexed."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ramify.serve._collection_folders import Uploads
from ramify.serve.catalog import Catalog
from ramify.serve.collections import UserCollections
from ramify.tools.errors import UsageError
from tests.faults import fault

SECRET = b"The combination of the safe is 4711.\n" * 100
CHANGES = ("open", "os.", "shutil.")
"""Beginnings of the audit events before each of which the process is killed."""
NOTHING = {"files": [], "skipped": [], "more": 0, "uploaded": True}


def opened(root: Path, **options: Any) -> UserCollections:
    """The collections as a server that starts finds them."""
    return UserCollections(Catalog({}, "naive", ["extractive"]), root, separate_users=True, **options)


def killed_everywhere(start: Path, work: Callable[[Path], object]) -> Iterator[Path]:
    """Copy a folder, and do the work in a child process that is killed before each of its file operations in turn; give each copy."""
    number = 0
    while True:
        number += 1
        copy = Path(shutil.copytree(start, start.parent / f"killed-{number}"))
        if not (child := os.fork()):
            count = 0

            def audit(event: str, arguments: object) -> None:
                nonlocal count
                count += event.startswith(CHANGES)
                if count == number:  # noqa: B023
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(audit)
            work(copy)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        yield copy
        if code == 0:
            assert number > 3, "it was killed"
            return
        assert code == -signal.SIGKILL


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A collection of ada with a document."""
    made = opened(tmp_path / "root")
    made.create("ada", "arda")
    made.append_upload("ada", "arda", "secret.txt", 0, SECRET, len(SECRET))
    return tmp_path / "root"


@fault(
    "servers",
    "collection whose deletion is killed",
    sees="the collection as it was, or none",
    kept="all of it, or nothing: no other user gets its documents",
    code="any",
)
def test_a_deletion_that_is_killed_gives_nothing_to_the_next_user(root: Path) -> None:
    for copy in killed_everywhere(root, lambda copy: opened(copy).delete("ada", "arda")):
        after = opened(copy)
        there = [entry["name"] for entry in after.list_collections("ada")]
        assert there in ([], ["arda"])
        if there:
            assert (copy / "arda" / "documents" / "secret.txt").read_bytes() == SECRET
        made = after.create("ben", "arda")
        assert made == ("arda-2" if there else "arda")
        assert after.list_documents(made) == NOTHING
        assert sorted(path.name for path in copy.iterdir()) == sorted({*there, made}), "nothing else is left after a start"


def test_a_deletion_that_fails_gives_nothing_to_the_next_user(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collections = opened(root)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # as where a file cannot be deleted
    collections.delete("ada", "arda")
    for state in (collections, opened(root)):
        made = state.create("ben", "arda")
        assert state.list_documents(made) == NOTHING
        assert not list((root / made).rglob("secret.txt"))


def test_a_creation_that_is_killed_leaves_all_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    for copy in killed_everywhere(tmp_path / "root", lambda copy: opened(copy).create("ada", "arda")):
        after = opened(copy)
        there = [path.name for path in copy.iterdir()]
        assert there == [entry["name"] for entry in after.list_collections("ada")]
        assert after.create("ada", "arda") == "arda"
        assert after.create("ben", "arda") == "arda-2"


@fault("servers", "killed during an upload", sees="the document is not complete", kept="the other documents", code="any")
@pytest.mark.parametrize("size", [len(SECRET), None])
def test_an_upload_that_is_killed_leaves_no_half_document(tmp_path: Path, size: int | None) -> None:
    opened(tmp_path / "root").create("ada", "arda")
    half = len(SECRET) // 2

    def upload(copy: Path) -> None:
        collections = opened(copy)
        if size is not None:
            collections.append_upload("ada", "arda", "secret.txt", 0, SECRET[:half], size)
        collections.append_upload("ada", "arda", "secret.txt", 0 if size is None else half, SECRET[0 if size is None else half :], size)

    for copy in killed_everywhere(tmp_path / "root", upload):
        documents = [path.read_bytes() for path in (copy / "arda" / "documents").iterdir()]
        assert documents in ([], [SECRET])
        after = opened(copy)
        listed = after.list_documents("arda")
        assert [entry["name"] for entry in listed["files"]] == ["secret.txt"] * len(documents)
        after.append_upload("ada", "arda", "secret.txt", 0, SECRET, len(SECRET))
        assert after.list_documents("arda") == NOTHING | {"files": [{"name": "secret.txt", "passages": 0, "remarks": [], "first": ""}]}


@pytest.mark.parametrize("left", ["documents/secret.txt", "index/manifest.json", "uploads/secret.txt"])
def test_a_folder_without_a_record_is_nobody_s(tmp_path: Path, left: str, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "arda" / left
    file.parent.mkdir(parents=True)
    file.write_bytes(SECRET)
    collections = opened(tmp_path)
    assert collections.list_collections("ben") == []
    assert str(tmp_path / "arda") in caplog.text
    made = collections.create("ben", "arda")
    assert made != "arda"
    assert collections.list_documents(made) == NOTHING
    with pytest.raises(UsageError):
        collections.list_documents("arda")
    assert file.read_bytes() == SECRET, "it may be restored"


def test_a_document_for_a_collection_that_was_deleted_meanwhile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="deleted meanwhile"):
        Uploads(tmp_path / "arda").append("secret.txt", 0, SECRET, len(SECRET))
    assert not (tmp_path / "arda").exists()
