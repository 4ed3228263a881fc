"""Near-duplicates that are hidden from search, and restored."""

import sqlite3
from pathlib import Path

import pytest

from ramify.tools.index import Built, Index
from ramify.tools.index.folder import index_file
from ramify.tools.index.manifest import PASSAGES
from tests.tools.fakes import WordEncoder

WORDS = [
    "water", "pump", "tank", "valve", "pipe", "wheel", "gate", "mill", "stone", "river",
    "bank", "boat", "rope", "mast", "sail", "wind", "cloud", "rain", "hill", "road",
]  # fmt: skip


def prose(seed: int, sentences: int = 12) -> str:
    """Write sentences that no other seed gives."""
    return " ".join(
        f"The {WORDS[(seed * 7 + number * 3) % 20]} at place number {seed}{number} moves the {WORDS[(seed + number * 11) % 20]} "
        f"before {WORDS[(seed * 3 + number) % 20]} {number} turns."
        for number in range(sentences)
    )


PARTS = {"Care": prose(1), "Use": prose(2), "Repair": prose(3)}


def page(parts: dict[str, str], title: str = "Pump") -> str:
    body = "".join(f'<h2 id="{heading.lower()}">{heading}</h2><p>{text}</p>' for heading, text in parts.items())
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


def text(parts: dict[str, str]) -> str:
    return "\n\n".join(f"{heading}\n{'-' * len(heading)}\n*{body}*" for heading, body in parts.items())


def build(folder: Path, out: Path, **how: bool) -> Built:
    return Index.build([folder], out, WordEncoder(), chunk_tokens=120, overlap=10, **how)


def sources(index: Index, query: str) -> set[str]:
    return {hit.source for hit in index.search([query], 50)[0]}


@pytest.mark.parametrize(("was", "now"), [("valve", "nine"), ("valve", "not valve")])
def test_an_edited_copy_in_another_format_stays_searched(tmp_path: Path, was: str, now: str) -> None:
    (tmp_path / "manuals").mkdir()
    plain = " ".join(WORDS) + ". The valve of the pump was opened seven times that year. " + " ".join(reversed(WORDS)) + "."
    (tmp_path / "manuals" / "report.html").write_text(page({"Care": plain}), encoding="utf-8")
    edited = plain.replace(f"The {was} of", f"The {now} of")
    (tmp_path / "manuals" / "report.txt").write_text(f"Care\n----\n{edited}", encoding="utf-8")
    assert build(tmp_path / "manuals", tmp_path / "index").hidden == {}


def opened(out: Path) -> Index:
    return Index.open(out, WordEncoder())


def test_the_same_text_in_another_format_is_searched_once_and_named_beside_it(folder: Path, tmp_path: Path) -> None:
    built = build(folder, tmp_path / "index")
    assert built.hidden == {"twin": built.hidden["twin"]}
    assert built.hidden["twin"] >= 3
    index = opened(tmp_path / "index")
    assert sources(index, PARTS["Use"]) == {"pump.html", "other.txt"}
    assert len(index) == built.passages
    also = [place for hit in index.search([PARTS["Use"]], 50)[0] for place in hit.metadata.get("also", [])]
    assert {place["source"] for place in also} == {"pump.txt"}
    (duplicate,) = index.get_by_ids(["pump.txt"])
    assert duplicate.page_content.startswith("Care")


def test_the_duplicate_is_restored_when_the_original_is_deleted_or_changed(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path / "index")
    (folder / "pump.html").write_text(page({heading: prose(70 + number) for number, heading in enumerate(PARTS)}), encoding="utf-8")
    assert build(folder, tmp_path / "index").hidden == {}
    assert "pump.txt" in sources(opened(tmp_path / "index"), PARTS["Use"])
    (folder / "pump.html").write_text(page(PARTS), encoding="utf-8")
    assert build(folder, tmp_path / "index").hidden["twin"] >= 3
    (folder / "pump.html").unlink()
    assert build(folder, tmp_path / "index").hidden == {}
    index = opened(tmp_path / "index")
    assert "pump.txt" in sources(index, PARTS["Use"])
    assert not any("also" in hit.metadata for hit in index.search([PARTS["Use"]], 50)[0])


def test_deleting_the_original_restores_the_duplicate(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path / "index")
    index = opened(tmp_path / "index")
    index.delete(["pump.html#care", "pump.html#use", "pump.html#repair"])
    assert sources(index, PARTS["Use"]) == {"pump.txt", "other.txt"}


def test_duplicates_do_not_depend_on_the_order_of_indexing(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path / "at-once")
    (folder / "pump.html").rename(tmp_path / "pump.html")
    build(folder, tmp_path / "later")
    (tmp_path / "pump.html").rename(folder / "pump.html")
    build(folder, tmp_path / "later")
    assert hidden_in(tmp_path / "later") == hidden_in(tmp_path / "at-once") != {}


def test_pages_that_differ_in_a_word_or_a_number_are_no_duplicates(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    body = f"{prose(4, 20)} A mill at rest waits 86400 turns and can be woken. {prose(5, 20)}"
    for name, changed in (("a", body), ("b", body.replace("86400", "86401")), ("c", body.replace("can be", "cannot be"))):
        (folder / f"{name}.html").write_text(page({"Use": changed}), encoding="utf-8")
    (folder / "d.txt").write_text(text({"Use": body.replace("86400", "4")}), encoding="utf-8")
    hidden = hidden_in_build(folder, tmp_path / "index")
    passages = opened(tmp_path / "index").get_by_ids(list(hidden))
    assert passages
    assert not [
        passage for passage in passages if "A mill at rest" in passage.page_content and "86400 turns and can be" not in passage.page_content
    ]


def hidden_in_build(folder: Path, out: Path) -> dict[str, str]:
    build(folder, out)
    return hidden_in(out)


def hidden_in(out: Path) -> dict[str, str]:
    with sqlite3.connect(index_file(out, PASSAGES)) as database:
        return dict(database.execute("SELECT id, twin_of FROM passages WHERE hidden = 'twin'"))
