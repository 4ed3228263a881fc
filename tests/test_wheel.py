"""What is installed: every module and every file it reads, and nothing of the folders that stay in the clone."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOUSE = ("tools", "prompts", "nodes", "graphs", "studio", "plugins")
NOT_INSTALLED = {"tests", "benchmarks", "training"}
"""Folders of a plug-in that are not installed."""
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "Makefile", "docs")
NEEDED = {".py", ".typed", ".jsonl", ".css", ".js", ".svg", ".ipynb", ".safetensors"}

pytest.importorskip("setuptools", minversion="77")


def test_a_wheel_contains_the_packages_and_nothing_else(tmp_path: Path) -> None:
    for name in filter(lambda name: (ROOT / name).exists(), HOUSE):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tmp_path)
    code = "from setuptools.build_meta import build_wheel; build_wheel('out')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    contents = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    paths = [path.relative_to(ROOT) for name in HOUSE for path in (ROOT / name).rglob("*") if path.suffix in NEEDED]
    wanted = {f"ramify/{path.as_posix().removeprefix('plugins/')}" for path in paths if not is_left_out(path)}
    networks = {f"ramify/embedded/{name}/weights.safetensors" for name in ("reader", "splitting")}
    assert networks <= wanted or not (ROOT / "plugins").exists()
    assert wanted - contents == set()
    assert {name for name in contents if Path(name).suffix in NEEDED} - wanted == set()


def is_left_out(path: Path) -> bool:
    """Return whether a file of a plug-in is not installed."""
    return path.parts[0] == "plugins" and (len(path.parts) == 2 or path.parts[2] in NOT_INSTALLED)


def test_documented_install_commands_name_this_project() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert told["name"] == "ramify-rag"  # `ramify` on PyPI is somebody else's
    files = [
        path
        for name in (*HOUSE, *DOCUMENTS)
        for path in (ROOT / name, *(ROOT / name).rglob("*"))
        if path.suffix in {".py", ".md", ".ipynb"}
    ]
    said = [line for path in files for line in path.read_text(encoding="utf-8").splitlines() if "pip install" in line]
    assert any("ramify-rag[studio]" in line for line in said)
    assert [line for line in said if re.search(r"pip install [^`]*(?<![\w-])ramify(?!-rag)\b", line.partition("  #")[0])] == []
    assert all(extra.startswith("ramify-rag[") for extra in told["optional-dependencies"]["test"] if extra.startswith("ramify"))
