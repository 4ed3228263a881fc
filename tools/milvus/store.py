"""Milvus as an index store: built, opened, searched and changed like an index in a folder."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.embeddings.prefixes import with_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import BuildOptions, Built, Intake, SourcedDocument, given_paths, read_documents
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.hybrid_search import Hit, Reranker, SearchOptions, find
from ramify.tools.index.index_writer import IndexSettings, IndexWriter, check_settings
from ramify.tools.index.manifest import LAYOUT, WHOLE, Manifest
from ramify.tools.index.near_duplicates import hide_duplicates
from ramify.tools.index.passage_store import Filter
from ramify.tools.milvus.collections import Collections, MetadataEntry, write_lock
from ramify.tools.milvus.connection import parse_address
from ramify.tools.milvus.working_copy import DOCUMENT, HIDDEN, differences, working_copy, write_metadata, write_passages


@dataclass(frozen=True)
class OpenCollection:
    """A corpus as it is at each search; another process may change it meanwhile."""

    store: Collections
    manifest: Manifest

    def __len__(self) -> int:
        return self.manifest.passages

    def search(
        self, queries: Sequence[str], vectors: Matrix, search_options: SearchOptions, reranker: Reranker | None = None
    ) -> list[list[Hit]]:
        """Search for all queries at once; vectors: theirs, shape (queries, dimension); nothing steers it."""
        return find(_Search(self.store, self.manifest.dimension), queries, vectors, search_options)

    def ids(self) -> list[str]:
        """List the ids of the passages that are searched, in order."""
        return sorted(self.store.states())

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""
        found = _documents(self.store, ids)
        return [found[id] for id in ids if id in found]


@dataclass
class _Search:
    """One search, which remembers the vectors that came with its rankings."""

    store: Collections
    dimension: int
    _vectors: dict[str, Matrix] = field(default_factory=dict)

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[str]]:
        """Return the n nearest passages of each vector, nearest first."""
        found = self.store.nearest(vectors, n, where)
        self._vectors.update(pair for near in found for pair in near)
        return [self._in_order(vector, [id for id, _ in near]) for vector, near in zip(vectors, found, strict=True)]

    def _in_order(self, vector: Matrix, ids: list[str]) -> list[str]:
        """Order by cosine, and ties by id."""
        cosines = self.vectors(ids) @ vector
        return [ids[place] for place in sorted(range(len(ids)), key=lambda place: (-cosines[place], ids[place]))]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[str, float]]:
        """Return the n best passages of each query by BM25, greater is better."""
        found = self.store.by_words(queries, n, where)
        self._vectors.update((id, vector) for hits in found for id, _, vector in hits)
        return [{id: score for id, score, _ in hits} for hits in found]

    def vectors(self, ids: Sequence[str]) -> Matrix:
        """Return unit vectors, shape (ids, dimension)."""
        return np.stack([self._vectors[id] for id in ids]) if ids else np.empty((0, self.dimension), dtype=np.float32)

    def sections(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Return the document of each passage and the headings above it."""
        rows = self.store.get(ids, ["document", "metadata"])
        return [(rows[id]["document"], str(rows[id]["metadata"].get("heading") or "")) if id in rows else ("", "") for id in ids]

    def passages(self, ids: Sequence[str]) -> list[Document | None]:
        """Return the passages; None for one that another process has removed this moment."""
        found = _documents(self.store, ids)
        return [found.get(id) for id in ids]


def _documents(store: Collections, ids: Sequence[str]) -> dict[str, Document]:
    rows = store.get(ids, ["text", "metadata", "known"])
    return {id: Document(row["text"], id=id, metadata=row["metadata"] | row["known"]) for id, row in rows.items()}


MANIFEST = "manifest"
GENERATION = "generation"
"""Another one with each change."""


@dataclass(frozen=True)
class MilvusStore:
    """A corpus in a collection."""

    store: Collections

    @classmethod
    def at(cls, where: str) -> "MilvusStore":
        """Read an address; UsageError where it is none."""
        return cls(Collections(parse_address(where)))

    @property
    def where(self) -> str:
        """Write the address."""
        return self.store.address.where

    def _remembered(self) -> dict[str, Any] | None:
        return self.store.entry(MANIFEST) if self.store.exists() else None

    def manifest(self) -> Manifest | None:
        """Read the manifest; IndexingError where it is of another version."""
        told = self._remembered()
        if told is None:
            return None
        try:
            manifest = Manifest(**{name: value for name, value in told.items() if name != GENERATION})
        except TypeError as error:
            raise self._of_another_version(str(error)) from error
        if manifest.layout != LAYOUT:
            raise self._of_another_version(f"layout {manifest.layout!r}, not {LAYOUT}")
        return manifest

    def _of_another_version(self, why: str) -> IndexingError:
        what = f"the index in {self.where!r} is of another version of ramify ({why})"
        return IndexingError(what, "make another: `ramify index PATH… --out` with the name of a new collection")

    def fingerprint(self) -> bytes:
        """Return what the manifest says."""
        return json.dumps(self._remembered(), sort_keys=True).encode()

    def open(self) -> OpenCollection:
        """Open the corpus; IndexingError where there is none, or its first build has not finished."""
        manifest = self.manifest()
        if manifest is None:
            begun = self.store.exists() and next(self.store.entries(), None) is not None
            what = f"the index in {self.where!r} is half-written" if begun else f"there is no index in {self.where!r}"
            raise IndexingError(what, f"run `ramify index PATH… --out '{self.where}'`{' again: it goes on' if begun else ''}")
        return OpenCollection(self.store, manifest)

    def build(self, paths: Sequence[str | Path], wanted: BuildOptions) -> Built:
        """Bring the corpus up to date with what lies under the paths; until it has finished, what is written is found already."""
        began = time.perf_counter()
        encoder, chunking, progress = wanted.encoder, wanted.chunking, wanted.progress
        if wanted.vectors not in (None, WHOLE):
            raise UsageError(f"vectors in {wanted.vectors} are for an index in a folder", "leave --vectors out")
        given = given_paths(paths)
        making = IndexSettings(encoder, chunking, wanted.clean, None if wanted.label is None else tuple(wanted.label))
        with self._changing(encoder, making) as (writer, alive):
            encoder = with_prefixes(encoder, writer.prefixes)
            taken = read_documents(given, writer, encoder, chunking, progress)
            encoded = write_passages(self.store, differences(self.store, writer), wanted._replace(encoder=encoder), alive)
            manifest = self._publish(writer, encoder, chunking)
        return taken.built(manifest, encoded, began, encoder)

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""
        ids = [str(document.id) for document in documents]
        with self._changing(encoder, IndexSettings(encoder, chunking, None), self._scope(ids)) as (writer, alive):
            encoder = with_prefixes(encoder, writer.prefixes)
            Intake(writer, encoder, chunking, roots=()).write([SourcedDocument(document) for document in documents])
            self._settle(writer, encoder, chunking, alive, self._scope(ids))

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""
        with self._changing(encoder, IndexSettings(encoder, chunking, None)) as (writer, alive):
            writer.remove(ids)
            self._settle(writer, with_prefixes(encoder, writer.prefixes), chunking, alive, None)

    def _scope(self, ids: Sequence[str]) -> list[str] | None:
        """List the documents that a change is about; None for all, where a passage may stand for twins in other documents."""
        twins = self.store.exists() and any(one.kind == HIDDEN for one in self.store.entries())
        return None if twins else list(ids)

    def _settle(
        self, writer: IndexWriter, encoder: Encoder, chunking: Chunking, alive: Callable[[], None], scope: Sequence[str] | None
    ) -> None:
        if scope is None and writer.clean:
            hide_duplicates(writer)
        write_passages(self.store, differences(self.store, writer, scope), BuildOptions(encoder, chunking), alive)
        self._publish(writer, encoder, chunking, scope)

    @contextmanager
    def _changing(
        self, encoder: Encoder, making: IndexSettings, scope: Sequence[str] | None = None
    ) -> Iterator[tuple[IndexWriter, Callable[[], None]]]:
        """Give a working copy of the corpus, or of some documents, and what says that the writer lives."""
        dimension = encoder.dimension
        self.manifest()  # one of another version is refused
        self.store.create(dimension)
        with write_lock(self.store) as alive, working_copy(self.store, scope) as writer:
            check_settings(writer, making, self.where, "collection")
            yield writer, alive

    def _publish(self, writer: IndexWriter, encoder: Encoder, chunking: Chunking, scope: Sequence[str] | None = None) -> Manifest:
        """Update the metadata, then the manifest."""
        entries = write_metadata(self.store, writer, scope)
        reasons = [str(one.value["hidden"]) for one in entries if one.kind == HIDDEN]
        hidden = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
        counts = (sum(one.kind == DOCUMENT for one in entries), self.store.count())
        manifest = Manifest(
            encoder.name, self.store.dimension(), *chunking, *counts, sha256={}, layout=LAYOUT,
            query_prefix=encoder.prefixes.query, document_prefix=encoder.prefixes.document, hidden=hidden, label=list(writer.label),
        )  # fmt: skip
        told, before = asdict(manifest), self._remembered()
        if writer.changed or before is None or {**before, GENERATION: ""} != {**told, GENERATION: ""}:
            self.store.flush()
            self.store.upsert_entries([MetadataEntry(MANIFEST, MANIFEST, "", {**told, GENERATION: uuid4().hex})])
        return manifest
