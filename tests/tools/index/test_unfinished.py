"""An index that is searched while its vectors are computed: by words, and by the meaning of the candidates."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.folder import LOCK_FILE
from ramify.tools.index.progress import PassagesStored, ignore_progress, stop_when_stored
from ramify.tools.index.unfinished import UnfinishedSnapshot
from ramify.tools.search.searcher import open_index, require_finished, unfinished_notices
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import write_records

COUNT, BATCH = 120, 50
QUESTION = "harbour number 27"


class WaitingEncoder(WordEncoder):
    """Encodes batches of a build one by one, when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.allowed, self.waits = threading.Semaphore(0), threading.Event()

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        self.waits.set()
        self.allowed.acquire()
        self.waits.clear()
        return super().encode_documents(texts, prefix)


def build(folder: Path, encoder: WordEncoder, stored_only: bool = False) -> None:
    """Build the index of the records beside a folder; `stored_only`: stop when its passages are stored."""
    progress = partial(stop_when_stored, ignore_progress) if stored_only else None
    Index.build([folder.parent / "records.jsonl"], folder, encoder, batch_size=BATCH, progress=progress)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_records(tmp_path / "records.jsonl", range(COUNT))
    return tmp_path / "index"


@pytest.fixture
def stopped(folder: Path) -> Path:
    with pytest.raises(PassagesStored):
        build(folder, WordEncoder(), stored_only=True)
    return folder


@pytest.fixture
def growing(folder: Path) -> Iterator[Callable[[int], None]]:
    """Build in a thread; call it with a number of batches to encode and wait for."""
    encoder = WaitingEncoder()
    thread = threading.Thread(target=build, args=(folder, encoder))
    thread.start()

    def encode(batches: int) -> None:
        for _ in range(batches):
            assert encoder.waits.wait(30)
            encoder.waits.clear()
            encoder.allowed.release()
        assert encoder.waits.wait(30)

    yield encode
    encoder.allowed.release(COUNT)
    thread.join()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != LOCK_FILE}


def find(folder: Path, encoder: WordEncoder, question: str = QUESTION, **how: object) -> list[str]:
    return [hit.id for hit in Index.open(folder, encoder).search([question], 3, **how)[0]]  # type: ignore[arg-type]


def test_it_is_searched_before_the_first_vector(stopped: Path) -> None:
    encoder = WordEncoder()
    index = Index.open(stopped, encoder)
    assert (len(index), index.manifest.files, len(index.get_by_ids(["r7", "none"]))) == (COUNT, 1, 1)
    found = index.search([QUESTION], 3)[0]
    assert found[0].id == "r27"
    assert found[0].score > 0.5, "a cosine of the vector that was computed for the question"
    assert 0 < len(encoder.encoded) < COUNT
    once = len(encoder.encoded)
    assert index.search([QUESTION], 3)[0] == found
    assert len(encoder.encoded) == once, "encoded once"


def test_it_finds_what_the_finished_index_finds(stopped: Path) -> None:
    questions = [f"number {number}" for number in range(0, COUNT, 7)]
    early = [find(stopped, WordEncoder(), question) for question in questions]
    build(stopped, WordEncoder())
    assert [found[0] for found in early] == [find(stopped, WordEncoder(), question)[0] for question in questions]


def test_filters_and_a_search_without_words_work(stopped: Path) -> None:
    assert find(stopped, WordEncoder(), "number", filter={"number": 31}) == ["r31"]
    assert find(stopped, WordEncoder(), hybrid=False)[0] == "r27"
    assert find(stopped, WordEncoder(), "number", filter={"number": -1}) == []


def test_it_says_how_much_is_computed(folder: Path, growing: Callable[[int], None]) -> None:
    growing(0)
    assert "0%" in str(Index.open(folder, WordEncoder()).notice())
    growing(1)
    index = Index.open(folder, WordEncoder())
    assert f"while meanings are computed: {BATCH / COUNT:.0%}" in str(index.notice())
    assert unfinished_notices(index) == [index.notice()]
    assert index.search([QUESTION], 3)[0][0].id == "r27"


def test_an_interrupted_build_says_what_to_do(stopped: Path) -> None:
    assert "stopped at 0% — index the same documents again" in str(Index.open(stopped, WordEncoder()).notice())


def test_the_finished_index_is_the_same_to_the_byte(folder: Path, stopped: Path) -> None:
    find(stopped, WordEncoder())
    build(stopped, WordEncoder())
    other = folder.with_name("other")
    build(other, WordEncoder())
    assert contents(stopped) == contents(other)


def test_an_opened_index_is_replaced_when_it_is_finished(tmp_path: Path) -> None:
    (tmp_path / "docs.md").write_text("# Lamp\n\nThe lamp of the harbour is green.\n")
    with pytest.raises(PassagesStored):
        Index.build([tmp_path / "docs.md"], tmp_path / "index", progress=partial(stop_when_stored, ignore_progress))
    early = open_index(tmp_path / "index")
    assert early.notice() is not None
    assert early.search(["What colour is the lamp?"])[0][0].text.endswith("green.")
    Index.build([tmp_path / "docs.md"], tmp_path / "index")
    assert open_index(tmp_path / "index").notice() is None


def test_passages_that_a_build_changes_meanwhile(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.open(stopped, WordEncoder())
    opened: UnfinishedSnapshot = index._opened  # type: ignore[assignment]
    sections = opened.store.passages

    def changed(rows: Sequence[int]) -> list[Document]:
        write_records(stopped.parent / "records.jsonl", range(COUNT), r27="another text")
        with pytest.raises(PassagesStored):
            build(stopped, WordEncoder(), stored_only=True)
        return sections(rows)

    monkeypatch.setattr(opened.store, "passages", changed)
    with pytest.raises(IndexingError) as raised:
        index.search([QUESTION], 3)
    assert "search again" in raised.value.remedy


def test_what_is_measured_needs_a_finished_index(tmp_path: Path) -> None:
    (tmp_path / "docs.md").write_text("# Lamp\n\nThe lamp of the harbour is green.\n")
    with pytest.raises(PassagesStored):
        Index.build([tmp_path / "docs.md"], tmp_path / "index", progress=partial(stop_when_stored, ignore_progress))
    with pytest.raises(IndexingError, match="not complete"):
        require_finished(tmp_path / "index")
    Index.build([tmp_path / "docs.md"], tmp_path / "index")
    require_finished(tmp_path / "index")


def test_an_opened_index_goes_on_with_the_finished_one(stopped: Path) -> None:
    index = Index.open(stopped, WordEncoder())
    build(stopped, WordEncoder())
    assert index.search([QUESTION], 3)[0][0].id == "r27"
    assert index.notice() is None
    assert not isinstance(index._opened, UnfinishedSnapshot)


def test_a_build_killed_in_a_transaction_is_an_error_that_says_so(stopped: Path) -> None:
    index = Index.open(stopped, WordEncoder())
    killed = """import os, sqlite3, sys
base = sqlite3.connect(sys.argv[1])
base.execute("PRAGMA cache_size = 1")
base.execute("UPDATE passages SET text = text || hex(zeroblob(9000)), slot_key = 1")
os._exit(9)"""
    subprocess.run([sys.executable, "-c", killed, str(stopped / "passages.sqlite")], check=False)
    with pytest.raises(IndexingError, match="killed"):
        index.search([QUESTION], 3)
    build(stopped, WordEncoder())
    assert index.search([QUESTION], 3)[0][0].id == "r27"
