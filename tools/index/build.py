"""Build an index: read and split, encode what has no vector yet, link, publish."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import Skipped, existing, files_under
from ramify.tools.documents.load import nothing_readable
from ramify.tools.documents.reading import read_files
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.prefixed import advice, with_prefixes
from ramify.tools.index.draft import Draft, Entry, document_digest
from ramify.tools.index.manifest import MANIFEST, PASSAGES, Manifest, read_manifest
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.split import Chunking, clip, label, split
from ramify.tools.index.target import check_target, leaving_nothing
from ramify.tools.index.workshop import open_draft, publish, writing

BATCH_SIZE = 256
"""Texts encoded between two commits: the most that an interrupted build encodes again."""

_GROUP = 256
"""Documents split and written in one transaction."""


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
    advice: str | None
    """What would make a better index."""


class Found(NamedTuple):
    """A document and the path given by the user under which it was found ("" for one handed over by a program)."""

    document: Document
    root: str


def build_index(
    paths: Sequence[str | Path], folder: Path, encoder: Encoder, chunking: Chunking, batch_size: int, progress: Progress
) -> Built:
    """Bring an index up to date with what lies under the paths; see `Index.build`."""
    began = time.perf_counter()
    given = {existing(path).resolve(): existing(path) for path in paths}
    skipped: list[Skipped] = []
    roots = {str(path) for path in given}
    check_target(folder, given)
    if not (folder / PASSAGES).exists():
        _ = encoder.dimension  # asks for a vector: an error now, and not when everything has been read
    with leaving_nothing(folder), writing(folder), open_draft(folder, encoder, chunking) as draft:
        encoder = with_prefixes(encoder, draft.prefixes)
        reading = Reading(draft, encoder, chunking, roots)
        reading.read(found_under(list(given.values()), skipped), progress)
        absent = draft.absent(roots, reading.seen)
        draft.remove(absent)
        encoded = encode_missing(draft, encoder, batch_size, progress)
        manifest = publish_changes(folder, draft, encoder, chunking, progress)
    fates = (reading.added, reading.changed, reading.unchanged, len(absent))
    return Built(*fates, manifest.documents, manifest.passages, encoded, skipped, time.perf_counter() - began, advice(encoder))


def found_under(paths: Sequence[Path], skipped: list[Skipped]) -> Iterator[Found]:
    """Read all documents under the paths; raises `InputError` where there are none."""
    found = False
    for read in read_files(files_under(paths, skipped)):
        for document in read.documents:
            found = True
            yield Found(document, str(read.file.root.resolve()))
        skipped += read.skipped
    if not found:
        raise nothing_readable(paths, skipped)


class Reading:
    """Write what is new or changed among documents to a draft, and count."""

    def __init__(self, draft: Draft, encoder: Encoder, chunking: Chunking, roots: Iterable[str]) -> None:
        self.seen: set[str] = set()
        self.added = self.changed = self.unchanged = 0
        self._draft = draft
        self._encoder = encoder
        self._chunking = chunking
        self._roots = set(roots)

    def read(self, found: Iterator[Found], progress: Progress) -> None:
        """Read everything, a group of documents at a time."""
        while group := list(islice(found, _GROUP)):
            self.write([self._claimed(document, root) for document, root in group])
            progress(len(self.seen), None, "documents")

    def write(self, found: Sequence[Found]) -> None:
        """Write the documents that are not held as they are, under the ids they have."""
        new = [(one, document_digest(one.document)) for one in found if self._is_new(one)]
        documents = [one.document for one, _ in new]
        passages = split(documents, self._encoder, self._chunking)
        labels = [clip(label(document.metadata), self._encoder) for document in documents]
        self._draft.write(
            Entry(str(one.document.id), one.root, digest, above, parts)
            for (one, digest), above, parts in zip(new, labels, passages, strict=True)
        )

    def _is_new(self, found: Found) -> bool:
        identity = str(found.document.id)
        held = self._draft.held(identity)
        if held and held.digest == document_digest(found.document):
            self.unchanged += 1
            if held.root != found.root:
                self._draft.adopt(identity, found.root)
            return False
        self.added += held is None
        self.changed += held is not None
        return True

    def _claimed(self, document: Document, root: str) -> Found:
        """Give a document the first id that no other document of this build, or of a path not read now, has."""
        source = str(document.metadata["source"])
        for identity in chain([str(document.id), source], (f"{source}@{number}" for number in count(2))):
            held = None if identity in self.seen else self._draft.held(identity)
            if identity not in self.seen and (held is None or held.root in self._roots or held.digest == document_digest(document)):
                break
        self.seen.add(identity)
        return Found(document.model_copy(update={"id": identity}), root)


def encode_missing(draft: Draft, encoder: Encoder, batch_size: int, progress: Progress) -> int:
    """Encode the texts that have no vector, committing batch by batch; the same batches in any later run."""
    rows = draft.unencoded()
    for start in range(0, len(rows), batch_size):
        texts = draft.embedded_texts(rows[start : start + batch_size])
        draft.keep_vectors(texts, encoder.encode_documents(texts))
        progress(start + len(texts), len(rows), "passages")
    return len(rows)


def publish_changes(folder: Path, draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress) -> Manifest:
    """Publish a draft that differs from the finished index, or that is to repair it; discard one that does not."""
    manifest = read_manifest(folder / MANIFEST)
    if draft.changed or manifest is None or manifest.damage(folder):
        return publish(folder, draft, encoder, chunking, progress)
    draft.discard()
    return manifest


def write_documents(folder: Path, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
    """Add a program's documents to an index, replacing those of the same ids."""
    with writing(folder), open_draft(folder, encoder, chunking, resume=False) as draft:
        encoder = with_prefixes(encoder, draft.prefixes)
        Reading(draft, encoder, chunking, roots=()).write([Found(document, "") for document in documents])
        encode_missing(draft, encoder, BATCH_SIZE, silent)
        publish_changes(folder, draft, encoder, chunking, silent)


def remove_documents(folder: Path, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
    """Remove documents or single passages from an index."""
    with writing(folder), open_draft(folder, encoder, chunking, resume=False) as draft:
        draft.remove(ids)
        publish_changes(folder, draft, encoder, chunking, silent)
