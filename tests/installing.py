"""Distributions of somebody else's, made and put on `sys.path` for a test."""

import sys
from pathlib import Path

import pytest


class Installer:
    """Installs made distributions until the test ends."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch

    def __call__(self, distribution: str, entries: str, code: str) -> None:
        """Install a distribution with one module of its name, and its entry points."""
        place = self.folder / distribution
        metadata = place / f"{distribution}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8")
        (metadata / "entry_points.txt").write_text(entries, encoding="utf-8")
        (place / f"{distribution}.py").write_text(code, encoding="utf-8")
        self.monkeypatch.syspath_prepend(str(place))
        self.monkeypatch.setitem(sys.modules, distribution, sys)  # so that the module is forgotten after the test
        del sys.modules[distribution]
