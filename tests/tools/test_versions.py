"""Versions of documents: what states them, and which passages are versions of each other."""

import pytest

from ramify.tools.versions import VersionedText, document_version, versions_among


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
