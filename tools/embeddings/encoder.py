"""What the index asks of an embedding model, whatever stands behind it, and how batches of texts go through it."""

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
    """What is put before each question and each passage when it is embedded; None: what the model puts there by itself."""

    query: str | None = None
    document: str | None = None

    def with_defaults(self, defaults: "Prefixes") -> "Prefixes":
        """Return them with those that are not given taken from others."""
        return Prefixes(*(other if own is None else own for own, other in zip(self, defaults, strict=True)))

    def as_facts(self) -> dict[str, str]:
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
    """The prefixes given by the user; an index remembers them."""

    @property
    def own_prefixes(self) -> Prefixes:
        """Return what the model puts before a text by itself."""
        return Prefixes("", "")

    @property
    def loaded(self) -> bool:
        """Return whether it can encode at once: whether the model, if any, is in memory."""
        return True

    def load(self) -> None:
        """Load what encoding needs; blocking."""

    @property
    def computed_in(self) -> str:
        """Return the type of the numbers it computes in, such as "bfloat16"; empty where that is not known, or nothing is loaded."""
        return ""

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
        return list(map(float, self.encode_queries([text])[0]))


Texts = list[str]
Encoding = Callable[[Encoder, Iterable[Texts]], Generator[tuple[Texts, Matrix], None, None]]
"""Gives each batch with its vectors, in the order of the batches; what it holds for that ends with it, so close it."""


def encode_sequentially(encoder: Encoder, batches: Iterable[Texts]) -> Generator[tuple[Texts, Matrix], None, None]:
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


class KnownPrefixes(NamedTuple):
    """Models by name (without owner and tag; `*` stands for anything) and the prefixes they are trained with."""

    names: tuple[str, ...]
    query: str
    document: str = ""


_SEARCH_PREFIX = "Represent this sentence for searching relevant passages: "
_INSTRUCTION_PREFIX = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

# From the models' own cards and, where a card leaves it open, from their settings in the MTEB benchmark (2026-08).
# The first line that fits counts.
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
    """Return the prefixes a model is trained with, by its name at any provider; empty ones where none are known."""
    bare = name.removeprefix("ollama:").replace("\\", "/").rstrip("/").rpartition("/")[2].partition(":")[0].casefold()
    found = (
        Prefixes(known.query, known.document) for known in KNOWN_PREFIXES if any(fnmatchcase(bare, pattern) for pattern in known.names)
    )
    return next(found, Prefixes("", ""))


class PrefixedEncoder(Encoder):
    """Another encoder with prefixes; passages are measured so that the prefix fits in beside them."""

    def __init__(self, encoder: Encoder, prefixes: Prefixes) -> None:
        self.encoder = encoder
        self.name = encoder.name
        self.prefixes = prefixes

    @property
    def max_tokens(self) -> int:  # type: ignore[override]  # an attribute of the base, here the rest of another's
        """Return the longest text the model sees, special tokens and the prefix not counted."""
        return max(1, self.encoder.max_tokens - self.encoder.count_tokens(self.prefixes.document or ""))

    @property
    def own_prefixes(self) -> Prefixes:
        """Return what the model itself puts before a text."""
        return self.encoder.own_prefixes

    @property
    def loaded(self) -> bool:
        """Return whether it can encode at once."""
        return self.encoder.loaded

    def load(self) -> None:
        """Load what encoding needs."""
        self.encoder.load()

    @property
    def computed_in(self) -> str:
        """Return the type of the numbers that the model computes in."""
        return self.encoder.computed_in

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return self.encoder.dimension

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode texts, each after the prefix of passages."""
        return self.encoder.encode_documents(texts, self.prefixes.document if prefix is None else prefix)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions, each after the prefix of questions."""
        return self.encoder.encode_queries(texts, self.prefixes.query if prefix is None else prefix)

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return where each token of each text starts and ends, prefix apart."""
        return self.encoder.offsets(texts)


def with_prefixes(encoder: Encoder, prefixes: Prefixes) -> Encoder:
    """Return the encoder with these prefixes in place of those it had; with none given, as the model is by itself."""
    base = encoder.encoder if isinstance(encoder, PrefixedEncoder) else encoder
    return PrefixedEncoder(base, prefixes) if prefixes != Prefixes() else base


def with_given_prefixes(encoder: Encoder, query: str | None, document: str | None) -> Encoder:
    """Return the encoder with the prefixes that are given in place of those it had ("" is one, too); UsageError for one too long."""
    if document and (taken := encoder.count_tokens(document)) > encoder.max_tokens // 2:
        raise UsageError(f"a document prefix of {taken} tokens leaves passages no room in {encoder.max_tokens}", "give a shorter one")
    return with_prefixes(encoder, Prefixes(query, document).with_defaults(encoder.prefixes))


def default_prefixes(encoder: Encoder) -> Prefixes:
    """Settle what a new index is made with: the prefixes given, else the model's own, else those it is known to be trained with."""
    if None not in encoder.prefixes:
        return encoder.prefixes
    own = encoder.own_prefixes
    return encoder.prefixes.with_defaults(own if any(own) else known_prefixes(encoder.name))
