"""Publish an index's files as a snapshot, and open one."""

import json
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index.full_text import POSTINGS_FROM, Postings, WordSearch, postings, updated_postings
from ramify.tools.index.hnsw import Graph, Positions, Slots, are_linked, read_graph, write_vectors
from ramify.tools.index.hybrid_search import Hit, Reranker, SearchOptions, find
from ramify.tools.index.index_writer import IndexWriter
from ramify.tools.index.manifest import (
    MANIFEST,
    NEXT,
    PASSAGES,
    SLOTS,
    STRUCTURE,
    VECTORS,
    WORDS,
    Kind,
    Manifest,
    Precision,
    file_sha256,
    is_whole,
    latest_manifests,
    manifest_of,
    missing_index,
    new_damage,
    note_checked,
    read_manifest,
    repair_remedy,
    write_lock,
)
from ramify.tools.index.passage_store import Filter, PassageStore, Rows, choices_of
from ramify.tools.index.progress import Progress, silent
from ramify.tools.new_files import create_files, sync

_PATIENCE_S = 2.0
_FILTERS = 16
"""So many filters are remembered with what passes them."""


@dataclass(frozen=True)
class Snapshot:
    """Passages and vectors of one manifest; immutable, so any thread may search."""

    manifest: Manifest
    store: PassageStore
    graph: Graph
    rows: Rows
    """The row in `store` of each position."""
    words: WordSearch | None = None
    """The words of a large index; those of others SQLite has."""
    _passing: OrderedDict[str, Positions] = field(default_factory=OrderedDict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _by_row(self) -> Positions:
        return np.argsort(self.rows)

    def positions(self, rows: Sequence[int] | Rows) -> Positions:
        """Return the positions in the graph of some rows."""
        return self._by_row[np.searchsorted(self.rows, rows, sorter=self._by_row)]

    def search(self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None) -> list[list[Hit]]:
        """Search for all queries at once; vectors: theirs, shape (queries, dimension); `reranker` has a say in the order."""
        if reranker is None or not search.filter:
            return find(self, queries, vectors, search, reranker)
        among = frozenset(self._allowed(search.filter).tolist())
        return find(self, queries, vectors, search, lambda *found: [position for position in reranker(*found) if position in among])

    def _allowed(self, where: Filter) -> Positions:
        """Return the positions that pass a filter; the latest filters are remembered, because each has every passage looked at."""
        key = json.dumps([[name, sorted(map(repr, choices_of(name, wanted)))] for name, wanted in sorted(where.items())])
        found = self._passing.get(key)
        if found is None:
            found = self._passing[key] = np.sort(self.positions(self.store.matching(where)))
            while len(self._passing) > _FILTERS:
                self._passing.popitem(last=False)
        return found

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[int]]:
        """Return the n nearest positions of each vector, nearest first, among those that pass the filter."""
        found = self.graph.exact(vectors, n, self._allowed(where)) if where else self.graph.search(vectors, n)
        if not self.graph.whole:  # quantised vectors are nearly in order: order by cosine, ties by position
            cosines = [self.vectors(positions.tolist()) @ vector for vector, positions in zip(vectors, found, strict=True)]
            found = [positions[np.lexsort((positions, -own))] for own, positions in zip(cosines, found, strict=True)]
        return [positions.tolist() for positions in found]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[int, float]]:
        """Return the n best positions of each query by BM25, greater is better, among those that pass the filter."""
        among = self._allowed(where) if where else None
        if self.words is not None:
            return [self.words.search(query, n, among) for query in queries]
        found = [self.store.by_words(query, n, None if among is None else self.rows[among]) for query in queries]
        positions = [self.positions([row for row, _ in ranked]).tolist() for ranked in found]
        return [
            {position: -rank for (_, rank), position in zip(ranked, places, strict=True)}
            for ranked, places in zip(found, positions, strict=True)
        ]

    def vectors(self, positions: Sequence[int]) -> Matrix:
        """Return vectors as they were encoded, shape (positions, dimension)."""
        if self.graph.whole:
            return self.graph.vectors(positions)
        return self.store.vectors(self.rows[list(positions)].tolist(), self.manifest.dimension)

    def sections(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the document of each passage and the headings above it, "" where there are none."""
        return self.store.sections(self.rows[list(positions)].tolist())

    def passages(self, positions: Sequence[int]) -> list[Document]:
        """Return the passages."""
        return self.store.passages(self.rows[list(positions)].tolist())

    def ids(self) -> list[str]:
        """List the ids of the passages that are searched, in the order of their positions."""
        return self.store.ids()

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order asked for."""
        return self.store.passages(self.store.rows_of(ids))


def open_snapshot(folder: Path) -> Snapshot:
    """Open an index; raises `IndexingError` where it is missing, half-written or damaged."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return _open(folder)
        except IndexingError:
            if time.monotonic() > deadline or not (folder / (NEXT + MANIFEST)).exists():
                raise
            time.sleep(0.05)  # a writer is putting its files in place this moment


def _open(folder: Path) -> Snapshot:
    manifest = read_manifest(folder / MANIFEST)
    if manifest is None:
        raise missing_index(folder)
    try:
        if not all((folder / name).is_file() for name in manifest.sha256):
            raise OSError("a file is missing")  # a pipe would be waited for
        store, slots = PassageStore(folder / PASSAGES), Slots.read(folder / SLOTS)
        graph = read_graph(folder / VECTORS, slots)
        words = WordSearch(folder, slots) if manifest.sha256.keys() >= set(WORDS) else None
        found = new_damage(manifest, folder)  # after opening: what is whole now is what was opened
        if found:
            raise IndexingError(f"the index in {str(folder)!r} is damaged: {found}", repair_remedy(folder))
        snapshot = Snapshot(manifest, store, graph, store.rows(), words)
    except (OSError, EOFError, sqlite3.DatabaseError, RuntimeError, ValueError) as error:  # an empty file of numbers is an EOFError
        what = manifest.damage(folder) or f"it cannot be read: {error}"
        raise IndexingError(f"the index in {str(folder)!r} is damaged: {what}", repair_remedy(folder)) from error
    held, told = (len(snapshot.graph), graph.dimension), (manifest.passages, manifest.dimension)
    if held != told or len(snapshot.rows) != manifest.passages:
        what = f"{len(snapshot.rows)} passages, {held[0]} vectors of length {held[1]}, {told[0]} and {told[1]} in the manifest"
        raise IndexingError(f"the index in {str(folder)!r} does not fit together: {what}", repair_remedy(folder))
    return snapshot


class Former(NamedTuple):
    """What a finished index has, or one whose publication was interrupted, that another can go on with."""

    manifest: Manifest
    slots: Slots


def publish(folder: Path, writer: IndexWriter, draft: Manifest, progress: Progress = silent) -> Manifest:
    """Replace the finished index by what the writer holds; draft: its manifest, to which the files are added.

    The vectors and words of a large one are added to those that are there; those that are gone are passed over until they are too many.
    """
    if writer.changed:
        writer.finish()
    rows, keys = writer.searched()
    former = _former(folder, draft)
    slots, there = Slots.numbered(keys), 0
    if former and are_linked(len(keys)) and _can_grow(folder, former, draft):
        grown = former.slots.updated(keys)
        slots, there = (slots, 0) if grown.crowded() else (grown, len(former.slots))
    kept = {VECTORS} if former and there == len(slots) > 0 else set()
    names = sorted({SLOTS, VECTORS, *(WORDS if len(keys) > POSTINGS_FROM else ())} - kept)
    written = {name: folder / (NEXT + name) for name in names}
    with create_files(*written.values()):
        slots.write(written[SLOTS])
        if VECTORS in written:
            blocks = writer.vectors(rows[slots.positions[there:]], draft.dimension)
            sample, former_vectors = partial(writer.sample, draft.dimension), folder / VECTORS if there else None
            write_vectors(blocks, written[VECTORS], len(slots), draft.dimension, draft.vectors, sample, progress, former_vectors)
        if WORDS[0] in written:
            _words(folder, former, writer, slots, rows, progress).write(written.__getitem__)
        writer.close()
        copied = [] if writer.finished else [writer.path]
        sync(*copied, *written.values())
        kind, group_by, beside = _structure_files(folder)
        sha256 = {PASSAGES: file_sha256(writer.path) if copied else _known_sha256(folder, PASSAGES)}
        sha256 |= {name: former.manifest.sha256[name] for name in kept if former}
        sha256 |= {name: file_sha256(path) for name, path in written.items()}
        manifest = replace(draft, sha256=sha256 | beside, kind=kind, group_by=group_by)
        manifest.write(folder / (NEXT + MANIFEST))
    for path in copied:
        path.replace(folder / PASSAGES)
    _replace_files(folder, *written)
    for name in set(WORDS) - sha256.keys():
        (folder / name).unlink(missing_ok=True)
    note_checked(manifest, folder)
    return manifest


def _former(folder: Path, draft: Manifest) -> Former | None:
    """Return what an index made with the same embedding has, as far as it is whole."""
    for known in latest_manifests(folder):
        same = (known.embedding, known.dimension, known.prefixes) == (draft.embedding, draft.dimension, draft.prefixes)
        if same and is_whole(known, folder, SLOTS):
            return Former(known, Slots.read(folder / SLOTS))
    return None


def _can_grow(folder: Path, former: Former, draft: Manifest) -> bool:
    """Return whether vectors can be added to those that are there: they are linked, kept in the same numbers, and whole."""
    manifest = former.manifest
    return are_linked(len(former.slots)) and manifest.vectors == draft.vectors and is_whole(manifest, folder, VECTORS)


def _words(folder: Path, former: Former | None, writer: IndexWriter, slots: Slots, rows: Positions, progress: Progress) -> Postings:
    """Return the postings of the passages: those that are there, brought up to date, or new ones."""
    if former is None or not is_whole(former.manifest, folder, *WORDS):
        return postings(writer.database, slots, rows, progress)
    return updated_postings(Postings.read(folder), former.slots, writer.database, slots, rows, progress)


def _known_sha256(folder: Path, name: str) -> str:
    """Return the checksum of a file that is whole."""
    return next(known.sha256[name] for known in latest_manifests(folder) if is_whole(known, folder, name))


def _replace_files(folder: Path, *names: str) -> None:
    """Move written files over the finished ones, the manifest last, after a sync."""
    for name in names:
        (folder / (NEXT + name)).replace(folder / name)
    sync(folder)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)
    sync(folder)


def _structure_files(folder: Path) -> tuple[Kind, list[str], dict[str, str]]:
    """Return the finished index's kind, its fields of groups and its files' checksums; a plain one where these are damaged."""
    try:
        held = read_manifest(folder / MANIFEST)
    except IndexingError:
        return "passages", [], {}
    names = STRUCTURE[held.kind] if held else frozenset()
    if held is None or not is_whole(held, folder, *names):
        return "passages", [], {}
    return held.kind, held.group_by, {name: held.sha256[name] for name in names}


def relink(folder: Path, precision: Precision, progress: Progress = silent) -> bool:
    """Link the vectors of a finished index anew, kept in these numbers from now on: nothing is read or encoded again.

    False where they are kept so. IndexingError where there is no index.
    """
    with write_lock(folder):
        manifest = open_snapshot(folder).manifest
        if manifest.vectors == precision:
            return False
        with IndexWriter(folder / (NEXT + PASSAGES), folder / PASSAGES) as writer:
            publish(folder, writer, replace(manifest, vectors=precision), progress)
    return True


def publish_structure(folder: Path, kind: Kind, write: Callable[[Path], None], group_by: tuple[str, ...] = ()) -> None:
    """Write a kind's file beside the passages and its checksum; delete another kind's file."""
    [name] = STRUCTURE[kind]
    manifest = manifest_of(folder)
    written = folder / (NEXT + name)
    with create_files(written):
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
