"""Versions of documents: what states them, which passages are versions of each other, and what they say otherwise."""

import pytest

from ramify.tools.versions import VersionedText, contradictions, document_version, superseded, versions_among


@pytest.mark.parametrize(
    ("metadata", "source", "version"),
    [
        ({"date": "2021-03-01"}, "stay.md", "2021-03-01"),
        ({"effective": "1 March 2021"}, "stay.md", "2021-03-01"),
        ({"valid from": "March 2021"}, "stay.md", "2021-03"),
        ({"version": 2.1}, "stay.md", "version 2.1"),
        ({"Version": "2.1", "date": "2021-03-01"}, "stay.md", "2021-03-01, version 2.1"),
        ({}, "stay_2021.md", "2021"),
        ({}, "stay-2021-03-01.pdf", "2021-03-01"),
        ({}, "20210301_stay.txt", "2021-03-01"),
        ({}, "01.03.2021 stay.txt", "2021-03-01"),
        ({}, "2021/stay.md", "2021"),
        ({}, "stay_v2.1.md", "version 2.1"),
        ({}, "stay_v3_final.docx", "version 3"),
        ({}, "stay-rev4.txt", "version 4"),
        ({"title": "Rules of stay, March 2021"}, "stay.html", "2021-03"),
        ({"modified": "2021-03-01"}, "stay_2020.docx", "2020"),
        ({"modified": "2021-03-01"}, "stay.docx", "2021-03-01"),
        ({"title": "Rules of stay"}, "stay.md", ""),
    ],
)
def test_metadata_names_and_titles_state_a_version(metadata: dict[str, object], source: str, version: str) -> None:
    assert document_version(metadata, source) == version


def text(source: str, told: str, version: str, title: str = "Stay", heading: str = "") -> VersionedText:
    return VersionedText(source, title, heading, told, version)


PAIRS = {
    "a price": (
        "A bed costs 20 euros a night, and breakfast is included.",
        "A bed costs 26 euros a night, and breakfast is included.",
        "20 euros",
    ),
    "a name": ("Complaints are answered by Ada Holt within a week.", "Complaints are answered by Ben Mora within a week.", "Ada Holt"),
    "a date": ("The house is closed until 4 May for the whole staff.", "The house is closed until 9 June for the whole staff.", "4 May"),
    "a row": ("Room | Bed | Price\nAttic | wide | 30 euros", "Room | Bed | Price\nAttic | wide | 34 euros", "30 euros"),
    "a record": ("room: Attic\nbed: wide\nprice: 30 euros", "room: Attic\nbed: wide\nprice: 34 euros", "30 euros"),
    "an item": ("Guests have to bring:\n- two towels\n- a lock", "Guests have to bring:\n- four towels\n- a lock", "two towels"),
    "a list": (
        "The keys are kept by:\n- Ada Holt\n- Ben Mora\n- Cleo Vane",
        "The keys are kept by:\n- Ada Holt\n- Ida Berg\n- Cleo Vane",
        "Ada Holt, Ben Mora, Cleo Vane",
    ),
    "a word": ("Dogs are allowed in the garden and in the hall.", "Dogs are forbidden in the garden and in the hall.", "allowed"),
    "a time": ("The kitchen is open from 6:00 until 22:00 each day.", "The kitchen is open from 7:00 until 22:00 each day.", "6:00"),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_another_version_says_otherwise(kind: str) -> None:
    old, new, answer = PAIRS[kind]
    cited, other = text("stay_2020.md", old, "2020"), text("stay_2023.md", new, "2023")
    (found,) = contradictions("What is said of it?", answer, cited, [other])
    assert found.passage == other
    assert found.value != answer
    assert found.value in " ".join(new.split())
    assert superseded("What is said of it?", [cited, other]) == {0}


@pytest.mark.parametrize(
    ("heading", "other_heading", "is_version"),
    [("Beds", "Beds", True), ("", "Beds", True), ("Beds", "", True), ("", "", True), ("Guests", "Beds", False)],
)
def test_a_passage_over_several_headings_is_a_version_of_one_below_one_of_them(heading: str, other_heading: str, is_version: bool) -> None:
    old = text("stay_v1.md", "A bed costs 20 euros a night. The warden of the house keeps all keys.", "version 1", heading=heading)
    new = text("stay_v2.docx", "A bed costs 26 euros a night. Towels are brought by the guests.", "version 2", heading=other_heading)
    assert (superseded("What does a bed cost?", [new, old]) == {1}) == is_version
    assert bool(contradictions("What does a bed cost?", "26 euros", new, [old])) == is_version


def test_versions_that_agree_on_the_answer_do_not_contradict() -> None:
    cited, other = (
        text("stay_2020.md", f"{PAIRS['a price'][0]} Dogs stay outside the house.", "2020"),
        text("stay_2023.md", f"{PAIRS['a price'][0]} Dogs stay inside the house.", "2023"),
    )
    assert contradictions("What does a bed cost?", "20 euros", cited, [other]) == []
    assert len(contradictions("Where do dogs stay?", "outside", cited, [other])) == 1


@pytest.mark.parametrize(
    ("now", "is_turned_round"),
    [
        ("Dogs are allowed in the garden of the house.", False),
        ("Dogs are not allowed in the garden.", True),
        ("Dogs are forbidden in the garden.", True),
        ("Two dogs are allowed in the garden.", True),
    ],
)
def test_yes_is_turned_round_by_a_denial_or_a_number_alone(now: str, is_turned_round: bool) -> None:
    cited, other = text("stay_2020.md", "Dogs are allowed in the garden.", "2020"), text("stay_2023.md", now, "2023")
    assert bool(contradictions("Are dogs allowed in the garden?", "Yes", cited, [other])) == is_turned_round


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (text("stay_2020.md", "A bed costs 20 euros.", "2020"), text("stay_2020.md", "A bed costs 26 euros.", "2020")),  # one file
        (text("stay.csv#1", "room: Attic\nprice: 3", "2020"), text("stay.csv#2", "room: Cellar\nprice: 4", "2021")),
        (text("stay_2020.csv#1", "room: Attic\nprice: 3", "2020"), text("stay_2021.csv#2", "room: Cellar\nprice: 3", "2021")),
        (text("a.md", "A bed costs 20 euros.", "2020"), text("b.md", "A bed costs 26 euros.", "2020")),  # the same date
        (text("a.md", "A bed costs 20 euros.", "2020"), text("b.md", "A bed costs 26 euros.", "")),
        (text("a.md", "A bed costs 20 euros.", "2020"), text("b.md", "The roof was mended by two men.", "2021")),
        (text("a.md", "A bed costs 20 euros.", "2020"), text("b.md", "A bed costs 20 euros.", "2021")),  # the same text
    ],
)
def test_other_passages_are_no_versions(one: VersionedText, other: VersionedText) -> None:
    assert versions_among([one, other]) == []


def test_files_of_one_name_with_their_months_written_out_are_versions() -> None:
    old = "The garden gate is locked at eight, and Ida has the only key."
    new = "The garden gate is left open, since Ida moved away to the coast."
    one, other = text("gate January 2021.md", old, "2021-01", title=""), text("gate February 2022.md", new, "2022-02", title="")
    assert versions_among([one, other]) == [(0, 1)]
