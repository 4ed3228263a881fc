"""Vectors in lower precision: same results and scores, no encoding; large files are opened without reading them."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramify.lab.inspection.contents import inspect_index
from ramify.lab.inspection.description import index_facts
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index import Index, hnsw
from ramify.tools.index.folder import index_file
from ramify.tools.index.manifest import VECTORS, Precision
from ramify.tools.index.publication import change_precision
from tests.studio.conftest import Ramify, ramify  # noqa: F401
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import QUERIES, write_records

SMALLER: tuple[Precision, ...] = ("fp16", "int8")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_records(tmp_path_factory.mktemp("corpus") / "records.jsonl", range(400))


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("whole")
    Index.build([corpus], folder / "index", WordEncoder())
    return Index.open(folder / "index", WordEncoder())


@pytest.mark.parametrize("precision", SMALLER)
class TestKeptSmaller:
    @pytest.fixture
    def index(self, corpus: Path, tmp_path: Path, precision: Precision) -> Index:
        Index.build([corpus], tmp_path / "index", WordEncoder(), vectors=precision)
        return Index.open(tmp_path / "index", WordEncoder())

    def test_the_file_is_smaller_and_what_is_found_the_same(self, whole: Index, index: Index, precision: Precision) -> None:
        sizes = [(Path(one.where) / "vectors.faiss").stat().st_size for one in (whole, index)]
        assert sizes[1] < {"fp16": 0.8, "int8": 0.7}[precision] * sizes[0]
        assert index.manifest.vectors == precision
        for how in ({}, {"hybrid": False}, {"filter": {"even": True}}, {"mmr": 0.7}):
            for ours, theirs in zip(whole.search(QUERIES, 5, **how), index.search(QUERIES, 5, **how), strict=True):
                assert {hit.id for hit in ours} == {hit.id for hit in theirs}

    def test_scores_are_the_cosines_of_whole_vectors_and_in_order(self, whole: Index, index: Index, precision: Precision) -> None:
        exact = {hit.id: hit.score for hit in whole.search(["river 42"], 400, hybrid=False)[0]}
        found = index.search(["river 42"], 20, hybrid=False)[0]
        assert [hit.score for hit in found] == pytest.approx([exact[hit.id] for hit in found], abs=1e-6)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)

    def test_it_is_remembered_by_updates(self, corpus: Path, index: Index, precision: Precision) -> None:
        Index.build([corpus, write_records(corpus.with_name(f"{precision}.jsonl"), range(400, 405))], index.where, encoder := WordEncoder())
        assert (Index.open(index.where, WordEncoder()).manifest.vectors, len(encoder.encoded)) == (precision, 5)

    def test_an_index_can_be_changed_to_it_and_back(self, corpus: Path, whole: Index, tmp_path: Path, precision: Precision) -> None:
        Index.build([corpus], tmp_path / "index", WordEncoder())
        before = (tmp_path / "index" / "vectors.faiss").read_bytes()
        opened = Index.open(tmp_path / "index", WordEncoder())
        assert change_precision(tmp_path / "index", precision)
        assert not change_precision(tmp_path / "index", precision)
        assert Index.open(tmp_path / "index", WordEncoder()).manifest.vectors == precision
        Index.build([corpus], tmp_path / "index", encoder := WordEncoder(), vectors="fp32")
        assert (encoder.encoded, index_file(tmp_path / "index", VECTORS).read_bytes()) == ([], before)
        assert len(opened.search(["river 42"], 5)[0]) == 5


def test_the_command_line_changes_the_precision(ramify: Ramify, corpus: Path, tmp_path: Path) -> None:  # noqa: F811
    Index.build([corpus], tmp_path / "index", WordEncoder())
    assert "searched as int8" in ramify("index", "--out", tmp_path / "index", "--vectors", "int8").out
    assert json.loads((tmp_path / "index" / "manifest.json").read_text())["vectors"] == "int8"
    inspected = inspect_index(Index.open(tmp_path / "index", WordEncoder()))
    assert ("vectors", "searched as int8; scores are computed from fp32") in index_facts(inspected)
    refused = ramify("index", "--out", tmp_path / "index", "--vectors", "int4")
    assert (refused.code, "choose one of fp32, fp16, int8" in refused.err) == (2, True)
    with pytest.raises(UsageError, match="choose one of fp32, fp16, int8"):
        Index.build([corpus], tmp_path / "index", WordEncoder(), vectors="int4")  # type: ignore[arg-type]


class TestLargeFiles:
    @pytest.fixture
    def folder(self, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(hnsw, "LARGE_FILE_BYTES", 1000)
        monkeypatch.setattr("ramify.tools.index.manifest.LARGE_FILE_BYTES", 1000)
        Index.build([corpus], tmp_path / "index", WordEncoder())
        return tmp_path / "index"

    def test_are_not_read_to_be_opened(self, folder: Path, whole: Index, monkeypatch: pytest.MonkeyPatch) -> None:
        def unread(path: Path) -> str:
            raise AssertionError(f"{path} is read whole")

        monkeypatch.setattr("ramify.tools.index.manifest.file_sha256", unread)
        index = Index.open(folder, WordEncoder())
        assert index.search(QUERIES, 5) == whole.search(QUERIES, 5)

    @pytest.mark.parametrize("name", ["passages.sqlite", "slots.npy", "vectors.faiss"])
    def test_that_changed_since_are_compared_again(self, folder: Path, name: str) -> None:
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 0xFF
        (folder / f"{name}.new").write_bytes(content)
        (folder / f"{name}.new").replace(folder / name)
        with pytest.raises(IndexingError, match=f"{name} is damaged"):
            Index.open(folder, WordEncoder())

    def test_an_opened_index_keeps_its_state_when_it_is_replaced(self, corpus: Path, folder: Path) -> None:
        index = Index.open(folder, WordEncoder())
        before = index.search(QUERIES, 5)
        Index.build([write_records(folder.parent / "other.jsonl", range(500, 700)), corpus], folder, WordEncoder(), vectors="int8")
        assert index.search(QUERIES, 5) == before
        assert len(Index.open(folder, WordEncoder())) == 600

    @pytest.mark.parametrize("name", ["passages.sqlite", "slots.npy", "vectors.faiss"])
    def test_a_damaged_copy_with_the_times_of_the_original_is_found(self, folder: Path, tmp_path: Path, name: str) -> None:
        copy = shutil.copytree(folder, tmp_path / "copy", copy_function=shutil.copy2)
        times = (copy / name).stat()
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 0xFF
        (copy / name).write_bytes(content)
        os.utime(copy / name, ns=(times.st_atime_ns, times.st_mtime_ns))
        with pytest.raises(IndexingError, match=f"{name} is damaged"):
            Index.open(copy, WordEncoder())

    def test_a_copy_is_compared_once(self, folder: Path, tmp_path: Path) -> None:
        copy = tmp_path / "copy"
        copy.mkdir()
        for path in folder.iterdir():
            if path.name not in (".checked", ".writing"):
                (copy / path.name).write_bytes(path.read_bytes())
        Index.open(copy, WordEncoder())
        assert (copy / ".checked").is_file()


def test_equal_vectors_tie_by_id_in_any_numbers(tmp_path: Path) -> None:
    ids = [f"t{number}" for number in range(9)]
    for precision in ("fp32", "int8"):
        index = Index.from_texts(["same words"] * 9, WordEncoder(), ids=ids, path=tmp_path / precision)
        change_precision(tmp_path / precision, "int8" if precision == "int8" else "fp32")
        assert [hit.id for hit in index.search(["same words"], 9, hybrid=False)[0]] == ids
        assert np.isclose(index.search(["same words"], 1)[0][0].score, 1.0)


class TestWordsOfLargeIndexes:
    @pytest.fixture
    def large(self, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
        monkeypatch.setattr("ramify.tools.index.publication.MIN_POSTINGS_PASSAGES", 100)
        Index.build([corpus], tmp_path / "index", WordEncoder())
        return Index.open(tmp_path / "index", WordEncoder())

    @pytest.mark.parametrize("how", [{"dense": False}, {}, {"dense": False, "filter": {"even": True}}, {"filter": {"topic": "opera"}}])
    def test_find_first_what_those_of_small_ones_do(self, whole: Index, large: Index, how: dict[str, Any]) -> None:
        for ours, theirs in zip(whole.search(QUERIES, 10, **how), large.search(QUERIES, 10, **how), strict=True):
            assert (ours[0].id, ours[0].text, ours[0].metadata, len(ours)) == (
                theirs[0].id,
                theirs[0].text,
                theirs[0].metadata,
                len(theirs),
            )
            for field, value in how.get("filter", {}).items():
                assert {hit.metadata[field] for hit in theirs} == {value}

    def test_know_other_forms_other_scripts_and_no_word_at_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ramify.tools.index.publication.MIN_POSTINGS_PASSAGES", 2)
        texts = ["The harbours of Kraków were dredged.", "An opera in Lyon.", "국어를 배우다"]
        index = Index.from_texts(texts, WordEncoder(), ids=["a", "b", "c"], path=tmp_path / "index")
        for query, found in (("harbour", ["a"]), ("Krakow dredging", ["a"]), ("operas", ["b"]), ("국어", ["c"]), ("zebra", []), ("?", [])):
            assert [hit.id for hit in index.search([query], 3, dense=False)[0]] == found

    def test_come_and_go_with_the_size_of_the_index(self, corpus: Path, large: Index) -> None:
        assert (Path(large.where) / "words.json").is_file()
        Index.build([write_records(corpus.with_name("few.jsonl"), range(3))], large.where, WordEncoder())
        large.delete([f"r{number}" for number in range(400)])
        assert not list(Path(large.where).glob("words*"))
        assert [hits[0].id for hits in large.search(["river", "wing 1"], 1, dense=False)] == ["few.jsonl#r0", "few.jsonl#r1"]

    def test_that_are_damaged_are_made_again(self, corpus: Path, large: Index) -> None:
        before = large.search(QUERIES, 5)
        for name in ("words.json", "words.counts.npy"):
            path = index_file(Path(large.where), name)
            path.write_bytes(b"rubbish")
            with pytest.raises(IndexingError, match=f"{path.name} is damaged"):
                Index.open(large.where, WordEncoder())
            Index.build([corpus], large.where, encoder := WordEncoder())
            assert (encoder.encoded, Index.open(large.where, WordEncoder()).search(QUERIES, 5)) == ([], before)
