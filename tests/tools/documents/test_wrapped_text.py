"""Text that was wrapped by hand: paragraphs are joined, and what is made of lines stays lines."""

from pathlib import Path

import pytest

from ramify.tools.documents.load import load_files
from ramify.tools.documents.wrapped_text import join_wrapped

PARAGRAPHS = {
    "prose": "The harbour of Halden was dredged in 1911, and the crane\non the northern quay, which lifts 20 tons, was built by\nOlsen.",
    "of two lines": "The harbour of Halden was dredged in 1911, and the crane on the\nnorthern quay was built by Olsen.",
    "German": "Der Hafen von Halden wurde im Jahr 1911 ausgebaggert, und der\nKran am Nordkai, der zwanzig Tonnen hebt, wurde von der\n"
    "Firma Olsen gebaut.",
    "its first line is indented": "   The harbour of Halden was dredged in 1911, and the crane\n"
    "on the northern quay, which lifts 20 tons, was built\nby Olsen.",
    "an item": "- The harbour of Halden was dredged in 1911, and the crane\n"
    "  on the northern quay, which lifts 20 tons, was built\n  by Olsen.",
    "indented": "    The harbour of Halden was dredged in 1911, and the crane\n"
    "    on the northern quay, which lifts 20 tons, was built\n    by Olsen.",
}
LINES = {
    "verse": "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\n"
    "Rough winds do shake the darling buds of May,\n"
    "And summer's lease hath all too short a date;",
    "an address": "Acme Pumps Limited\n14 Harbour Street\n0150 Oslo\nNorway",
    "a log": "2026-01-01 12:00:01 INFO worker 12 started with the queue of mails\n"
    "2026-01-01 12:00:02 INFO worker 13 started with the queue of mails",
    "another log": "Jan  1 12:00:01 host sshd[12]: accepted connection from 10.0.0.1 port 22\n"
    "Jan  1 12:00:02 host sshd[13]: accepted connection from 10.0.0.2 port 22",
    "a table": "Name      Pressure of the pump   Weight of the part in kg\nV-101     16 bar at most         25\n"
    "V-102     18 bar at most         27",
    "a drawn table": "+--------------------+-----------------------------------+\n"
    "| Name               | pressure of the pump in bar       |\n"
    "+--------------------+-----------------------------------+",
    "a list": "- first item that is long enough to fill a whole line of it\n"
    "- second item that is long enough to fill a whole line\n- third",
    "invoices": "The amount of the invoice 2024-0113 for the boats is 1345\nThe amount of the invoice 2024-0114 for the boats is 1611",
    "fields": "Name: Olsen and sons, builders of pumps and valves since 1911\nStreet: 14 Harbour Street, near the northern quay of Halden",
    "a sentence a line": "The pump runs at 40 bar.\nIt was built in Oslo by the firm of Olsen, which also made the crane.\n"
    "It weighs 40 kg.",
    "a heading": "The harbour of Halden and its cranes in the last hundred years\n"
    "==============================================================",
    "code": "if level < 3 and pump.state == READY and valve[2].open == False:\n"
    "    open_valve(valve[2], pump, level=3, timeout=LIMIT_OF_VALVES)",
    "a block after two colons": "Like this::\n\n    the lines of a block of code that looks like prose to a reader\n"
    "    are kept as they are, since they are no paragraph of it",
}


@pytest.mark.parametrize("kind", PARAGRAPHS)
def test_a_paragraph_is_one_line(kind: str) -> None:
    text = f"Halden\n\n{PARAGRAPHS[kind]}\n\nThe end."
    joined = join_wrapped(text)
    assert len(joined.splitlines()) == 5
    assert joined.split() == text.split()


@pytest.mark.parametrize("kind", LINES)
def test_lines_stay_lines(kind: str) -> None:
    text = f"Halden\n\n{LINES[kind]}\n\n{PARAGRAPHS['prose']}\n"
    assert join_wrapped(text).startswith(f"Halden\n\n{LINES[kind]}\n\n")


def test_a_paragraph_ends_where_a_sentence_ends_a_short_line() -> None:
    first = "The harbour of Halden was dredged in 1911, and the crane\non the northern quay was built by Olsen."
    second = "It lifts 20 tons, which was more than any other crane of\nthe country could lift at that time."
    assert join_wrapped(f"{first}\n{second}") == "\n".join(part.replace("\n", " ") for part in (first, second))


@pytest.mark.parametrize("mark", ["> ", ">", "> > ", ">> "])
def test_a_quoted_paragraph_is_one_line_behind_its_mark(mark: str) -> None:
    quoted = "\n".join(mark + line for line in PARAGRAPHS["prose"].splitlines())
    whole = PARAGRAPHS["prose"].replace("\n", " ")
    assert join_wrapped(f"Olsen wrote:\n{quoted}\n\nYes.") == f"Olsen wrote:\n{mark}{whole}\n\nYes."


def test_a_title_directly_above_a_paragraph_stays_a_line() -> None:
    assert join_wrapped(f"Cranes of Halden\n{PARAGRAPHS['prose']}\n").splitlines() == [
        "Cranes of Halden",
        PARAGRAPHS["prose"].replace("\n", " "),
    ]


def test_a_sentence_may_end_where_a_line_is_full() -> None:
    first = (
        "The crane of the harbour was built by the yard in Odense in the year\n"
        "1911, and it is still used for lifting the boats in spring and autumn."
    )
    assert join_wrapped(f"{first}\nThe fee is 45 euros.") == f"{first} The fee is 45 euros.".replace("\n", " ")


def test_a_divided_word_is_whole_only_if_it_is_known() -> None:
    text = "The crane on the northern quay can be seen from the instal-\nlation, and from the well-\nknown"
    text = text.replace("well-\nknown", "house that the firm of Olsen has in the well-\nknown street.")
    assert "well-known" in join_wrapped(text)
    assert "instal-lation" in join_wrapped(text)
    assert "the installation," in join_wrapped(f"{text}\n\nThe installation is new.")


def test_sentences_of_a_text_file_are_whole_and_logs_are_not_joined(tmp_path: Path) -> None:
    for name in ("harbour.txt", "harbour.rst", "harbour.log"):
        (tmp_path / name).write_text(PARAGRAPHS["prose"])
    texts = {document.metadata["source"]: document.page_content for document in load_files(tmp_path, clean=False)}
    whole = PARAGRAPHS["prose"].replace("\n", " ")
    assert texts == {"harbour.txt": whole, "harbour.rst": whole, "harbour.log": PARAGRAPHS["prose"]}
