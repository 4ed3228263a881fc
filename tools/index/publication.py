"""Write an index: one writer at a time, and its publication as a whole."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import IndexingError
from ramify.tools.index.bm25 import FROM, write_postings
from ramify.tools.index.checksums import note_checked
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.hnsw import build_graph
from ramify.tools.index.manifest import (
    LAYOUT,
    MANIFEST,
    NEXT,
    PASSAGES,
    STRUCTURE,
    VECTORS,
    WHOLE,
    WORDS,
    Kind,
    Manifest,
    Precision,
    file_sha256,
    read_manifest,
)
from ramify.tools.index.progress import Progress
from ramify.tools.index.working_copy import Draft

LOCK = ".writing"
_PATIENCE_S = 0.5
"""A reader that looks whether somebody writes holds the lock for a moment."""


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the folder for one writer; the hold ends with the process, however that ends."""
    remedy = "check the folder's permissions and the free space"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(folder / LOCK, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield
    except (FileExistsError, PermissionError, sqlite3.OperationalError) as error:
        if "locked" in str(error):
            raise IndexingError(f"another process is writing the index in {str(folder)!r}", "wait until it has finished") from error
        raise IndexingError(f"the index in {str(folder)!r} cannot be written: {error}", remedy) from error


def is_being_written(folder: Path) -> bool:
    """Tell whether a living writer holds the folder."""
    try:
        with closing(sqlite3.connect(f"{(folder / LOCK).absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as lock:
            lock.execute("SELECT * FROM sqlite_master")
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    return False


def publish(folder: Path, draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress, precision: Precision = WHOLE) -> Manifest:
    """Put the draft in the place of the finished index: the files first, the manifest that vouches for them last."""
    documents, passages = draft.finish()
    hidden, label = draft.hidden(), list(draft.label)
    graph = folder / (NEXT + VECTORS)
    dimension = draft.dimension() or encoder.dimension
    sample = np.empty((0, dimension), dtype=np.float32) if precision == WHOLE else draft.sample(dimension)
    build_graph(draft.vectors(dimension), dimension, graph, passages, progress, precision, sample)
    postings = write_postings(draft.database, folder, progress) if passages > FROM else []
    draft.close()
    sha256 = {PASSAGES: file_sha256(draft.path), VECTORS: file_sha256(graph)}
    sha256 |= {name: file_sha256(folder / (NEXT + name)) for name in postings}
    kind, beside = _beside(folder)
    sha256 |= beside
    made = (encoder.name, dimension, *chunking, documents, passages, sha256, LAYOUT, *encoder.prefixes, hidden, kind)
    manifest = Manifest(*made, label, vectors=precision)
    manifest.write(folder / (NEXT + MANIFEST))
    draft.path.replace(folder / PASSAGES)
    graph.replace(folder / VECTORS)
    for name in postings:
        (folder / (NEXT + name)).replace(folder / name)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)
    for name in set(WORDS) - sha256.keys():
        (folder / name).unlink(missing_ok=True)
    note_checked(manifest, folder)
    return manifest


def _beside(folder: Path) -> tuple[Kind, dict[str, str]]:
    """Tell what the finished index is beside its passages, with the checksums of that; where it is damaged, nothing."""
    try:
        held = read_manifest(folder / MANIFEST)
    except IndexingError:
        return "passages", {}
    files = {name: held.sha256[name] for name in STRUCTURE[held.kind]} if held else {}
    whole = all((folder / name).is_file() and file_sha256(folder / name) == sha256 for name, sha256 in files.items())
    return (held.kind, files) if held and whole else ("passages", {})
