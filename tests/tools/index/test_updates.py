"""Updates: only changed documents are encoded, and deleted ones removed."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ramify.tools.documents.files import ReadReport, UnreadableError
from ramify.tools.documents.readers import FORMAT_READERS
from ramify.tools.errors import InputError
from ramify.tools.index import Index
from ramify.tools.index.build import DocumentUpdater
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.index_writer import BuildOptions, IndexWriter
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import hits, write_records


class TestUpdates:
    def test_a_file_of_the_same_size_and_time_is_not_read_again(self, tmp_path: Path) -> None:
        note = tmp_path / "papers" / "note.txt"
        note.parent.mkdir()
        note.write_text("river 1")
        build = partial(Index.build, note.parent, tmp_path / "index", WordEncoder())
        build()
        before = note.stat()
        note.write_text("opera 1")
        os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert build().unchanged == 1
        os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        assert build().changed == 1
        os.utime(note)
        assert build().unchanged == 1

    def test_a_file_that_could_not_be_read_is_tried_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        papers = tmp_path / "papers"
        papers.mkdir()
        (papers / "good.txt").write_text("river 1")
        (papers / "table.csv").write_text("river\n1\n")
        readable = FORMAT_READERS[".csv"]

        def fails(path: Path, source: str, steps: ReadReport) -> Iterator[Document]:
            raise UnreadableError("its reader cannot load")

        monkeypatch.setitem(FORMAT_READERS, ".csv", readable._replace(read=fails))
        assert Index.build(papers, tmp_path / "index", WordEncoder()).skipped == [("table.csv", "its reader cannot load")]
        monkeypatch.setitem(FORMAT_READERS, ".csv", readable)
        again = Index.build(papers, tmp_path / "index", WordEncoder())
        assert (again.added, again.unchanged, again.skipped) == (1, 1, [])

    def test_a_copy_in_another_folder_does_not_change_the_first(self, tmp_path: Path) -> None:
        first, copy = (tmp_path / name / "records.jsonl" for name in ("first", "copy"))
        for corpus in (first, copy):
            corpus.parent.mkdir()
            write_records(corpus, range(3))
        for corpus in (first, copy, first, copy):
            assert Index.build([corpus], tmp_path / "index", WordEncoder()).documents == 3
        copy.write_text(copy.read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
        Index.build([copy], tmp_path / "index", WordEncoder())
        assert Index.build([first], tmp_path / "index", WordEncoder()).documents == 3

    def test_an_index_inside_the_folder_is_not_indexed(self, tmp_path: Path) -> None:
        (tmp_path / "note.txt").write_text("A note.", encoding="utf-8")
        for _ in range(2):
            built = Index.build([tmp_path], tmp_path / "index", WordEncoder())
            assert (built.documents, built.skipped) == (1, [("index", "an index, not documents")])

    def test_skipped_files_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "note.txt").write_text("A note.", encoding="utf-8")
        (tmp_path / "empty.txt").write_bytes(b"")
        assert ("empty.txt", "empty") in Index.build([tmp_path], tmp_path / "index", WordEncoder()).skipped

    def test_a_name_that_is_no_utf_8_is_written_out(self, tmp_path: Path) -> None:
        (tmp_path / "note.txt").write_text("A note.", encoding="utf-8")
        (tmp_path / "odd\udcff.txt").write_text("Another.", encoding="utf-8")
        built = Index.build([tmp_path], tmp_path / "index", WordEncoder())
        assert (built.documents, built.skipped) == (2, [("index", "an index, not documents")])
        assert r"odd\xff.txt" in ids(tmp_path / "index")
        with pytest.raises(InputError, match="UTF-8"):
            Index.build([tmp_path / "odd\udcff.txt"], tmp_path / "index", WordEncoder())

    @fault(
        "processes",
        "writer beside readers",
        sees="nothing: readers see the state at which they opened it",
        kept="both states, until the readers open it again",
    )
    def test_an_open_index_keeps_its_state(self, tmp_path: Path) -> None:
        corpus = write_records(tmp_path / "records.jsonl", range(40))
        Index.build([corpus], tmp_path / "index", WordEncoder())
        opened = Index.open(tmp_path / "index", WordEncoder())
        before = hits(opened)
        write_records(corpus, range(20, 90))
        Index.build([corpus], tmp_path / "index", WordEncoder())
        assert hits(opened) == before


def search_all(folder: Path) -> list[list[list[tuple[str, float, float]]]]:
    index = Index.open(folder, WordEncoder())
    return [hits(index), hits(index, mmr=None), hits(index, hybrid=False, filter={"even": True})]


def ids(folder: Path) -> list[str]:
    index = Index.open(folder, WordEncoder())
    return sorted(hit.id for hit in index.search(["text"], 1000)[0])


class CountingSet(set[str]):
    """A set that counts how often it is looked into."""

    looked = 0

    def __contains__(self, one: object) -> bool:
        self.looked += 1
        return super().__contains__(one)


def test_sections_of_one_name_are_numbered_without_counting_them_again(tmp_path: Path) -> None:
    (tmp_path / "log.md").write_text("# Notes\nThe river rose.\n" * 300)
    with IndexWriter(tmp_path / "passages.sqlite") as draft:
        draft.record_facts({"clean": "no"})
        updater = DocumentUpdater(draft, BuildOptions(WordEncoder(), Chunking()), [str(tmp_path)])
        updater.seen = seen = CountingSet()
        updater.update_from_files([tmp_path / "log.md"])
    assert {"log.md#notes", "log.md", "log.md@2", "log.md@299"} < seen
    assert len(seen) == 300
    assert seen.looked < 10 * 300
