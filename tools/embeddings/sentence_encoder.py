"""Encoders run in this process by sentence-transformers."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ramify.tools.embeddings.encoder import LocalEncoder, Matrix, Offsets, Prefixes, unit_rows
from ramify.tools.embeddings.piece_encoder import cpu_has_bfloat16
from ramify.tools.errors import ModelError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

_POSITIONS = 512
_SPECIAL_TOKENS = 2
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""The names that models give to the prompt of passages."""


class SentenceEncoder(LocalEncoder["SentenceTransformer"]):
    """A sentence-transformers model."""

    def __init__(self, name: str, path: str | None = None) -> None:
        super().__init__()
        self.name = name
        self._path = path or name
        self._encoding = threading.Lock()

    def _load(self) -> "SentenceTransformer":
        return _load_offline(self._path)

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    @property
    def max_tokens(self) -> int:  # type: ignore[override]  # an attribute of the base, here known only once the model is loaded
        """Return the longest text the model sees, special tokens not counted."""
        return int(self.model.max_seq_length or _POSITIONS) - _SPECIAL_TOKENS

    @property
    def own_prefixes(self) -> Prefixes:
        """Return the prompts that come with the model, empty ones where none do."""
        prompts = self.model.prompts
        return Prefixes(prompts.get("query") or "", next(filter(None, map(prompts.get, _DOCUMENT_PROMPTS)), ""))

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode texts with the prefix, by default the model's document prompt."""
        return self._encode(self.model.encode_document, texts, prefix)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions with the prefix, by default the model's query prompt."""
        return self._encode(self.model.encode_query, texts, prefix)

    def _encode(self, encode: Any, texts: Sequence[str], prefix: str | None) -> Matrix:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._encoding:  # fast tokenizers raise "Already borrowed" when two threads change padding at once
            vectors = encode(list(texts), prompt=prefix, show_progress_bar=False, convert_to_numpy=True)
        return unit_rows(vectors, len(vectors[0]))

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return where each token of each text starts and ends."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False) if texts else []
        return [encoding.offsets for encoding in encodings]

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        """Return a copy of the tokenizer that neither cuts nor pads."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self.model.tokenizer.backend_tokenizer.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def _load_offline(path: str) -> "SentenceTransformer":
    """Load a model from disk or from the local hub cache; never from the network."""
    import torch
    from sentence_transformers import SentenceTransformer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cpu" and cpu_has_bfloat16() else torch.float32
    try:
        with quiet():
            return SentenceTransformer(path, device=device, local_files_only=True, model_kwargs={"dtype": dtype})
    except OSError as error:
        remedy = f"download it once with `hf download {path}`, or name minilm, ollama:NAME or a folder with a model"
        raise ModelError(f"the embedding model {path!r} is not on this machine", remedy) from error
    except (ValueError, ImportError, KeyError, RuntimeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        remedy = "name a model that sentence-transformers can load, minilm or ollama:NAME"
        raise ModelError(f"the embedding model {path!r} cannot be loaded: {reason}", remedy) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the bar that transformers draws while loading weights off the user's terminal."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # comes without annotations
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # as above
