"""An embedding without a model: a word is a direction, a text the sum of its words."""

import hashlib
import os
import signal
from collections.abc import Sequence

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ramify.tools.embeddings.encoder import Encoder, Matrix, unit_rows

DIMENSION = 64


def word_vector(word: str) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.lower().encode()).digest()[:8], "little")
    return np.random.default_rng(seed).normal(size=DIMENSION)


class WordEncoder(Encoder):
    """Count what is encoded; optionally die by SIGKILL after some texts."""

    max_tokens = 512

    def __init__(self, name: str = "langchain:WordEncoder", dies_after: int | None = None) -> None:
        self.name = name
        self.encoded: list[str] = []
        self._dies_after = dies_after

    @property
    def dimension(self) -> int:
        return DIMENSION

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        self.encoded.extend(texts)
        if self._dies_after is not None and len(self.encoded) > self._dies_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.encode_queries(texts)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        sums = [sum((word_vector(word) for word in text.split()), np.zeros(DIMENSION)) for text in texts]
        return unit_rows(np.asarray(sums, dtype=np.float32), DIMENSION)


class FixedVectors(Embeddings):
    """Give each text the vector written down for it."""

    def __init__(self, vectors: dict[str, list[float]], model: str = "fixed") -> None:
        self.vectors = vectors
        self.model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.vectors.get(text, [1.0, 0.0])
