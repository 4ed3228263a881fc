"""Publish the files of an index as a snapshot, and open snapshots."""

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index.folder import missing_index_error, remove_unused, require_manifest, working_copy, write_lock
from ramify.tools.index.full_text import MIN_POSTINGS_PASSAGES, Postings, WordSearch, build_postings, update_postings
from ramify.tools.index.hnsw import Positions, SlotMap, VectorIndex, read_vector_index, uses_graph, write_vectors
from ramify.tools.index.hybrid_search import Reranker, SearchOptions, search_source
from ramify.tools.index.index_writer import IndexWriter
from ramify.tools.index.manifest import (
    MANIFEST,
    PASSAGES,
    POSTINGS_FILES,
    SLOTS,
    STRUCTURE_FILES,
    VECTORS,
    IndexKind,
    Manifest,
    Precision,
    commit,
    file_sha256,
    find_damage,
    is_whole,
    read_index_manifest,
    record_checked,
    repair_remedy,
    split_version,
)
from ramify.tools.index.passage_store import Filter, PassageStore, Rows, filter_choices
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.new_files import create_files, sync
from ramify.tools.passage import Passage

_CACHED_FILTERS = 16
"""Number of filters whose matches are cached."""


@dataclass(frozen=True)
class Snapshot:
    """The passages and vectors of one manifest; immutable, so thread-safe."""

    manifest: Manifest
    store: PassageStore
    vector_index: VectorIndex
    rows: Rows
    """The row in `store` of each position."""
    words: WordSearch | None = None
    """The postings of a large index; None for others, which use FTS5."""
    _filter_cache: OrderedDict[str, Positions] = field(default_factory=OrderedDict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _by_row(self) -> Positions:
        return np.argsort(self.rows)

    def positions(self, rows: Sequence[int] | Rows) -> Positions:
        """Return the positions of some rows."""
        return self._by_row[np.searchsorted(self.rows, rows, sorter=self._by_row)]

    def search(
        self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None
    ) -> list[list[Passage]]:
        """Return the passages for each query; vectors: of the queries, shape (queries, dimension); reranker: reorders the results."""
        if reranker is None or not search.filter:
            return search_source(self, queries, vectors, search, reranker)
        among = frozenset(self._matching_positions(search.filter).tolist())
        return search_source(
            self, queries, vectors, search, lambda *ranked: [position for position in reranker(*ranked) if position in among]
        )

    def _matching_positions(self, where: Filter) -> Positions:
        """Return the sorted positions that match a filter; cached for the latest filters, because matching reads every passage."""
        key = json.dumps([[name, sorted(map(repr, filter_choices(name, wanted)))] for name, wanted in sorted(where.items())])
        positions = self._filter_cache.get(key)
        if positions is None:
            positions = self._filter_cache[key] = np.sort(self.positions(self.store.rows_matching(where)))
            while len(self._filter_cache) > _CACHED_FILTERS:
                self._filter_cache.popitem(last=False)
        return positions

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[int]]:
        """Return at most n positions for each vector, nearest first, among those that match the filter."""
        ranked = (
            self.vector_index.search_exact(vectors, n, self._matching_positions(where)) if where else self.vector_index.search(vectors, n)
        )
        if not self.vector_index.is_full_precision:  # quantised vectors are only nearly in order: sort by exact cosine, ties by position
            cosines = [self.vectors(positions.tolist()) @ vector for vector, positions in zip(vectors, ranked, strict=True)]
            ranked = [positions[np.lexsort((positions, -own))] for own, positions in zip(cosines, ranked, strict=True)]
        return [positions.tolist() for positions in ranked]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[int, float]]:
        """Return at most n positions for each query with their BM25 (higher is better), among those that match the filter."""
        among = self._matching_positions(where) if where else None
        if self.words is not None:
            return [self.words.search(query, n, among) for query in queries]
        rankings = [self.store.by_words(query, n, None if among is None else self.rows[among]) for query in queries]
        positions = [self.positions([row for row, _ in ranked]).tolist() for ranked in rankings]
        return [
            {position: -rank for (_, rank), position in zip(ranked, places, strict=True)}
            for ranked, places in zip(rankings, positions, strict=True)
        ]

    def vectors(self, positions: Sequence[int]) -> Matrix:
        """Return full-precision vectors, shape (positions, dimension)."""
        if self.vector_index.is_full_precision:
            return self.vector_index.vectors(positions)
        return self.store.vectors(self.rows[list(positions)].tolist(), self.manifest.dimension)

    def sections(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the document id and the headings of each passage, "" if there are none."""
        return self.store.sections(self.rows[list(positions)].tolist())

    def passages(self, positions: Sequence[int]) -> list[Document]:
        """Return the passages."""
        return self.store.passages(self.rows[list(positions)].tolist())

    def ids(self) -> list[str]:
        """Return the ids of the searchable passages by position."""
        return self.store.ids()

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order of `ids`."""
        return self.store.passages(self.store.rows_by_id(ids))


def open_snapshot(folder: Path) -> Snapshot:
    """Open an index; IndexingError if it is missing, incomplete or damaged."""
    while True:
        manifest = read_index_manifest(folder / MANIFEST)
        if manifest is None:
            raise missing_index_error(folder)
        try:
            return _open(folder, manifest)
        except IndexingError:
            if read_index_manifest(folder / MANIFEST) == manifest:
                raise  # otherwise a writer has replaced the index meanwhile


def _open(folder: Path, manifest: Manifest) -> Snapshot:
    try:
        if not all((folder / name).is_file() for name in manifest.sha256):
            raise OSError("a file is missing")  # opening a pipe would block
        store, slots = PassageStore(folder / manifest.file(PASSAGES)), SlotMap.read(folder / manifest.file(SLOTS))
        vector_index = read_vector_index(folder / manifest.file(VECTORS), slots)
        postings = _postings_files(folder, manifest)
        words = WordSearch(postings, slots) if postings else None
        damage = find_damage(manifest, folder)  # checked after opening, so the check covers what was opened
        if damage:
            raise IndexingError(f"the index in {str(folder)!r} is damaged: {damage}", repair_remedy(folder))
        snapshot = Snapshot(manifest, store, vector_index, store.rows(), words)
    except (OSError, EOFError, sqlite3.DatabaseError, RuntimeError, ValueError) as error:  # an empty file of numbers is an EOFError
        what = find_damage(manifest, folder) or f"it cannot be read: {error}"
        raise IndexingError(f"the index in {str(folder)!r} is damaged: {what}", repair_remedy(folder)) from error
    actual, expected = (len(snapshot.vector_index), vector_index.dimension), (manifest.passages, manifest.dimension)
    if actual != expected or len(snapshot.rows) != manifest.passages:
        what = f"{len(snapshot.rows)} passages, {actual[0]} vectors of length {actual[1]}, {expected[0]} and {expected[1]} in the manifest"
        raise IndexingError(f"the index in {str(folder)!r} is inconsistent: {what}", repair_remedy(folder))
    return snapshot


def _postings_files(folder: Path, manifest: Manifest) -> list[Path]:
    """Return the files of the postings; empty if the index has none."""
    files = {name: folder / own for own in manifest.sha256 if (name := split_version(own)[0]) in POSTINGS_FILES}
    return [files[name] for name in POSTINGS_FILES] if len(files) == len(POSTINGS_FILES) else []


def publish(folder: Path, writer: IndexWriter, draft: Manifest, progress: Progress = ignore_progress) -> Manifest:
    """Replace the finished index by the writer's content; draft: the manifest without the files' checksums.

    Changed files are written under new names; the index is replaced when the manifest is. Vectors and postings of a large index are
    extended; deleted passages leave empty slots until too many are empty.
    """
    if writer.changed:
        writer.delete_unused()
    rows, keys = writer.searchable_rows()
    finished = read_index_manifest(folder / MANIFEST)
    before = _reusable_slots(folder, finished, draft)
    slots, existing = SlotMap.in_order(keys), 0
    if finished and before and finished.vectors == draft.vectors and is_whole(finished, folder, VECTORS):
        updated = before.updated(keys)
        if uses_graph(len(keys)) and uses_graph(len(before)) and not updated.needs_renumbering():
            slots, existing = updated, len(before)
    reused = {finished.file(VECTORS)} if finished and existing == len(slots) > 0 else set()
    names = [SLOTS, *([] if reused else [VECTORS]), *(POSTINGS_FILES if len(keys) > MIN_POSTINGS_PASSAGES else ())]
    written = {name: folder / (finished.next_file(name) if finished else name) for name in names}
    with create_files(*written.values()):
        slots.write(written[SLOTS])
        if VECTORS in written:
            blocks = writer.vectors(rows[slots.positions[existing:]], draft.dimension)
            sample = partial(writer.sample_vectors, draft.dimension)
            extended = folder / finished.file(VECTORS) if finished and existing else None
            write_vectors(blocks, written[VECTORS], len(slots), draft.dimension, draft.vectors, sample, progress, extended)
        if POSTINGS_FILES[0] in written:
            if finished and before and is_whole(finished, folder, *POSTINGS_FILES):
                postings = Postings.read(_postings_files(folder, finished))
                postings = update_postings(postings, before, writer.database, slots, rows, progress)
            else:
                postings = build_postings(writer.database, slots, rows, progress)
            postings.write([written[name] for name in POSTINGS_FILES])
        writer.close()
        if writer.finished and finished:
            reused.add(finished.file(PASSAGES))
        else:
            written[PASSAGES] = writer.path
        sync(*written.values())
        kind, group_by, structure_files = _structure_files(folder, finished)
        sha256 = {name: finished.sha256[name] for name in (*reused, *structure_files) if finished}
        sha256 |= {path.name: file_sha256(path) for path in written.values()}
        manifest = replace(draft, sha256=sha256, kind=kind, group_by=group_by)
        prepared = manifest.prepare(folder)
    commit(prepared)
    remove_unused(folder, manifest)
    record_checked(manifest, folder)
    return manifest


def _reusable_slots(folder: Path, finished: Manifest | None, draft: Manifest) -> SlotMap | None:
    """Return the slots of an undamaged index made with the same embedding, None if there are none."""
    if finished is None or not is_whole(finished, folder, SLOTS):
        return None
    same = (finished.embedding, finished.dimension, finished.prefixes) == (draft.embedding, draft.dimension, draft.prefixes)
    return SlotMap.read(folder / finished.file(SLOTS)) if same else None


def _structure_files(folder: Path, finished: Manifest | None) -> tuple[IndexKind, list[str], list[str]]:
    """Return the kind, group fields, and names of the structure files; those of a plain index if they are damaged."""
    if finished is None or not is_whole(finished, folder, *STRUCTURE_FILES[finished.kind]):
        return "passages", [], []
    return finished.kind, finished.group_by, [finished.file(name) for name in STRUCTURE_FILES[finished.kind]]


def change_precision(folder: Path, precision: Precision, progress: Progress = ignore_progress) -> bool:
    """Rewrite the vectors of a finished index in another precision, without reading or encoding anything again.

    Return False if they have that precision already. IndexingError if there is no index.
    """
    with write_lock(folder):
        manifest = open_snapshot(folder).manifest
        if manifest.vectors == precision:
            return False
        with IndexWriter(working_copy(folder, manifest), folder / manifest.file(PASSAGES)) as writer:
            publish(folder, writer, replace(manifest, vectors=precision), progress)
    return True


def publish_structure(folder: Path, kind: IndexKind, write: Callable[[Path], None], group_by: tuple[str, ...] = ()) -> None:
    """Publish the file of a graph or hierarchy with its checksum, and delete that of another kind."""
    [name] = STRUCTURE_FILES[kind]
    manifest = require_manifest(folder)
    written = folder / manifest.next_file(name)
    with create_files(written):
        write(written)
        sync(written)
        sha256 = {**_passage_files(manifest), written.name: file_sha256(written)}
        manifest = replace(manifest, kind=kind, sha256=sha256, group_by=list(group_by))
        prepared = manifest.prepare(folder)
    commit(prepared)
    remove_unused(folder, manifest)


def drop_structure(folder: Path) -> None:
    """Remove the graph or hierarchy of an index."""
    with write_lock(folder):
        manifest = require_manifest(folder)
        manifest = replace(manifest, kind="passages", sha256=_passage_files(manifest), group_by=[])
        manifest.write(folder)
        remove_unused(folder, manifest)


def _passage_files(manifest: Manifest) -> dict[str, str]:
    structures = STRUCTURE_FILES[manifest.kind]
    return {name: sha256 for name, sha256 in manifest.sha256.items() if split_version(name)[0] not in structures}
