"""Where an index is stored: a folder on this machine, or a store named by an address such as milvus:URI/collection or faiss:DIR."""

import hashlib
import pickle
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, with_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import Given, IndexStore, Intake, Publish, SourcedDocument
from ramify.tools.index.index_writer import BuildOptions, IndexWriter, open_writer, take_vectors
from ramify.tools.index.manifest import (
    LAYOUT,
    MANIFEST,
    PASSAGES,
    WHOLE,
    Manifest,
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
from ramify.tools.index.publication import Snapshot, open_snapshot, publish
from ramify.tools.user_input import expand_path

FAISS = "faiss:"
"""Before a folder that LangChain's FAISS has saved; loading it unpickles, so that is done only where the user allows it."""
FLAG = "--allow-dangerous-deserialization"
_FILES = ("index.faiss", "index.pkl")
STORES = ("milvus", "faiss")
"""What an address can begin with, before a colon."""


def is_address(where: str | Path) -> bool:
    """Return whether a location is the address of a store and not a folder."""
    return isinstance(where, str) and where.partition(":")[0] in STORES and ":" in where


def store_at(where: str | Path) -> IndexStore:
    """Return the store at a location; UsageError for an invalid address or path, and for a FAISS store, which is not loaded here."""
    if is_faiss(where):
        raise not_allowed(where)
    if not is_address(where):
        return FolderStore(expand_path(where))
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
class FolderStore(IndexStore):
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

    def describe(self, text: str) -> None:
        """Remember what the index is about; empty for nothing."""
        with write_lock(self.path):
            manifest = manifest_of(self.path)
            if manifest.description != text:
                replace(manifest, description=text).write(self.path / MANIFEST)

    @contextmanager
    def writing(
        self, options: BuildOptions, given: Given | None = None, documents: Sequence[str] | None = None
    ) -> Iterator[tuple[IndexWriter, Publish]]:
        """Lock the folder and yield a writer of it, and what publishes the changes; a build goes on where another was interrupted."""
        if given is not None:
            check_target(self.path, () if isinstance(given, BaseLoader) else given)
            if not (self.path / PASSAGES).exists():
                _ = options.encoder.dimension  # asks for a vector: an error now, and not when everything has been read
        with (
            nullcontext() if given is None else cleanup_on_failure(self.path),
            write_lock(self.path),
            open_writer(self.path, options, resume=given is not None) as writer,
        ):
            yield writer, partial(_publish, self.path, writer)
            if options.shared:
                share_index(self.path)


def amend(folder: Path, encoder: Encoder, documents: Sequence[Document], other: Path | None = None) -> None:
    """Update the metadata of documents in a finished index; only passages whose embedded text changes are encoded.

    other: an index that has the same texts, whose vectors are taken.
    """
    manifest = manifest_of(folder)
    with FolderStore(folder).changing(with_prefixes(encoder, manifest.prefixes), manifest.chunking) as (writer, options):
        if other is not None:
            take_vectors(writer, other / PASSAGES)
        stored = [(document, writer.stored(str(document.id))) for document in documents]
        Intake(writer, options).write([SourcedDocument(document, *(one[:3] if one else ())) for document, one in stored])


def _publish(folder: Path, writer: IndexWriter, options: BuildOptions) -> tuple[int, Manifest]:
    """Publish what differs from the finished index or repairs it; otherwise discard the working copy."""
    if writer.clean:
        hide_duplicates(writer)
    encoded = _encode_missing(writer, options)
    manifest = read_manifest(folder / MANIFEST)
    encoder, hidden = options.encoder, writer.hidden()
    passages = writer.count("passages") - sum(hidden.values())
    precision = options.vectors or (manifest.vectors if manifest else WHOLE)
    made = (encoder.name, writer.dimension() or encoder.dimension, *options.chunking, writer.count("documents"), passages)
    described = manifest.description if manifest else ""
    draft = Manifest(
        *made, {}, LAYOUT, *encoder.prefixes, hidden, label=list(writer.label), vectors=precision, description=described
    )  # fmt: skip
    whole = manifest is not None and manifest.contents == draft.contents and new_damage(manifest, folder) is None
    if writer.changed or manifest is None or not whole or manifest.vectors != precision:
        return encoded, publish(folder, writer, draft, options.progress)
    writer.discard()
    return encoded, manifest


def _encode_missing(writer: IndexWriter, options: BuildOptions) -> int:
    """Encode the texts that have no vector, committing batch by batch; the same batches in any later run, whoever encodes them."""
    rows, size = writer.unencoded(), options.batch_size
    batches = (writer.embedded_texts(rows[start : start + size]) for start in range(0, len(rows), size))
    done = 0
    with closing(options.encoding(options.encoder, batches)) as encoded:
        for texts, vectors in encoded:
            writer.keep_vectors(texts, vectors)
            done += len(texts)
            options.progress(done, len(rows), "passages")
    return len(rows)


def is_faiss(where: str | Path) -> bool:
    """Return whether a location is the address of a FAISS store of LangChain's."""
    return isinstance(where, str) and where.startswith(FAISS)


def not_allowed(where: str | Path) -> UsageError:
    """Return the error of a FAISS store that was not allowed to be loaded."""
    what = f"{str(where)!r} is a FAISS store of LangChain: its index.pkl is a pickle, and loading a pickle can run any code that is in it"
    remedy = f"if you made it yourself, add {FLAG} to ramify ask, chat, search or mcp; in Python give the loaded store as index"
    return UsageError(what, remedy)


def allowed_stores(index: Sequence[str] | None, allowed: bool) -> list[str | VectorStore] | None:
    """Replace the addresses of FAISS stores by the stores; UsageError where loading them is not `allowed`."""
    if index is None:
        return None
    if not allowed and (refused := next(filter(is_faiss, index), None)):
        raise not_allowed(refused)
    return [load_faiss(one) if is_faiss(one) else one for one in index]


def load_faiss(where: str) -> VectorStore:
    """Load the store at faiss:DIR, made with the packaged embedding, or at faiss:DIR@EMBEDDING; this unpickles.

    IndexingError where there is none, it cannot be read, or it is of another embedding.
    """
    from langchain_community.vectorstores import FAISS as LangChainFAISS

    place = where.removeprefix(FAISS)
    folder, at, embedding = (place, "", "") if expand_path(place).is_dir() else place.rpartition("@")
    path = expand_path(folder if at else place)
    if missing := [name for name in _FILES if not (path / name).is_file()]:
        what = f"there is no FAISS store of LangChain in {str(path)!r}: {missing[0]} is missing"
        raise IndexingError(what, "name the folder that its save_local has written, as faiss:DIR or faiss:DIR@EMBEDDING")
    encoder = load_encoder(embedding or "minilm")
    try:
        store = LangChainFAISS.load_local(str(path), encoder, allow_dangerous_deserialization=True)
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        what = f"the FAISS store in {str(path)!r} cannot be read ({type(error).__name__}: {error})"
        raise IndexingError(what, "save it again with the LangChain of this environment") from error
    if store.index.d != encoder.dimension:
        what = f"the FAISS store in {str(path)!r} has vectors of length {store.index.d}, {encoder.name!r} gives {encoder.dimension}"
        raise IndexingError(what, f"name the embedding that it was made with: {FAISS}{path}@EMBEDDING, such as @ollama:nomic-embed-text")
    return store
