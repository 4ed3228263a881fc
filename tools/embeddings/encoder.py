"""What the index asks of an embedding model, whatever stands behind it, and how batches of texts go through it."""

import re
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Offsets = list[tuple[int, int]]

_CJK = "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff"
_PIECE = re.compile(rf"[{_CJK}]|[^\W{_CJK}]{{1,4}}|[^\w\s]")


class Prefixes(NamedTuple):
    """What is put before each question and each passage when it is embedded; None: what the model puts there by itself."""

    query: str | None = None
    document: str | None = None

    def or_else(self, others: "Prefixes") -> "Prefixes":
        """Return them with those that are not given taken from others."""
        return Prefixes(*(other if own is None else own for own, other in zip(self, others, strict=True)))

    def told(self) -> dict[str, str]:
        """Return those that are given, by the names under which an index remembers them."""
        named = {"query_prefix": self.query, "document_prefix": self.document}
        return {name: prefix for name, prefix in named.items() if prefix is not None}


class Encoder(Embeddings):
    """Embeddings that know their name, their size and how many tokens a text has."""

    name: str
    """What an index remembers, and what `load_encoder` takes where the encoder can be loaded by name."""

    max_tokens: int
    """The longest text the model sees, special tokens not counted."""

    prefixes: Prefixes = Prefixes()
    """What it was told to put before a text; an index remembers it."""

    @property
    def own_prefixes(self) -> Prefixes:
        """Return what the model puts before a text by itself."""
        return Prefixes("", "")

    @property
    def loaded(self) -> bool:
        """Tell whether it can encode at once; so it is where nothing has to be brought into memory."""
        return True

    def load(self) -> None:
        """Bring into memory what encoding needs; blocking."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Return the length of a vector."""

    @abstractmethod
    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode texts to unit vectors, shape (texts, dimension); prefix: what to put before each instead of the model's own."""

    @abstractmethod
    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions to unit vectors, shape (texts, dimension); prefix: as above."""

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return where each token of each text starts and ends; here estimated: see `estimated_offsets`."""
        return [estimated_offsets(text) for text in texts]

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, special tokens not counted."""
        return len(self.offsets([text])[0])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts, as LangChain asks for it."""
        return [list(map(float, vector)) for vector in self.encode_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        """Embed one question, as LangChain asks for it."""
        return self.embed_queries([text])[0]

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed questions in one batch."""
        return [list(map(float, vector)) for vector in self.encode_queries(texts)]


Texts = list[str]
Encoding = Callable[[Encoder, Iterable[Texts]], Generator[tuple[Texts, Matrix], None, None]]
"""Gives each batch with its vectors, in the order of the batches; what it holds for that ends with it, so close it."""


def in_turn(encoder: Encoder, batches: Iterable[Texts]) -> Generator[tuple[Texts, Matrix], None, None]:
    """Encode batches one after another; others can be many at once."""
    for texts in batches:
        yield texts, encoder.encode_documents(texts)


def estimated_offsets(text: str) -> Offsets:
    """Estimate tokens without a tokenizer: up to four letters or digits, one CJK character, or one sign are a token each.

    This counts more tokens than word-piece vocabularies need for English, so a passage cut by it is not longer than the model sees.
    """
    return [match.span() for match in _PIECE.finditer(text)]


def unit_rows(vectors: Sequence[Sequence[float]] | Matrix, dimension: int) -> Matrix:
    """Normalise each row to length 1 (a row of zeros stays zero)."""
    matrix = np.asarray(vectors, dtype=np.float32).reshape(len(vectors), dimension)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.ascontiguousarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)
