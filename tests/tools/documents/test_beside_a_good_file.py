"""A bad file costs itself, or a part of itself, and is named: the files beside it are read."""

import gzip
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ramify.tools.documents.load import load_files
from ramify.tools.errors import InputError
from ramify.tools.index import Index
from tests.faults import fault
from tests.tools.fakes import WordEncoder

GOOD = "The river Arda rises in the hills."
LONG = 66 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a good file before all others and two behind them, one of which a worker reads."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a.txt", "z.txt"):
        (folder / name).write_text(GOOD, encoding="utf-8")
    (folder / "z.txt.gz").write_bytes(gzip.compress(GOOD.encode()))
    return folder


def beside(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return what else was read beside the good files, by its source, and why what was not."""
    loading = load_files(folder)
    found = {document.metadata["source"]: document.page_content for document in loading}
    assert [found.pop(name) for name in ("a.txt", "z.txt", "z.txt.gz")] == [GOOD] * 3
    return found, dict(loading.skipped)


def packed(*parts: bytes) -> bytes:
    return gzip.compress(b"".join(parts), 1)


@pytest.mark.parametrize(
    ("name", "content", "kept", "reason"),
    [
        ("line.csv.gz", lambda: packed(b"name,text\nfirst,one\n", b"a" * LONG, b"\nlast,two\n"), ["one", "two"], "longer than"),
        ("line.jsonl.gz", lambda: packed(b'{"text": "one"}\n', b"a" * LONG, b'\n{"text": "two"}\n'), ["one", "two"], "longer than"),
        ("cell.csv", lambda: b'name,text\nfirst,one\nx,"' + b"a" * LONG + b'"\nlast,two\n', ["one", "two"], "longer than"),
        ("cell.csv.gz", lambda: packed(b'name,text\nfirst,one\nx,"', (b"a" * 9000000 + b"\n") * 8, b'"'), ["one"], "not a readable table"),
        ("odd.csv", lambda: "name,text\nfirst,one\n".encode("utf-16") + b"\x00\xd8\n\x00", [], "not text"),
        ("deep.json", lambda: b"[" * 100_000 + b"]" * 100_000, [], "recursion"),
    ],
)  # fmt: skip
@fault(
    "documents",
    "line, cell or nesting beyond a limit",
    sees="named with its place and the limit",
    kept="the files beside it, and the rest of the table",
    code=0,
)
def test_what_cannot_be_read_is_named(name: str, content: Callable[[], bytes], kept: list[str], reason: str, folder: Path) -> None:
    (folder / name).write_bytes(content())
    found, skipped = beside(folder)
    assert [text.rpartition(" ")[2] for text in found.values()] == kept
    ((place, why),) = skipped.items()
    assert place.startswith(name)
    assert reason in why


def links_in_a_circle(folder: Path) -> None:
    (folder / "one").symlink_to("other")
    (folder / "other").symlink_to("one")


def link_to_itself(folder: Path) -> None:
    (folder / "self.txt").symlink_to("self.txt")


def link_to_the_folder_above(folder: Path) -> None:
    (folder / "up").symlink_to("..")


def link_to_nothing(folder: Path) -> None:
    (folder / "gone.txt").symlink_to("nothing.txt")


def a_socket(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(folder / "socket.csv"))


def a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.pdf")


@pytest.mark.parametrize("make", [links_in_a_circle, link_to_itself, link_to_the_folder_above, link_to_nothing, a_socket, a_pipe])
@fault("documents", "cyclic or broken links, pipes, sockets", sees="named as skipped", kept="the files beside it", code=0)
def test_what_is_no_file_is_named(make: Callable[[Path], None], folder: Path) -> None:
    make(folder)
    found, skipped = beside(folder)
    assert not found
    assert set(skipped) == {path.name for path in folder.iterdir()} - {"a.txt", "z.txt", "z.txt.gz"}


@fault("documents", "folder without read permission", sees="named as skipped", kept="the files beside it", code=0)
def test_a_folder_that_is_closed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "closed").mkdir()
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert beside(folder) == ({}, {"closed": "cannot be read: Permission denied"})


@fault("documents", "file in a thousand folders", sees="read", kept="all", code=0)
def test_a_file_in_a_thousand_folders_is_read(folder: Path) -> None:
    deep = folder.joinpath(*["d"] * 1200)
    place = folder
    for part in deep.relative_to(folder).parts:
        place = place / part
        place.mkdir()
    (deep / "deep.txt").write_text("Deep down.", encoding="utf-8")
    try:
        found, _ = beside(folder)
    finally:  # what clears up after tests recurses
        (deep / "deep.txt").unlink()
        os.removedirs(deep)
    assert list(found.values()) == ["Deep down."]


@fault("documents", "file that is deleted while others are read", sees="named as skipped", kept="the files beside it", code=0)
def test_a_file_that_goes_away_is_named(folder: Path) -> None:
    (folder / "b.csv").write_text("name,text\nfirst,one\n", encoding="utf-8")
    loading = load_files(folder)
    next(loading)
    (folder / "b.csv").unlink()
    assert [document.page_content for document in loading] == [GOOD] * 2
    assert loading.skipped == [("b.csv", "cannot be read: No such file or directory")]


@fault("documents", "file name that is not UTF-8", sees="read; invalid bytes of its name are written as codes", kept="all", code=0)
def test_a_name_that_is_not_utf8_is_written_as_it_can_be(folder: Path) -> None:
    for name, content in ((b"m\xfcller.txt", b"A miller."), (b"m\xfcller.txt.gz", gzip.compress(b"A miller's page."))):
        with open(os.fsencode(folder / "dir") + name, "wb") as file:
            file.write(content)
    index = Index.build(folder, folder.parent / "index", WordEncoder())
    assert index.documents == 5
    again = Index.build(folder, folder.parent / "index", WordEncoder())
    assert (again.unchanged, again.added, again.removed) == (5, 0, 0)


@pytest.mark.parametrize(
    ("name", "content"), [("b.jsonl", '{"text": "one"}\n' + "1\n" * 5000), ("b.json", '[{"text": "one"}' + ", 1" * 5000 + "]")]
)
def test_of_many_bad_records_the_first_are_named(name: str, content: str, folder: Path) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    found, skipped = beside(folder)
    assert list(found.values()) == ["one"]
    assert {f"{name}#2", f"{name}#1001", name} <= set(skipped)
    assert len(skipped) == 1001


def test_a_path_that_is_not_utf8_is_rejected(tmp_path: Path) -> None:
    given = Path(os.fsdecode(os.fsencode(tmp_path) + b"/m\xfcller"))
    given.mkdir()
    with pytest.raises(InputError, match=r"m\\\\xfcller.*UTF-8"):
        load_files(given)
