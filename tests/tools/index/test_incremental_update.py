"""Incremental updates of a large index: vectors and postings are extended, and deleted passages are skipped."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramify.tools.errors import IndexingError
from ramify.tools.index import Index, hnsw
from ramify.tools.index.folder import index_file
from ramify.tools.index.hnsw import SlotMap, unique_keys
from ramify.tools.index.manifest import SLOTS, VECTORS, Precision
from ramify.tools.index.publication import change_precision, open_snapshot
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import QUERIES, write_records
from tests.tools.index.test_updates import search_all

COUNT = 300
QUESTIONS = [f"{query} {number}" for query in QUERIES for number in range(0, COUNT, 30)]


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an index of a few passages be a large one."""
    monkeypatch.setattr(hnsw, "MAX_SCANNED", 50)
    monkeypatch.setattr("ramify.tools.index.publication.MIN_POSTINGS_PASSAGES", 50)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_records(tmp_path / "records.jsonl", range(COUNT))


def slots(folder: Path) -> SlotMap:
    return SlotMap.read(index_file(folder, SLOTS))


def build(corpus: Path, folder: Path, **how: Any) -> Path:
    Index.build([corpus], folder, WordEncoder(), **how)
    return folder


def change(corpus: Path, count: int = COUNT) -> Path:
    """Rewrite some records, remove some, and add some, one of them a text that is there already."""
    rewritten = {f"r{number}": f"Now about the harbour {number}." for number in range(60, 65)}
    return write_records(corpus, range(20, count + 15), **rewritten, r301="About river number 70 and river.")


def words(folder: Path) -> list[list[tuple[str | None, float]]]:
    """What is found by words, with the BM25 of each."""
    held = open_snapshot(folder)
    found = held.by_words(QUESTIONS, 20, None)
    names = held.ids()
    return [[(names[position], round(score, 5)) for position, score in one.items()] for one in found]


def recall(folder: Path) -> float:
    """The part of the nearest ten that is found."""
    held = open_snapshot(folder)
    vectors = WordEncoder().encode_queries(QUESTIONS)
    exact = held.vector_index.search_exact(vectors, 10, np.arange(len(held)))
    found = held.vector_index.search(vectors, 10)
    return float(np.mean([len({*ours.tolist()} & {*theirs.tolist()}) / 10 for ours, theirs in zip(found, exact, strict=True)]))


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
def test_an_updated_index_finds_what_a_new_one_finds(tmp_path: Path, corpus: Path, precision: Precision) -> None:
    updated = build(corpus, tmp_path / "updated", vectors=precision)
    build(change(corpus), updated)
    new = build(corpus, tmp_path / "new", vectors=precision)
    assert len(slots(updated)) > len(slots(new)) == COUNT - 5
    assert search_all(updated) == search_all(new)
    assert words(updated) == words(new)
    assert recall(updated) >= recall(new) - 0.002
    everything = {hit.id for hit in Index.open(updated, WordEncoder()).search(["river"], COUNT, hybrid=False)[0]}
    assert everything == {*Index.open(new, WordEncoder()).ids()}


def test_vectors_are_added_to_the_existing_graph(tmp_path: Path, corpus: Path) -> None:
    folder = build(corpus, tmp_path / "index")
    before = slots(folder)
    steps: list[tuple[int, int | None, str]] = []
    build(change(corpus), folder, progress=lambda *step: steps.append(step))
    after = slots(folder)
    assert np.array_equal(after.keys[:COUNT], before.keys)
    assert [step for step in steps if step[2] == "vectors"] == [(COUNT + 20, COUNT + 20, "vectors")]
    assert np.count_nonzero(~after.filled) == 25


def test_removals_and_metadata_changes_keep_the_vector_file(tmp_path: Path, corpus: Path) -> None:
    folder = build(corpus, tmp_path / "index")
    before = index_file(folder, VECTORS).stat()
    build(write_records(corpus, range(30, COUNT)), folder)
    records = [json.loads(line) | {"metadata": {"topic": "all new"}} for line in corpus.read_text().splitlines()]
    corpus.write_text("".join(json.dumps(record) + "\n" for record in records))
    build(corpus, folder)
    after = index_file(folder, VECTORS).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    index = Index.open(folder, WordEncoder())
    assert (len(index), np.count_nonzero(~slots(folder).filled)) == (COUNT - 30, 30)
    found = index.search(["river 0", "river 28"], COUNT)
    assert all(hit.metadata["topic"] == "all new" for hits in found for hit in hits)
    build(write_records(corpus, range(COUNT)), folder)
    assert slots(folder).filled.all(), "what comes again finds its slots"
    assert index_file(folder, VECTORS).stat().st_ino == before.st_ino
    assert search_all(folder) == search_all(build(corpus, tmp_path / "new"))
    assert words(folder) == words(tmp_path / "new")


def test_the_same_updates_give_the_same_files(tmp_path: Path, corpus: Path) -> None:
    made = []
    for name in ("one", "two"):
        folder = build(write_records(corpus, range(COUNT)), tmp_path / name)
        build(write_records(corpus, range(5, COUNT + 20)), folder)
        build(change(corpus), folder)
        made.append({path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".faiss", ".npy")})
    assert len(made[0]) == 6
    assert made[0] == made[1]


@pytest.mark.parametrize(("gone", "numbered_anew"), [(60, False), (61, True)])
def test_all_is_renumbered_if_more_than_a_fifth_is_deleted(tmp_path: Path, corpus: Path, gone: int, numbered_anew: bool) -> None:
    folder = build(corpus, tmp_path / "index")
    build(write_records(corpus, range(gone, COUNT)), folder)
    assert slots(folder).filled.all() == numbered_anew
    assert len(slots(folder)) == (COUNT - gone if numbered_anew else COUNT)
    new = build(corpus, tmp_path / "new")
    assert (index_file(folder, VECTORS).read_bytes() == index_file(new, VECTORS).read_bytes()) == numbered_anew
    assert search_all(folder) == search_all(new)
    assert words(folder) == words(new)


def test_another_precision_rewrites_vectors_and_keeps_postings(tmp_path: Path, corpus: Path) -> None:
    folder = build(corpus, tmp_path / "index")
    build(change(corpus), folder)
    before = words(folder)
    assert change_precision(folder, "fp16")
    new = build(corpus, tmp_path / "new", vectors="fp16")
    assert index_file(folder, VECTORS).read_bytes() == index_file(new, VECTORS).read_bytes()
    assert (words(folder), search_all(folder)) == (before, search_all(new))


def test_it_becomes_small_and_large_again(tmp_path: Path, corpus: Path) -> None:
    folder = build(corpus, tmp_path / "index")
    for numbers in (range(40), range(200), range(30, 90)):
        build(write_records(corpus, numbers), folder)
        assert search_all(folder) == search_all(build(corpus, tmp_path / f"new {numbers.stop}"))
        assert slots(folder).filled.all()


def test_a_label_that_its_text_begins_with_counts_among_the_words(tmp_path: Path, corpus: Path) -> None:
    folder = build(corpus, tmp_path / "index")
    records = [json.loads(line) for line in corpus.read_text().splitlines()]
    records[0] |= {"title": "", "text": "river 0\nAbout river number 0 and river."}  # embedded as before, and without a label
    corpus.write_text("".join(json.dumps(record) + "\n" for record in records))
    Index.build([corpus], folder, encoder := WordEncoder())
    assert encoder.encoded == []
    assert words(folder) == words(build(corpus, tmp_path / "new"))


def test_readers_keep_the_old_state(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hnsw, "LARGE_FILE_BYTES", 1000)
    folder = build(corpus, tmp_path / "index")
    opened = Index.open(folder, WordEncoder())
    before = opened.search(QUESTIONS, 6)
    build(change(corpus), folder)
    assert opened.search(QUESTIONS, 6) == before
    assert Index.open(folder, WordEncoder()).search(QUESTIONS, 6) != before


@pytest.mark.parametrize("name", ["slots.npy", "vectors.faiss", "words.slots.npy", "words.lengths.npy"])
def test_damage_is_reported_and_repaired_by_an_update(tmp_path: Path, corpus: Path, name: str) -> None:
    folder = build(corpus, tmp_path / "index")
    content = bytearray((folder / name).read_bytes())
    content[-5] ^= 0xFF
    (folder / name).write_bytes(content)
    with pytest.raises(IndexingError, match=f"{name} is damaged"):
        Index.open(folder, WordEncoder())
    build(change(corpus), folder)
    new = build(corpus, tmp_path / "new")
    assert (search_all(folder), words(folder)) == (search_all(new), words(new))


def test_an_unchanged_corpus_writes_nothing(tmp_path: Path, corpus: Path) -> None:
    folder = build(corpus, tmp_path / "index")
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    folder.joinpath("passages.1.sqlite.part").mkdir()  # a copy could not be written
    build(corpus, folder)
    folder.joinpath("passages.1.sqlite.part").rmdir()
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_repeated_texts_have_separate_slots() -> None:
    keys = unique_keys(np.array([7, 5, 7, 7, 5], dtype=np.int64))
    assert len({*keys.tolist()}) == 5
    held = SlotMap.in_order(keys).updated(unique_keys(np.array([5, 7, 7], dtype=np.int64)))
    assert (len(held), np.count_nonzero(held.filled), sorted(held.positions[held.filled].tolist())) == (5, 3, [0, 1, 2])
