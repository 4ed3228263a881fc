"""Passages that begin within a table carry its header and the row's name; those within a record, its first fields."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from ramify.tools.documents.load import load_files
from ramify.tools.documents.sections import metadata_at_quote
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.index.chunking import Chunking, split_documents
from tests.counted_work import growth
from tests.studio.conftest import Ramify, ramify

__all__ = ["ramify"]

SEALS = ["NBR", "FKM", "PTFE"]
HEAD = ["Pump", "Seal", "Torque of the lid (Nm)", "Weight (kg)"]
ROWS = [[f"PX-{1000 + 7 * number}", SEALS[number % 3], str(60 + number), str(900 - number)] for number in range(80)]
DECIMALS = [[*row[:3], f"{row[3]}.250"] for row in ROWS]
LINES = {
    "bars": [" | ".join(HEAD), *(" | ".join(row) for row in ROWS)],
    "markdown": [f"| {' | '.join(HEAD)} |", "|---|:-:|--:|---|", *(f"| {' | '.join(row)} |" for row in ROWS)],
    "narrow markdown": [f"|{'|'.join(HEAD)}|", "|---|---|---|---|", *(f"|{'|'.join(row)}|" for row in ROWS)],
    "markdown without borders": [" | ".join(HEAD), "--- | --- | --- | ---", *(" | ".join(row) for row in ROWS)],
    "a grid": ["+--+--+--+--+", f"| {' | '.join(HEAD)} |", "+==+==+==+==+", *(f"| {' | '.join(row)} |" for row in ROWS)],
    "a title above": [" | ".join(["Seals of 2024"] * 4), " | ".join(HEAD), *(" | ".join(row) for row in ROWS)],
    "columns of plain text": [f"{a:14}{b:8}{c:26}{d}" for a, b, c, d in (HEAD, *DECIMALS)],
    "columns below a rule": [f"{a:9}{b:8}{c:>26}{d:>14}" for a, b, c, d in (HEAD, ["--", "--", "--", "--"], *DECIMALS)],
    "tabs": ["\t".join(row) for row in (HEAD, *DECIMALS)],
    "empty cells": [" | ".join(HEAD), *(" | ".join(["", *row[1:]] if number % 9 == 4 else row) for number, row in enumerate(ROWS))],
}


@cache
def minilm() -> Encoder:
    return load_encoder("minilm")


def passages(text: str, tokens: int = 100, overlap: int = 10, **metadata: object) -> list[Document]:
    return split_documents([Document(text, id="doc", metadata={"source": "a.md", **metadata})], minilm(), Chunking(tokens, overlap))[0]


@pytest.mark.parametrize("kind", LINES)
def test_each_passage_within_a_table_begins_with_its_header(kind: str) -> None:
    found = passages("\n".join(["The list of all pumps.", "", *LINES[kind], "", "That was the list."]))
    assert len(found) > 10
    assert all(name in passage.page_content.partition("\n")[0] for passage in found[1:-1] for name in HEAD)
    assert all(minilm().count_tokens(passage.page_content) <= 100 for passage in found)


@pytest.mark.parametrize("kind", LINES)
def test_each_row_is_whole_and_in_one_passage(kind: str) -> None:
    found = [line for passage in passages("\n".join(LINES[kind])) for line in passage.page_content.splitlines()]
    assert all(found.count(line) == 1 for line in LINES[kind] if "PX-" in line)


FENCED = "\n".join(["```", *LINES["bars"], "```"])
PIPES = "\n".join(f"cat file{number} | sort | uniq -c" if number % 3 else f"cat file{number} | wc" for number in range(90))
NUMBERS = "\n".join(" | ".join(row[2:]) for row in ROWS)


NAMES = "\n".join(f"Ada Reed{number} | Ida Keller{number} | Jan Meer{number}" for number in range(90))


GAPS = "\n".join(f"The parcel of day {number} came late.  It was opened at the gate, and sent back." for number in range(60))


@pytest.mark.parametrize(
    "text",
    [FENCED, NUMBERS, NAMES, PIPES, "\n\n".join(LINES["bars"]), GAPS],
    ids=["code", "numbers", "names", "commands", "single lines", "sentences"],
)
def test_what_is_no_table_with_a_header_is_cut_as_before(text: str) -> None:
    assert all(passage.page_content in text for passage in passages(text))


def test_text_after_a_table_carries_no_header() -> None:
    *_, last = passages("\n".join([*LINES["bars"], "", "The seals are changed each spring. " * 20]), 60)
    assert "Torque" not in last.page_content


def test_a_passage_within_a_row_names_the_row_and_keeps_the_columns() -> None:
    lines = [*LINES["markdown"][:5], f"| PX-9 | NBR | {'Turn the lid slowly by hand. ' * 40}| 17 |", *LINES["markdown"][5:9]]
    within = [passage.page_content for passage in passages("\n".join(lines)) if "slowly" in passage.page_content][1:]
    assert len(within) > 2
    for text in within:
        header, row, *_ = text.splitlines()
        assert header == LINES["markdown"][0]
        assert row.startswith("| PX-9 | … | … ")
    assert within[-1].splitlines()[1].endswith("| 17 |")


def test_a_header_too_long_for_a_passage_is_shortened() -> None:
    head = [f"{name} as it was measured by the makers in the hall of the works" for name in ("Torque", "Weight", "Inlet", "Outlet")]
    found = passages("\n".join([" | ".join(["Pump", *head]), *(" | ".join([*row, "5"]) for row in ROWS)]))
    assert all(passage.page_content.startswith("Pump | Torque | Weight | Inlet | Outlet\nPX-") for passage in found[2:])
    found = passages("\n".join([" | ".join(f"very-long-name-{number}" for number in range(60)), *[" | ".join("abc" * 20)] * 30]), 80, 0)
    assert all(minilm().count_tokens(passage.page_content) <= 80 for passage in found)


def test_pages_are_those_of_the_text_below_the_header() -> None:
    text = "\n".join(LINES["bars"])
    place = text.index("PX-1350")
    found = passages(text, pages=[[0, 1], [place, 2]])
    (crossing,) = (passage for passage in found if len(passage.metadata.get("pages", [])) > 1)
    crossing_text = crossing.page_content
    rows = [line for line in crossing_text.splitlines() if line.startswith("PX-")]
    assert {row: metadata_at_quote(crossing.metadata, crossing_text, row)["page"] for row in rows} == {
        row: 1 if row < "PX-1350" else 2 for row in rows
    }
    assert all(passage.metadata["page"] == (1 if "PX-1007" in passage.page_content else 2) for passage in (found[0], found[-1]))


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_each_passage_of_a_long_record_names_it(tmp_path: Path, suffix: str) -> None:
    record = {"order": "4711", "customer": "Ada Reed", "notes": "The parcel was opened at the gate. " * 60, "city": "Zlin"}
    lines = {"csv": f"{','.join(record)}\n{','.join(record.values())}\n1,B,short,Brno\n", "json": json.dumps([record])}
    (tmp_path / f"orders.{suffix}").write_text(lines[suffix], encoding="utf-8")
    long = next(iter(load_files(tmp_path)))
    found = split_documents([long], minilm(), Chunking(100, 10))[0]
    assert len(found) > 3
    assert all(passage.page_content.startswith("order: 4711\ncustomer: Ada Reed\nnotes: ") for passage in found)
    assert all(minilm().count_tokens(passage.page_content) <= 100 for passage in found)


def test_prose_with_a_colon_is_no_record() -> None:
    text = "Note: read this first\n" + "The parcel was opened at the gate. " * 60
    assert all(passage.page_content in text for passage in passages(text))


def test_finding_tables_is_linear() -> None:
    def split(size: int) -> object:
        return passages("\n".join(LINES["markdown"] * size), 100, 10)

    assert growth(split, 4) < 5


def _table_texts() -> Iterator[str]:
    yield from (
        "a | b",
        "|a|",
        "| 1 | 2 |",
        "---|---",
        "```",
        "~~~",
        "",
        "x: y",
        "no bar",
        "|",
        "| |",
        "+--+",
        "n  count",
        "p  3",
        "q\t4",
        "--  --",
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(list(_table_texts())), max_size=60), st.integers(5, 30), st.integers(0, 4))
def test_no_text_is_lost_in_odd_tables(lines: list[str], tokens: int, overlap: int) -> None:
    found = passages("\n".join(lines), tokens, overlap)
    assert all(minilm().count_tokens(passage.page_content) <= tokens for passage in found)
    characters = iter("".join(passage.page_content for passage in found))
    assert all(character in characters for character in "".join(lines) if not character.isspace())


def test_a_row_is_found_and_answered_by_its_column(ramify: Ramify, tmp_path: Path) -> None:
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in ROWS)
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    (tmp_path / "seals.html").write_text(f"<h1>Seals</h1><p>All pumps.</p><table><tr>{head}</tr>{rows}</table>", encoding="utf-8")
    assert ramify("index", tmp_path / "seals.html", "--out", tmp_path / "ix").code == 0
    for asked in ("weight of PX-1490", "torque of the lid of pump PX-1490"):
        (best,) = json.loads(ramify("search", asked, "--index", tmp_path / "ix", "-k", 1, "--json").out)
        assert "PX-1490" in best["text"]
        assert best["text"].startswith("Pump | Seal | Torque")
    asked = ("What is the torque of PX-1490?", "--index", tmp_path / "ix", "--model", "extractive", "--strategy", "naive", "--json")
    assert json.loads(ramify("ask", *asked).out)["answer"] == "130"
