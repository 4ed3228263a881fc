"""Labels: title and headings above a passage, each said once."""

import pytest

from ramify.tools.index.labels import label


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Chapter 4", "Chapter 4 > 4.2 Rings", "Chapter 4 > 4.2 Rings"),
        ("Manual — 4.2 Foo", "4.2 Foo", "4.2 Foo"),
        ("4.2 Foo", "Manual — 4.2 Foo", "Manual — 4.2 Foo"),
        ("1.2 Seals", "Seals > Rings", "1.2 Seals > Rings"),
        ("add(1)", "add(1) Manual Page > OPTIONS", "add(1) Manual Page > OPTIONS"),
        ("copy — Files — Tools 3 documentation", "copy — Files > Use", "copy — Files > Use"),
        ("Pump care", "Care", "Pump care > Care"),
        ("Operators", "+ > -", "Operators > + > -"),
        ("문서", "문서 > 소개", "문서 > 소개"),
        ("", "A > B", "A > B"),
        ("A", "", "A"),
    ],
)
def test_title_and_headings_are_said_once(title: str, heading: str, expected: str) -> None:
    assert label({"title": title, "heading": heading}) == expected
