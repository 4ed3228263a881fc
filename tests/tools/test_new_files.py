"""A file that is written whole or not at all: a disk that is full, and who may read it."""

import errno
import os
import stat
from pathlib import Path

import pytest

from ramify.tools import new_files
from ramify.tools.errors import InputError
from ramify.tools.new_files import make_folder, write_atomically
from tests.faults import fault


@fault(
    "disk", "full while a page or an export is written", sees="error: cannot write the file — make room", kept="the file as it was", code=1
)
def test_nothing_is_left_of_what_the_disk_has_no_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "page.html").write_text("before")
    monkeypatch.setattr(new_files, "sync", full)
    with pytest.raises(InputError, match=r"page.html' \(No space left on device\) — make room on its disk"):
        write_atomically("after", tmp_path / "page.html")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "before")]


@pytest.mark.parametrize("name", ["a" * 300 + "/page.html", "no/page.html", "nul\0", "."])
def test_a_place_that_cannot_be_is_one_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot write .* — name a file in an existing folder|— move the folder"):
        write_atomically("half \ud800", tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (seen.append((tmp_path / "page.html").exists()), fsync(handle)))
    write_atomically("text", tmp_path / "page.html", 0o600)
    assert seen == [False]
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/below")):
        with pytest.raises(InputError, match=r"the folder .* cannot be created \(.*\) — "):
            make_folder(place)


def test_only_a_file_is_replaced_and_a_link_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to the pipe").symlink_to("pipe")
    for name in ("pipe", "to the pipe"):
        with pytest.raises(InputError, match=r"cannot write .*pipe' \(it is not a regular file\) — name a file"):
            write_atomically("text", tmp_path / name)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    (tmp_path / "below").mkdir()
    (tmp_path / "link").symlink_to("below/page.html")
    for text in ("once", "twice"):
        write_atomically(text, tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "below" / "page.html").read_text() == text
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(InputError, match="it is not a regular file"):
        write_atomically("text", tmp_path / "round")


def test_a_file_has_the_rights_of_its_folder_as_far_as_the_umask_lets(tmp_path: Path) -> None:
    found = []
    for folder, mask in ((0o700, 0o022), (0o755, 0o022), (0o775, 0o022), (0o755, 0o077)):
        tmp_path.chmod(folder)
        before = os.umask(mask)
        try:
            write_atomically("text", tmp_path / "page.html")
        finally:
            os.umask(before)
        found.append(stat.S_IMODE((tmp_path / "page.html").stat().st_mode))
    assert found == [0o600, 0o644, 0o644, 0o600]


def test_a_new_folder_is_on_the_disk_with_those_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    make_folder(tmp_path / "a" / "b")
    assert synced == [tmp_path.stat().st_ino, (tmp_path / "a").stat().st_ino]
