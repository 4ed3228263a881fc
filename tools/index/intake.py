"""Take files in: read what is new or changed, know the rest again, and write documents to the draft."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import File, Skipped, printable_name
from ramify.tools.documents.load import EDITION, read_files
from ramify.tools.documents.readers import kind_of
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.index.chunking import Chunking, clip, label, split
from ramify.tools.index.ids import document_digest
from ramify.tools.index.progress import Progress
from ramify.tools.index.schema import Entry
from ramify.tools.index.working_copy import Draft

_GROUP = 256
_GROUP_CHARACTERS = 1 << 22
"""Documents, and characters of them, that are split and written in one transaction."""


class Found(NamedTuple):
    """A document, the path given under which it was found, its file's source and kind (all "" for one handed over by a program)."""

    document: Document
    root: str = ""
    file: str = ""
    kind: str = ""


class Filed(NamedTuple):
    """A file that was read: its size and time then, how files were read, what was left out of it, and where it lay."""

    root: str
    source: str
    size: int
    changed_ns: int
    edition: str
    skipped: list[Skipped]
    path: str


class Intake:
    """Write what is new or changed to a draft, and count."""

    def __init__(self, draft: Draft, encoder: Encoder, chunking: Chunking, roots: Iterable[str]) -> None:
        self.seen: set[str] = set()
        self.added = self.changed = self.unchanged = 0
        self.remarks: list[Skipped] = []
        self.absent = list(draft.label)
        """Fields that passages are to be labelled with, and that no document read so far has."""
        self.fields: set[str] = set()
        """All fields of the documents read."""
        self._files: set[tuple[str, str]] = set()
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
        """Of each source the numbers that no document of it has been called by."""
        self._draft = draft
        self._encoder = encoder
        self._chunking = chunking
        self._roots = set(roots)

    def take(self, files: Iterable[File], skipped: list[Skipped], progress: Progress) -> None:
        """Read the files that are not as they were, and write what is in them; `skipped` grows by what is left out."""
        found = {file: _filed(file) for file in list(files)}
        fresh = {file: note for file, note in found.items() if not self._known_again(note, skipped)}
        self._read(fresh, skipped, progress)

    def _known_again(self, note: Filed | None, skipped: list[Skipped]) -> bool:
        """Tell whether a file is as it was when it was read; then its documents are seen."""
        held = note and _remembered(self._draft, note)
        if held is None:
            return False
        sql = "SELECT id FROM documents WHERE root = ? AND file = ?"
        documents = [identity for (identity,) in self._draft.database.execute(sql, [held.root, held.source])]
        if not documents:
            return False
        self.seen.update(documents)
        self._files.add((held.root, held.source))
        self.unchanged += len(documents)
        skipped += held.skipped
        return True

    def _read(self, files: Mapping[File, Filed | None], skipped: list[Skipped], progress: Progress) -> None:
        """Write a group of documents at a time, and note the files whose documents are all written.

        One that gave none is read again next time: what it wanted may be there by then.
        """
        group: list[Found] = []
        notes: list[Filed] = []
        characters = 0
        for number, read in enumerate(read_files(files, clean=self._draft.clean), start=1):
            before = len(self.seen)
            for document in read.documents:
                group.append(self._claimed(document, read.file))
                characters += len(document.page_content)
                if len(group) == _GROUP or characters >= _GROUP_CHARACTERS:
                    self._commit(group, notes)
                    characters = 0
                    progress(len(self.seen), None, "documents")
            skipped += read.skipped
            self.remarks += read.remarks
            note = files[read.file]
            if note and len(self.seen) > before:
                notes.append(note._replace(skipped=read.skipped))
            progress(number, len(files), "files")
        self._commit(group, notes)

    def _commit(self, group: list[Found], notes: list[Filed]) -> None:
        """Write documents, and note the files whose documents are then all written."""
        self.write(group)
        rows = [note._asdict() | {"skipped": json.dumps(note.skipped)} for note in notes]
        with self._draft.database as database:
            self._draft.changed = self._draft.changed or bool(rows)
            sql = "INSERT OR REPLACE INTO files VALUES (:root, :source, :size, :changed_ns, :edition, :skipped, :path)"
            database.executemany(sql, rows)
        self._files.update((note.root, note.source) for note in notes)
        group.clear()
        notes.clear()

    def let_go(self) -> int:
        """Remove what was found under the paths before and is not there now, and forget those files; return how many documents."""
        absent = self._draft.absent(self._roots, self.seen)
        self._draft.remove(absent)
        sql = "SELECT root, source FROM files WHERE root IN (SELECT value FROM json_each(?))"
        held = self._draft.database.execute(sql, [json.dumps(list(self._roots))]).fetchall()
        gone = [key for key in held if key not in self._files]
        with self._draft.database as database:
            self._draft.changed = self._draft.changed or bool(gone)
            database.executemany("DELETE FROM files WHERE root = ? AND source = ?", gone)
        return len(absent)

    def write(self, found: Sequence[Found]) -> None:
        """Write the documents that are not held as they are, under the ids they have."""
        new = [(one, document_digest(one.document)) for one in found if self._is_new(one)]
        documents = [one.document for one, _ in new]
        fields = self._draft.label
        self.absent = [field for field in self.absent if not any(field in document.metadata for document in documents)]
        self.fields.update(field for document in documents for field in document.metadata)
        labels = [clip(label(document.metadata, fields), self._encoder) for document in documents]
        passages = split(documents, self._encoder, self._chunking, labels)
        self._draft.write(
            Entry(str(one.document.id), one.root, one.file, digest, above, parts, one.kind)
            for (one, digest), above, parts in zip(new, labels, passages, strict=True)
        )

    def _is_new(self, found: Found) -> bool:
        identity = str(found.document.id)
        held = self._draft.held(identity)
        if held and held.digest == document_digest(found.document):
            self.unchanged += 1
            if (held.root, held.file) != (found.root, found.file):
                self._draft.adopt(identity, found.root, found.file)
            return False
        self.added += held is None
        self.changed += held is not None
        return True

    def _claimed(self, document: Document, file: File) -> Found:
        """Give a document the first id that no other document of this build, or of a path not read now, has."""
        for identity in self._names(document):
            held = None if identity in self.seen else self._draft.held(identity)
            if identity not in self.seen and (held is None or held.root in self._roots or held.digest == document_digest(document)):
                break
        self.seen.add(identity)
        return Found(document.model_copy(update={"id": identity}), str(file.root.resolve()), file.source, kind_of(file.path))

    def _names(self, document: Document) -> Iterator[str]:
        """Yield what a document may be called: by its id, its source, or its source with a number."""
        yield str(document.id)
        source = str(document.metadata["source"])
        yield source
        for number in self._numbers[source]:
            yield f"{source}@{number}"


def _filed(file: File) -> Filed | None:
    """Say by what a file will be known again, None where it cannot be looked at; to be taken before it is read."""
    try:
        found = file.path.stat()
    except OSError:
        return None
    return Filed(str(file.root.resolve()), file.source, found.st_size, found.st_mtime_ns, EDITION, [], printable_name(file.path.absolute()))


def _remembered(draft: Draft, file: Filed) -> Filed | None:
    """Return what is remembered of a file that is as it was, None where it is to be read."""
    sql = "SELECT size, changed_ns, edition, skipped, path FROM files WHERE root = ? AND source = ?"
    for size, changed_ns, edition, skipped, path in draft.database.execute(sql, [file.root, file.source]):
        if Filed(file.root, file.source, size, changed_ns, edition, [], path) == file:
            return file._replace(skipped=[(name, reason) for name, reason in json.loads(skipped)])
    return None
