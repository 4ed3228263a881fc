"""Search in indexes, folders, the demo, vector stores and retrievers."""

import asyncio
import json
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from ramify.tools import demo
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.passage_store import document_id
from ramify.tools.search.searcher import find_passages, open_index
from tests.tools.fakes import WordEncoder

TEXTS = ["The river Arda floods in spring.", "Spruce is light and strong.", "The treaty was signed in 1648."]


class Shelf(BaseRetriever):
    """A retriever that returns the same documents for every query."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.documents


async def test_an_index_is_searched_in_one_batch() -> None:
    index = Index.from_texts(TEXTS, WordEncoder(), ids=["a", "b", "c"])
    river, treaty = await find_passages(index, ["river floods", "treaty signed"], k=1)
    assert [hit.id for hit in river + treaty] == ["a", "c"]


async def test_an_index_is_searched_by_vectors_and_words_as_it_is_by_itself() -> None:
    index = Index.from_texts(TEXTS, WordEncoder(), ids=["a", "b", "c"])
    for options in ({"filter": {"a": 1}}, {"hybrid": False}, {"mmr": 0.5, "fetch_k": 3}, {}):
        assert await find_passages(index, ["the treaty of Arda"], k=3, **options) == index.search(["the treaty of Arda"], 3, **options)
    with pytest.raises(UsageError, match="index of kind 'passages'"):
        await find_passages(index, ["river"], options={"seeds": 3})


async def test_many_searches_run_at_once() -> None:
    index = Index.from_texts(TEXTS, WordEncoder(), ids=["a", "b", "c"])
    found = await asyncio.gather(*(find_passages(index, ["river floods"], k=2) for _ in range(40)))
    assert all(one == found[0] for one in found)


async def test_a_folder_is_opened_once_until_its_index_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = WordEncoder()
    monkeypatch.setattr("ramify.tools.index.index.load_encoder", lambda name: encoder)
    Index.from_texts(TEXTS, encoder, path=tmp_path / "index")
    first = open_index(tmp_path / "index")
    assert open_index(str(tmp_path / "index")) is first
    first.add_texts(["The harbour freezes."])
    assert open_index(tmp_path / "index") is not first
    assert (await find_passages(tmp_path / "index", ["harbour"], k=1))[0][0].text == "The harbour freezes."


async def test_a_folder_without_an_index_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="there is no index"):
        await find_passages(tmp_path, ["river"])


async def test_another_vector_store_gives_the_same_cosines_and_picks() -> None:
    encoder = WordEncoder()
    store = InMemoryVectorStore(encoder)
    store.add_texts(TEXTS, ids=["a", "b", "c"])
    index = Index.from_texts(TEXTS, encoder, ids=["a", "b", "c"])
    theirs = await find_passages(store, ["river in spring", "strong treaty"], k=2)
    ours = await find_passages(index, ["river in spring", "strong treaty"], k=2, hybrid=False)
    assert [[hit.id for hit in hits] for hits in theirs] == [[hit.id for hit in hits] for hits in ours]
    for their, our in zip(chain.from_iterable(theirs), chain.from_iterable(ours), strict=True):
        assert np.allclose((their.score, their.value), (our.score, our.value), atol=1e-5)


async def test_a_store_without_embeddings_gives_its_own_scores() -> None:
    class Bare(InMemoryVectorStore):
        @property
        def embeddings(self) -> Embeddings | None:  # type: ignore[override]  # a store may have none
            return None

        def _select_relevance_score_fn(self) -> object:  # type: ignore[override]  # any callable will do
            return lambda score: score

    store = Bare(WordEncoder())
    store.add_texts(TEXTS)
    assert [hit.text for hit in (await find_passages(store, ["treaty signed"], k=1))[0]] == [TEXTS[2]]


async def test_a_retriever_keeps_its_order_and_its_documents_get_stable_ids() -> None:
    documents = [Document("First.", metadata={"score": 0.7}), Document("Second."), Document("Third.", id="3")]
    shelf = Shelf(documents=documents)
    (hits, again) = await find_passages(shelf, ["x", "y"], k=3)
    assert [(hit.text, hit.score) for hit in hits] == [("First.", 0.7), ("Second.", 0.5), ("Third.", 1 / 3)]
    assert [hit.id for hit in hits] == [hit.id for hit in again]
    assert hits[2].id == "3"
    assert len({hit.id for hit in hits}) == 3
    with pytest.raises(UsageError, match="cannot filter"):
        await find_passages(shelf, ["x"], filter={"page": 1})


@pytest.mark.parametrize("queries", [["river"], ["river", "wing"]])
async def test_different_texts_with_the_same_id_are_an_error_and_a_repeated_text_is_none(queries: list[str]) -> None:
    again = Shelf(documents=[Document("A river.", id="7"), Document("A river.", id="7")])
    assert len(await find_passages(again, queries)) == len(queries)
    with pytest.raises(UsageError, match=r"'Shelf'.*'7'"):
        await find_passages(Shelf(documents=[Document("A river.", id="7"), Document("A wing.", id="7")]), queries)


async def test_documents_without_a_source_are_told_apart_by_their_collection() -> None:
    several = [Shelf(documents=[Document(text, id="7")]) for text in ("A river.", "A wing.")]
    [passages] = await find_passages(several, ["river"])
    assert len({passage.source for passage in passages}) == 2


async def test_anything_else_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot search in 'int'"):
        await find_passages(7, ["river"])  # type: ignore[arg-type]  # the mistake under test


def test_a_passage_belongs_to_its_document() -> None:
    assert [document_id(name) for name in ("a", "a~2", "a~b", "notes~old.txt~12")] == ["a", "a", "a~b", "notes~old.txt"]


@pytest.fixture
def small_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the demo corpus by a small one."""
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"id": str(number), "text": text}) + "\n" for number, text in enumerate(TEXTS)), encoding="utf-8")
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(demo, "demo_corpus", lambda: corpus)
    return tmp_path / "cache"


def test_the_demo_is_indexed_at_first_use(small_demo: Path) -> None:
    (hits,) = asyncio.run(find_passages("demo", ["Which treaty was signed?"], k=1))
    assert hits[0].id == "2"
    folder = demo.demo_index()
    made = (folder / "manifest.json").stat().st_mtime_ns
    assert (demo.demo_index() / "manifest.json").stat().st_mtime_ns == made
    assert [path.name for path in small_demo.iterdir()] == [folder.name]
    (folder / "vectors.faiss").write_bytes(b"")
    assert len(Index.open(demo.demo_index())) == 3


def test_a_demo_that_was_deleted_meanwhile_is_made_again(small_demo: Path) -> None:
    before = asyncio.run(find_passages("demo", ["Which treaty was signed?"], k=1))
    shutil.rmtree(small_demo)
    assert asyncio.run(find_passages("demo", ["Which treaty was signed?"], k=1)) == before
    assert [path.name for path in small_demo.iterdir()] == [demo.demo_index().name]


async def test_threads_that_want_the_demo_at_once_make_it_once(small_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    build = Index.build

    def counted(paths: Any, folder: Path) -> Any:
        made.append(folder)
        return build(paths, folder, WordEncoder())

    monkeypatch.setattr(demo.Index, "build", counted)
    folders = await asyncio.gather(*(asyncio.to_thread(demo.demo_index) for _ in range(4)))
    assert (len(set(folders)), len(made)) == (1, 1)


MAKE_DEMO = """
import sys
from itertools import chain
from pathlib import Path
from ramify.tools import demo
from ramify.tools.index import index
from tests.tools.fakes import WordEncoder
demo.demo_corpus = lambda: Path(sys.argv[1])
index.load_encoder = lambda name: WordEncoder()  # two encoders loading at once would only slow the test down
print(demo.demo_index())
"""


def test_two_processes_may_make_the_demo_at_once(small_demo: Path) -> None:
    command = [sys.executable, "-c", MAKE_DEMO, str(small_demo.parent / "corpus.jsonl")]
    root = Path(__file__).parents[3]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(2)]
    folders = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(folders) == 1
    assert len(Index.open(folders.pop().strip(), WordEncoder())) == 3


def test_the_packaged_corpus_can_be_found() -> None:
    assert demo.demo_corpus().is_file()
