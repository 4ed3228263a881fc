"""What is put before a text when it is embedded: known for a model, given, remembered, switched off."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.studio.cli import run
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Prefixes
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.manifest import file_sha256
from tests.embeddings import WordEmbeddings
from tests.river import model
from tests.tools.ollama_server import Ollama, ollama

__all__ = ["ollama"]


NOMIC = "ollama:nomic-embed-text"


TEXT = "The Vistula flows through Warsaw."


QUESTION = "Which river flows through Warsaw?"


@pytest.fixture
def server(ollama: Ollama) -> Ollama:
    ollama.models |= {"nomic-embed-text": 2048, "odd-embedder:v2": 512}
    return ollama


def sent(server: Ollama) -> list[str]:
    """List what was embedded since the last time, but for the word that the length of a vector is found with."""
    texts = [text for text in server.embedded if text != "dimension"]
    server.embedded.clear()
    return texts


def made_before(folder: Path) -> None:
    """Make an index one of the time when prefixes were not remembered."""
    with sqlite3.connect(folder / "passages.sqlite") as database:
        database.execute("DELETE FROM facts WHERE name LIKE '%_prefix'")
    database.close()
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    del manifest["query_prefix"], manifest["document_prefix"]
    manifest["sha256"]["passages.sqlite"] = file_sha256(folder / "passages.sqlite")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.fixture
def old(server: Ollama, document: Path, tmp_path: Path) -> Path:
    """An index that was made without prefixes, before these were known of its model."""
    Index.build(document, tmp_path / "old", NOMIC, query_prefix="", document_prefix="")
    made_before(tmp_path / "old")
    sent(server)
    return tmp_path / "old"


class TestOnOllama:
    def test_a_known_model_gets_its_prefixes(self, server: Ollama, document: Path, tmp_path: Path) -> None:
        built = Index.build(document, tmp_path / "index", NOMIC)
        assert sent(server) == [f"search_document: {TEXT}"]
        index = Index.open(tmp_path / "index")
        (found,) = index.search([QUESTION], 1)
        assert sent(server) == [f"search_query: {QUESTION}"]
        assert found[0].document.page_content == TEXT
        assert index.embeddings.embed_query(QUESTION) == pytest.approx(WordEmbeddings().embed_query(f"search_query: {QUESTION}"), abs=1e-5)
        assert built.advice is index.advice is None

    def test_prefixes_given_are_remembered_by_every_door(self, server: Ollama, document: Path, tmp_path: Path) -> None:
        given: dict[str, Any] = {"query_prefix": "Frage: ", "document_prefix": "Text: "}
        Index.build(document, tmp_path / "index", "ollama:odd-embedder:v2", **given)
        assert sent(server) == [f"Text: {TEXT}"]
        index = Index.open(tmp_path / "index")
        assert index.manifest.prefixes == Prefixes("Frage: ", "Text: ")
        index.add_texts(["Warsaw is old."])
        index.as_retriever().invoke("How old is Warsaw?")
        assert sent(server) == ["Text: Warsaw is old.", "Frage: How old is Warsaw?"]
        document.write_text("The Vistula is long.", encoding="utf-8")
        Index.build(document, tmp_path / "index", "ollama:odd-embedder:v2")
        assert sent(server) == ["Text: The Vistula is long."]

    @pytest.mark.parametrize(
        ("given", "document_prefix", "query_prefix"),
        [
            ({"query_prefix": "", "document_prefix": ""}, "", ""),
            ({"document_prefix": ""}, "", "search_query: "),
            ({"query_prefix": "q: "}, "search_document: ", "q: "),
        ],
    )
    def test_a_known_one_can_be_switched_off_or_replaced(
        self, server: Ollama, document: Path, tmp_path: Path, given: dict[str, Any], document_prefix: str, query_prefix: str
    ) -> None:
        Index.build(document, tmp_path / "index", NOMIC, **given)
        index = Index.open(tmp_path / "index")
        index.search([QUESTION])
        assert sent(server) == [document_prefix + TEXT, query_prefix + QUESTION]
        assert index.advice is None

    def test_other_prefixes_than_those_it_is_made_with_are_refused(self, server: Ollama, document: Path, tmp_path: Path) -> None:
        Index.build(document, tmp_path / "index", NOMIC)
        message = r"made with query_prefix 'search_query: ', not 'q: ', document_prefix 'search_document: ', not '' — ask for the same, or"
        with pytest.raises(IndexingError, match=message):
            Index.build(document, tmp_path / "index", NOMIC, query_prefix="q: ", document_prefix="")
        sent(server)
        Index.open(tmp_path / "index").search([QUESTION])
        assert sent(server) == [f"search_query: {QUESTION}"]


def test_an_index_s_embeddings_take_their_prefixes_along(server: Ollama, document: Path, tmp_path: Path) -> None:
    embeddings = Index.from_texts([TEXT], load_encoder("ollama:odd-embedder:v2"), query_prefix="q: ", document_prefix="d: ").embeddings
    assert sent(server) == [f"d: {TEXT}"]
    Index.build(document, tmp_path / "index", embeddings, query_prefix="")
    assert sent(server) == [f"d: {TEXT}"]
    assert Index.open(tmp_path / "index").manifest.prefixes == Prefixes("", "d: ")


def test_an_interrupted_build_goes_on_with_its_prefixes(document: Path, tmp_path: Path) -> None:
    class Interrupted(WordEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            seen.extend(texts)
            if len(seen) == 1:
                raise KeyboardInterrupt
            return super().embed_documents(texts)

    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        Index.build(document, tmp_path / "index", Interrupted(), query_prefix="q: ", document_prefix="d: ")
    Index.build(document, tmp_path / "index", Interrupted())
    assert seen == [f"d: {TEXT}"] * 2
    assert Index.open(tmp_path / "index", Interrupted()).manifest.prefixes == Prefixes("q: ", "d: ")


class TestAnIndexMadeBefore:
    def test_goes_on_as_it_was_made_and_says_what_would_be_better(self, server: Ollama, old: Path, document: Path) -> None:
        index = Index.open(old)
        index.search([QUESTION])
        index.add_texts(["Warsaw is old."])
        assert sent(server) == [QUESTION, "Warsaw is old."]
        assert index.advice
        document.write_text("The Vistula is long.", encoding="utf-8")
        built = Index.build(document, old, NOMIC)
        assert sent(server) == ["The Vistula is long."]
        assert built.advice == Index.open(old).advice == index.advice

    def test_can_be_told_to_go_without(self, server: Ollama, old: Path, document: Path) -> None:
        Index.build(document, old, NOMIC, query_prefix="", document_prefix="")
        assert sent(server) == []
        assert Index.open(old).advice is None

    def test_takes_no_prefix_afterwards(self, old: Path, document: Path) -> None:
        with pytest.raises(IndexingError, match="made with query_prefix '', not 'search_query: ' — ask"):
            Index.build(document, old, NOMIC, query_prefix="search_query: ")

    def test_of_a_model_without_prefixes_has_no_advice(self, document: Path, tmp_path: Path) -> None:
        Index.build(document, tmp_path / "index")
        made_before(tmp_path / "index")
        assert Index.open(tmp_path / "index").advice is None

    def test_says_so_in_an_answer_once(self, old: Path) -> None:
        result = graphs.ask(QUESTION, "prune", model=model(), index=str(old))
        assert [notice for notice in result.notices if "without the prefixes" in notice] == [Index.open(old).advice]


def test_the_command_line_takes_prefixes_and_says_what_is_missing(
    server: Ollama, old: Path, document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--query-prefix", "q: ", "--document-prefix", ""]
    command = ["index", str(document), "--embedding", NOMIC, "--out"]
    assert run([*command, str(tmp_path / "new"), *given]) == 0
    assert run(["search", QUESTION, "--index", str(tmp_path / "new")]) == 0
    assert sent(server) == [TEXT, f"q: {QUESTION}"]
    assert "prefixes" not in capsys.readouterr().err
    for words in ([*command, str(old)], ["search", QUESTION, "--index", str(old), "--json"]):
        assert run(words) == 0
        said = " ".join(capsys.readouterr().err.split())
        assert "made without the prefixes that 'ollama:nomic-embed-text' is trained with — index again into another --out folder" in said
    assert run([*command, str(tmp_path / "bad"), "--query-prefix", "\udcff"]) == 2
    assert "is not valid UTF-8" in capsys.readouterr().err
