"""Passages embedded and searched with metadata labels, and quoted without them."""

import json
from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import InputError
from ramify.tools.index import Index
from ramify.tools.index.chunking import passage_label
from tests.tools.fakes import WordEncoder

PARAGRAPHS = {
    "wood": ("Wood Structure", "Materials", "Parts are inspected before they are glued."),
    "fabric": ("Fabric Covering", "Doping", "Parts are inspected before they are coated."),
    "metal": ("Metal Structure", "Riveting", "Parts are inspected before they are joined."),
}
DOPING = "What is inspected in the section on doping of the fabric covering?"


def records(folder: Path, **changes: Any) -> Path:
    """Write paragraphs of one heading that differ in little but their chapter and section."""
    lines = [
        {"id": id, "title": "General", "text": text, "metadata": {"chapter": chapter, "section": section, **changes}}
        for id, (chapter, section, text) in PARAGRAPHS.items()
    ]
    file = folder / "manual.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def made(folder: Path, **options: Any) -> Index:
    Index.build([records(folder)], folder / "index", WordEncoder(), **options)
    return Index.open(folder / "index", WordEncoder())


@pytest.mark.parametrize("how", [{"dense": False}, {"hybrid": False}, {}])
def test_what_only_the_metadata_say_is_found_by_words_and_by_vectors(tmp_path: Path, how: dict[str, Any]) -> None:
    best = made(tmp_path, label=["chapter", "section"]).search([DOPING], 1, mmr=None, **how)[0][0]
    assert best.id.endswith("fabric")
    assert best.text == PARAGRAPHS["fabric"][2], "quoted is the text alone"


def test_it_precedes_title_and_headings_once() -> None:
    metadata = {"title": "General", "heading": "Materials > Glue", "chapter": "Wood", "section": "Materials", "marks": ["A", 7, None]}
    assert passage_label(metadata, ["chapter", "section", "marks", "nothing"]) == "Wood > Materials > A > 7 > General > Glue"
    assert passage_label(metadata) == "General > Materials > Glue"


class TestRemembered:
    def test_later_runs_keep_it_and_so_do_documents_that_are_added(self, tmp_path: Path) -> None:
        made(tmp_path, label=["chapter"])
        index = made(tmp_path)
        assert index.manifest.label == ["chapter"]
        index.add_texts(["Parts are inspected once a year."], [{"chapter": "Balloons"}], ids=["balloon"])
        assert index.search(["balloons"], 1, dense=False)[0][0].id == "balloon"

    def test_changed_metadata_are_searched(self, tmp_path: Path) -> None:
        made(tmp_path, label=["chapter"])
        built = Index.build([records(tmp_path, chapter="Gliders")], tmp_path / "index", WordEncoder())
        assert (built.changed, built.encoded) == (3, 3)
        assert len(Index.open(tmp_path / "index", WordEncoder()).search(["gliders"], 5, dense=False)[0]) == 3


def test_an_unknown_field_is_rejected_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no document has the metadata 'chaptre' — .*chapter.*section") as caught:
        made(tmp_path, label=["chaptre", "section"])
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "index").exists(), "nothing is left of it"


def test_a_document_that_lacks_it_is_found_as_before(tmp_path: Path) -> None:
    file = records(tmp_path)
    file.write_text(file.read_text() + json.dumps({"id": "note", "title": "Note", "text": "Keep the hangar dry."}) + "\n")
    Index.build([file], tmp_path / "index", WordEncoder(), label=["chapter"])
    hits = Index.open(tmp_path / "index", WordEncoder()).search(["hangar dry"], 1)[0]
    assert hits[0].text == "Keep the hangar dry."
