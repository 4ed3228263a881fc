"""Stores of an index: a folder on this machine, or an address such as milvus:URI/collection or faiss:DIR."""

import hashlib
import pickle
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from ramify.tools import plugins
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, with_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import DocumentUpdater, IndexStore, OpenIndex, Publish, ResolvedSources, SourcedDocument
from ramify.tools.index.folder import (
    check_target,
    cleanup_on_failure,
    index_file,
    index_files,
    missing_index_error,
    remove_unused,
    require_manifest,
    share_index,
    write_lock,
)
from ramify.tools.index.index_writer import BuildOptions, IndexWriter, copy_vectors, open_writer
from ramify.tools.index.manifest import (
    FULL_PRECISION,
    LAYOUT,
    MANIFEST,
    PASSAGES,
    UNFINISHED,
    Manifest,
    commit,
    find_damage,
    read_index_manifest,
    read_unfinished,
)
from ramify.tools.index.near_duplicates import hide_duplicates
from ramify.tools.index.publication import open_snapshot, publish
from ramify.tools.index.unfinished import UnfinishedSnapshot
from ramify.tools.user_input import expand_path

FAISS_SCHEME = "faiss:"
"""Prefix of a folder saved by LangChain's FAISS; loading unpickles, so it requires the user's permission."""
ALLOW_FLAG = "--allow-dangerous-deserialization"
_FAISS_FILES = ("index.faiss", "index.pkl")
STORE_SCHEMES = ("milvus", "faiss")
"""Schemes of addresses, before the colon, besides those of plug-ins; without its plug-in, a milvus address is an error, not a folder."""


def is_store_address(where: str | Path) -> bool:
    """Return whether a location is the address of a store, not a folder."""
    if not isinstance(where, str) or ":" not in where:
        return False
    scheme = where.partition(":")[0]
    return scheme in STORE_SCHEMES or scheme in plugins.names("ramify.stores")


def store_at(where: str | Path) -> IndexStore:
    """Return the store at a location; UsageError for an invalid address or path, and for a FAISS store, which needs permission.

    PluginError if no plug-in for the address is installed.
    """
    if is_faiss(where):
        raise not_allowed_error(where)
    if not is_store_address(where):
        return FolderStore(expand_path(where))
    opened: IndexStore = plugins.load("ramify.stores", str(where).partition(":")[0])(str(where))
    return opened


def check_exists(where: str | Path) -> None:
    """Raise IndexingError if there is no index at a location."""
    store = store_at(where)
    if not isinstance(store, FolderStore):
        store.open()
    elif store.manifest() is None and read_unfinished(store.path) is None:
        raise missing_index_error(store.path)


def is_searchable(folder: Path) -> bool:
    """Return whether a folder has an index, even one whose vectors are still being computed."""
    return (folder / MANIFEST).exists() or read_unfinished(folder) is not None


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
        return read_index_manifest(self.path / MANIFEST)

    def open(self) -> OpenIndex:
        """Open the files as they are now; an index without all its vectors, too, once its passages are stored."""
        unfinished = read_unfinished(self.path)
        return open_snapshot(self.path) if unfinished is None else UnfinishedSnapshot(self.path, unfinished)

    def fingerprint(self) -> bytes:
        """Return the sha256 of the manifest, which includes those of the files; b"" if there is none."""
        for manifest in (self.path / MANIFEST, self.path / UNFINISHED):
            with suppress(OSError):  # missing, or unreadable: the index cannot be opened either, which says why
                return hashlib.sha256(manifest.read_bytes()).digest()
        return b""

    def describe(self, text: str) -> None:
        """Store a description of the index, "" for none."""
        with write_lock(self.path):
            manifest = require_manifest(self.path)
            if manifest.description != text:
                replace(manifest, description=text).write(self.path)

    @contextmanager
    def writing(
        self, options: BuildOptions, sources: ResolvedSources | None = None, documents: Sequence[str] | None = None
    ) -> Iterator[tuple[IndexWriter, Publish]]:
        """Lock the folder and yield a writer and a publish function; a build resumes an interrupted one."""
        if sources is not None:
            check_target(self.path, () if isinstance(sources, BaseLoader) else sources)
            if not index_files(self.path):
                _ = options.encoder.dimension  # an unusable encoder fails here, before anything is read
        with (
            nullcontext() if sources is None else cleanup_on_failure(self.path),
            write_lock(self.path),
            open_writer(self.path, options, resume=sources is not None) as writer,
        ):
            yield writer, partial(_publish, self.path, writer)
            if options.shared:
                share_index(self.path)


def update_documents(folder: Path, encoder: Encoder, documents: Sequence[Document], other: Path | None = None) -> None:
    """Update the metadata of documents in a finished index; only passages whose embedded text changes are encoded.

    other: an index with the same texts, whose vectors are reused.
    """
    manifest = require_manifest(folder)
    with FolderStore(folder).changing(with_prefixes(encoder, manifest.prefixes), manifest.chunking) as (writer, options):
        if other is not None:
            copy_vectors(writer, index_file(other, PASSAGES))
        stored = [(document, writer.stored_document(str(document.id))) for document in documents]
        DocumentUpdater(writer, options).write([SourcedDocument(document, *(row[:3] if row else ())) for document, row in stored])


def _publish(folder: Path, writer: IndexWriter, options: BuildOptions) -> tuple[int, Manifest]:
    """Publish the working copy if it differs from the finished index or repairs it, else discard it."""
    if writer.clean:
        hide_duplicates(writer)
    manifest = read_index_manifest(folder / MANIFEST)
    if manifest is None:
        commit(_draft(writer, options, None).prepare(folder, UNFINISHED))
    encoded = _encode_missing(writer, options)
    draft = _draft(writer, options, manifest)
    as_it_was = manifest and replace(manifest, sha256={}, kind=draft.kind, group_by=[]) == draft and not find_damage(manifest, folder)
    if writer.changed or manifest is None or not as_it_was:
        return encoded, publish(folder, writer, draft, options.progress)
    writer.discard()
    remove_unused(folder, manifest)
    return encoded, manifest


def _draft(writer: IndexWriter, options: BuildOptions, manifest: Manifest | None) -> Manifest:
    """Return the manifest of the writer's content without checksums; manifest: of the finished index, if any."""
    encoder, hidden = options.encoder, writer.hidden_counts()
    passages = writer.count("passages") - sum(hidden.values())
    precision = options.vectors or (manifest.vectors if manifest else FULL_PRECISION)
    made = (encoder.name, writer.dimension() or encoder.dimension, *options.chunking, writer.count("documents"), passages)
    described = manifest.description if manifest else ""
    return Manifest(
        *made, {}, LAYOUT, *encoder.prefixes, hidden, label=list(writer.label), vectors=precision, files=writer.count_files(),
        description=described,
    )  # fmt: skip


def _encode_missing(writer: IndexWriter, options: BuildOptions) -> int:
    """Encode the texts without a vector, committing each batch; return their number. Batches are the same in every run."""
    rows, size = writer.unencoded_rows(), options.batch_size
    batches = (writer.embedded_texts(rows[start : start + size]) for start in range(0, len(rows), size))
    done = 0
    options.progress(done, len(rows), "passages")
    with closing(options.encoding(options.encoder, batches)) as encoded:
        for texts, vectors in encoded:
            writer.store_vectors(texts, vectors)
            done += len(texts)
            options.progress(done, len(rows), "passages")
    return len(rows)


def is_faiss(where: str | Path) -> bool:
    """Return whether a location is the address of a FAISS store of LangChain's."""
    return isinstance(where, str) and where.startswith(FAISS_SCHEME)


def not_allowed_error(where: str | Path) -> UsageError:
    """Return the error for a FAISS store whose loading is not allowed."""
    what = f"{str(where)!r} is a FAISS store of LangChain: its index.pkl is a pickle, and loading a pickle can execute arbitrary code"
    remedy = f"if you trust it, add {ALLOW_FLAG} to ramify ask, chat, search or mcp; in Python pass the loaded store as index"
    return UsageError(what, remedy)


def load_allowed_stores(index: Sequence[str] | None, allowed: bool) -> list[str | VectorStore] | None:
    """Return the locations with FAISS addresses replaced by loaded stores; UsageError if loading is not `allowed`."""
    if index is None:
        return None
    if not allowed and (refused := next(filter(is_faiss, index), None)):
        raise not_allowed_error(refused)
    return [load_faiss(part) if is_faiss(part) else part for part in index]


def load_faiss(where: str) -> VectorStore:
    """Load the store at faiss:DIR (made with `minilm`) or faiss:DIR@EMBEDDING; this unpickles.

    IndexingError if it is missing or unreadable, or was made with another embedding.
    """
    from langchain_community.vectorstores import FAISS as LangChainFAISS

    place = where.removeprefix(FAISS_SCHEME)
    folder, at, embedding = (place, "", "") if expand_path(place).is_dir() else place.rpartition("@")
    path = expand_path(folder if at else place)
    if missing := [name for name in _FAISS_FILES if not (path / name).is_file()]:
        what = f"there is no FAISS store of LangChain in {str(path)!r}: {missing[0]} is missing"
        raise IndexingError(what, "give the folder written by `save_local`, as faiss:DIR or faiss:DIR@EMBEDDING")
    encoder = load_encoder(embedding or "minilm")
    try:
        store = LangChainFAISS.load_local(str(path), encoder, allow_dangerous_deserialization=True)
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        what = f"the FAISS store in {str(path)!r} cannot be read ({type(error).__name__}: {error})"
        raise IndexingError(what, "save it again with the LangChain version of this environment") from error
    if store.index.d != encoder.dimension:
        what = f"the FAISS store in {str(path)!r} has vectors of length {store.index.d}, {encoder.name!r} gives {encoder.dimension}"
        raise IndexingError(what, f"give the embedding it was made with: {FAISS_SCHEME}{path}@EMBEDDING, such as @ollama:nomic-embed-text")
    return store
