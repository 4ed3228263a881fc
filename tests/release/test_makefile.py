"""The Makefile makes what its commands need: here with a Python that installs nothing."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 0
for folder; do :; done
mkdir -p "$folder/bin"
for name in python pip ramify ruff mypy; do cp "$0" "$folder/bin/$name"; done
"""


def test_what_a_release_runs_is_made_in_a_fresh_clone(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    around = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # of `make test`
    for command in ("release", "check", "test-all"):
        made = subprocess.run(["make", command, f"PYTHON={python}"], cwd=tmp_path, env=around, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
