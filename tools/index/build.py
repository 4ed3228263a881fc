"""Build an index: new and changed files are read and split, near-duplicates hidden, and the store publishes the result."""

import json
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol, TypeVar

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from ramify.tools.documents.files import File, Ocr, Skipped, existing_path, list_files, printable_name
from ramify.tools.documents.load import EDITION, load_documents, loader_errors_unchanged, nothing_readable_error, read_files
from ramify.tools.documents.readers import document_format, reading_edition
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix, with_prefixes
from ramify.tools.errors import InputError
from ramify.tools.index.chunking import Chunking, passage_label, split_documents, truncate_label
from ramify.tools.index.hybrid_search import Reranker, SearchOptions
from ramify.tools.index.index_writer import BuildOptions, IndexWriter
from ramify.tools.index.manifest import PASSAGES, Manifest
from ramify.tools.index.near_duplicates import hide_duplicates
from ramify.tools.index.passage_store import DocumentEntry, document_digest
from ramify.tools.index.progress import Progress
from ramify.tools.passage import Passage

Sources = Sequence[str | Path] | BaseLoader
"""The sources of an index: files and folders, or a LangChain loader."""
LOADER_ROOT = "loader:"
"""Prefix of the root of a loader's document, followed by its source."""
_UNCHANGED = "SELECT skipped, edition FROM files WHERE root = ? AND source = ? AND size = ? AND changed_ns = ? AND path = ?"
_BATCH_DOCUMENTS = 256
_BATCH_CHARS = 1 << 22
"""Maximum number of documents, and of their characters, written in one transaction."""


class SourcedDocument(NamedTuple):
    """A document with its root path, its file's source and kind (all "" for a document added by a program).

    The root of a loader's document is its source.
    """

    document: Document
    root: str = ""
    file: str = ""
    kind: str = ""


class FileRecord(NamedTuple):
    """The record of a file read: size, modification time, version of the readers, skipped parts, path, and remarks."""

    root: str
    source: str
    size: int
    changed_ns: int
    edition: str
    skipped: list[Skipped]
    path: str
    remarks: list[Skipped]


class Built(NamedTuple):
    """The result of a build: documents by outcome, the size of the index, encoded texts, and skipped files with reasons."""

    added: int
    changed: int
    unchanged: int
    removed: int
    documents: int
    passages: int
    files: int
    encoded: int
    skipped: list[Skipped]
    seconds: float
    hidden: dict[str, int]
    """Passages stored but not searched, by reason: lists, licences, duplicates."""
    remarks: list[Skipped]
    """Remarks on files read in this build, such as a guessed encoding or pages without text."""
    computed_in: str
    """The number type in which vectors were computed, such as bfloat16; empty if unknown."""
    reread: int
    """Unchanged files that were read again, because their reader has changed."""


class DocumentUpdater:
    """Writes new and changed documents to an index writer, and counts them."""

    def __init__(self, writer: IndexWriter, options: BuildOptions, roots: Iterable[str] = ()) -> None:
        self.seen: set[str] = set()
        self.added = self.changed = self.unchanged = self.removed = self.reread = 0
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []
        self.missing_fields = list(writer.label)
        """Label fields that no document read so far has."""
        self.fields: set[str] = set()
        """All fields of the documents read."""
        self._files: set[tuple[str, str]] = set()
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
        """The next free number for ids of documents with the same source."""
        self._writer = writer
        self._options = options
        self._roots = set(roots)

    def update_from_files(self, paths: Sequence[Path]) -> None:
        """Read and write new and changed files."""
        ocr = self._writer.ocr
        records = {file: _file_record(file, ocr) for file in list(list_files(paths, self.skipped))}
        self._read({file: note for file, note in records.items() if not self._is_unchanged(note)})

    def update_from_loader(self, loader: BaseLoader) -> None:
        """Write the new and changed documents of a loader; documents missing from its sources will be removed."""
        loaded = load_documents(loader, self.skipped)
        while group := list(islice(loaded, _BATCH_DOCUMENTS)):
            roots = [f"{LOADER_ROOT}{document.metadata['source']}" for document in group]
            self._roots.update(roots)
            self.write([self._with_unique_id(document, root) for document, root in zip(group, roots, strict=True)])
            self._options.progress(len(self.seen), None, "documents")

    def _is_unchanged(self, note: FileRecord | None) -> bool:
        """Return whether a file is unchanged; if so, its documents count as seen."""
        if note is None:
            return False
        database, place = self._writer.database, (note.root, note.source)
        recorded = database.execute(_UNCHANGED, [note.root, note.source, note.size, note.changed_ns, note.path]).fetchone()
        documents = database.execute("SELECT id FROM documents WHERE root = ? AND file = ?", place).fetchall()
        if recorded is None or not documents:
            return False
        if recorded[1] != note.edition:
            self.reread += recorded[1].removesuffix("+ocr") != note.edition.removesuffix("+ocr")
            return False
        self.seen.update(identity for (identity,) in documents)
        self._files.add(place)
        self.unchanged += len(documents)
        self.skipped += [(name, reason) for name, reason in json.loads(recorded[0])]
        return True

    def _read(self, files: Mapping[File, FileRecord | None]) -> None:
        """Read files, write their documents in batches, and record completed files.

        A file without documents is read again by the next build, because a missing dependency may be installed by then.
        """
        progress = self._options.progress
        group: list[SourcedDocument] = []
        notes: list[FileRecord] = []
        characters = 0
        for number, read in enumerate(read_files(files, clean=self._writer.clean, ocr=self._writer.ocr), start=1):
            before = len(self.seen)
            for document in read.documents:
                file = read.file
                group.append(self._with_unique_id(document, str(file.root.resolve()), file.source, document_format(document, file)))
                characters += len(document.page_content)
                if len(group) == _BATCH_DOCUMENTS or characters >= _BATCH_CHARS:
                    self._commit(group, notes)
                    characters = 0
                    progress(len(self.seen), None, "documents")
            self.skipped += read.skipped
            self.remarks += read.remarks
            note = files[read.file]
            if note and len(self.seen) > before:
                notes.append(note._replace(skipped=read.skipped, remarks=read.remarks))
            progress(number, len(files), "files")
        self._commit(group, notes)

    def _commit(self, group: list[SourcedDocument], notes: list[FileRecord]) -> None:
        """Write documents, and record the files that are completed by them."""
        self.write(group)
        rows = [note._asdict() | {"skipped": json.dumps(note.skipped), "remarks": json.dumps(note.remarks)} for note in notes]
        sql = "INSERT OR REPLACE INTO files VALUES (:root, :source, :size, :changed_ns, :edition, :skipped, :path, :remarks)"
        self._execute(sql, rows)
        self._files.update((note.root, note.source) for note in notes)
        group.clear()
        notes.clear()

    def remove_missing(self) -> None:
        """Remove documents and files that are no longer under the paths."""
        missing = self._writer.missing_ids(self._roots, self.seen)
        self._writer.remove(missing)
        sql = "SELECT root, source FROM files WHERE root IN (SELECT value FROM json_each(?))"
        recorded = self._writer.database.execute(sql, [json.dumps(list(self._roots))]).fetchall()
        deleted = [key for key in recorded if key not in self._files]
        self._execute("DELETE FROM files WHERE root = ? AND source = ?", deleted)
        self.removed = len(missing)

    def _execute(self, sql: str, rows: Sequence[tuple[str, str] | dict[str, Any]]) -> None:
        """Execute a statement for each row, if there are any."""
        if rows:
            with self._writer.writing() as database:
                self._writer.changed = True
                database.executemany(sql, rows)

    def write(self, sources: Sequence[SourcedDocument]) -> None:
        """Write the documents that are new or changed, under their ids."""
        new = [(source, document_digest(source.document)) for source in sources if self._is_new(source)]
        documents = [source.document for source, _ in new]
        self.missing_fields = [field for field in self.missing_fields if not any(field in document.metadata for document in documents)]
        self.fields.update(field for document in documents for field in document.metadata)
        encoder = self._options.encoder
        labels = [truncate_label(passage_label(document.metadata, self._writer.label), encoder) for document in documents]
        passages = split_documents(documents, encoder, self._options.chunking, labels)
        self._writer.write(
            DocumentEntry(str(source.document.id), source.root, source.file, digest, above, parts, source.kind)
            for (source, digest), above, parts in zip(new, labels, passages, strict=True)
        )

    def built(self, manifest: Manifest, encoded: int, began: float) -> Built:
        """Return the summary of a build that began at `began` (`time.perf_counter`)."""
        return Built(
            self.added, self.changed, self.unchanged, self.removed, manifest.documents, manifest.passages, manifest.files, encoded,
            self.skipped, time.perf_counter() - began, manifest.hidden, self.remarks, self._options.encoder.computed_in, self.reread,
        )  # fmt: skip

    def _is_new(self, source: SourcedDocument) -> bool:
        identity = str(source.document.id)
        stored = self._writer.stored_document(identity)
        if stored and stored.digest == document_digest(source.document):
            self.unchanged += 1
            if (stored.root, stored.file) != (source.root, source.file):
                self._writer.reassign(identity, source.root, source.file)
            return False
        self.added += stored is None
        self.changed += stored is not None
        return True

    def _with_unique_id(self, document: Document, root: str, file: str = "", kind: str = "") -> SourcedDocument:
        """Return a document with the first candidate id that no other document of this build or of another root has."""
        for identity in self._candidate_ids(document):
            stored = None if identity in self.seen else self._writer.stored_document(identity)
            if identity not in self.seen and (stored is None or stored.root in self._roots or stored.digest == document_digest(document)):
                break
        self.seen.add(identity)
        return SourcedDocument(document.model_copy(update={"id": identity}), root, file, kind)

    def _candidate_ids(self, document: Document) -> Iterator[str]:
        """Yield candidate ids of a document: its id, its source, and its source with a number."""
        yield str(document.id)
        source = str(document.metadata["source"])
        yield source
        for number in self._numbers[source]:
            yield f"{source}@{number}"


def _file_record(file: File, ocr: Ocr) -> FileRecord | None:
    """Return the record of a file, None where it cannot be accessed; call this before reading it.

    A PDF is read again when pictures on its pages can be read that could not be before.
    """
    edition = f"{EDITION}{reading_edition(file.path, ocr)}"
    try:
        status = file.path.stat()
    except OSError:
        return None
    return FileRecord(
        str(file.root.resolve()), file.source, status.st_size, status.st_mtime_ns, edition, [], printable_name(file.path.absolute()), []
    )


ResolvedSources = Mapping[Path, Path] | BaseLoader
"""Paths by their absolute form, or a loader."""


def resolve_sources(paths: Sources) -> ResolvedSources:
    """Return paths by their absolute form, without duplicates, or the loader unchanged; InputError if a path does not exist."""
    if isinstance(paths, BaseLoader):
        return paths
    return {existing_path(path).resolve(): existing_path(path) for path in paths}


def read_documents(sources: ResolvedSources, writer: IndexWriter, options: BuildOptions) -> DocumentUpdater:
    """Write the documents of paths or a loader, and remove deleted ones; InputError if nothing can be read."""
    if isinstance(sources, BaseLoader):
        updater = DocumentUpdater(writer, options)
        updater.update_from_loader(sources)
        if not updater.seen:
            raise InputError(f"the loader {type(sources).__name__!r} gave no document with text", "check what its `load()` returns")
    else:
        paths = list(sources.values())
        updater = DocumentUpdater(writer, options, map(str, sources))
        updater.update_from_files(paths)
        if not updater.seen:
            raise nothing_readable_error(paths, updater.skipped)
    if updater.missing_fields and updater.fields:
        what = f"no document has the metadata {', '.join(map(repr, updater.missing_fields))}"
        raise InputError(what, f"use existing fields for labels: {', '.join(sorted(updater.fields))}")
    updater.remove_missing()
    if writer.clean:
        hide_duplicates(writer)
    writer.record_skipped(updater.skipped)
    return updater


T = TypeVar("T")


def estimate_passages(
    paths: Sequence[Path], embedding: str, chunking: Chunking, clean: bool, progress: Progress, read: Callable[[Path], T]
) -> tuple[T, Encoder]:
    """Return `read` of the passages in a temporary index, made without OCR, and the encoder; InputError if nothing can be read."""
    encoder, sources = load_encoder(embedding), resolve_sources(paths)
    with TemporaryDirectory(prefix="ramify-estimate-") as folder:
        path = Path(folder) / PASSAGES
        with IndexWriter(path) as writer:
            writer.record_facts({"clean": "yes" if clean else "no", "ocr": "never"})
            read_documents(sources, writer, BuildOptions(encoder, chunking, progress=progress))
        return read(path), encoder


class OpenIndex(Protocol):
    """An opened index: a snapshot of its content at that time."""

    @property
    def manifest(self) -> Manifest:
        """Return its manifest."""

    def __len__(self) -> int:
        """Return the number of searchable passages."""

    def search(
        self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None
    ) -> list[list[Passage]]:
        """Return the passages for each query; vectors: of the queries, shape (queries, dimension); reranker: reorders the results."""

    def ids(self) -> list[str]:
        """Return the sorted ids of the searchable passages."""

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order of `ids`."""


Publish = Callable[[BuildOptions], tuple[int, Manifest]]
"""Encodes texts without a vector and replaces the published index; returns the number of encoded texts and the manifest."""


class IndexStore(ABC):
    """The storage of an index: builds, opens and changes it."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Return the location as the command line takes it."""

    @abstractmethod
    def manifest(self) -> Manifest | None:
        """Return the manifest, None if there is no index."""

    @abstractmethod
    def open(self) -> OpenIndex:
        """Open the index; IndexingError if it is missing or incomplete."""

    @abstractmethod
    def fingerprint(self) -> bytes:
        """Return a digest that changes with the index."""

    @abstractmethod
    def describe(self, text: str) -> None:
        """Store a description of the index, "" for none; IndexingError if there is no index."""

    @abstractmethod
    def writing(
        self, options: BuildOptions, sources: ResolvedSources | None = None, documents: Sequence[str] | None = None
    ) -> AbstractContextManager[tuple[IndexWriter, Publish]]:
        """Lock the index and yield a writer and a publish function; IndexingError if it was made with other options.

        sources: of a build, None for a change by a program; documents: ids of the only documents that will change.
        """

    def build(self, paths: Sources, options: BuildOptions) -> Built:
        """Update the index from the files under the paths, or from a loader's documents; errors of the loader are raised unchanged."""
        began = time.perf_counter()
        sources = resolve_sources(paths)
        with loader_errors_unchanged(), self.writing(options, sources) as (writer, publish):
            options = options._replace(encoder=with_prefixes(options.encoder, writer.prefixes))
            updater = read_documents(sources, writer, options)
            encoded, manifest = publish(options)
        return updater.built(manifest, encoded, began)

    @contextmanager
    def changing(
        self, encoder: Encoder, chunking: Chunking, documents: Sequence[str] | None = None
    ) -> Iterator[tuple[IndexWriter, BuildOptions]]:
        """Yield a writer and the options to write with; then publish."""
        options = BuildOptions(encoder, chunking)
        with self.writing(options, documents=documents) as (writer, publish):
            options = options._replace(encoder=with_prefixes(encoder, writer.prefixes))
            yield writer, options
            publish(options)

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""
        with self.changing(encoder, chunking, [str(document.id) for document in documents]) as (writer, options):
            DocumentUpdater(writer, options).write([SourcedDocument(document) for document in documents])

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""
        with self.changing(encoder, chunking) as (writer, _):
            writer.remove(ids)
