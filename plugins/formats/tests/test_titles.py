"""The title of a file by its headings: of several main headings, each is the title of its own part alone."""

from pathlib import Path

import pytest

from tests.tools.documents.shown import shown

PAGES = {
    "md": "# Ada Rem\nShe was born in Leer.\n\n# Bo Kant\nHe was born in Graz.\n",
    "html": "<h1>Ada Rem</h1><p>She was born in Leer.</p><h1>Bo Kant</h1><p>He was born in Graz.</p>",
}


@pytest.mark.parametrize("ending", PAGES)
def test_the_first_of_several_main_headings_is_not_the_title(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"people.{ending}").write_text(PAGES[ending], encoding="utf-8")
    documents = shown(tmp_path / f"people.{ending}").documents
    assert [(document.metadata["title"], document.metadata["heading"]) for document in documents] == [
        ("people", "Ada Rem"),
        ("people", "Bo Kant"),
    ]


def test_the_only_main_heading_is_the_title(tmp_path: Path) -> None:
    (tmp_path / "people.md").write_text("# People\n\n## Ada Rem\nShe was born in Leer.\n", encoding="utf-8")
    assert [document.metadata["title"] for document in shown(tmp_path / "people.md").documents] == ["People"]
