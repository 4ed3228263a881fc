"""Tidying: what gets a role, what goes to its neighbour, and that nothing is lost or moved."""

from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents._tidy import tidy_documents
from ramify.tools.documents.sections import metadata_at_quote

PROSE = "The pump moves water from the well to the tank and stops by itself when the tank is full. " * 12
LEADERS = "\n".join(f"{number} Chapter about things {'. ' * 20}{number * 7}" for number in range(1, 12))
INDEX = "\n".join(f"{letter}{letter}term {'. ' * 12}{(ord(letter) * 37) % 90 + 1}, 4" for letter in "abcdefghijklmnopqrst")
NOTICE = (
    "Copyright 2020 The Pump Company. All rights reserved. Permission is granted to make copies of this manual provided that the "
    "copyright notice and this permission notice are preserved on all copies. It comes without warranties of any kind. Pump is a "
    "trademark of The Pump Company, and so are the names of its parts."
)


def section(text: str, heading: str = "", **metadata: Any) -> Document:
    carried = {"source": "m.html", "title": "Manual", **({"heading": heading} if heading else {}), **metadata}
    return Document(text, id=f"m.html#{heading or text[:8]}", metadata=carried)


def roles(documents: list[Document]) -> list[str | None]:
    return [document.metadata.get("role") for document in documents]


def test_a_short_section_goes_to_its_sibling_under_its_own_heading() -> None:
    name, synopsis = section("add - Add contents.", "Add > Name", fragment="name"), section(PROSE[:89], "Add > Synopsis", fragment="syn")
    (merged,) = tidy_documents([name, synopsis])
    assert merged.page_content == f"Name\nadd - Add contents.\n\nSynopsis\n{PROSE[:89]}"
    assert (merged.metadata["heading"], merged.metadata["fragment"], merged.id) == ("Add", "name", name.id)
    quotes = ("add - Add contents.", f"add - Add contents. {' '.join(PROSE.split()[:6])}", f"… {PROSE[:60]} …")
    places = [metadata_at_quote(merged.metadata, merged.page_content, quote) for quote in quotes]
    assert [(place["heading"], place["fragment"]) for place in places] == [("Add > Name", "name")] * 2 + [("Add > Synopsis", "syn")]


def test_siblings_come_before_neighbours_under_another_heading() -> None:
    documents = [section(PROSE[:200], "A > One"), section("Three small words.", "A > Two"), section(PROSE[200:400], "B > One")]
    first, other = tidy_documents(documents)
    assert first.metadata["heading"] == "A"
    assert "Two\nThree small words." in first.page_content
    assert other == documents[2]


def test_a_long_section_keeps_its_heading() -> None:
    (merged,) = tidy_documents([section(PROSE, "Add > Care"), section("Part of the suite.", "Add > Suite")])
    assert merged.metadata["heading"] == "Add > Care"
    assert merged.page_content.endswith("\n\nSuite\nPart of the suite.")


def test_a_short_file_stays() -> None:
    document = section("Just this.")
    assert tidy_documents([document]) == [document]


def test_contents_and_indexes_of_a_pdf_are_cut_out_by_page() -> None:
    pages = [PROSE, LEADERS, PROSE, INDEX]
    starts = [sum(len(page) + 2 for page in pages[:number]) for number in range(4)]
    whole = section("\n\n".join(pages), pages=[[start, number] for number, start in enumerate(starts, start=1)])
    documents = tidy_documents([whole])
    assert roles(documents) == [None, "contents", None, "index"]
    assert [document.metadata["page"] for document in documents] == [1, 2, 3, 4]
    assert len({document.id for document in documents}) == 4


def test_entries_that_were_joined_into_a_paragraph_are_entries() -> None:
    joined = LEADERS.replace("\n", " ")
    assert roles(tidy_documents([section(f"{PROSE}\n\n{joined}\n\n{PROSE}")])) == [None, "contents", None]
    assert roles(tidy_documents([section(INDEX.replace("\n", " "), page=90), section(PROSE, page=91)])) == ["index", None]


def test_contents_within_a_text_are_cut_out_and_prices_are_not() -> None:
    before, contents, after = tidy_documents([section(f"{PROSE}\n\nContents\n{LEADERS}\n\n{PROSE}")])
    assert roles([before, contents, after]) == [None, "contents", None]
    assert contents.page_content == LEADERS
    assert before.page_content + after.page_content == f"{PROSE}\n\nContents{PROSE}".strip()
    prices = "\n".join(f"Part number {number} {'.' * 20} {price}" for number, price in enumerate([9, 4, 12, 3, 8, 2, 7]))
    assert roles(tidy_documents([section(f"{PROSE}\n\n{prices}\n\n{PROSE}")])) == [None]


def test_a_notice_is_legal_and_a_licence_is_a_text() -> None:
    body = [section(PROSE, f"Part {number}") for number in range(4)]
    assert roles(tidy_documents([section(NOTICE, "Notice"), *body])) == ["legal", None, None, None, None]
    assert roles(tidy_documents([section(NOTICE)])) == [None]
    assert roles(tidy_documents([section(NOTICE, f"Notice {number}") for number in range(9)] + body)) == [None] * 13
    assert roles(tidy_documents([section("Licensed under the MIT licence, copyright 2020 by Jane.", "Licence"), *body])) == [None] * 4
