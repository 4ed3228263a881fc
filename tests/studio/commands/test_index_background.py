"""`ramify index --no-wait`: it returns when words can be searched, and another process computes the vectors."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ramify.tools.index import Index
from ramify.tools.index.index_writer import BATCH_SIZE

RAMIFY = str(Path(sys.executable).parent / "ramify")
DEADLINE_S = 120
COUNT = BATCH_SIZE + 20
"""Files that can be read: more than are encoded before the command returns."""


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(COUNT - 1):
        (folder / f"{number}.txt").write_text(f"Lamp {number} burns oil of kind {number % 7}.")
    (folder / "song.mp3").write_bytes(b"1")
    (folder / "old.txt").write_bytes("Caf\u00e9 lamp.".encode("cp1252"))
    (folder / "json.py").write_text("raise SystemExit('a file of the current folder was run')")
    return folder


def run(*arguments: str | Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([RAMIFY, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=DEADLINE_S, cwd=cwd)


def test_it_returns_before_the_vectors_are_computed_and_they_come(documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    done = run("index", "--no-wait", "--out", out, "--", ".", cwd=documents)
    assert f"{COUNT} files" in done.stdout
    assert "old.txt: read as cp1252" in done.stderr
    assert "in the background" in done.stdout
    assert "skipped 1 .mp3, 1 .py" in done.stderr
    found = run("search", "Which oil does lamp 31 burn?", "--index", out, "-k", "1")
    assert "31.txt" in found.stdout
    began = time.monotonic()
    while not (out / "manifest.json").exists():
        assert time.monotonic() - began < DEADLINE_S, (out / ".background.log").read_text()
        time.sleep(0.2)
    Index.build([documents], tmp_path / "other")
    for name in ("passages.sqlite", "vectors.faiss", "slots.npy"):
        assert (out / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_script_and_a_small_index_wait(documents: Path, tmp_path: Path) -> None:
    small = run("index", documents / "1.txt", "--out", tmp_path / "small", "--no-wait")
    assert "1 file (1 added), 1 passage (1 encoded)" in small.stdout
    waited = run("index", documents, "--out", tmp_path / "waited")
    assert f"{COUNT} passages ({COUNT} encoded)" in waited.stdout
