"""`ramify index --check-reading` prints what is read of files and every difference, and builds nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ramify.formats.fidelity._readings import has_raw_reading
from ramify.tools import plugins
from ramify.tools.documents import readers
from ramify.tools.documents.files import ReadReport
from tests.studio.conftest import Ramify

TEXT = "The pier was dredged in 1911. It cost 1,249.50 euros, and 42 men worked for 42 days.\n"


def test_the_command_prints_differences_and_builds_nothing(ramify: Ramify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, lossy = tmp_path / "good.txt", tmp_path / "lossy.md"
    good.write_text(TEXT)
    lossy.write_text(TEXT)
    assert ramify("index", "--check-reading", good).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"good.txt", "lossy.md"}

    def read(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
        report.leave_out(source, "struck passage", ["for 42 days"])
        yield Document(TEXT.replace("1911", "1912").replace("for 42 days", ""), id=source, metadata={"source": source})

    monkeypatch.setitem(readers.FORMAT_READERS, ".md", readers.FormatReader(read, plain=True))
    done = ramify("index", "--check-reading", tmp_path)
    assert done.code == 1
    assert "left out: 1 struck passage" in done.out
    assert "'1911'" in done.out
    assert "'1912'" in done.out
    assert "dredged in 1911" in done.out
    assert "'42'" not in done.out


def test_the_command_needs_a_path_and_an_index_needs_a_folder(ramify: Ramify, tmp_path: Path) -> None:
    assert ramify("index", "--check-reading").code == 2
    assert ramify("index", tmp_path).code == 2
    assert ramify("index", "--check-reading", tmp_path / "nowhere").code != 0


PICTURES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"}
"""What only OCR reads has no text of its own to compare with."""
NOT_COMPARED = {".mbox"} | PICTURES


def test_each_format_has_a_raw_reading_and_stands_in_the_documentation() -> None:
    read = {name for name in plugins.names("ramify.readers") if name.startswith(".")} | set(readers.FORMAT_READERS)
    missing = {suffix for suffix in read - NOT_COMPARED if not has_raw_reading(f"a{suffix}")}
    assert not missing, "write one in plugins/formats/fidelity/_readings.py, or say here why there is none"
    page = (Path(__file__).parents[3] / "docs" / "indexing.md").read_text("utf-8")
    assert not {suffix for suffix in read if not re.search(rf"\b{suffix[1:]}\b", page, re.IGNORECASE)}, "name it in docs/indexing.md"
