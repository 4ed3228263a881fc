"""Index stores: a folder on this machine, or a store named by an address such as milvus:URI/collection."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder, Encoding, Matrix, in_turn, with_prefixes
from ramify.tools.index.build import BATCH_SIZE, BuildOptions, Built, Intake, SourcedDocument, Sources, given_paths, read_documents
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.faiss_store import is_faiss, not_allowed
from ramify.tools.index.hybrid_search import Hit, Reranker, SearchOptions
from ramify.tools.index.index_writer import IndexWriter, open_writer, take_vectors
from ramify.tools.index.manifest import (
    LAYOUT,
    MANIFEST,
    PASSAGES,
    WHOLE,
    Manifest,
    Precision,
    check_target,
    cleanup_on_failure,
    manifest_of,
    missing_index,
    new_damage,
    read_manifest,
    share_index,
    write_lock,
)
from ramify.tools.index.near_duplicates import hide_duplicates
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.publication import Snapshot, open_snapshot, publish
from ramify.tools.typed import usable

STORES = ("milvus", "faiss")
"""What an address can begin with, before a colon."""


class OpenIndex(Protocol):
    """An index as it was when it was opened."""

    @property
    def manifest(self) -> Manifest:
        """Return its manifest."""

    def __len__(self) -> int:
        """Return the number of searchable passages."""

    def search(self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None) -> list[list[Hit]]:
        """Search for all queries at once; vectors: theirs, shape (queries, dimension); `reranker` has a say in the order."""

    def ids(self) -> list[str]:
        """List the ids of the passages that are searched, in order."""

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""


class IndexStore(Protocol):
    """Where an index is stored: built, opened and changed."""

    @property
    def where(self) -> str:
        """Return the location as the command line takes it."""

    def manifest(self) -> Manifest | None:
        """Return the manifest, None where there is no index."""

    def open(self) -> OpenIndex:
        """Open the index; IndexingError where there is none, or it is incomplete."""

    def fingerprint(self) -> bytes:
        """Return a digest that changes with the index."""

    def build(self, paths: Sources, wanted: BuildOptions) -> Built:
        """Update the index from the files under the paths, or from a loader's documents."""

    def describe(self, text: str) -> None:
        """Remember what the index is about; empty for nothing. IndexingError where there is no index."""

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""


def is_address(where: str | Path) -> bool:
    """Return whether a location is the address of a store and not a folder."""
    return isinstance(where, str) and where.partition(":")[0] in STORES and ":" in where


def store_at(where: str | Path) -> IndexStore:
    """Return the store at a location; UsageError for an invalid address or path, and for a FAISS store, which is not loaded here."""
    if is_faiss(where):
        raise not_allowed(where)
    if not is_address(where):
        return FolderStore(usable(where))
    from ramify.tools.milvus.store import MilvusStore  # one of the places: known here by name alone

    return MilvusStore.at(str(where))


def check_exists(where: str | Path) -> None:
    """Raise IndexingError where there is no index, before a run starts."""
    store = store_at(where)
    if not isinstance(store, FolderStore):
        store.open()
    elif store.manifest() is None:
        raise missing_index(store.path)


@dataclass(frozen=True)
class FolderStore:
    """An index in a folder: SQLite, FAISS and a manifest."""

    path: Path

    @property
    def where(self) -> str:
        """Return the folder's path."""
        return str(self.path)

    def manifest(self) -> Manifest | None:
        """Read the manifest."""
        return read_manifest(self.path / MANIFEST)

    def open(self) -> Snapshot:
        """Open the files as they are now."""
        return open_snapshot(self.path)

    def fingerprint(self) -> bytes:
        """Return the digest of the manifest, which has those of the files."""
        manifest = self.path / MANIFEST
        try:
            return hashlib.sha256(manifest.read_bytes()).digest() if manifest.is_file() else b""
        except OSError:  # the index cannot be opened either, which says why
            return b""

    def build(self, paths: Sources, wanted: BuildOptions) -> Built:
        """Update the index from the files under the paths, or from a loader's documents."""
        encoder, chunking, batch_size, progress = wanted[:4]
        began = time.perf_counter()
        given = given_paths(paths)
        check_target(self.path, () if isinstance(given, BaseLoader) else given)
        if not (self.path / PASSAGES).exists():
            _ = encoder.dimension  # asks for a vector: an error now, and not when everything has been read
        with (
            cleanup_on_failure(self.path),
            write_lock(self.path),
            open_writer(self.path, encoder, chunking, clean=wanted.clean, label=wanted.label) as writer,
        ):
            encoder = with_prefixes(encoder, writer.prefixes)
            taken = read_documents(given, writer, encoder, chunking, progress)
            encoded = _encode_missing(writer, encoder, batch_size, progress, wanted.encoding)
            manifest = _publish_changes(self.path, writer, encoder, chunking, progress, wanted.vectors)
            if wanted.shared:
                share_index(self.path)
        return taken.built(manifest, encoded, began, encoder)

    def describe(self, text: str) -> None:
        """Remember what the index is about; empty for nothing."""
        with write_lock(self.path):
            manifest = manifest_of(self.path)
            if manifest.description != text:
                replace(manifest, description=text).write(self.path / MANIFEST)

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""
        with _changing(self.path, encoder, chunking) as (writer, encoder):
            Intake(writer, encoder, chunking, roots=()).write([SourcedDocument(document) for document in documents])

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""
        with _changing(self.path, encoder, chunking) as (writer, _):
            writer.remove(ids)


def amend(folder: Path, encoder: Encoder, documents: Sequence[Document], other: Path | None = None) -> None:
    """Update the metadata of documents in a finished index; only passages whose embedded text changes are encoded.

    other: an index that has the same texts, whose vectors are taken.
    """
    manifest = manifest_of(folder)
    chunking = Chunking(manifest.chunk_tokens, manifest.overlap)
    with _changing(folder, with_prefixes(encoder, manifest.prefixes), chunking) as (writer, encoder):
        if other is not None:
            take_vectors(writer, other / PASSAGES)
        stored = [(document, writer.stored(str(document.id))) for document in documents]
        Intake(writer, encoder, chunking, roots=()).write(
            [SourcedDocument(document, *(one[:3] if one else ())) for document, one in stored]
        )


@contextmanager
def _changing(folder: Path, encoder: Encoder, chunking: Chunking) -> Iterator[tuple[IndexWriter, Encoder]]:
    """Yield a writer and the encoder with the index's prefixes; then encode what has no vector, and publish."""
    with write_lock(folder), open_writer(folder, encoder, chunking, resume=False) as writer:
        encoder = with_prefixes(encoder, writer.prefixes)
        yield writer, encoder
        if writer.clean:
            hide_duplicates(writer)
        _encode_missing(writer, encoder, BATCH_SIZE, silent)
        _publish_changes(folder, writer, encoder, chunking, silent)


def _encode_missing(writer: IndexWriter, encoder: Encoder, batch_size: int, progress: Progress, encoding: Encoding = in_turn) -> int:
    """Encode the texts that have no vector, committing batch by batch; the same batches in any later run, whoever encodes them."""
    rows = writer.unencoded()
    batches = (writer.embedded_texts(rows[start : start + batch_size]) for start in range(0, len(rows), batch_size))
    done = 0
    with closing(encoding(encoder, batches)) as encoded:
        for texts, vectors in encoded:
            writer.keep_vectors(texts, vectors)
            done += len(texts)
            progress(done, len(rows), "passages")
    return len(rows)


def _publish_changes(
    folder: Path, writer: IndexWriter, encoder: Encoder, chunking: Chunking, progress: Progress, vectors: Precision | None = None
) -> Manifest:
    """Publish what differs from the finished index or repairs it; otherwise discard the working copy."""
    manifest = read_manifest(folder / MANIFEST)
    hidden = writer.hidden()
    passages = writer.count("passages") - sum(hidden.values())
    precision = vectors or (manifest.vectors if manifest else WHOLE)
    made = (encoder.name, writer.dimension() or encoder.dimension, *chunking, writer.count("documents"), passages)
    described = manifest.description if manifest else ""
    draft = Manifest(
        *made, {}, LAYOUT, *encoder.prefixes, hidden, label=list(writer.label), vectors=precision, description=described
    )  # fmt: skip
    whole = manifest is not None and manifest.contents == draft.contents and new_damage(manifest, folder) is None
    if writer.changed or manifest is None or not whole or manifest.vectors != precision:
        return publish(folder, writer, draft, progress)
    writer.discard()
    return manifest
