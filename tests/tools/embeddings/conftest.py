"""Shared fixtures."""

from pathlib import Path

import pytest

from tests.tools.embeddings.test_prefixes import TEXT


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "The Vistula.txt"  # the title that the text begins with is not put above it
    path.write_text(TEXT, encoding="utf-8")
    return path
