"""The interface of encoders (embedding models), their prefixes, and encoding batches of texts."""

import re
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ramify.tools.errors import UsageError

Matrix = NDArray[np.float32]
Offsets = list[tuple[int, int]]

_CJK = "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff"
_PIECE = re.compile(rf"[{_CJK}]|[^\W{_CJK}]{{1,4}}|[^\w\s]")


class Prefixes(NamedTuple):
    """Prefixes of questions and passages for embedding; None: the model's own prefix."""

    query: str | None = None
    document: str | None = None

    def with_defaults(self, defaults: "Prefixes") -> "Prefixes":
        """Return the prefixes with missing ones taken from `defaults`."""
        return Prefixes(*(other if own is None else own for own, other in zip(self, defaults, strict=True)))

    def as_facts(self) -> dict[str, str]:
        """Return the given prefixes by the names of an index's facts."""
        named = {"query_prefix": self.query, "document_prefix": self.document}
        return {name: prefix for name, prefix in named.items() if prefix is not None}


class Encoder(Embeddings):
    """LangChain embeddings with a name, a dimension and a tokenizer."""

    name: str
    """The name recorded in an index, and accepted by `load_encoder` if the encoder can be loaded by name."""

    max_tokens: int
    """Maximum number of tokens of a text, without special tokens."""

    prefixes: Prefixes = Prefixes()
    """The prefixes given by the user, recorded in an index."""

    @property
    def own_prefixes(self) -> Prefixes:
        """Return the model's own prefixes."""
        return Prefixes("", "")

    @property
    def loaded(self) -> bool:
        """Return whether the model is in memory."""
        return True

    def load(self) -> None:
        """Load the model; blocking."""

    @property
    def computed_in(self) -> str:
        """Return the number type of the computation, such as "bfloat16"; empty if unknown or not loaded."""
        return ""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Return the dimension of the vectors."""

    @abstractmethod
    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode passages to unit vectors, shape (texts, dimension); prefix: replaces the model's own."""

    @abstractmethod
    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions to unit vectors, shape (texts, dimension); prefix: replaces the model's own."""

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return the (start, end) of each token of each text, by default estimated by `estimated_offsets`."""
        return [estimated_offsets(text) for text in texts]

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, without special tokens."""
        return len(self.offsets([text])[0])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages (LangChain's interface)."""
        return [list(map(float, vector)) for vector in self.encode_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        """Embed a question (LangChain's interface)."""
        return list(map(float, self.encode_queries([text])[0]))


Texts = list[str]
Encoding = Callable[[Encoder, Iterable[Texts]], Generator[tuple[Texts, Matrix], None, None]]
"""Yields each batch with its vectors, in order; close the generator to release its resources."""


def encode_sequentially(encoder: Encoder, batches: Iterable[Texts]) -> Generator[tuple[Texts, Matrix], None, None]:
    """Encode batches sequentially in this process."""
    for texts in batches:
        yield texts, encoder.encode_documents(texts)


def estimated_offsets(text: str) -> Offsets:
    """Return estimated token offsets: up to four letters or digits, one CJK character, or one punctuation mark per token.

    For English this overestimates the tokens of word-piece vocabularies, so passages split by it fit into the model.
    """
    return [match.span() for match in _PIECE.finditer(text)]


def unit_rows(vectors: Sequence[Sequence[float]] | Matrix, dimension: int) -> Matrix:
    """Return the rows normalized to length 1, shape (rows, dimension); zero rows stay zero."""
    matrix = np.asarray(vectors, dtype=np.float32).reshape(len(vectors), dimension)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.ascontiguousarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)


class KnownPrefixes(NamedTuple):
    """Name patterns of models (without owner and tag, `*` as a wildcard) and the prefixes they are trained with."""

    names: tuple[str, ...]
    query: str
    document: str = ""


_SEARCH_PREFIX = "Represent this sentence for searching relevant passages: "
_INSTRUCTION_PREFIX = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

# From the models' own cards and, where a card leaves it open, from their settings in the MTEB benchmark (2026-08).
# The first match counts.
KNOWN_PREFIXES = (
    KnownPrefixes(("nomic-embed-text*",), "search_query: ", "search_document: "),
    KnownPrefixes(("mxbai-embed-large*",), _SEARCH_PREFIX),
    KnownPrefixes(("snowflake-arctic-embed2*", "snowflake-arctic-embed-*-v2.0*"), "query: "),
    KnownPrefixes(("snowflake-arctic-embed*",), _SEARCH_PREFIX),
    KnownPrefixes(("bge-large", "bge-small-en*", "bge-base-en*", "bge-large-en*"), _SEARCH_PREFIX),
    KnownPrefixes(("bge-small-zh*", "bge-base-zh*", "bge-large-zh*"), "为这个句子生成表示以用于检索相关文章："),
    KnownPrefixes(("multilingual-e5-large-instruct*", "e5-mistral-7b-instruct*"), _INSTRUCTION_PREFIX + " "),
    KnownPrefixes(
        tuple(f"{kind}e5-{size}*" for kind in ("", "multilingual-") for size in ("small", "base", "large")), "query: ", "passage: "
    ),
    KnownPrefixes(("qwen3-embedding*",), _INSTRUCTION_PREFIX),
    KnownPrefixes(("embeddinggemma*",), "task: search result | query: ", "title: none | text: "),
    KnownPrefixes(("bge-m3*", "granite-embedding*", "all-minilm*", "paraphrase-multilingual*"), ""),
)


def known_prefixes(name: str) -> Prefixes:
    """Return the prefixes a model is trained with, by its name at any provider; empty if unknown."""
    bare = name.removeprefix("ollama:").replace("\\", "/").rstrip("/").rpartition("/")[2].partition(":")[0].casefold()
    fitting = (
        Prefixes(known.query, known.document) for known in KNOWN_PREFIXES if any(fnmatchcase(bare, pattern) for pattern in known.names)
    )
    return next(fitting, Prefixes("", ""))


class PrefixedEncoder(Encoder):
    """An encoder with given prefixes; `max_tokens` leaves room for the passage prefix."""

    def __init__(self, encoder: Encoder, prefixes: Prefixes) -> None:
        self.encoder = encoder
        self.name = encoder.name
        self.prefixes = prefixes

    @property
    def max_tokens(self) -> int:  # type: ignore[override]  # an attribute of the base, here the rest of another's
        """Return the maximum number of tokens of a text, without special tokens and the prefix."""
        return max(1, self.encoder.max_tokens - self.encoder.count_tokens(self.prefixes.document or ""))

    @property
    def own_prefixes(self) -> Prefixes:
        """Return the model's own prefixes."""
        return self.encoder.own_prefixes

    @property
    def loaded(self) -> bool:
        """Return whether the model is in memory."""
        return self.encoder.loaded

    def load(self) -> None:
        """Load the model; blocking."""
        self.encoder.load()

    @property
    def computed_in(self) -> str:
        """Return the number type of the computation."""
        return self.encoder.computed_in

    @property
    def dimension(self) -> int:
        """Return the dimension of the vectors."""
        return self.encoder.dimension

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode passages with the passage prefix."""
        return self.encoder.encode_documents(texts, self.prefixes.document if prefix is None else prefix)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions with the question prefix."""
        return self.encoder.encode_queries(texts, self.prefixes.query if prefix is None else prefix)

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return the (start, end) of each token of each text, without the prefix."""
        return self.encoder.offsets(texts)


def with_prefixes(encoder: Encoder, prefixes: Prefixes) -> Encoder:
    """Return the encoder with these prefixes instead of its previous ones; the bare model if none are given."""
    base = encoder.encoder if isinstance(encoder, PrefixedEncoder) else encoder
    return PrefixedEncoder(base, prefixes) if prefixes != Prefixes() else base


def with_given_prefixes(encoder: Encoder, query: str | None, document: str | None) -> Encoder:
    """Return the encoder with given prefixes ("" counts) replacing its previous ones; UsageError if one is too long."""
    if document and (taken := encoder.count_tokens(document)) > encoder.max_tokens // 2:
        raise UsageError(f"a document prefix of {taken} tokens leaves passages no room in {encoder.max_tokens}", "give a shorter one")
    return with_prefixes(encoder, Prefixes(query, document).with_defaults(encoder.prefixes))


def default_prefixes(encoder: Encoder) -> Prefixes:
    """Return the prefixes for a new index: those given, else the model's own, else those it is known to be trained with."""
    if None not in encoder.prefixes:
        return encoder.prefixes
    own = encoder.own_prefixes
    return encoder.prefixes.with_defaults(own if any(own) else known_prefixes(encoder.name))
