"""What is kept out of search: passages that only list, and the same text found again in another file."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from ramify.tools.errors import IndexingError
from ramify.tools.index import Built, Index
from ramify.tools.index.search_words import searchable
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
    return {str(hit.document.metadata["source"]) for hit in index.search([query], 50)[0]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "pump.html").write_text(page(PARTS), encoding="utf-8")
    (folder / "pump.txt").write_text(text(PARTS), encoding="utf-8")
    (folder / "other.txt").write_text(prose(9), encoding="utf-8")
    return folder


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
    also = [place for hit in index.search([PARTS["Use"]], 50)[0] for place in hit.document.metadata.get("also", [])]
    assert {place["source"] for place in also} == {"pump.txt"}
    (twin,) = index.get_by_ids(["pump.txt"])
    assert twin.page_content.startswith("Care")


def test_the_twin_comes_back_when_the_visible_one_goes_or_changes(folder: Path, tmp_path: Path) -> None:
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
    assert not any("also" in hit.document.metadata for hit in index.search([PARTS["Use"]], 50)[0])


def test_deleting_the_visible_one_brings_the_twin_back(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path / "index")
    index = opened(tmp_path / "index")
    index.delete(["pump.html#care", "pump.html#use", "pump.html#repair"])
    assert sources(index, PARTS["Use"]) == {"pump.txt", "other.txt"}


def test_twins_do_not_depend_on_what_was_indexed_first(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path / "at-once")
    (folder / "pump.html").rename(tmp_path / "pump.html")
    build(folder, tmp_path / "later")
    (tmp_path / "pump.html").rename(folder / "pump.html")
    build(folder, tmp_path / "later")
    assert hidden_in(tmp_path / "later") == hidden_in(tmp_path / "at-once") != {}


def test_pages_that_differ_in_a_word_or_a_number_are_no_twins(tmp_path: Path) -> None:
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
    with sqlite3.connect(out / "passages.sqlite") as database:
        return dict(database.execute("SELECT id, twin_of FROM passages WHERE hidden = 'twin'"))


def test_records_are_never_hidden(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    records = [{"id": f"r{number}", "text": prose(1), "role": "index"} for number in range(3)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    (folder / "pump.html").write_text(page(PARTS), encoding="utf-8")
    built = build(folder, tmp_path / "index")
    assert built.hidden == {}
    assert {"corpus.jsonl#r0", "corpus.jsonl#r1", "corpus.jsonl#r2"} <= sources(opened(tmp_path / "index"), prose(1))


def test_lists_are_kept_and_not_searched_unless_all_is(folder: Path, tmp_path: Path) -> None:
    links = "".join(f'<li><a href="{word}.html">{word}</a></li>' for word in WORDS[:8])
    (folder / "list.html").write_text(f"<h1>Chapters</h1><ul>{links}</ul><p>{prose(5)}</p>", encoding="utf-8")
    clean = build(folder, tmp_path / "clean")
    assert clean.hidden["contents"] == 1
    listed = WORDS[0] + "\n" + WORDS[1]
    assert not any(hit.document.page_content.startswith(listed) for hit in opened(tmp_path / "clean").search([listed], 50)[0])
    whole = build(folder, tmp_path / "all", clean=False)
    assert whole.hidden == {}
    assert any(hit.document.page_content.startswith(listed) for hit in opened(tmp_path / "all").search([listed], 50)[0])
    with pytest.raises(IndexingError, match=r"clean 'no', not 'yes'"):
        build(folder, tmp_path / "all")


def test_a_second_run_changes_nothing(folder: Path, tmp_path: Path) -> None:
    first = build(folder, tmp_path / "index")
    before = (tmp_path / "index" / "manifest.json").read_bytes()
    again = build(folder, tmp_path / "index")
    assert (again.encoded, again.hidden, again.passages) == (0, first.hidden, first.passages)
    assert (tmp_path / "index" / "manifest.json").read_bytes() == before


def test_an_index_of_an_earlier_layout_is_built_again(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    built = build(folder, out)
    with sqlite3.connect(out / "passages.sqlite") as database:
        database.execute("UPDATE facts SET value = '1' WHERE name = 'layout'")
        database.executescript("DROP INDEX passages_of_twin; DROP INDEX passages_shown")
        for trigger in ("words_added", "words_removed", "words_hidden", "words_shown"):
            database.execute(f"DROP TRIGGER {trigger}")
        database.executescript("ALTER TABLE passages DROP COLUMN hidden; ALTER TABLE passages DROP COLUMN twin_of; DROP TABLE sketches")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8")) | {"layout": 1}
    del manifest["hidden"]
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(IndexingError, match=r"another version.*— build it again: `ramify index PATH… --out .*index`"):
        opened(out)
    again = build(folder, out)
    assert (again.encoded, again.added, again.hidden) == (0, built.added, built.hidden)
    assert sources(opened(out), PARTS["Use"]) == {"pump.html", "other.txt"}
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == [
        "manifest.json",
        "passages.sqlite",
        "vectors.faiss",
    ]


def test_a_build_that_was_cut_short_while_reading_still_finds_twins(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    (tmp_path / "cut" / "manifest.json").unlink()
    with sqlite3.connect(tmp_path / "cut" / "passages.sqlite") as database:
        database.create_function("searchable", 1, searchable)
        database.execute("UPDATE passages SET hidden = NULL, twin_of = NULL")
        database.execute("DELETE FROM facts WHERE name = 'compared'")
    assert hidden_in_build(folder, tmp_path / "cut") == hidden_in(tmp_path / "whole")
