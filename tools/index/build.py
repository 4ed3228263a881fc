"""Build an index, or change one: take in what is new, encode what has no vector yet, link, publish."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import Skipped, existing, files_under
from ramify.tools.documents.load import nothing_readable
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.encoding import Encoding, in_turn
from ramify.tools.embeddings.prefixed import advice, with_prefixes
from ramify.tools.errors import InputError
from ramify.tools.index.bm25 import lacks_postings
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.index_folder import check_target, leaving_nothing, manifest_of, writing
from ramify.tools.index.intake import Found, Intake
from ramify.tools.index.manifest import MANIFEST, PASSAGES, WHOLE, Manifest, Precision, read_manifest
from ramify.tools.index.near_duplicates import hide_twins
from ramify.tools.index.open_working_copy import open_draft, take_vectors
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.publication import publish
from ramify.tools.index.working_copy import Draft

BATCH_SIZE = 256
"""Texts encoded between two commits: the most that an interrupted build encodes again."""


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
    hidden: dict[str, int]
    """Passages kept and not searched, by the reason: what only lists, licenses or repeats."""
    remarks: list[Skipped]
    """What is to be said of files that were read now: an encoding that was guessed, pages without text."""


class Wanted(NamedTuple):
    """How an index is to be built; what the fields mean is said at `Index.build`."""

    encoder: Encoder
    chunking: Chunking
    batch_size: int = BATCH_SIZE
    progress: Progress = silent
    clean: bool = True
    label: Sequence[str] | None = None
    vectors: Precision | None = None
    encoding: Encoding = in_turn


def build_index(paths: Sequence[str | Path], folder: Path, wanted: Wanted) -> Built:
    """Bring an index in a folder up to date with what lies under the paths."""
    encoder, chunking, batch_size, progress = wanted[:4]
    began = time.perf_counter()
    given = given_paths(paths)
    check_target(folder, given)
    if not (folder / PASSAGES).exists():
        _ = encoder.dimension  # asks for a vector: an error now, and not when everything has been read
    with leaving_nothing(folder), writing(folder), open_draft(folder, encoder, chunking, clean=wanted.clean, label=wanted.label) as draft:
        encoder = with_prefixes(encoder, draft.prefixes)
        taken = take_in(given, draft, encoder, chunking, progress)
        encoded = encode_missing(draft, encoder, batch_size, progress, wanted.encoding)
        manifest = publish_changes(folder, draft, encoder, chunking, progress, wanted.vectors)
    return taken.built(manifest, encoded, began, encoder)


class Taken(NamedTuple):
    """What became of the documents that lie under the paths, and what was left out of them."""

    intake: Intake
    gone: int
    skipped: list[Skipped]

    def built(self, manifest: Manifest, encoded: int, began: float, encoder: Encoder) -> Built:
        """Say what a build did that began then, as `time.perf_counter` counts."""
        intake, held = self.intake, (manifest.documents, manifest.passages)
        fates = (intake.added, intake.changed, intake.unchanged, self.gone)
        seconds = time.perf_counter() - began
        return Built(*fates, *held, encoded, self.skipped, seconds, advice(encoder), manifest.hidden, intake.remarks)


def given_paths(paths: Sequence[str | Path]) -> dict[Path, Path]:
    """Give each path by its full name, so that none counts twice; InputError where there is none."""
    return {existing(path).resolve(): existing(path) for path in paths}


def take_in(given: Mapping[Path, Path], draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress) -> Taken:
    """Write to a draft what lies under the paths, and remove what does no more; InputError where nothing can be read there."""
    skipped: list[Skipped] = []
    intake = Intake(draft, encoder, chunking, map(str, given))
    intake.take(files_under(list(given.values()), skipped), skipped, progress)
    if not intake.seen:
        raise nothing_readable(list(given.values()), skipped)
    if intake.absent and intake.fields:
        what = f"no document has the metadata {', '.join(map(repr, intake.absent))}"
        raise InputError(what, f"label passages with what there is: {', '.join(sorted(intake.fields))}")
    gone = intake.let_go()
    if draft.clean:
        hide_twins(draft)
    return Taken(intake, gone, skipped)


def encode_missing(draft: Draft, encoder: Encoder, batch_size: int, progress: Progress, encoding: Encoding = in_turn) -> int:
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


def publish_changes(
    folder: Path, draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress, vectors: Precision | None = None
) -> Manifest:
    """Publish a draft that differs from the finished index, or that is to repair it; discard one that does not."""
    manifest = read_manifest(folder / MANIFEST)
    precision = vectors or (manifest.vectors if manifest else WHOLE)
    if draft.changed or manifest is None or manifest.vectors != precision or lacks_postings(manifest) or manifest.damage(folder):
        return publish(folder, draft, encoder, chunking, progress, precision)
    draft.discard()
    return manifest


def write_documents(folder: Path, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
    """Add a program's documents to an index, replacing those of the same ids."""
    with writing(folder), open_draft(folder, encoder, chunking, resume=False) as draft:
        encoder = with_prefixes(encoder, draft.prefixes)
        Intake(draft, encoder, chunking, roots=()).write([Found(document) for document in documents])
        if draft.clean:
            hide_twins(draft)
        encode_missing(draft, encoder, BATCH_SIZE, silent)
        publish_changes(folder, draft, encoder, chunking, silent)


def remove_documents(folder: Path, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
    """Remove documents or single passages from an index."""
    with writing(folder), open_draft(folder, encoder, chunking, resume=False) as draft:
        draft.remove(ids)
        if draft.clean:
            hide_twins(draft)
            encode_missing(draft, with_prefixes(encoder, draft.prefixes), BATCH_SIZE, silent)
        publish_changes(folder, draft, encoder, chunking, silent)


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
        encode_missing(draft, encoder, BATCH_SIZE, silent)
        publish_changes(folder, draft, encoder, chunking, silent)
