"""The corpus index, searched by vectors and by words, as a LangChain `VectorStore`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Encoding, Matrix, in_turn
from ramify.tools.embeddings.prefixes import advice, prefixed, with_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import BATCH_SIZE, Built, Wanted
from ramify.tools.index.chunking import DEFAULT_CHUNKING, Chunking
from ramify.tools.index.folder import Folder
from ramify.tools.index.hybrid_search import Hit, How, Steer, View
from ramify.tools.index.ids import documents_of
from ramify.tools.index.langchain_methods import SearchedStore
from ramify.tools.index.location import Held, Home, home_of
from ramify.tools.index.manifest import Manifest, Precision, precision_of
from ramify.tools.index.passage_store import Filter
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.reports import Reports
from ramify.tools.index.snapshot import Snapshot
from ramify.tools.typed import readable


class Index(SearchedStore):
    """Passages of documents with their vectors and words, in one folder or in a store; any thread may search."""

    def __init__(self, home: Home, encoder: Encoder, held: Held) -> None:
        self.home = home
        self._encoder = encoder
        self._held = held
        self._temporary: TemporaryDirectory[str] | None = None

    @staticmethod
    def build(
        paths: Sequence[str | Path] | str | Path, out: str | Path, embedding: str | Embeddings = "minilm", *,
        chunk_tokens: int = 300, overlap: int = 30, batch_size: int = BATCH_SIZE, progress: Progress | None = None,
        query_prefix: str | None = None, document_prefix: str | None = None, clean: bool = True,
        label: Sequence[str] | None = None, vectors: Precision | None = None, ray: str | None = None,
        shared: bool = False,
    ) -> Built:  # fmt: skip
        """Make an index of files and folders, or bring one up to date; out: a folder, or an address such as milvus:URI/collection.

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
        """
        if batch_size < 1:
            raise UsageError(f"cannot encode in batches of {batch_size}", "take at least 1")
        for text in (*(label or ()), query_prefix or "", document_prefix or ""):
            readable(text)
        chunking = Chunking(chunk_tokens, overlap).checked()
        paths = [paths] if isinstance(paths, (str, Path)) else paths
        encoder = prefixed(load_encoder(embedding), query_prefix, document_prefix)
        precision = None if vectors is None else precision_of(vectors)
        encoding: Encoding = in_turn
        if ray is not None:
            from ramify.tools.ray.encoding import encoding_on

            encoding = encoding_on(ray, encoder)
        return home_of(out).build(
            paths, Wanted(encoder, chunking, batch_size, progress or silent, clean, label, precision, encoding, shared)
        )

    @classmethod
    def open(cls, path: str | Path | Home, embedding: Embeddings | None = None) -> "Index":
        """Open an index, with the embedding it remembers; one made with a program's `Embeddings` needs that object."""
        home = home_of(path) if isinstance(path, (str, Path)) else path
        held = home.open()
        remembered = held.manifest.embedding
        encoder = load_encoder(embedding or remembered)
        if encoder.name != remembered:
            what = f"the index in {home.where!r} is made with the embedding {remembered!r}, not {encoder.name!r}"
            raise IndexingError(what, f"open it with {remembered!r}, or make another index with {encoder.name!r}")
        return cls(home, with_prefixes(encoder, held.manifest.prefixes), held)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def where(self) -> str:
        """Name its folder, or its address."""
        return self.home.where

    @property
    def manifest(self) -> Manifest:
        """Return what is remembered beside the index: its embedding, how it was split, how much it holds."""
        return self._held.manifest

    @property
    def advice(self) -> str | None:
        """Say what would make a better index of the same documents, None where nothing is known to."""
        return advice(self._encoder)

    @property
    def reports(self) -> Reports | None:
        """Give what sums it up, level by level; a plain index has nothing of the kind."""
        return None

    @property
    def temporary(self) -> bool:
        """Tell whether the folder goes when the index does."""
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
        how = How(k, fetch_k, mmr, hybrid, filter, dense, per_section, view, options).checked()
        if isinstance(queries, str):
            raise UsageError(f"queries are a list of questions, not the text {queries!r}", "put it into a list")
        for query in queries:
            readable(query)
        return self._search(queries, self._encoder.encode_queries(queries), how) if queries else []

    def _search(self, queries: Sequence[str], vectors: Matrix, how: How) -> list[list[Hit]]:
        if vectors.shape[1] != self._held.manifest.dimension:
            what = f"{self._encoder.name!r} gives vectors of length {vectors.shape[1]}, the index holds {self._held.manifest.dimension}"
            raise IndexingError(what, "open it with the embedding it was made with")
        return self._held.search(queries, vectors, how, self._steer(how))

    def _steer(self, how: How) -> Steer | None:
        """Give what has a say in the order of hits: nothing, in a plain index; UsageError for options that it does not have."""
        if how.options:
            what = f"search.{next(iter(how.options))} means nothing to an index of kind {self.manifest.kind!r}"
            made = f"`ramify index --kind graph --out {self.where}`, or hierarchy" if isinstance(self.home, Folder) else "in a folder"
            raise UsageError(what, f"leave it out, or make a graph or a hierarchy: {made}")
        return None

    def fields(self) -> list[str] | None:
        """List the fields of metadata that passages have which are searched; None where the index is in a store."""
        return self._held.store.fields() if isinstance(self._held, Snapshot) else None

    def ids(self) -> list[str]:
        """Return the ids of all passages that are searched, in order."""
        return self._held.ids()

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""
        return self._held.by_ids(ids)

    @classmethod
    def from_texts(
        cls, texts: list[str], embedding: Embeddings, metadatas: list[dict[str, Any]] | None = None,
        *, ids: list[str] | None = None, path: str | Path | None = None,
        query_prefix: str | None = None, document_prefix: str | None = None, **kwargs: Any,
    ) -> "Index":  # fmt: skip
        """Make an index of texts in `path`, by default a temporary folder that goes with the object; prefixes: as for `build`."""
        temporary = TemporaryDirectory(prefix="ramify-") if path is None else None
        home = home_of(temporary.name if path is None and temporary else str(path))
        encoder = prefixed(load_encoder(embedding), query_prefix, document_prefix)
        home.write(encoder, DEFAULT_CHUNKING, documents_of(texts, metadatas, ids))
        index = cls.open(home, encoder)
        index._temporary = temporary
        return index

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, *, ids: list[str] | None = None, **kwargs: Any
    ) -> list[str]:
        """Add texts, replacing those of the same ids, and return their ids; one longer than a passage is split into `id`, `id~2` …

        The graph is linked anew each time, so add many at once.
        """
        documents = documents_of(list(texts), metadatas, ids)
        self.home.write(self._encoder, self._chunking, documents)
        self._held = self.home.open()
        return [str(document.id) for document in documents]

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete documents, with all their passages, or single passages."""
        self.home.remove(self._encoder, self._chunking, ids or [])
        self._held = self.home.open()
        return True

    @property
    def _chunking(self) -> Chunking:
        return Chunking(self._held.manifest.chunk_tokens, self._held.manifest.overlap)
