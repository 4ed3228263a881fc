"""Other versions of a passage: what they say otherwise, and which one is read; comparing many takes work in proportion to them."""

import pytest

from plugins.lab.tests.test_scaling import NEARLY_LINEAR, passages
from ramify.embedded.checks.versions import contradictions, superseded
from tests.counted_work import growth
from tests.tools.test_versions import text

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
    (contradiction,) = contradictions("What is said of it?", answer, cited, [other])
    assert contradiction.passage == other
    assert contradiction.value != answer
    assert contradiction.value in " ".join(new.split())
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


def other_versions(size: int) -> object:
    """Compare a cited passage with so many others, each with a version."""
    versions = [
        passage.model_copy(update={"source": f"{n % 20 + 2000}/{key}.txt"}) for n, (key, passage) in enumerate(passages(size + 1).items())
    ]
    cited, *others = (passage.with_version() for passage in versions)
    return contradictions("What is closed?", "the bridge", cited, others)


def test_the_work_grows_as_the_versions_do() -> None:
    other_versions(1)  # what is loaded once
    assert growth(other_versions, 60) < NEARLY_LINEAR
