"""The two Milvus collections of a corpus: passages, and metadata (documents, files, settings, hidden passages).

A writer's lock is a metadata entry renewed with each batch; it expires if it is not renewed.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ramify.stores.milvus._schema import (
    Address,
    connect,
    create_metadata,
    create_passages,
    filter_expression,
    milvus_errors,
    passage_row,
    query_text,
)
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index.passage_store import Filter, SearchedPassage

if TYPE_CHECKING:
    from pymilvus import MilvusClient

METADATA = "_metadata"
"""Suffix of the metadata collection's name."""
STRONG_CONSISTENCY = "Strong"
"""Consistency level at which reads see all earlier writes, as a build requires."""
_PAGE_ROWS = 1000
_BATCH_ROWS = 500
"""Rows per request by key."""
WRITER_ENTRY = "writer"
_LOCK_EXPIRES_S = 120.0
"""Seconds after which a lock that is not renewed expires."""
_LOCK_RENEW_S = 15.0


T = TypeVar("T")


class MetadataEntry(NamedTuple):
    """An entry of the metadata. document: the id of its document, if any; text: content too long for `value`."""

    name: str
    kind: str
    document: str
    value: dict[str, Any]
    text: str = ""


def in_batches(items: Sequence[T], size: int = _BATCH_ROWS) -> Iterator[list[T]]:
    """Yield batches, by default of the size of one request."""
    return (list(items[start : start + size]) for start in range(0, len(items), size))


@contextmanager
def corpus_lock(corpus: "Corpus") -> Iterator[Callable[[], None]]:
    """Lock a corpus; yield a function that renews the lock. IndexingError if another process holds it."""
    this_process = f"{socket.gethostname()}:{os.getpid()}"
    current = corpus.entry(WRITER_ENTRY)
    if current and current["by"] != this_process and current["until"] > time.time() and not _has_ended(str(current["by"])):
        raise IndexingError(f"{current['by']} is writing the index in {corpus.address.where!r}", "wait until it has finished")
    renewed = -_LOCK_RENEW_S

    def renew() -> None:
        nonlocal renewed
        if time.monotonic() - renewed > _LOCK_RENEW_S:
            renewed = time.monotonic()
            corpus.upsert_entries(
                [MetadataEntry(WRITER_ENTRY, WRITER_ENTRY, "", {"by": this_process, "until": time.time() + _LOCK_EXPIRES_S})]
            )

    renew()
    try:
        yield renew
    finally:
        corpus.delete_entries([WRITER_ENTRY])


def _has_ended(writer: str) -> bool:
    """Return whether a writer was a process of this machine that has ended."""
    host, _, process = writer.rpartition(":")
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it runs as another user
        return False
    return False


_EF_SEARCH = 128

_loaded: set[Address] = set()
"""Addresses whose collections are loaded."""


@dataclass(frozen=True)
class Corpus:
    """Reads and writes the passages and metadata of one tenant; calls block on the server."""

    address: Address

    @property
    def _client(self) -> "MilvusClient":
        return connect(self.address)

    @property
    def _metadata(self) -> str:
        return self.address.collection + METADATA

    @property
    def _tenant_filter(self) -> str:
        return filter_expression(self.address.tenant, None)

    def key(self, id: str) -> str:
        """Return the primary key of a passage, unique among tenants."""
        return f"{self.address.tenant}|{id}"

    def entries(self) -> Iterator[MetadataEntry]:
        """Yield all metadata entries."""
        for row in self._query_all(self._metadata, self._tenant_filter, [*MetadataEntry._fields]):
            yield MetadataEntry(**{name: row[name] for name in MetadataEntry._fields})

    def entry(self, name: str) -> dict[str, Any] | None:
        """Return the value of a metadata entry, None if there is none."""
        with milvus_errors(self.address):
            rows = self._client.get(self._metadata, [self.key(name)], output_fields=["value"], consistency_level=STRONG_CONSISTENCY)
        return dict(rows[0]["value"]) if rows else None

    def upsert_entries(self, entries: Iterable[MetadataEntry]) -> None:
        """Insert or replace metadata entries."""
        own = {"tenant": self.address.tenant, "blank": [1.0, 0.0]}
        self._upsert(self._metadata, [{"key": self.key(entry.name), **own, **entry._asdict()} for entry in entries])

    def delete_entries(self, names: Iterable[str]) -> None:
        """Delete metadata entries."""
        self._delete(self._metadata, names)

    def _query_all(self, collection: str, wanted: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        with milvus_errors(self.address):
            pages = self._client.query_iterator(
                collection, batch_size=_PAGE_ROWS, filter=wanted, output_fields=fields, consistency_level=STRONG_CONSISTENCY
            )
            try:
                while page := pages.next():
                    yield from page
            finally:
                pages.close()

    def _upsert(self, collection: str, rows: Sequence[Mapping[str, Any]]) -> None:
        with milvus_errors(self.address):
            for block in in_batches(rows):
                self._client.upsert(collection, block)

    def _delete(self, collection: str, ids: Iterable[str]) -> None:
        with milvus_errors(self.address):
            for block in in_batches([self.key(id) for id in ids]):
                self._client.delete(collection, ids=block)

    def exists(self) -> bool:
        """Return whether the corpus exists; its collections are then loaded."""
        if self.address.local and not Path(self.address.uri).exists():  # connecting would create the file
            return False
        with milvus_errors(self.address):
            exists = bool(self._client.has_collection(self._metadata))
            if exists and self.address not in _loaded:
                for name in (self.address.collection, self._metadata):
                    self._client.load_collection(name)
                _loaded.add(self.address)
        return exists

    def create(self, dimension: int) -> None:
        """Create missing collections; IndexingError if an existing one has vectors of another dimension."""
        with milvus_errors(self.address):
            if not self._client.has_collection(self.address.collection):
                create_passages(self._client, self.address.collection, dimension)
            actual = self.dimension()
            if actual != dimension:
                what = f"the collection {self.address.collection!r} holds vectors of length {actual}, not {dimension}"
                raise IndexingError(what, "use the embedding it was made with, or another collection")
            if not self._client.has_collection(self._metadata):
                create_metadata(self._client, self._metadata)
        self.exists()

    def dimension(self) -> int:
        """Return the dimension of the vectors."""
        fields = self._client.describe_collection(self.address.collection)["fields"]
        return next((int(field["params"]["dim"]) for field in fields if field["name"] == "vector"), 0)

    def states(self, documents: Sequence[str] | None = None) -> dict[str, tuple[str, str]]:
        """Return the digest and state of all passages, or of those of some documents, by id."""
        rows = self._rows(["id", "digest", "state"], documents)
        return {row["id"]: (row["digest"], row["state"]) for row in rows}

    def passages(self, documents: Sequence[str] | None = None) -> Iterator[SearchedPassage]:
        """Yield all passages, or those of some documents, without vectors."""
        names = SearchedPassage._fields
        for row in self._rows([*names], documents):
            yield SearchedPassage(**{name: json.dumps(row[name]) if name in ("metadata", "known") else row[name] for name in names})

    def _rows(self, fields: list[str], documents: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        name = self.address.collection
        if documents is None:
            yield from self._query_all(name, self._tenant_filter, fields)
            return
        for block in in_batches(documents):
            yield from self._query_all(name, f"{self._tenant_filter} and document in {json.dumps(block)}", fields)

    def count(self) -> int:
        """Return the number of passages."""
        with milvus_errors(self.address):
            rows = self._client.query(
                self.address.collection, filter=self._tenant_filter, output_fields=["count(*)"], consistency_level=STRONG_CONSISTENCY
            )
        return int(rows[0]["count(*)"])

    def write(self, passages: Sequence[SearchedPassage], vectors: Matrix) -> None:
        """Insert or replace passages; vectors: shape (passages, dimension)."""
        rows = [
            {"key": self.key(passage.id), "tenant": self.address.tenant, **passage_row(passage), "vector": vector.tolist()}
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        self._upsert(self.address.collection, rows)

    def remove(self, ids: Iterable[str]) -> None:
        """Delete passages."""
        self._delete(self.address.collection, ids)

    def flush(self) -> None:
        """Seal and index all writes."""
        with milvus_errors(self.address):
            self._client.flush(self.address.collection)

    def get(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return fields of the passages that exist, by id."""
        rows = {}
        with milvus_errors(self.address):
            for block in in_batches([self.key(id) for id in ids]):
                for row in self._client.get(self.address.collection, block, output_fields=["id", *fields]):
                    rows[row["id"]] = row
        return rows

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return unit vectors by id."""
        return {id: np.asarray(row["vector"], dtype=np.float32) for id, row in self.get(ids, ["vector"]).items()}

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[tuple[str, Matrix]]]:
        """Return at most n ids with vectors for each query vector, nearest first."""
        parameters = {"params": {"ef": max(_EF_SEARCH, 2 * n)}}
        rankings = self._search([vector.tolist() for vector in vectors], "vector", n, where, search_params=parameters)
        return [[(hit["entity"]["id"], np.asarray(hit["entity"]["vector"], dtype=np.float32)) for hit in hits] for hits in rankings]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[list[tuple[str, float, Matrix]]]:
        """Return at most n ids with BM25 (higher is better) and vectors for each query; none for a query without words."""
        query_texts = [query_text(query) for query in queries]
        searched = [words for words in query_texts if words]
        rankings = iter(self._search(searched, "sparse", n, where) if searched else ())
        # milvus-lite returns negative scores, a server positive ones.
        return [
            [(hit["entity"]["id"], abs(hit["distance"]), np.asarray(hit["entity"]["vector"], dtype=np.float32)) for hit in next(rankings)]
            if words
            else []
            for words in query_texts
        ]

    def _search(self, data: list[Any], field: str, n: int, where: Filter | None, **parameters: Any) -> Any:
        with milvus_errors(self.address):
            return self._client.search(
                self.address.collection, data=data, anns_field=field, limit=n, filter=filter_expression(self.address.tenant, where),
                output_fields=["id", "vector"], **parameters,
            )  # fmt: skip
