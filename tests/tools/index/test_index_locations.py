"""Locations of an index: each kind of wrong location has its own error, and a failed build leaves no files."""

import re
from pathlib import Path

import pytest

from ramify.graphs import research_tool
from ramify.tools.errors import IndexingError, InputError, ModelError
from ramify.tools.index import Index
from ramify.tools.index.folder import write_lock
from tests.tools.fakes import WordEncoder


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder of two documents."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in (("curie.txt", "Marie Curie was born in Warsaw."), ("tesla.md", "# Tesla\n\nBorn in Smiljan.")):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def under(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


class TestWhereToWrite:
    """The folder given as --out."""

    @pytest.mark.parametrize("name", ["file:x", "file:x?mode=ro", ":memory:"])
    def test_a_name_that_sqlite_would_take_for_an_address(self, papers: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.chdir(papers.parent)
        for _ in range(2):
            assert Index.build("papers", name, WordEncoder()).documents == 2
        assert len(Index.open(name, WordEncoder())) == 2
        assert (papers.parent / name / "passages.sqlite").is_file()

    def test_inside_the_documents_it_is_left_out_of_them(self, papers: Path) -> None:
        for _ in range(2):
            built = Index.build(papers, papers / "made" / "index", WordEncoder())
            assert built.documents == 2
            assert built.skipped == [("made/index", "an index, not documents")]

    @pytest.mark.parametrize(
        ("out", "words"),
        [
            ("papers", "'{}' is the folder of the documents — give --out a folder of its own, such as {}-index"),
            ("papers/curie.txt", "cannot be written to '{}': '{}' is a file — give --out a folder of its own"),
            ("papers/curie.txt/index", "cannot be written to '{}': '{}/papers/curie.txt' is a file"),
            ("other", "'{}' contains other files and no index (accounts.xls) — give --out a folder of its own: a new or an empty one"),
        ],
    )
    def test_unwritable_locations_are_distinguished_and_unchanged(self, papers: Path, out: str, words: str) -> None:
        (papers.parent / "other").mkdir()
        (papers.parent / "other" / "accounts.xls").write_bytes(b"1")
        before, target = under(papers.parent), papers.parent / out
        expected = words.format(target, papers.parent if "{}/papers" in words else target)
        with pytest.raises(IndexingError, match=re.escape(expected)):
            Index.build(papers, target, WordEncoder())
        assert under(papers.parent) == before

    def test_an_index_with_something_beside_it_is_still_brought_up_to_date(self, papers: Path) -> None:
        Index.build(papers, papers.parent / "index", WordEncoder())
        (papers.parent / "index" / "notes.txt").write_text("mine", encoding="utf-8")
        assert Index.build(papers, papers.parent / "index", WordEncoder()).unchanged == 2

    @pytest.mark.parametrize("out", ["new", "new/deep/index", "there"])
    def test_a_build_without_documents_leaves_no_files(self, tmp_path: Path, out: str) -> None:
        for name in ("empty", "there"):
            (tmp_path / name).mkdir()
        with pytest.raises(InputError, match="nothing readable"):
            Index.build(tmp_path / "empty", tmp_path / out, WordEncoder())
        assert under(tmp_path) == ["empty", "there"]

    def test_an_update_that_reads_nothing_leaves_the_index_as_it_was(self, papers: Path) -> None:
        out = papers.parent / "index"
        Index.build(papers, out, WordEncoder())
        before = under(out)
        (papers.parent / "empty").mkdir()
        with pytest.raises(InputError, match="nothing readable"):
            Index.build(papers.parent / "empty", out, WordEncoder())
        assert under(out) == before
        assert len(Index.open(out, WordEncoder())) == 2


class TestWhereToRead:
    """The folder given as --index."""

    def test_documents_are_no_index(self, papers: Path) -> None:
        words = f"'{papers}' contains documents, not an index — build one from it: `ramify index {papers} --out {papers}-index`"
        with pytest.raises(IndexingError, match=re.escape(words)):
            Index.open(papers, WordEncoder())
        with pytest.raises(IndexingError, match="contains documents, not an index"):
            research_tool(index=str(papers))
        with pytest.raises(IndexingError, match=r"'.*curie.txt' is a document, not an index"):
            Index.open(papers / "curie.txt", WordEncoder())

    def test_a_file_that_is_no_document_and_an_empty_folder(self, papers: Path) -> None:
        (papers / "song.mp3").write_bytes(b"1")
        (papers.parent / "empty").mkdir()
        with pytest.raises(IndexingError, match="is a file, not the folder of an index"):
            Index.open(papers / "song.mp3", WordEncoder())
        with pytest.raises(IndexingError, match=r"there is no index in '.*empty' — build one"):
            Index.open(papers.parent / "empty", WordEncoder())

    def test_while_documents_are_read_a_reader_is_asked_to_wait(self, papers: Path) -> None:
        out = papers.parent / "index"
        messages: list[str] = []

        def look(done: int, total: int | None, unit: str) -> None:
            if unit in ("files", "documents"):
                with pytest.raises(IndexingError) as error:
                    Index.open(out, WordEncoder())
                messages.append(str(error.value))

        Index.build(papers, out, WordEncoder(), progress=look)
        assert all(f"the index in '{out}' is being written" in message for message in messages)
        assert messages[-1].endswith("— wait until it has finished")
        assert len(Index.open(out, WordEncoder())) == 2

    def test_during_an_update_a_reader_reads_the_published_state(self, papers: Path) -> None:
        out = papers.parent / "index"
        Index.build(papers, out, WordEncoder())
        (papers / "new.txt").write_text("a new harbour")
        held: list[int] = []
        Index.build(papers, out, WordEncoder(), progress=lambda done, total, unit: held.append(len(Index.open(out, WordEncoder()))))
        assert set(held) == {2}
        assert len(Index.open(out, WordEncoder())) == 3

    def test_a_reader_does_not_block_a_writer(self, papers: Path) -> None:
        out = papers.parent / "index"
        with write_lock(out):
            pass
        with pytest.raises(IndexingError, match="there is no index"):
            Index.open(out, WordEncoder())
        assert Index.build(papers, out, WordEncoder()).documents == 2


def test_a_server_that_does_not_embed_leaves_nothing_behind(papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match="Ollama does not answer"):
        Index.build(papers, tmp_path / "index", "ollama:nomic-embed-text")
    assert not (tmp_path / "index").exists()
