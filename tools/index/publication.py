"""Publish an index as a whole: its files first, the manifest that vouches for them last; until then it opens as it was before."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import IndexingError
from ramify.tools.index.bm25 import FROM, write_postings
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.folder_state import manifest_of, writing
from ramify.tools.index.hnsw import build_hnsw
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
from ramify.tools.index.working_copy import Draft
from ramify.tools.new_files import sync, upcoming

_BLOCK = 16_384


def publish(folder: Path, draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress, precision: Precision = WHOLE) -> Manifest:
    """Put the draft in the place of the finished index."""
    documents, passages = draft.finish()
    hidden, label = draft.hidden(), list(draft.label)
    dimension = draft.dimension() or encoder.dimension
    sample = np.empty((0, dimension), dtype=np.float32) if precision == WHOLE else draft.sample(dimension)
    written = {name: folder / (NEXT + name) for name in (VECTORS, *(WORDS if passages > FROM else ()))}
    with upcoming(*written.values()):
        build_hnsw(draft.vectors(dimension), dimension, written[VECTORS], passages, progress, precision, sample)
        if passages > FROM:
            write_postings(draft.database, folder, progress)
        draft.close()
        sync(draft.path, *written.values())
        kind, beside = _beside(folder)
        sha256 = {PASSAGES: file_sha256(draft.path), **{name: file_sha256(path) for name, path in written.items()}, **beside}
        made = (encoder.name, dimension, *chunking, documents, passages, sha256, LAYOUT, *encoder.prefixes, hidden, kind)
        manifest = Manifest(*made, label, vectors=precision)
        manifest.write(folder / (NEXT + MANIFEST))
    draft.path.replace(folder / PASSAGES)
    _take_places(folder, *written)
    for name in set(WORDS) - sha256.keys():
        (folder / name).unlink(missing_ok=True)
    note_checked(manifest, folder)
    return manifest


def _take_places(folder: Path, *names: str) -> None:
    """Put files that were written in the place of the finished ones, and the manifest last, once the disk has their names."""
    for name in names:
        (folder / (NEXT + name)).replace(folder / name)
    sync(folder)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)
    sync(folder)


def _beside(folder: Path) -> tuple[Kind, dict[str, str]]:
    """Tell what the finished index is beside its passages, with the checksums of that; where it is damaged, nothing."""
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
    with writing(folder):
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
        _take_places(folder, VECTORS)
        note_checked(made, folder)
    return True


def publish_structure(folder: Path, kind: Kind, write: Callable[[Path], None], group_by: tuple[str, ...] = ()) -> None:
    """Write the file that a kind has beside the passages, and vouch for it. Another kind's file goes."""
    [name] = STRUCTURE[kind]
    manifest = manifest_of(folder)
    written = folder / (NEXT + name)
    with upcoming(written):
        write(written)
        sync(written)
        sha256 = {**_of_passages(manifest), name: file_sha256(written)}
        replace(manifest, kind=kind, sha256=sha256, group_by=list(group_by)).write(folder / (NEXT + MANIFEST))
    _take_places(folder, name)
    _leave(folder, STRUCTURE[kind])


def drop_structure(folder: Path) -> None:
    """Make an index plain again."""
    with writing(folder):
        manifest = manifest_of(folder)
        replace(manifest, kind="passages", sha256=_of_passages(manifest), group_by=[]).write(folder / MANIFEST)
        _leave(folder, frozenset())


def _of_passages(manifest: Manifest) -> dict[str, str]:
    return {name: sha256 for name, sha256 in manifest.sha256.items() if name not in STRUCTURE[manifest.kind]}


def _leave(folder: Path, kept: frozenset[str]) -> None:
    """Delete the files of other kinds."""
    for name in frozenset().union(*STRUCTURE.values()) - kept:
        (folder / name).unlink(missing_ok=True)
