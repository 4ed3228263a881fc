"""An index in a folder, in SQLite, FAISS and a manifest: built, opened and changed there."""

import hashlib
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder, Encoding, in_turn
from ramify.tools.embeddings.prefixes import with_prefixes
from ramify.tools.index.bm25 import lacks_postings
from ramify.tools.index.build import BATCH_SIZE, Built, Wanted, given_paths, take_in
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.folder_state import check_target, leaving_nothing, manifest_of, share_index, writing
from ramify.tools.index.intake import Found, Intake
from ramify.tools.index.manifest import MANIFEST, PASSAGES, WHOLE, Manifest, Precision, read_manifest
from ramify.tools.index.near_duplicates import hide_twins
from ramify.tools.index.open_working_copy import open_draft, take_vectors
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.publication import publish
from ramify.tools.index.snapshot import Snapshot, open_snapshot
from ramify.tools.index.working_copy import Draft


@dataclass(frozen=True)
class Folder:
    """A folder as the home of an index."""

    path: Path

    @property
    def where(self) -> str:
        """Name the folder."""
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

    def build(self, paths: Sequence[str | Path], wanted: Wanted) -> Built:
        """Bring the index up to date with what lies under the paths."""
        encoder, chunking, batch_size, progress = wanted[:4]
        began = time.perf_counter()
        given = given_paths(paths)
        check_target(self.path, given)
        if not (self.path / PASSAGES).exists():
            _ = encoder.dimension  # asks for a vector: an error now, and not when everything has been read
        with (
            leaving_nothing(self.path),
            writing(self.path),
            open_draft(self.path, encoder, chunking, clean=wanted.clean, label=wanted.label) as draft,
        ):
            encoder = with_prefixes(encoder, draft.prefixes)
            taken = take_in(given, draft, encoder, chunking, progress)
            encoded = _encode_missing(draft, encoder, batch_size, progress, wanted.encoding)
            manifest = _publish_changes(self.path, draft, encoder, chunking, progress, wanted.vectors)
            if wanted.shared:
                share_index(self.path)
        return taken.built(manifest, encoded, began, encoder)

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""
        with writing(self.path), open_draft(self.path, encoder, chunking, resume=False) as draft:
            encoder = with_prefixes(encoder, draft.prefixes)
            Intake(draft, encoder, chunking, roots=()).write([Found(document) for document in documents])
            if draft.clean:
                hide_twins(draft)
            _encode_missing(draft, encoder, BATCH_SIZE, silent)
            _publish_changes(self.path, draft, encoder, chunking, silent)

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""
        with writing(self.path), open_draft(self.path, encoder, chunking, resume=False) as draft:
            draft.remove(ids)
            if draft.clean:
                hide_twins(draft)
                _encode_missing(draft, with_prefixes(encoder, draft.prefixes), BATCH_SIZE, silent)
            _publish_changes(self.path, draft, encoder, chunking, silent)


def amend(folder: Path, encoder: Encoder, documents: Sequence[Document], other: Path | None = None) -> None:
    """Give documents of a finished index the metadata they have now: where they stand stays, only what is embedded otherwise is encoded.

    other: an index that has the same texts, whose vectors are taken.
    """
    manifest = manifest_of(folder)
    encoder, chunking = with_prefixes(encoder, manifest.prefixes), Chunking(manifest.chunk_tokens, manifest.overlap)
    with writing(folder), open_draft(folder, encoder, chunking, resume=False) as draft:
        if other is not None:
            take_vectors(draft, other / PASSAGES)
        held = [(document, draft.held(str(document.id))) for document in documents]
        placed = [Found(document, one.root, one.file, one.kind) if one else Found(document) for document, one in held]
        Intake(draft, encoder, chunking, roots=()).write(placed)
        if draft.clean:
            hide_twins(draft)
        _encode_missing(draft, encoder, BATCH_SIZE, silent)
        _publish_changes(folder, draft, encoder, chunking, silent)


def _encode_missing(draft: Draft, encoder: Encoder, batch_size: int, progress: Progress, encoding: Encoding = in_turn) -> int:
    """Encode the texts that have no vector, committing batch by batch; the same batches in any later run, whoever encodes them."""
    rows = draft.unencoded()
    batches = (draft.embedded_texts(rows[start : start + batch_size]) for start in range(0, len(rows), batch_size))
    done = 0
    with closing(encoding(encoder, batches)) as encoded:
        for texts, vectors in encoded:
            draft.keep_vectors(texts, vectors)
            done += len(texts)
            progress(done, len(rows), "passages")
    return len(rows)


def _publish_changes(
    folder: Path, draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress, vectors: Precision | None = None
) -> Manifest:
    """Publish a draft that differs from the finished index, or that is to repair it; discard one that does not."""
    manifest = read_manifest(folder / MANIFEST)
    precision = vectors or (manifest.vectors if manifest else WHOLE)
    whole = manifest is not None and _told(manifest) == _held(draft, encoder, chunking) and manifest.damage(folder) is None
    if draft.changed or manifest is None or not whole or manifest.vectors != precision or lacks_postings(manifest):
        return publish(folder, draft, encoder, chunking, progress, precision)
    draft.discard()
    return manifest


def _told(manifest: Manifest) -> tuple[object, ...]:
    """Return what a manifest says that its passages say, too."""
    made = (manifest.embedding, manifest.dimension, manifest.chunk_tokens, manifest.overlap)
    return *made, manifest.documents, manifest.passages, manifest.hidden, tuple(manifest.label)


def _held(draft: Draft, encoder: Encoder, chunking: Chunking) -> tuple[object, ...]:
    """Return what the manifest of a draft would say."""
    hidden = draft.hidden()
    made = (encoder.name, draft.dimension() or encoder.dimension, *chunking)
    return *made, draft.count("documents"), draft.count("passages") - sum(hidden.values()), hidden, draft.label
