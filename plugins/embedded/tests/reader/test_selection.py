"""What is read for a question: passages, sections, rows and sentences about its identifiers, in the version that it asks for."""

import pytest

from ramify.embedded.reader.reading import PassageText
from ramify.embedded.reader.selection import select_passages


def passage(text: str, heading: str = "", source: str = "guide.md", title: str = "Guide", version: str = "") -> PassageText:
    return {"title": title, "source": source, "text": text, "heading": heading, "version": version}


def read(question: str, *passages: PassageText) -> str:
    return "\n".join(item.passage["text"] for item in select_passages(question, passages).passages)


SECTIONS = {
    "F307": "The tray is open.",
    "F370": "The lamp is out.",
    "3.10.1": "Port 8100.",
    "3.10.2": "Port 8200.",
    "§ 7.3": "Three months.",
    "§ 7.13": "Two keys.",
}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does F307 mean?", "The tray is open."),
        ("What does f-370 mean?", "The lamp is out."),
        ("Which port has 3.10.2?", "Port 8200."),
        ("What does clause 7.3 say?", "Three months."),
        ("What does F999 mean?", ""),
    ],
)
def test_a_code_in_a_heading_belongs_to_its_section(question: str, text: str) -> None:
    assert read(question, *(passage(section, f"Guide > {code}") for code, section in SECTIONS.items())) == text


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("31870045", {"31870045": "Kim", "31870054": "Lee", "38170045": "Roy"}),
        ("RT-450", {"RT-450": "3 kg", "RT-405": "4 kg", "RX-450": "5 kg", "RT-4500": "6 kg"}),
        ("40-118-7", {"40-118-7": "hinge", "40-181-7": "lever", "41-118-7": "plate"}),
        ("HELP-4711", {"HELP-4711": "Lena", "HELP-4171": "Karl"}),
        ("10.0.3.17", {"10.0.3.17": "vault", "10.0.3.1": "gate", "10.0.31.7": "lab"}),
        ("nightly.conf", {"nightly.conf": "root", "weekly.conf": "staff"}),
        ("idle_timeout", {"idle_timeout": "5", "read_timeout": "9"}),
        ("0x8004210b", {"0x8004210b": "denied", "0x8004201b": "full"}),
    ],
)
@pytest.mark.parametrize(
    "form", ["{code} | {value}", "{code}: {value}", "- {code}: {value}", "The unit {code} has {value}.", "{code}\n{value}"]
)
def test_rows_lines_and_sentences_belong_to_the_code_that_they_name(code: str, texts: dict[str, str], form: str) -> None:
    text = "\n".join(form.format(code=name, value=value) for name, value in texts.items())
    selected = read(f"What is there of {code}?", passage(text))
    assert texts[code] in selected
    assert [value for name, value in texts.items() if name != code and value in selected.replace(code, "")] == []


def test_what_refers_back_belongs_to_the_code_before_it() -> None:
    text = "Part RT-450 has a hinge. It replaces RT-405. It costs 9 euros.\nPart RT-460 has a lever. It costs 8 euros."
    assert read("What does RT-450 cost?", passage(text)) == "Part RT-450 has a hinge.\nIt replaces RT-405.\nIt costs 9 euros."


def test_the_header_of_a_table_stays_with_the_row() -> None:
    text = "Code | Part | Weight\nRT-450 | hinge | 3 kg\nRT-460 | lever | 4 kg\n\nCode | Shelf\nRT-460 | B2\nRT-450 | C3"
    lines = read("On which shelf is RT-450?", passage(text)).split("\n")
    assert lines == ["Code | Part | Weight", "RT-450 | hinge | 3 kg", "Code | Shelf", "RT-450 | C3"]


def test_a_record_is_one_although_it_names_another_code() -> None:
    text = "order: 31870045\nfollows: 31870031\namount: 12 euros"
    assert read("What is the amount of order 31870045?", passage(text), passage(text.replace("45", "46"))) == text


def test_a_section_may_mention_another_code() -> None:
    text = "The tray is open. Unlike F370, it stops the motor. Close it."
    assert read("What does F307 mean?", passage(text, "Codes > F307")) == text


def test_a_short_code_keeps_what_names_no_rival() -> None:
    passages = [passage("The plane is fast."), passage("The F-15 is older."), passage("The F-16 first flew in 1974.")]
    assert read("When did the F-16 fly?", *passages) == "The plane is fast.\nThe F-16 first flew in 1974."


def test_two_codes_that_are_asked_for_are_no_rivals() -> None:
    text = "RT-450 | 3 kg\nRT-460 | 4 kg\nRT-470 | 5 kg"
    assert read("Which is heavier, RT-450 or RT-470?", passage(text)) == "RT-450 | 3 kg\nRT-470 | 5 kg"


OLD, NEW = (
    "A guest may stay for 3 nights at most. Keys are kept by the porter.",
    "A guest may stay for 5 nights at most. Keys are kept by the guests.",
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long may a guest stay?", NEW),
        ("How long could a guest stay in 2020?", OLD),
        ("How long could a guest stay in May 2022?", OLD),
        ("How long could a guest stay in 2023?", NEW),
        ("How long may a guest stay by version 1.4?", OLD),
        ("How long may the porter keep a key?", f"{OLD}\n{NEW}"),  # the newer one does not speak of the porter
    ],
)
def test_the_version_asked_for_is_read_otherwise_the_newest(question: str, text: str) -> None:
    old = passage(OLD, source="rules_a.md", version="2020-05-01, version 1.4")
    assert read(question, old, passage(NEW, source="rules_b.md", version="2023-02-01, version 2.0")) == text


def test_what_only_one_version_says_stays() -> None:
    alone = passage("Bicycles stand in the yard behind the house.", source="rules_a.md", version="2020")
    assert read("Where do bicycles stand?", alone, passage(NEW, source="rules_b.md", version="2023")) == f"{alone['text']}\n{NEW}"


def test_a_question_without_identifiers_reads_all() -> None:
    passages = [passage("One tray."), passage("Two lamps.")]
    assert [item.passage for item in select_passages("How many trays were there in 1972?", passages).passages] == passages
