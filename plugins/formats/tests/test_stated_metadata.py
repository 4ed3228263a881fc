"""What documents say of themselves filters a search, stands in what is searched, and groups a hierarchy."""

import json
from pathlib import Path

import pytest

from plugins.formats.tests.made import pdf
from ramify.tools.documents import files, properties
from ramify.tools.index import Index, build
from tests.studio.conftest import Ramify
from tests.tools.fakes import WordEncoder

TEXTS = ("The seal is replaced once a year.", "The valve is opened by hand.", "The tank holds 200 litres.")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Three notes of Jane's, three of Jan's, and a PDF of Jane's."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for author, tag in (("Jane Doe", "pump"), ("Jan Meer", "lock")):
        for number, text in enumerate(TEXTS):
            above = f"---\nauthor: {author}\ndate: 2024-03-0{number + 1}\ntags: [{tag}, part {number}]\n---"
            (folder / f"{tag}{number}.md").write_text(f"{above}\n\n{text} It is in the {tag} house.\n", encoding="utf-8")
    (folder / "survey.pdf").write_bytes(pdf(["The weir was surveyed in spring."], "/Author (Jane Doe) /Keywords (weir)"))
    return folder


def sources(ramify: Ramify, index: Path, *filters: str) -> set[str]:
    asked = [part for condition in filters for part in ("--filter", condition)]
    return {hit["source"] for hit in json.loads(ramify("search", "seal", "--index", index, "-k", 9, *asked, "--json").out)}


def test_a_search_is_filtered_by_author_tag_and_day(ramify: Ramify, notes: Path) -> None:
    index = notes.with_name("index")
    assert ramify("index", notes, "--out", index).code == 0
    assert sources(ramify, index, "author=Jane Doe") == {"pump0.md", "pump1.md", "pump2.md", "survey.pdf"}
    assert sources(ramify, index, "tags=lock", "date=2024-03-02") == {"lock1.md"}
    assert sources(ramify, index, "tags=weir") == {"survey.pdf"}


def test_authors_label_passages_and_group_them(ramify: Ramify, notes: Path) -> None:
    index = notes.with_name("index")
    assert ramify("index", notes, "--out", index, "--label", "author").code == 0
    (best,) = json.loads(ramify("search", "What has Jan Meer written of the tank?", "--index", index, "-k", 1, "--json").out)
    assert (best["source"], "Meer" in best["text"]) == ("lock2.md", False)
    assert ramify("index", "--kind", "hierarchy", "--group-by", "author", "--out", index).code == 0
    summary = json.loads(ramify("inspect", index, "--json").out)
    assert {group["group"]: group["passages"] for group in summary["groups"]} == {"Jan Meer": 3, "Jane Doe": 4}


def test_an_index_of_before_learns_them_without_encoding_anything(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(build, "EDITION", "3")
        before.setattr(files, "normalize_properties", lambda given: properties.Properties({}, []))
        Index.build([notes], notes.with_name("index"), WordEncoder())
    Index.build([notes], notes.with_name("index"), encoder := WordEncoder())
    assert encoder.encoded == []
    hits = Index.open(notes.with_name("index"), WordEncoder()).search(["valve"], 9, filter={"author": "Jan Meer"})[0]
    assert {hit.source for hit in hits} == {"lock0.md", "lock1.md", "lock2.md"}
