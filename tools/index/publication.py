"""Publish an index as a whole: its files first, the manifest that vouches for them last; until then it opens as it was before."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import IndexingError
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.folder_state import manifest_of, write_lock
from ramify.tools.index.full_text import POSTINGS_FROM, write_postings
from ramify.tools.index.hnsw import build_hnsw
from ramify.tools.index.index_writer import IndexWriter
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
    note_checked,
    read_manifest,
)
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.snapshot import open_snapshot
from ramify.tools.new_files import sync, upcoming

_BLOCK = 16_384


def publish(
    folder: Path, writer: IndexWriter, encoder: Encoder, chunking: Chunking, progress: Progress, precision: Precision = WHOLE
) -> Manifest:
    """Replace the finished index by what the writer holds."""
    documents, passages = writer.finish()
    hidden, label = writer.hidden(), list(writer.label)
    dimension = writer.dimension() or encoder.dimension
    sample = np.empty((0, dimension), dtype=np.float32) if precision == WHOLE else writer.sample(dimension)
    written = {name: folder / (NEXT + name) for name in (VECTORS, *(WORDS if passages > POSTINGS_FROM else ()))}
    with upcoming(*written.values()):
        build_hnsw(writer.vectors(dimension), dimension, written[VECTORS], passages, progress, precision, sample)
        if passages > POSTINGS_FROM:
            write_postings(writer.database, folder, progress)
        writer.close()
        sync(writer.path, *written.values())
        kind, beside = _structure_files(folder)
        sha256 = {PASSAGES: file_sha256(writer.path), **{name: file_sha256(path) for name, path in written.items()}, **beside}
        made = (encoder.name, dimension, *chunking, documents, passages, sha256, LAYOUT, *encoder.prefixes, hidden, kind)
        manifest = Manifest(*made, label, vectors=precision)
        manifest.write(folder / (NEXT + MANIFEST))
    writer.path.replace(folder / PASSAGES)
    _replace_files(folder, *written)
    for name in set(WORDS) - sha256.keys():
        (folder / name).unlink(missing_ok=True)
    note_checked(manifest, folder)
    return manifest


def _replace_files(folder: Path, *names: str) -> None:
    """Move written files over the finished ones, the manifest last, after a sync."""
    for name in names:
        (folder / (NEXT + name)).replace(folder / name)
    sync(folder)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)
    sync(folder)


def _structure_files(folder: Path) -> tuple[Kind, dict[str, str]]:
    """Return the finished index's kind and the checksums of that kind's files; a plain one where these are damaged."""
    try:
        held = read_manifest(folder / MANIFEST)
    except IndexingError:
        return "passages", {}
    files = {name: held.sha256[name] for name in STRUCTURE[held.kind]} if held else {}
    whole = all((folder / name).is_file() and file_sha256(folder / name) == sha256 for name, sha256 in files.items())
    return (held.kind, files) if held and whole else ("passages", {})


def relink(folder: Path, precision: Precision, progress: Progress = silent) -> bool:
    """Link the vectors of a finished index anew, kept in these numbers from now on: nothing is read or encoded again.

    False where they are kept so. IndexingError where there is no index.
    """
    with write_lock(folder):
        held = open_snapshot(folder)
        manifest, rows = held.manifest, held.rows
        if manifest.vectors == precision:
            return False
        blocks = (held.store.vectors(rows[start : start + _BLOCK].tolist(), manifest.dimension) for start in range(0, len(rows), _BLOCK))
        some = rows[np.linspace(0, len(rows) - 1, min(_BLOCK, len(rows)), dtype=np.int64)] if len(rows) else rows
        graph = folder / (NEXT + VECTORS)
        sample = held.store.vectors(some.tolist(), manifest.dimension)
        with upcoming(graph):
            build_hnsw(blocks, manifest.dimension, graph, len(rows), progress, precision, sample)
            sync(graph)
            made = replace(manifest, vectors=precision, sha256={**manifest.sha256, VECTORS: file_sha256(graph)})
            made.write(folder / (NEXT + MANIFEST))
        _replace_files(folder, VECTORS)
        note_checked(made, folder)
    return True


def publish_structure(folder: Path, kind: Kind, write: Callable[[Path], None], group_by: tuple[str, ...] = ()) -> None:
    """Write a kind's file beside the passages and its checksum; delete another kind's file."""
    [name] = STRUCTURE[kind]
    manifest = manifest_of(folder)
    written = folder / (NEXT + name)
    with upcoming(written):
        write(written)
        sync(written)
        sha256 = {**_passage_files(manifest), name: file_sha256(written)}
        replace(manifest, kind=kind, sha256=sha256, group_by=list(group_by)).write(folder / (NEXT + MANIFEST))
    _replace_files(folder, name)
    _remove_structures(folder, STRUCTURE[kind])


def drop_structure(folder: Path) -> None:
    """Remove the graph or hierarchy of an index."""
    with write_lock(folder):
        manifest = manifest_of(folder)
        replace(manifest, kind="passages", sha256=_passage_files(manifest), group_by=[]).write(folder / MANIFEST)
        _remove_structures(folder, frozenset())


def _passage_files(manifest: Manifest) -> dict[str, str]:
    return {name: sha256 for name, sha256 in manifest.sha256.items() if name not in STRUCTURE[manifest.kind]}


def _remove_structures(folder: Path, kept: frozenset[str]) -> None:
    """Delete the files of other kinds."""
    for name in frozenset().union(*STRUCTURE.values()) - kept:
        (folder / name).unlink(missing_ok=True)
