"""A corpus index as a LangChain `VectorStore`; and an index on disk with what it has beside its passages."""

import hashlib
import json
import sqlite3
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar
from weakref import finalize

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel, ValidationError

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Encoding, Matrix, in_turn, prefixed, unit_rows, with_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import Built, IndexStore, OpenIndex, Sources
from ramify.tools.index.chunking import DEFAULT_CHUNKING, Chunking
from ramify.tools.index.hybrid_search import Hit, Reranker, Scores, SearchOptions, View
from ramify.tools.index.index_store import FolderStore, store_at
from ramify.tools.index.index_writer import BATCH_SIZE, BuildOptions
from ramify.tools.index.manifest import Manifest, Precision, precision_of
from ramify.tools.index.passage_store import Filter, connected, documents_of
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.publication import Snapshot
from ramify.tools.index.reports import Reports
from ramify.tools.languages import detect_language
from ramify.tools.models.tokens import estimate_tokens
from ramify.tools.quoting import collapse_whitespace
from ramify.tools.user_input import check_text

_SAMPLED, _PART = 24, 0.2
"""Passages whose language is looked at, and the share of them that makes a language one of the index."""
_DRAWN = 256
"""Passages whose texts make the digest of an index."""


class Index(VectorStore):
    """Passages of documents with their vectors and words, in one folder or in a store; any thread may search."""

    def __init__(self, store: IndexStore, encoder: Encoder, opened: OpenIndex) -> None:
        self.store = store
        self._encoder = encoder
        self._opened = opened
        self._temporary: TemporaryDirectory[str] | None = None

    @staticmethod
    def build(
        paths: Sources | str | Path, out: str | Path, embedding: str | Embeddings = "minilm", *,
        chunk_tokens: int = 300, overlap: int = 30, batch_size: int = BATCH_SIZE, progress: Progress | None = None,
        query_prefix: str | None = None, document_prefix: str | None = None, clean: bool = True,
        label: Sequence[str] | None = None, vectors: Precision | None = None, ray: str | None = None,
        shared: bool = False, description: str | None = None,
    ) -> Built:  # fmt: skip
        """Make an index of files and folders, or bring one up to date; out: a folder, or an address such as milvus:URI/collection.

        A LangChain document loader in the place of the paths is asked for its documents, whose metadata is kept. Documents are known by
        their id, else by their source and their number in it; those gone from the sources that it gives are removed, other sources stay.

        Documents that did not change are not encoded again, and those gone from the paths given are removed. An interrupted build goes on
        where it stopped when it is called again. Until it has finished, the folder opens as it was before, or not at all.

        The prefixes are put before questions and passages when they are embedded, and remembered. Not given, they are those of the index
        that is there, or those that the model is known to be trained with; "" stands for none.

        Unless `clean` is False, sections too short to be found go to their neighbours, and passages that only list (tables of contents,
        indexes), license, or say again what another file says are kept and not searched; the index remembers which.

        `label` names fields of metadata, such as chapter and section, that passages are embedded and searched under beside their title
        and headings; quoted is the text alone. Not given, they are those of the index that is there.

        `vectors` is how those that are searched are kept: "fp32", "fp16" or "int8", in half or a quarter of the memory; scores are counted
        from whole ones. Not given, it is as in the index that is there, "fp32" in a new one; another one encodes nothing again.

        `ray` is the address of a Ray cluster whose workers encode: "local" for one of this machine's cores, which ends with the build,
        "auto", "HOST:PORT" or "ray://HOST:PORT"; a program that has joined one already stays there. The index is the same.

        `shared` lets everybody on this machine read the folder, which is its owner's alone where it is made; without it, a folder that is
        there keeps its rights, and its files have them, too.

        `description` says in a sentence what the documents are about: of several indexes, a question goes to those whose description fits.
        Not given, it is that of the index that is there; "" stands for none.
        """
        if batch_size < 1:
            raise UsageError(f"cannot encode in batches of {batch_size}", "take at least 1")
        for text in (*(label or ()), query_prefix or "", document_prefix or "", description or ""):
            check_text(text)
        chunking = Chunking(chunk_tokens, overlap).checked()
        paths = [paths] if isinstance(paths, (str, Path)) else paths
        encoder = prefixed(load_encoder(embedding), query_prefix, document_prefix)
        precision = None if vectors is None else precision_of(vectors)
        encoding: Encoding = in_turn
        if ray is not None:
            from ramify.tools.ray_cluster import encoding_on

            encoding = encoding_on(ray, encoder)
        store = store_at(out)
        built = store.build(
            paths, BuildOptions(encoder, chunking, batch_size, progress or silent, clean, label, precision, encoding, shared)
        )
        if description is not None:
            store.describe(collapse_whitespace(description))
        return built

    @classmethod
    def open(cls, path: str | Path | IndexStore, embedding: Embeddings | None = None) -> "Index":
        """Open an index, with the embedding it remembers; one made with a program's `Embeddings` needs that object."""
        store = store_at(path) if isinstance(path, (str, Path)) else path
        opened = store.open()
        remembered = opened.manifest.embedding
        encoder = load_encoder(embedding or remembered)
        if encoder.name != remembered:
            what = f"the index in {store.where!r} is made with the embedding {remembered!r}, not {encoder.name!r}"
            raise IndexingError(what, f"open it with {remembered!r}, or make another index with {encoder.name!r}")
        return cls(store, with_prefixes(encoder, opened.manifest.prefixes), opened)

    def __len__(self) -> int:
        return len(self._opened)

    @property
    def where(self) -> str:
        """Return its folder or address."""
        return self.store.where

    @property
    def manifest(self) -> Manifest:
        """Return what is remembered beside the index: its embedding, how it was split, how much it holds."""
        return self._opened.manifest

    @property
    def reports(self) -> Reports | None:
        """Return its reports or summaries by level; None in a plain index."""
        return None

    @property
    def temporary(self) -> bool:
        """Return whether the folder is deleted with the index."""
        return self._temporary is not None

    @property
    def embeddings(self) -> Encoder:
        """Return the encoder of passages and questions."""
        return self._encoder

    def search(  # type: ignore[override]  # VectorStore's `search` takes one query and a search type by name
        self, queries: Sequence[str], k: int = 5, *,
        fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True, filter: Filter | None = None, dense: bool = True,
        per_section: int | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
    ) -> list[list[Hit]]:  # fmt: skip
        """Return the best passages for each query: all queries are encoded and searched in one batch.

        Vectors and words (`hybrid`) are fused by the mean of their scores; without `dense` it is words alone (BM25). `per_section`: so many
        passages of a section come first, further ones after those of others, unless the question names it or there is no heading. From
        the `fetch_k` best (default 4 k) the passages are picked in order, or by maximal marginal relevance with the weight `mmr`.
        `filter` gives metadata fields the value, or values, they must have. `view` is "flat" for plain passages whatever the kind of index,
        "auto" for the kind's own way, which takes `options` of its own.
        """
        search = SearchOptions(k, fetch_k, mmr, hybrid, filter, dense, per_section, view, options).checked()
        if isinstance(queries, str):
            raise UsageError(f"queries are a list of questions, not the text {queries!r}", "put it into a list")
        for query in queries:
            check_text(query)
        return self._search(queries, self._encoder.encode_queries(queries), search) if queries else []

    def _search(self, queries: Sequence[str], vectors: Matrix, search: SearchOptions) -> list[list[Hit]]:
        if vectors.shape[1] != self._opened.manifest.dimension:
            what = f"{self._encoder.name!r} gives vectors of length {vectors.shape[1]}, the index holds {self._opened.manifest.dimension}"
            raise IndexingError(what, "open it with the embedding it was made with")
        return self._opened.search(queries, vectors, search, self._reranker(search))

    def _reranker(self, search: SearchOptions) -> Reranker | None:
        """Return the reranker of hits, None in a plain index; UsageError for options that the kind does not have."""
        if search.options:
            what = f"search.{next(iter(search.options))} means nothing to an index of kind {self.manifest.kind!r}"
            made = f"`ramify index --kind graph --out {self.where}`, or hierarchy" if isinstance(self.store, FolderStore) else "in a folder"
            raise UsageError(what, f"leave it out, or make a graph or a hierarchy: {made}")
        return None

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages that a good part of the index is in, judged by some of its passages."""
        ids = self.ids()
        sampled = self.get_by_ids(ids[:: max(1, len(ids) // _SAMPLED)][:_SAMPLED])
        found = Counter(detect_language(document.page_content) for document in sampled)
        return frozenset(name for name, count in found.items() if name and count >= _PART * len(sampled))

    @cached_property
    def digest(self) -> str:
        """A digest of how much it holds, and of the texts of 256 passages: the same documents, indexed in the same way, have the same."""
        ids = self.ids()
        drawn = self.get_by_ids(ids[:: -(-len(ids) // _DRAWN) or 1])
        made = [self.manifest.documents, len(ids), self.manifest.kind, *(document.page_content for document in drawn)]
        return hashlib.sha256(json.dumps(made).encode()).hexdigest()

    def fields(self) -> list[str] | None:
        """List the fields of metadata that passages have which are searched; None where the index is in a store."""
        return self._opened.store.fields() if isinstance(self._opened, Snapshot) else None

    def ids(self) -> list[str]:
        """Return the ids of all passages that are searched, in order."""
        return self._opened.ids()

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""
        return self._opened.by_ids(ids)

    @classmethod
    def from_texts(
        cls, texts: list[str], embedding: Embeddings, metadatas: list[dict[str, Any]] | None = None,
        *, ids: list[str] | None = None, path: str | Path | None = None,
        query_prefix: str | None = None, document_prefix: str | None = None, **kwargs: Any,
    ) -> "Index":  # fmt: skip
        """Make an index of texts in `path`, by default a temporary folder that goes with the object; prefixes: as for `build`."""
        temporary = TemporaryDirectory(prefix="ramify-") if path is None else None
        store = store_at(temporary.name if path is None and temporary else str(path))
        encoder = prefixed(load_encoder(embedding), query_prefix, document_prefix)
        store.write(encoder, DEFAULT_CHUNKING, documents_of(texts, metadatas, ids))
        index = cls.open(store, encoder)
        index._temporary = temporary
        if temporary is not None:
            finalize(index, temporary.cleanup)  # left to itself it would warn
        return index

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, *, ids: list[str] | None = None, **kwargs: Any
    ) -> list[str]:
        """Add texts, replacing those of the same ids, and return their ids; one longer than a passage is split into `id`, `id~2` …

        Each call copies the index, so add many at once.
        """
        documents = documents_of(list(texts), metadatas, ids)
        self.store.write(self._encoder, self.manifest.chunking, documents)
        self._opened = self.store.open()
        return [str(document.id) for document in documents]

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete documents, with all their passages, or single passages."""
        self.store.remove(self._encoder, self.manifest.chunking, ids or [])
        self._opened = self.store.open()
        return True

    def _find(self, query: str, search: SearchOptions) -> list[Hit]:
        return self._search([query], self.embeddings.encode_queries([query]), search.checked())[0]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, hybrid: bool = False, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the passages nearest to a query with their cosines; with `hybrid`, in the order of the fusion."""
        hits = self._find(query, SearchOptions(k, mmr=None, hybrid=hybrid, filter=filter, per_section=None, view="flat"))
        return [(hit.document, hit.score) for hit in hits]

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
        """Return passages near to a query and far from each other."""
        hits = self._find(query, SearchOptions(k, fetch_k, lambda_mult, hybrid, filter, view="flat"))
        return [hit.document for hit in hits]

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5,
        *, filter: Filter | None = None, **kwargs: Any,
    ) -> list[Document]:  # fmt: skip
        """Return passages near to a vector and far from each other."""
        return self._by_vector(embedding, SearchOptions(k, fetch_k, lambda_mult, hybrid=False, filter=filter, view="flat"))

    def _by_vector(self, embedding: list[float], search: SearchOptions) -> list[Document]:
        return [hit.document for hit in self._search([""], unit_rows([embedding], len(embedding)), search)[0]]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: max(0.0, cosine)


Rows = Iterable[tuple[str, Iterable[tuple[object, ...]]]]
"""Each table with its rows."""


def write_tables(path: Path, schema: str, rows: Rows) -> None:
    """Write to an empty file."""
    with closing(sqlite3.connect(path.absolute())) as database, database:
        database.executescript(f"BEGIN; {schema} COMMIT;")
        for table, own in rows:
            listed = list(own)
            if listed:
                marks = ", ".join("?" * len(listed[0]))
                database.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)


def read_facts(path: Path) -> dict[str, str]:
    """Read what a file says of itself; nothing where there is none, or it cannot be read."""
    if not path.is_file():
        return {}
    try:
        with closing(connected(path)) as database:
            return dict(database.execute("SELECT name, value FROM facts ORDER BY name"))
    except sqlite3.DatabaseError:
        return {}


_READ = 1000
"""Passages that are read at a time."""
S = TypeVar("S", bound=BaseModel)
S_contra = TypeVar("S_contra", bound=BaseModel, contravariant=True)
Vectors = Callable[[Sequence[int]], Matrix]
"""Gives the vectors at some positions, shape (positions, dimension)."""


class Structure(Protocol[S_contra]):
    """What lies beside the passages of an index, as a search is led by it."""

    def rerank(self, query: str, vector: Matrix, found: Scores, vectors: Vectors, search: S_contra) -> list[int]:
        """Put what was found into another order; bring in more where there is more."""


class LocalIndex(Index, Generic[S]):
    """An index of a kind that only a folder can hold; its hits are passages, and their scores cosines, as in any other."""

    kind_name: str
    """The kind, in a sentence."""
    settings_class: type[S]
    """How it can be searched."""
    _loaded: tuple[Snapshot, Structure[S]] | None = None

    @abstractmethod
    def load_structure(self, ids: Sequence[str]) -> Structure[S]:
        """Read what lies beside the passages, which are at these positions now."""

    @property
    def folder(self) -> Path:
        """Return its folder."""
        assert isinstance(self.store, FolderStore)  # no other place has a manifest of such a kind
        return self.store.path

    @property
    def snapshot(self) -> Snapshot:
        """Return the passages and vectors as they were when it was opened."""
        assert isinstance(self._opened, Snapshot)
        return self._opened

    def _reranker(self, search: SearchOptions) -> Reranker | None:
        settings = self._settings(search.options)
        if search.view == "flat":
            return None
        stored = self.snapshot

        def reranker(query: str, vector: Matrix, found: Scores) -> list[int]:
            return self._structure().rerank(query, vector, found, stored.vectors, settings)

        return reranker

    def _structure(self) -> Structure[S]:
        """Return the structure for the passages as they are now: adding and deleting changes their positions."""
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
            raise UsageError(what, f"choose among {', '.join(self.settings_class.model_fields)}") from error


def documents(index: Index, ids: Sequence[str]) -> Iterator[Document]:
    """Read passages, some at a time."""
    for start in range(0, len(ids), _READ):
        yield from index.get_by_ids(ids[start : start + _READ])


def tokens_of(index: Index, ids: Sequence[str]) -> int:
    """Count the source text's tokens as those of reports are counted."""
    return sum(estimate_tokens(document.page_content) for document in documents(index, ids))
