"""Embeddings by name: `minilm`, a sentence-transformers model, `ollama:NAME`, or an object of LangChain."""

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings

from ramify.tools import plugins
from ramify.tools.embeddings.encoder import Encoder, Matrix, unit_rows
from ramify.tools.embeddings.local_encoders import SentenceTransformerEncoder, WordPieceEncoder
from ramify.tools.embeddings.pretrained import MINILM, PACKAGED_MINILM, Pretrained
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.scrub import mask_address
from ramify.tools.server_address import OLLAMA_START, is_loopback, ollama_host
from ramify.tools.user_input import expand_path

Vectors = TypeVar("Vectors", list[float], list[list[float]])

LANGCHAIN_SCHEME = "langchain:"
_OLLAMA_SCHEME = "ollama:"
_loaded: dict[str, Encoder] = {}
_loading = threading.Lock()


def load_encoder(embedding: str | Embeddings) -> Encoder:
    """Return the encoder of a name, the same object each time, or wrap a LangChain `Embeddings`.

    | embedding            | encoder                                                                  |
    |----------------------|--------------------------------------------------------------------------|
    | `minilm`             | all-MiniLM-L6-v2, packaged with ramify                                   |
    | `e5-multilingual`    | multilingual-e5-small, once `ramify download e5-multilingual` was run    |
    | `ollama:NAME`        | a model of the Ollama server at OLLAMA_HOST                              |
    | any other name       | a sentence-transformers model in a folder or in the local hub cache      |
    | an `Embeddings`      | itself; tokens are estimated, see `ramify.tools.embeddings.encoder.estimated_offsets` |
    """
    if isinstance(embedding, Encoder):
        return embedding
    if isinstance(embedding, Embeddings):
        return LangChainEncoder(embedding)
    name = embedding if embedding == MINILM else canonical_name(embedding)
    if name.startswith(_OLLAMA_SCHEME):
        return OllamaEncoder(name.removeprefix(_OLLAMA_SCHEME))
    if name.startswith(LANGCHAIN_SCHEME):
        raise ModelError(f"{name!r} is an Embeddings object of a program, which cannot be loaded by name", "pass the same object")
    with _loading:
        if name not in _loaded:
            offered = name in plugins.names("ramify.embeddings")
            packaged = PACKAGED_MINILM if name == MINILM else plugins.load("ramify.embeddings", name) if offered else None
            if isinstance(packaged, Pretrained):
                _loaded[name] = WordPieceEncoder(packaged)
            else:
                _loaded[name] = SentenceTransformerEncoder(name) if packaged is None else LangChainEncoder(packaged, name)
        return _loaded[name]


def canonical_name(name: str) -> str:
    """Return the name recorded in an index: the absolute path of a folder, other names unchanged."""
    if not name.strip():
        raise UsageError(
            f"the embedding has no name: {name!r}", "give minilm, e5-multilingual, ollama:NAME or a sentence-transformers model"
        )
    path = expand_path(name)
    is_folder = path.is_dir() and name not in (MINILM, *plugins.names("ramify.embeddings"))
    return str(path.resolve()) if is_folder else name.strip()


class LangChainEncoder(Encoder):
    """A LangChain `Embeddings` object as an encoder, named after its class and its `model`."""

    max_tokens = 512

    def __init__(self, embeddings: Embeddings, name: str | None = None) -> None:
        self._embeddings = embeddings
        models = (getattr(embeddings, attribute, None) for attribute in ("model", "model_name"))
        model = next((text for text in models if isinstance(text, str)), None)
        self.name = name or LANGCHAIN_SCHEME + ":".join(filter(None, [type(embeddings).__name__, model]))

    @cached_property
    def dimension(self) -> int:
        """The dimension of the vectors, found by embedding one word."""
        return len(self._call(lambda: self._embeddings.embed_query("dimension")))

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode passages to unit vectors, shape (texts, dimension)."""
        whole = [(prefix or "") + text for text in texts]
        return self._unit(self._call(lambda: self._embeddings.embed_documents(whole)) if whole else [])

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions to unit vectors, shape (texts, dimension), one by one, as LangChain has no batch method."""
        return self._unit(self._call(lambda: [self._embeddings.embed_query((prefix or "") + text) for text in texts]))

    def _unit(self, vectors: list[list[float]]) -> Matrix:
        return unit_rows(vectors, len(vectors[0])) if vectors else np.empty((0, self.dimension), dtype=np.float32)

    def _call(self, embed: Callable[[], Vectors]) -> Vectors:
        return embed()


class OllamaEncoder(LangChainEncoder):
    """A model of the Ollama server at OLLAMA_HOST or on this machine; ModelError if it is not available."""

    def __init__(self, model: str) -> None:
        from langchain_ollama import OllamaEmbeddings

        if not model:
            raise UsageError("the embedding 'ollama:' has no model name", "give one, such as ollama:nomic-embed-text")
        address = ollama_host(None)
        # A proxy set in the environment cannot reach this machine; texts are sent only to the server named, so no redirect is followed.
        client = {"trust_env": not is_loopback(address), "follow_redirects": False}
        super().__init__(OllamaEmbeddings(model=model, base_url=address, client_kwargs=client), name=_OLLAMA_SCHEME + model)
        self._model, self._address = model, mask_address(address)

    def _call(self, embed: Callable[[], Vectors]) -> Vectors:
        from httpx import HTTPError
        from ollama import ResponseError

        try:
            return embed()
        except ResponseError as error:
            remedy = f"ollama pull {self._model}" if error.status_code == 404 else "see the server's log"
            if 300 <= error.status_code < 400:
                remedy = "set OLLAMA_HOST to the address that it redirects to, if you trust that one"
            raise ModelError(f"Ollama at {self._address} cannot embed with {self._model!r}: {error.error}", remedy) from error
        except (ConnectionError, HTTPError) as error:
            raise ModelError(f"Ollama does not answer at {self._address}", f"{OLLAMA_START}, or set OLLAMA_HOST") from error
