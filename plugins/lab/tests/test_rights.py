"""Who may read a run: its owner alone, everybody where it is shared, and whoever may read a folder that is there."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.lab.tests.small_data_set import make_options, make_questions, write_data
from ramify.lab.report import write_report
from ramify.lab.run import execute
from ramify.tools.errors import RamifyError


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(folder: Path) -> set[int]:
    """The rights of a folder's files, once it has a report."""
    write_report(folder)
    return {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def test_a_run_is_its_owner_s_alone_until_it_is_shared(tmp_path: Path) -> None:
    data, out = write_data(tmp_path / "data", make_questions(2)), tmp_path / "above" / "run"
    for shared, folder, files in ((False, 0o700, 0o600), (True, 0o755, 0o644), (False, 0o755, 0o644)):
        execute(make_options(data, out, shared=shared))
        assert stat.S_IMODE(out.stat().st_mode) == folder
        assert rights(out) == {files}


def test_an_existing_folder_keeps_its_permissions(tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    out.chmod(0o775)
    execute(make_options(write_data(tmp_path / "data", make_questions(1)), out))
    assert rights(out) == {0o664}


def test_a_run_at_a_place_that_cannot_be_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    data = write_data(tmp_path / "data", make_questions(1))
    for name in ("a" * 5000, "nul\0", "loop", "file", "file/below"):
        with pytest.raises(RamifyError, match=" — ") as caught:
            execute(make_options(data, tmp_path / name))
        assert len(str(caught.value)) < 1000
