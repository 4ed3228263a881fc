"""A corpus index as a LangChain `VectorStore`; and the base class of indexes with a graph or a hierarchy."""

import hashlib
import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar
from weakref import finalize

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel, ValidationError

from ramify.tools import plugins
from ramify.tools.documents.files import DEFAULT_OCR, OcrMode
from ramify.tools.documents.readers import parse_ocr
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Encoding, Matrix, encode_sequentially, unit_rows, with_given_prefixes, with_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import Built, IndexStore, OpenIndex, Sources
from ramify.tools.index.chunking import DEFAULT_CHUNKING, Chunking
from ramify.tools.index.hybrid_search import Reranker, Scores, SearchOptions, View
from ramify.tools.index.index_store import FolderStore, store_at
from ramify.tools.index.index_writer import BATCH_SIZE, BuildOptions
from ramify.tools.index.manifest import Manifest, Precision, parse_precision
from ramify.tools.index.passage_store import Filter, to_documents
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.publication import Snapshot
from ramify.tools.index.reports import Reports
from ramify.tools.index.unfinished import UnfinishedSnapshot
from ramify.tools.languages import detect_language
from ramify.tools.models.tokens import estimate_tokens
from ramify.tools.passage import Passage
from ramify.tools.quoting import collapse_whitespace
from ramify.tools.user_input import check_text

_LANGUAGE_SAMPLE, _MIN_LANGUAGE_SHARE = 24, 0.2
"""Passages sampled to detect languages, and the minimum share of a language of the index."""
_DIGEST_SAMPLE = 256
"""Passages sampled for the digest of an index."""


class Index(VectorStore):
    """Passages with vectors and words, in a folder or a store; search is thread-safe."""

    def __init__(self, store: IndexStore, encoder: Encoder, opened: OpenIndex) -> None:
        self.store = store
        self._encoder = encoder
        self._opened = opened
        self.temporary: TemporaryDirectory[str] | None = None
        """The folder, if it is deleted with the index."""

    @staticmethod
    def build(
        paths: Sources | str | Path, out: str | Path, embedding: str | Embeddings = "minilm", *,
        chunk_tokens: int = 300, overlap: int = 30, batch_size: int = BATCH_SIZE, progress: Progress | None = None,
        query_prefix: str | None = None, document_prefix: str | None = None, clean: bool = True,
        label: Sequence[str] | None = None, vectors: Precision | None = None, ray: str | None = None,
        shared: bool = False, description: str | None = None, ocr: OcrMode | None = None, ocr_languages: str | None = None,
    ) -> Built:  # fmt: skip
        """Build or update an index of files and folders; out: a folder, or an address such as milvus:URI/collection.

        Instead of paths, a LangChain document loader can be given; its metadata is kept. Documents are identified by their id, else
        by their source and number in it; documents missing from a source are removed, other sources are kept.

        Unchanged documents are not encoded again, and documents deleted from the paths are removed. An interrupted build resumes where it
        stopped. Until a build has finished, the folder opens in its previous state.

        The prefixes are put before questions and passages for embedding, and stored. By default they are those of the existing index, or
        those the model was trained with; "" means no prefix.

        Unless `clean` is False, very short sections are merged with their neighbours, and tables of contents, indexes, licences and
        passages repeated from another file are stored but not searched.

        `label` names metadata fields, such as chapter and section, that are embedded and searched with the passage's title and headings;
        citations quote the text alone. By default they are those of the existing index.

        `vectors` is the number type of the searched vectors: "fp32", "fp16" or "int8" (half or a quarter of the memory); scores are
        computed from full precision. By default it is that of the existing index, "fp32" in a new one; a change encodes nothing again.

        `ray` is the address of a Ray cluster whose workers encode: "local" for a cluster of this machine's cores, stopped after the build,
        "auto", "HOST:PORT" or "ray://HOST:PORT"; a program that has joined a cluster keeps it. The resulting index is the same.

        `shared` makes the folder readable for all users; by default a new folder is readable for its owner only, and an existing one keeps
        its permissions.

        `description` describes the documents in one sentence: of several indexes, a question goes to those whose description fits. By
        default it is that of the existing index; "" means none.

        `ocr` says whether text in pictures is read, if Tesseract is installed: "auto" in picture files and on PDF pages without text,
        "always" also in large pictures on other pages, or "never"; `ocr_languages` names the languages, such as "eng+deu". By default
        they are those of the existing index, "auto" and English in a new one.
        """
        if batch_size < 1:
            raise UsageError(f"cannot encode in batches of {batch_size}", "give batch_size=1 or more")
        for text in (*(label or ()), query_prefix or "", document_prefix or "", description or ""):
            check_text(text)
        chunking = Chunking(chunk_tokens, overlap).validated()
        paths = [paths] if isinstance(paths, (str, Path)) else paths
        encoder = with_given_prefixes(load_encoder(embedding), query_prefix, document_prefix)
        precision = None if vectors is None else parse_precision(vectors)
        pictures = None if ocr is None and ocr_languages is None else parse_ocr(ocr or DEFAULT_OCR.mode, ocr_languages or "")
        encoding: Encoding = encode_sequentially
        if ray is not None:
            encoding = plugins.load("ramify.clusters", "ray")(ray, encoder)
        store = store_at(out)
        built = store.build(
            paths,
            BuildOptions(encoder, chunking, batch_size, progress or ignore_progress, clean, label, precision, encoding, shared, pictures),
        )
        if description is not None:
            store.describe(collapse_whitespace(description))
        return built

    @classmethod
    def open(cls, path: str | Path | IndexStore, embedding: Embeddings | None = None) -> "Index":
        """Open an index with its embedding; an index made with an `Embeddings` object needs that object."""
        store = store_at(path) if isinstance(path, (str, Path)) else path
        opened = store.open()
        remembered = opened.manifest.embedding
        encoder = load_encoder(embedding or remembered)
        if encoder.name != remembered:
            what = f"the index in {store.where!r} is made with the embedding {remembered!r}, not {encoder.name!r}"
            raise IndexingError(what, f"open it with {remembered!r}, or build another index with {encoder.name!r}")
        encoder = with_prefixes(encoder, opened.manifest.prefixes)
        return cls(store, encoder, opened.with_encoder(encoder) if isinstance(opened, UnfinishedSnapshot) else opened)

    def __len__(self) -> int:
        return len(self._opened)

    @property
    def where(self) -> str:
        """Return its folder or address."""
        return self.store.where

    @property
    def manifest(self) -> Manifest:
        """Return the manifest: embedding, options and counts."""
        return self._opened.manifest

    def notice(self) -> str | None:
        """Return how much of an unfinished index is computed, and what to do about it; None for a finished one."""
        return self._opened.notice() or None if isinstance(self._opened, UnfinishedSnapshot) else None

    @property
    def reports(self) -> Reports | None:
        """Return its reports or summaries by level; None for a plain index."""
        return None

    @property
    def embeddings(self) -> Encoder:
        """Return the encoder of passages and questions."""
        return self._encoder

    def search(  # type: ignore[override]  # VectorStore's `search` takes one query and a search type by name
        self, queries: Sequence[str], k: int = 5, *,
        fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True, filter: Filter | None = None, dense: bool = True,
        per_section: int | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
    ) -> list[list[Passage]]:  # fmt: skip
        """Return the best passages for each query; all queries are encoded and searched in one batch.

        Vectors and words (`hybrid`) are fused by the mean of their scores; without `dense` only words are used (BM25). `per_section` limits
        the passages of a section before those of others, unless the question contains its heading. From the `fetch_k` best (default 4 k)
        k are selected in order, or by maximal marginal relevance with the weight `mmr` from 0 to 1. `filter` gives required values of
        metadata fields. `view` is "flat" for a search of plain passages, "auto" for that of the index's kind, which has its own `options`.
        """
        search = SearchOptions(k, fetch_k, mmr, hybrid, filter, dense, per_section, view, options).validated()
        if isinstance(queries, str):
            raise UsageError(f"queries must be a list of questions, not the text {queries!r}", "put it into a list")
        for query in queries:
            check_text(query)
        return self._search(queries, self._encoder.encode_queries(queries), search) if queries else []

    def _search(self, queries: Sequence[str], vectors: Matrix, search: SearchOptions) -> list[list[Passage]]:
        if isinstance(self._opened, UnfinishedSnapshot) and self._opened.is_finished():
            self._opened = self.store.open()
        if vectors.shape[1] != self._opened.manifest.dimension:
            what = f"{self._encoder.name!r} gives vectors of length {vectors.shape[1]}, the index holds {self._opened.manifest.dimension}"
            raise IndexingError(what, "open it with the embedding it was made with")
        return self._opened.search(queries, vectors, search, self._reranker(search))

    def _reranker(self, search: SearchOptions) -> Reranker | None:
        """Return the reranker of results, None for a plain index; UsageError for unknown options."""
        if search.options:
            what = f"search.{next(iter(search.options))} is not an option of an index of kind {self.manifest.kind!r}"
            made = (
                f"`ramify index --kind graph --out {quote(str(self.where))}`, or hierarchy"
                if isinstance(self.store, FolderStore)
                else "in a folder"
            )
            raise UsageError(what, f"omit it, or build a graph or a hierarchy: {made}")
        return None

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of at least 20 % of sampled passages."""
        ids = self.ids()
        sampled = self.get_by_ids(ids[:: max(1, len(ids) // _LANGUAGE_SAMPLE)][:_LANGUAGE_SAMPLE])
        counts = Counter(detect_language(document.page_content) for document in sampled)
        return frozenset(name for name, count in counts.items() if name and count >= _MIN_LANGUAGE_SHARE * len(sampled))

    @cached_property
    def digest(self) -> str:
        """A digest of the counts and of 256 passages; equal for the same documents indexed with the same options."""
        ids = self.ids()
        drawn = self.get_by_ids(ids[:: -(-len(ids) // _DIGEST_SAMPLE) or 1])
        made = [self.manifest.documents, len(ids), self.manifest.kind, *(document.page_content for document in drawn)]
        return hashlib.sha256(json.dumps(made).encode()).hexdigest()

    def fields(self) -> list[str] | None:
        """Return the metadata fields of searchable passages; None if the index is in a store."""
        return self._opened.store.fields() if isinstance(self._opened, (Snapshot, UnfinishedSnapshot)) else None

    def ids(self) -> list[str]:
        """Return the sorted ids of the searchable passages."""
        return self._opened.ids()

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the passages of the ids that exist, in the order of `ids`."""
        return self._opened.by_ids(ids)

    @classmethod
    def from_texts(
        cls, texts: list[str], embedding: Embeddings, metadatas: list[dict[str, Any]] | None = None,
        *, ids: list[str] | None = None, path: str | Path | None = None,
        query_prefix: str | None = None, document_prefix: str | None = None, **kwargs: Any,
    ) -> "Index":  # fmt: skip
        """Build an index of texts in `path`, by default a temporary folder deleted with the object; prefixes: as for `build`."""
        temporary = TemporaryDirectory(prefix="ramify-") if path is None else None
        store = store_at(temporary.name if path is None and temporary else str(path))
        encoder = with_given_prefixes(load_encoder(embedding), query_prefix, document_prefix)
        store.write(encoder, DEFAULT_CHUNKING, to_documents(texts, metadatas, ids))
        index = cls.open(store, encoder)
        index.temporary = temporary
        if temporary is not None:
            finalize(index, temporary.cleanup)  # avoids a ResourceWarning
        return index

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, *, ids: list[str] | None = None, **kwargs: Any
    ) -> list[str]:
        """Add texts, replacing those with the same ids, and return the ids; a long text is split into `id`, `id~2` …

        Each call copies the index, so add many at once.
        """
        documents = to_documents(list(texts), metadatas, ids)
        self.store.write(self._encoder, self.manifest.chunking, documents)
        self._opened = self.store.open()
        return [str(document.id) for document in documents]

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete documents, with all their passages, or single passages."""
        self.store.remove(self._encoder, self.manifest.chunking, ids or [])
        self._opened = self.store.open()
        return True

    def _search_one(self, query: str, search: SearchOptions) -> list[Passage]:
        return self._search([query], self.embeddings.encode_queries([query]), search.validated())[0]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, hybrid: bool = False, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the passages nearest to a query with their cosines; with `hybrid`, in fused order."""
        passages = self._search_one(query, SearchOptions(k, mmr=None, hybrid=hybrid, filter=filter, per_section=None, view="flat"))
        return list(zip(self._documents(passages), (passage.score for passage in passages), strict=True))

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the passages nearest to a query; takes `filter` and `hybrid`."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the passages nearest to a vector."""
        return self._by_vector(embedding, SearchOptions(k, mmr=None, hybrid=False, filter=filter, per_section=None, view="flat"))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5,
        *, filter: Filter | None = None, hybrid: bool = False, **kwargs: Any,
    ) -> list[Document]:  # fmt: skip
        """Return passages similar to a query and different from each other."""
        return self._documents(self._search_one(query, SearchOptions(k, fetch_k, lambda_mult, hybrid, filter, view="flat")))

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5,
        *, filter: Filter | None = None, **kwargs: Any,
    ) -> list[Document]:  # fmt: skip
        """Return passages similar to a vector and different from each other."""
        return self._by_vector(embedding, SearchOptions(k, fetch_k, lambda_mult, hybrid=False, filter=filter, view="flat"))

    def _by_vector(self, embedding: list[float], search: SearchOptions) -> list[Document]:
        return self._documents(self._search([""], unit_rows([embedding], len(embedding)), search)[0])

    def _documents(self, passages: Sequence[Passage]) -> list[Document]:
        """Return passages as LangChain's documents, with their metadata as stored."""
        return self.get_by_ids([passage.id for passage in passages])

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: max(0.0, cosine)


_READ_BATCH = 1000
"""Number of passages read at a time."""
S = TypeVar("S", bound=BaseModel)
S_contra = TypeVar("S_contra", bound=BaseModel, contravariant=True)
VectorLookup = Callable[[Sequence[int]], Matrix]
"""Returns the vectors at some positions, shape (positions, dimension)."""


class SearchStructure(Protocol[S_contra]):
    """A graph or hierarchy that reranks search results."""

    def rerank(self, query: str, vector: Matrix, scores: Scores, vectors: VectorLookup, search: S_contra) -> list[int]:
        """Return the reordered positions; may add positions."""


class LocalIndex(Index, Generic[S]):
    """An index with a graph or a hierarchy, in a folder; searched for passages with cosines, as any index."""

    kind_name: str
    """The name of the kind in messages."""
    settings_class: type[S]
    """The class of its search options."""
    _loaded: tuple[Snapshot, SearchStructure[S]] | None = None

    @abstractmethod
    def load_structure(self, ids: Sequence[str]) -> SearchStructure[S]:
        """Load the graph or hierarchy for passages at these positions."""

    @property
    def folder(self) -> Path:
        """Return its folder."""
        assert isinstance(self.store, FolderStore)  # other stores have no manifest of such a kind
        return self.store.path

    @property
    def snapshot(self) -> Snapshot:
        """Return the opened passages and vectors."""
        assert isinstance(self._opened, Snapshot)
        return self._opened

    def _reranker(self, search: SearchOptions) -> Reranker | None:
        settings = self._settings(search.options)
        if search.view == "flat":
            return None
        stored = self.snapshot

        def reranker(query: str, vector: Matrix, scores: Scores) -> list[int]:
            return self._structure().rerank(query, vector, scores, stored.vectors, settings)

        return reranker

    def _structure(self) -> SearchStructure[S]:
        """Return the structure for the current passages; adding and deleting changes their positions."""
        snapshot, opened = self.snapshot, self._loaded
        if opened is None or opened[0] is not snapshot:
            opened = self._loaded = (snapshot, self.load_structure(snapshot.store.ids()))
        return opened[1]

    def _settings(self, options: Mapping[str, Any] | None) -> S:
        try:
            return self.settings_class.model_validate(dict(options or {}))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            what = f"search.{name}={first['input']!r} is not valid for an index with {self.kind_name} ({first['msg']})"
            raise UsageError(what, f"valid options: {', '.join(self.settings_class.model_fields)}") from error


def iterate_passages(index: Index, ids: Sequence[str]) -> Iterator[Passage]:
    """Yield the passages of the ids that exist, read in batches."""
    for start in range(0, len(ids), _READ_BATCH):
        yield from map(Passage.from_document, index.get_by_ids(ids[start : start + _READ_BATCH]))


def count_tokens(index: Index, ids: Sequence[str]) -> int:
    """Return the estimated tokens of some passages."""
    return sum(estimate_tokens(passage.text) for passage in iterate_passages(index, ids))
