"""Every answer says what was searched."""

from pathlib import Path

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings
from tests.graphs.wirings import SEARCHING, Wiring, cases
from tests.river import QUESTION, TEXTS, model, river


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents, out = tmp_path_factory.mktemp("documents"), tmp_path_factory.mktemp("indexes") / "rivers"
    for number, text in enumerate(TEXTS):
        (documents / f"{number}.txt").write_text(text, encoding="utf-8")
    Index.build(documents, out)
    return out


@pytest.mark.parametrize("wiring", cases(*SEARCHING))
def test_every_strategy_says_what_it_searched(wiring: Wiring) -> None:
    name, arguments = wiring
    result = graphs.ask(QUESTION, name, model=model(), index=river(), **arguments)
    assert result.index == result.to_json()["index"] == InMemoryVectorStore.__name__


def test_a_folder_is_named_as_it_was_with_what_it_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = f"({len(TEXTS)} files, {len(TEXTS)} passages)"
    monkeypatch.chdir(folder.parent)
    assert graphs.ask(QUESTION, "naive", model=model(), index="rivers").index == f"rivers {held}"
    assert graphs.ask(QUESTION, "naive", model=model(), index=Index.open(folder)).index == f"{folder} {held}"


def test_an_index_in_memory_and_a_retriever_are_known_by_their_class() -> None:
    index = Index.from_texts([TEXTS[0]], WordEmbeddings(), metadatas=[{"source": "a.txt"}])
    assert graphs.ask(QUESTION, "naive", model=model(), index=index).index == "Index (1 document, 1 passage)"
    assert graphs.ask(QUESTION, "naive", model=model(), index=river().as_retriever()).index == "VectorStoreRetriever"


def test_without_one_it_is_the_demo_and_closed_book_searches_nothing() -> None:
    assert graphs.ask(QUESTION, "naive", model=model()).index == "demo: 64 articles that ship with ramify"
    assert graphs.ask(QUESTION, "closed-book", model=model()).index == ""


def test_each_turn_of_a_conversation_says_it_anew() -> None:
    talk = graphs.Conversation()
    assert talk.ask(QUESTION, "naive", model=model(), index=river()).index == "InMemoryVectorStore"
    assert talk.ask(QUESTION, "closed-book", model=model(), index=river()).index == ""
    assert talk.ask(QUESTION, "naive", model=model()).index.startswith("demo: ")
