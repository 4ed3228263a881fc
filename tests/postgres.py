"""A PostgreSQL server of the tests' own, as Debian installs it; where there is none, what wants it is skipped."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
USER = "ramify"


def programs() -> Path:
    """Give the folder of its programs, or skip."""
    found = PROGRAMS[-1] if PROGRAMS else None
    if found is None or not (found / "initdb").exists():
        pytest.skip("PostgreSQL is not installed: Debian's package postgresql has its server")
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        pytest.skip("PostgreSQL does not run as root, and there is no runuser to run it as another user")
    return found


@contextmanager
def server() -> Iterator[str]:
    """Start a server on loopback, with its data in a folder of its own; give the address of its database."""
    bin = programs()
    with TemporaryDirectory(prefix="ramify-postgres-") as folder:
        data = Path(folder) / "data"
        data.mkdir(mode=0o700)
        as_other: list[str] = []
        if os.geteuid() == 0:  # it refuses to run as root
            as_other = ["runuser", "-u", "nobody", "--"]
            Path(folder).chmod(0o711)
            shutil.chown(data, "nobody")
        with _running(bin, data, as_other) as port:
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"


@contextmanager
def _running(bin: Path, data: Path, as_other: list[str]) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = ["-A", "trust", "-U", USER, "--no-sync"]
    _run([*as_other, str(bin / "initdb"), "-D", str(data), *told])
    how = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
    _run([*as_other, str(bin / "pg_ctl"), "-D", str(data), "-o", how, "-l", str(data / "log"), "-w", "start"])
    try:
        yield int(port)
    finally:
        _run([*as_other, str(bin / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop"])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
