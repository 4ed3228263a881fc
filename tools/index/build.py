"""Build an index: files that are new or changed are read and split into passages, near-duplicates hidden; then the store publishes."""

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

from ramify.tools.documents.files import File, Skipped, existing_path, list_files, printable_name
from ramify.tools.documents.load import EDITION, load_documents, nothing_readable_error, read_files
from ramify.tools.documents.readers import format_name
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix, with_prefixes
from ramify.tools.errors import InputError
from ramify.tools.index.chunking import Chunking, clip, label, split
from ramify.tools.index.hybrid_search import Hit, Reranker, SearchOptions
from ramify.tools.index.index_writer import BuildOptions, IndexWriter
from ramify.tools.index.manifest import PASSAGES, Manifest
from ramify.tools.index.near_duplicates import hide_duplicates
from ramify.tools.index.passage_store import DocumentEntry, document_digest
from ramify.tools.index.progress import Progress

Sources = Sequence[str | Path] | BaseLoader
"""What an index is built of: files and folders, or the documents of a LangChain loader."""
LOADED = "loader:"
"""Before a loader's source, where documents of files have the path given."""
_UNCHANGED = """SELECT skipped FROM files WHERE root = :root AND source = :source
AND size = :size AND changed_ns = :changed_ns AND edition = :edition AND path = :path"""
_GROUP = 256
_GROUP_CHARACTERS = 1 << 22
"""Documents, and characters of them, that are split and written in one transaction."""


class SourcedDocument(NamedTuple):
    """A document, the path given under which it was found, its file's source and kind (all "" for one handed over by a program).

    One of a LangChain loader was found under its source.
    """

    document: Document
    root: str = ""
    file: str = ""
    kind: str = ""


class FileRecord(NamedTuple):
    """A file that was read: its size and time then, how files were read, what was left out of it, and where it lay."""

    root: str
    source: str
    size: int
    changed_ns: int
    edition: str
    skipped: list[Skipped]
    path: str


class Built(NamedTuple):
    """What a build did: documents by their fate, what the index now holds, how many texts were encoded, what was left out and why."""

    added: int
    changed: int
    unchanged: int
    removed: int
    documents: int
    passages: int
    encoded: int
    skipped: list[Skipped]
    seconds: float
    hidden: dict[str, int]
    """Passages kept and not searched, by the reason: what only lists, licenses or repeats."""
    remarks: list[Skipped]
    """What is to be said of files that were read now: an encoding that was guessed, pages without text."""
    computed_in: str
    """The numbers in which vectors were computed, such as bfloat16; empty where that is not known."""


class Intake:
    """Write new and changed documents to an index writer, and count them."""

    def __init__(self, writer: IndexWriter, options: BuildOptions, roots: Iterable[str] = ()) -> None:
        self.seen: set[str] = set()
        self.added = self.changed = self.unchanged = self.gone = 0
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []
        self.absent = list(writer.label)
        """Fields that passages are to be labelled with, and that no document read so far has."""
        self.fields: set[str] = set()
        """All fields of the documents read."""
        self._files: set[tuple[str, str]] = set()
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
        """Of each source the numbers that no document of it has been called by."""
        self._writer = writer
        self._options = options
        self._roots = set(roots)

    def take(self, paths: Sequence[Path]) -> None:
        """Read and write new and changed files."""
        found = {file: _file_record(file) for file in list(list_files(paths, self.skipped))}
        self._read({file: note for file, note in found.items() if not self._known_again(note)})

    def load(self, loader: BaseLoader) -> None:
        """Write the documents of a loader, those that are new or changed; documents that its sources no longer have count as missing."""
        found = load_documents(loader, self.skipped)
        while group := list(islice(found, _GROUP)):
            roots = [f"{LOADED}{document.metadata['source']}" for document in group]
            self._roots.update(roots)
            self.write([self._claimed(document, root) for document, root in zip(group, roots, strict=True)])
            self._options.progress(len(self.seen), None, "documents")

    def _known_again(self, note: FileRecord | None) -> bool:
        """Return whether a file is unchanged; its documents then count as seen."""
        if note is None:
            return False
        database, place = self._writer.database, (note.root, note.source)
        held = database.execute(_UNCHANGED, note._asdict()).fetchone()
        documents = database.execute("SELECT id FROM documents WHERE root = ? AND file = ?", place).fetchall()
        if held is None or not documents:
            return False
        self.seen.update(identity for (identity,) in documents)
        self._files.add(place)
        self.unchanged += len(documents)
        self.skipped += [(name, reason) for name, reason in json.loads(held[0])]
        return True

    def _read(self, files: Mapping[File, FileRecord | None]) -> None:
        """Write a group of documents at a time, and note the files whose documents are all written.

        One that gave none is read again next time: what it wanted may be there by then.
        """
        progress = self._options.progress
        group: list[SourcedDocument] = []
        notes: list[FileRecord] = []
        characters = 0
        for number, read in enumerate(read_files(files, clean=self._writer.clean), start=1):
            before = len(self.seen)
            for document in read.documents:
                file = read.file
                group.append(self._claimed(document, str(file.root.resolve()), file.source, format_name(file.path)))
                characters += len(document.page_content)
                if len(group) == _GROUP or characters >= _GROUP_CHARACTERS:
                    self._commit(group, notes)
                    characters = 0
                    progress(len(self.seen), None, "documents")
            self.skipped += read.skipped
            self.remarks += read.remarks
            note = files[read.file]
            if note and len(self.seen) > before:
                notes.append(note._replace(skipped=read.skipped))
            progress(number, len(files), "files")
        self._commit(group, notes)

    def _commit(self, group: list[SourcedDocument], notes: list[FileRecord]) -> None:
        """Write documents, and note the files whose documents are then all written."""
        self.write(group)
        rows = [note._asdict() | {"skipped": json.dumps(note.skipped)} for note in notes]
        sql = "INSERT OR REPLACE INTO files VALUES (:root, :source, :size, :changed_ns, :edition, :skipped, :path)"
        self._execute(sql, rows)
        self._files.update((note.root, note.source) for note in notes)
        group.clear()
        notes.clear()

    def remove_missing(self) -> None:
        """Remove documents and files that are no longer under the paths."""
        absent = self._writer.absent(self._roots, self.seen)
        self._writer.remove(absent)
        sql = "SELECT root, source FROM files WHERE root IN (SELECT value FROM json_each(?))"
        held = self._writer.database.execute(sql, [json.dumps(list(self._roots))]).fetchall()
        gone = [key for key in held if key not in self._files]
        self._execute("DELETE FROM files WHERE root = ? AND source = ?", gone)
        self.gone = len(absent)

    def _execute(self, sql: str, rows: Sequence[tuple[str, str] | dict[str, Any]]) -> None:
        """Write rows, where there are any."""
        if rows:
            with self._writer.writing() as database:
                self._writer.changed = True
                database.executemany(sql, rows)

    def write(self, found: Sequence[SourcedDocument]) -> None:
        """Write the documents that are not held as they are, under the ids they have."""
        new = [(one, document_digest(one.document)) for one in found if self._is_new(one)]
        documents = [one.document for one, _ in new]
        fields = self._writer.label
        self.absent = [field for field in self.absent if not any(field in document.metadata for document in documents)]
        self.fields.update(field for document in documents for field in document.metadata)
        encoder = self._options.encoder
        labels = [clip(label(document.metadata, fields), encoder) for document in documents]
        passages = split(documents, encoder, self._options.chunking, labels)
        self._writer.write(
            DocumentEntry(str(one.document.id), one.root, one.file, digest, above, parts, one.kind)
            for (one, digest), above, parts in zip(new, labels, passages, strict=True)
        )

    def built(self, manifest: Manifest, encoded: int, began: float) -> Built:
        """Return the summary of a build that began at `began` (`time.perf_counter`)."""
        fates = (self.added, self.changed, self.unchanged, self.gone)
        held, encoder = (manifest.documents, manifest.passages), self._options.encoder
        seconds = time.perf_counter() - began
        return Built(*fates, *held, encoded, self.skipped, seconds, manifest.hidden, self.remarks, encoder.computed_in)

    def _is_new(self, found: SourcedDocument) -> bool:
        identity = str(found.document.id)
        held = self._writer.stored(identity)
        if held and held.digest == document_digest(found.document):
            self.unchanged += 1
            if (held.root, held.file) != (found.root, found.file):
                self._writer.adopt(identity, found.root, found.file)
            return False
        self.added += held is None
        self.changed += held is not None
        return True

    def _claimed(self, document: Document, root: str, file: str = "", kind: str = "") -> SourcedDocument:
        """Return a document with the first id that no other document of this build, or of a path not read now, has."""
        for identity in self._names(document):
            held = None if identity in self.seen else self._writer.stored(identity)
            if identity not in self.seen and (held is None or held.root in self._roots or held.digest == document_digest(document)):
                break
        self.seen.add(identity)
        return SourcedDocument(document.model_copy(update={"id": identity}), root, file, kind)

    def _names(self, document: Document) -> Iterator[str]:
        """Yield what a document may be called: by its id, its source, or its source with a number."""
        yield str(document.id)
        source = str(document.metadata["source"])
        yield source
        for number in self._numbers[source]:
            yield f"{source}@{number}"


def _file_record(file: File) -> FileRecord | None:
    """Return the record of a file, None where it cannot be accessed; call this before reading it."""
    try:
        found = file.path.stat()
    except OSError:
        return None
    return FileRecord(
        str(file.root.resolve()), file.source, found.st_size, found.st_mtime_ns, EDITION, [], printable_name(file.path.absolute())
    )


Given = Mapping[Path, Path] | BaseLoader
"""Paths by their absolute form, or a loader."""


def given_paths(paths: Sources) -> Given:
    """Return each path by its absolute form, without repetitions; InputError where one does not exist. A loader is returned as it is."""
    if isinstance(paths, BaseLoader):
        return paths
    return {existing_path(path).resolve(): existing_path(path) for path in paths}


def read_documents(given: Given, writer: IndexWriter, options: BuildOptions) -> Intake:
    """Write the documents under the paths, or of a loader, and remove those that are gone; InputError where nothing can be read."""
    if isinstance(given, BaseLoader):
        intake = Intake(writer, options)
        intake.load(given)
        if not intake.seen:
            raise InputError(f"the loader {type(given).__name__!r} gave no document with text", "look at what its `load()` returns")
    else:
        paths = list(given.values())
        intake = Intake(writer, options, map(str, given))
        intake.take(paths)
        if not intake.seen:
            raise nothing_readable_error(paths, intake.skipped)
    if intake.absent and intake.fields:
        what = f"no document has the metadata {', '.join(map(repr, intake.absent))}"
        raise InputError(what, f"label passages with what there is: {', '.join(sorted(intake.fields))}")
    intake.remove_missing()
    if writer.clean:
        hide_duplicates(writer)
    writer.note_left_out(intake.skipped)
    return intake


T = TypeVar("T")


def estimate_passages(
    paths: Sequence[Path], embedding: str, chunking: Chunking, clean: bool, progress: Progress, read: Callable[[Path], T]
) -> tuple[T, Encoder]:
    """Read the passages, and give the encoder that would encode them; InputError where nothing can be read."""
    encoder, given = load_encoder(embedding), given_paths(paths)
    with TemporaryDirectory(prefix="ramify-estimate-") as folder:
        path = Path(folder) / PASSAGES
        with IndexWriter(path) as writer:
            writer.remember({"clean": "yes" if clean else "no"})
            read_documents(given, writer, BuildOptions(encoder, chunking, progress=progress))
        return read(path), encoder


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


Publish = Callable[[BuildOptions], tuple[int, Manifest]]
"""Encodes what has no vector, and puts what was written in the place of what was there; gives how many texts were encoded."""


class IndexStore(ABC):
    """Where an index is stored: built, opened and changed."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Return the location as the command line takes it."""

    @abstractmethod
    def manifest(self) -> Manifest | None:
        """Return the manifest, None where there is no index."""

    @abstractmethod
    def open(self) -> OpenIndex:
        """Open the index; IndexingError where there is none, or it is incomplete."""

    @abstractmethod
    def fingerprint(self) -> bytes:
        """Return a digest that changes with the index."""

    @abstractmethod
    def describe(self, text: str) -> None:
        """Remember what the index is about; empty for nothing. IndexingError where there is no index."""

    @abstractmethod
    def writing(
        self, options: BuildOptions, given: Given | None = None, documents: Sequence[str] | None = None
    ) -> AbstractContextManager[tuple[IndexWriter, Publish]]:
        """Lock the index and yield a writer of it, and what publishes the changes; IndexingError where it is made with other options.

        given: what it is built of, where it is; documents: those that alone are changed.
        """

    def build(self, paths: Sources, options: BuildOptions) -> Built:
        """Update the index from the files under the paths, or from a loader's documents."""
        began = time.perf_counter()
        given = given_paths(paths)
        with self.writing(options, given) as (writer, publish):
            options = options._replace(encoder=with_prefixes(options.encoder, writer.prefixes))
            intake = read_documents(given, writer, options)
            encoded, manifest = publish(options)
        return intake.built(manifest, encoded, began)

    @contextmanager
    def changing(
        self, encoder: Encoder, chunking: Chunking, documents: Sequence[str] | None = None
    ) -> Iterator[tuple[IndexWriter, BuildOptions]]:
        """Yield a writer, and how it is to be written to; then publish."""
        options = BuildOptions(encoder, chunking)
        with self.writing(options, documents=documents) as (writer, publish):
            options = options._replace(encoder=with_prefixes(encoder, writer.prefixes))
            yield writer, options
            publish(options)

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""
        with self.changing(encoder, chunking, [str(document.id) for document in documents]) as (writer, options):
            Intake(writer, options).write([SourcedDocument(document) for document in documents])

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""
        with self.changing(encoder, chunking) as (writer, _):
            writer.remove(ids)
