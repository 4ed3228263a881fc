"""Steps and lists that the embedded model quotes for questions that no phrase answers."""

import pytest

from ramify.embedded.extractive.quotations import MAX_LINES, quote_lines
from ramify.embedded.reader.calibration import MIN_CONFIDENCE
from ramify.embedded.reader.reading import PassageText

CARD = PassageText(
    title="Printer manual > Replacing the cartridge",
    source="printer.md",
    text="The printer uses one cartridge. To replace the cartridge of the printer:\n1. Switch the printer off.\n2. Open the front cover.\n"
    "3. Pull the old cartridge out.\n4. Push the new cartridge in until it clicks.\n5. Close the cover.\n\n"
    "Keep cartridges away from the sun.",
)
PAPER = PassageText(
    title="Printer manual > Paper", source="printer.md", text="The tray holds 250 sheets. Thick paper goes into the slot at the back."
)
PORTS = PassageText(
    title="Printer manual > Supported ports",
    source="printer.md",
    text="The supported ports of the printer are:\n- USB 2.0\n- Ethernet\n- a serial port for service",
)


def test_a_numbered_list_is_quoted_whole_and_in_its_order() -> None:
    quoted = quote_lines("How do I replace the cartridge of the printer?", [PAPER, CARD])
    assert quoted is not None
    assert quoted.confidence >= MIN_CONFIDENCE
    assert {number for number, _ in quoted.lines} == {2}
    steps = [line for _, line in quoted.lines if line[0].isdigit()]
    assert [step[0] for step in steps] == list("12345")
    assert not any("sun" in line for _, line in quoted.lines)


@pytest.mark.parametrize("mark", ["{}.", "{})", "({})", "-"])
@pytest.mark.parametrize("title", ["How to replace the cartridge of the printer", "Replacing the cartridge of the printer"])
def test_a_list_below_a_title_of_its_text_is_quoted_whole(title: str, mark: str) -> None:
    listed = CARD["text"]
    steps = [line[3:] for line in listed.splitlines() if line[:1].isdigit()] + ["Switch the printer on."]
    text = "\n".join([*("Delivered on Monday.", "", title, ""), *(f"{mark.format(n)} {step}" for n, step in enumerate(steps, 1))])
    quoted = quote_lines(
        "How do I replace the cartridge of the printer?", [PAPER, PassageText(title="printer", source="printer.txt", text=text)]
    )
    assert quoted is not None
    assert [line.split(" ", 1)[1] for _, line in quoted.lines] == steps


def test_a_list_is_its_items() -> None:
    quoted = quote_lines("List all the supported ports of the printer.", [CARD, PORTS, PAPER])
    assert quoted is not None
    assert [line for _, line in quoted.lines if "USB" in line or "Ethernet" in line or "serial" in line]
    assert {number for number, _ in quoted.lines} == {2}


def test_a_list_continues_in_the_next_passage() -> None:
    head, _, tail = CARD["text"].partition("4. ")
    first = PassageText(title=CARD["title"], source=CARD["source"], text=head.rstrip())
    second = PassageText(title=CARD["title"], source=CARD["source"], text=f"3. Pull the old cartridge out.\n4. {tail}")
    quoted = quote_lines("How do I replace the cartridge of the printer?", [first, PAPER, second])
    assert quoted is not None
    steps = [line for _, line in quoted.lines if line[0].isdigit()]
    assert [step[0] for step in steps] == list("12345")


def test_a_list_is_not_longer_than_anybody_reads() -> None:
    text = "The supported paper sizes are:\n" + "\n".join(f"- size number {number} of the tray" for number in range(30))
    quoted = quote_lines("Which paper sizes are supported?", [PassageText(title="Paper sizes", source="p.md", text=text)])
    assert quoted is not None
    assert len(quoted.lines) <= MAX_LINES


def test_a_question_for_one_fact_and_one_about_something_else_get_none() -> None:
    assert quote_lines("How many sheets does the tray hold?", [PAPER]) is None
    assert quote_lines("How do I bake sourdough bread?", [PAPER]) is None
    assert quote_lines("How do I replace the cartridge?", []) is None


def test_an_explanation_is_quoted_with_what_follows_the_line_that_names_its_subject_and_without_the_heading() -> None:
    text = "The mill at Aker\n\nThe mill at Aker was built in 1890. It was closed in 1950 because the dam had burst."
    quoted = quote_lines("Why was the mill at Aker closed?", [PAPER, PassageText(title="mills", source="mills.txt", text=text)])
    assert quoted is not None
    assert [line for _, line in quoted.lines] == ["The mill at Aker was built in 1890.", "It was closed in 1950 because the dam had burst."]
