"""Install a package into the environment that ramify runs in, or download it into a folder, with the environment's own pip."""

import importlib
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from ramify.tools.errors import ModelError

STDERR = 2
RETRIES = "2"
USE_VENV = "make an environment of your own (`python3 -m venv .venv`) and install ramify there"
PIP_ERRORS = (
    ("externally-managed-environment", "this Python belongs to the operating system", USE_VENV),
    ("Permission denied|Read-only file system", "{place} cannot be written", "run it as its owner, or {elsewhere}"),
    ("No space left", "the disk is full", "make room: the installation takes up to three times its size"),
    ("DO NOT MATCH THE HASHES", "the package index provides other bytes than were released", "name another index with --mirror"),
    (r"Retrying \(|Connection|timed out", "no package index can be reached", "connect to the network, or name a mirror with --mirror"),
)
"""A pattern in pip's output, its meaning and the remedy; the first match is used."""


def install_wheel(requirement: str, sha256: Sequence[str], index: str | None = None) -> None:
    """Install a package's wheel that has one of these hashes, without its dependencies; pip's progress goes to stderr.

    index: the address of a package index; by default pip's own. ModelError, with a remedy, if that fails.
    """
    otherwise = f", or install it otherwise, as in `uv pip install --no-deps {requirement}`"
    _run_for_wheel(["install"], requirement, sha256, index, f"the environment {sys.prefix!r}", USE_VENV, otherwise)
    importlib.invalidate_caches()


def download_wheel(requirement: str, sha256: Sequence[str], folder: Path, index: str | None = None) -> None:
    """Download a package's wheel into an existing folder without installing it; otherwise like `install_wheel`."""
    command = ["download", "--no-cache-dir", f"--dest={folder}"]
    _run_for_wheel(command, requirement, sha256, index, f"the folder {str(folder)!r}", "set RAMIFY_CACHE to a folder where you may write")


def has_pip() -> bool:
    """Return whether the environment has pip, without importing it, which setuptools would take for a start of pip."""
    try:
        return bool(version("pip"))
    except PackageNotFoundError:
        return False


def run_pip(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run pip with its output on stderr; its errors are captured."""
    return subprocess.run(command, stdout=STDERR, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def _run_for_wheel(
    command: Sequence[str], requirement: str, sha256: Sequence[str], index: str | None, place: str, elsewhere: str, otherwise: str = ""
) -> None:
    """Run a pip command for one wheel; ModelError if it fails, with the target `place` and an alternative (`elsewhere`)."""
    if not has_pip():
        raise ModelError(f"the environment {sys.prefix!r} has no pip", f"run `{sys.executable} -m ensurepip`{otherwise}")
    # A wheel runs nothing when it is installed. -P: a file pip.py in the current folder is not pip.
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input", "--disable-pip-version-check", "--retries", RETRIES]
    options += [f"--index-url={index}"] if index else []
    with TemporaryDirectory(prefix="ramify-") as folder:
        file = Path(folder) / "requirements.txt"
        file.write_text(" ".join([requirement, *(f"--hash=sha256:{digest}" for digest in sha256)]), encoding="ascii")
        done = run_pip([sys.executable, "-P", "-m", "pip", *command, *options, "-r", str(file)])
    if not done.returncode:
        return
    for pattern, meaning, remedy in PIP_ERRORS:
        if re.search(pattern, done.stderr):
            meaning, remedy = meaning.format(place=place), remedy.format(elsewhere=elsewhere)
            break
    else:
        errors = re.findall(r"^ERROR: (.+)$", done.stderr, re.MULTILINE) or done.stderr.strip().splitlines()[-1:] or ["no output"]
        meaning, remedy = errors[0], f"see the output of `{sys.executable} -m pip {command[0]} --no-deps {requirement}`"
    raise ModelError(f"pip could not {command[0]} {requirement}: {meaning}", remedy)
