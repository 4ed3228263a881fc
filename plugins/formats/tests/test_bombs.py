"""Files made to harm: each is named in a line, quickly, and nothing of it is unpacked."""

import gzip
import zipfile
from pathlib import Path

import pytest

from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file
from tests.faults import fault
from tests.tools.documents.shown import FILES, shown

LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True))
    + "]>"
)


def with_entities(name: str, part: str, folder: Path) -> Path:
    """Write a real file anew, with a billion laughs in one of its parts."""
    with zipfile.ZipFile(FILES / name) as real, zipfile.ZipFile(folder / name, "w") as bad:
        for member in real.namelist():
            content = real.read(member)
            if member == part:
                declaration, _, rest = content.partition(b"?>")
                content = declaration + b"?>" + LAUGHS.encode() + rest.replace(b"Lorn", b"&j;").replace(b"</dc:title>", b"&j;</dc:title>")
            bad.writestr(member, content)
    return folder / name


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("arda.docx", "word/document.xml"),
        ("arda.docx", "docProps/core.xml"),
        ("bridges.xlsx", "xl/sharedStrings.xml"),
        ("bridges.pptx", "ppt/slides/slide2.xml"),
        ("arda.odt", "content.xml"),
        ("bridges.ods", "content.xml"),
        ("arda.epub", "EPUB/content.opf"),
    ],
)
def test_xml_entities_are_rejected(name: str, part: str, tmp_path: Path) -> None:
    result = shown(with_entities(name, part, tmp_path))
    assert not result.documents
    assert "entities" in result.skipped[0][1]


def test_entities_of_a_page_are_not_unfolded(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"{LAUGHS}<html><body><p>Laugh: &j;</p></body></html>", encoding="utf-8")
    assert sum(len(document.page_content) for document in shown(tmp_path / "page.html").documents) < 2000


@pytest.mark.parametrize("name", ["arda.docx", "bridges.xlsx", "bridges.pptx", "arda.odt", "arda.epub"])
def test_a_container_that_unpacks_to_far_more_than_it_is(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as bomb, bomb.open("word/document.xml", "w") as part:
        for _ in range(100):
            part.write(b"\0" * (1 << 20))
    result = shown(tmp_path / name)
    assert "more than the limit" in result.skipped[0][1]


@fault("documents", "gzip that expands beyond the limit", sees="named as skipped", kept="no more than the limit is expanded", code=0)
def test_gzip_is_unpacked_to_a_limit_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.tools.documents.text.MAX_BYTES", 1 << 20)
    (tmp_path / "big.txt.gz").write_bytes(gzip.compress(b"a" * (2 << 20)))
    report = ReadReport()
    assert list(parse_file(File(tmp_path / "big.txt.gz", "big.txt.gz", tmp_path), report, clean=False)) == []
    assert report.skipped == [("big.txt.gz", "more than 1 MB unpacked")]


def test_an_external_entity_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("TOP SECRET", encoding="utf-8")
    page = f'<!DOCTYPE html [<!ENTITY s SYSTEM "{(tmp_path / "secret.txt").as_uri()}">]><html><body><p>Here: &s;</p></body></html>'
    (tmp_path / "page.xhtml").write_text(page, encoding="utf-8")
    assert "TOP SECRET" not in str(shown(tmp_path / "page.xhtml").documents)
