"""Writing `passages.sqlite`: a working copy that is resumed, copied from the finished index, or new."""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ramify.tools.documents.files import DEFAULT_OCR, Ocr
from ramify.tools.documents.readers import parse_ocr
from ramify.tools.embeddings.encoder import Encoder, Encoding, Matrix, Prefixes, default_prefixes, encode_sequentially
from ramify.tools.errors import IndexingError, InputError, RamifyError
from ramify.tools.index.chunking import Chunking, embedded_text
from ramify.tools.index.folder import working_copy
from ramify.tools.index.full_text import segment_words
from ramify.tools.index.hnsw import Keys, Positions, unique_keys
from ramify.tools.index.manifest import LAYOUT, MANIFEST, PASSAGES, LayoutError, Manifest, Precision, is_whole, read_index_manifest
from ramify.tools.index.passage_store import (
    SCHEMA,
    SKIPPED_FACT,
    DocumentEntry,
    StoredDocument,
    embedded_texts,
    has_remarks,
    metadata_json,
    open_readonly,
    slot_key,
    text_digest,
)
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.new_files import create_files, make_file

_BLOCK = 16_384
_UNCOMPARED = "INSERT OR IGNORE INTO uncompared SELECT digest FROM passages"
_READERS_TIMEOUT_S = 120.0
"""Seconds that a commit waits for those who search an unfinished index."""
_MAX_RECORDED_SKIPPED = 10_000
"""Maximum number of skipped names recorded."""
BATCH_SIZE = 256
"""Texts encoded between two commits, which an interrupted build repeats at most."""


class BuildOptions(NamedTuple):
    """How to build an index: see `Index.build`."""

    encoder: Encoder
    chunking: Chunking
    batch_size: int = BATCH_SIZE
    progress: Progress = ignore_progress
    clean: bool | None = None
    """Whether to hide lists and duplicates from search; None: as in the existing index, True in a new one."""
    label: Sequence[str] | None = None
    """Metadata fields put into the label of passages; None: as in the existing index, none in a new one."""
    vectors: Precision | None = None
    encoding: Encoding = encode_sequentially
    shared: bool = False
    ocr: Ocr | None = None
    """Whether text in pictures is read; None: as in the existing index, "auto" in a new one."""

    def facts(self) -> dict[str, str]:
        """Return the facts recorded in an index made with these options."""
        clean = {} if self.clean is None else {"clean": "yes" if self.clean else "no"}
        label = {} if self.label is None else {"label": ",".join(self.label)}
        chunking = {"chunk_tokens": str(self.chunking.tokens), "overlap": str(self.chunking.overlap)}
        ocr = {} if self.ocr is None else {"ocr": self.ocr.mode, "ocr_languages": self.ocr.languages}
        return {"layout": str(LAYOUT), "embedding": self.encoder.name, **chunking, **clean, **label, **ocr}


class IndexWriter:
    """Writes documents, passages and vectors; each writing call is one transaction.

    finished: a published file that is read until the first write, which copies it.
    """

    def __init__(self, path: Path, finished: Path | None = None) -> None:
        self.path = path
        self.changed = False
        self.finished = finished
        """The published file, until it is copied by the first write."""
        self.database = self._opened()
        """The connection to read from."""

    def _opened(self) -> sqlite3.Connection:
        if self.finished is not None:
            return open_readonly(self.finished)
        database = sqlite3.connect(make_file(self.path).absolute(), timeout=_READERS_TIMEOUT_S, check_same_thread=False)
        database.create_function("searchable", 1, segment_words, deterministic=True)
        database.executescript(SCHEMA)
        if not has_remarks(database):
            database.execute("ALTER TABLE files ADD COLUMN remarks TEXT NOT NULL DEFAULT '[]'")
        return database

    def writing(self) -> sqlite3.Connection:
        """Return the connection for writing, to be used as a transaction; the first call copies the finished file."""
        if self.finished is not None:
            part = self.path.with_name(self.path.name + ".part")
            with create_files(part):
                shutil.copyfile(self.finished, part)
                part.replace(self.path)
            self.database.close()
            self.finished = None
            self.database = self._opened()
        return self.database

    def __enter__(self) -> "IndexWriter":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def discard(self) -> None:
        """Close the file, and delete it if it is a working copy."""
        self.close()
        if self.finished is None:
            self.path.unlink()

    def facts(self) -> dict[str, str]:
        """Return the recorded facts: layout, embedding and other options."""
        return dict(self.database.execute("SELECT name, value FROM facts"))

    @property
    def prefixes(self) -> Prefixes:
        """Return the prefixes of questions and passages for embedding."""
        facts = self.facts()
        return Prefixes(facts.get("query_prefix"), facts.get("document_prefix"))

    def _mark_changed(self) -> None:
        """Record, within a transaction, that the content has changed."""
        self.changed = True
        self.database.execute("DELETE FROM facts WHERE name = 'compared'")

    @property
    def clean(self) -> bool:
        """Return whether lists, licences and duplicates are hidden from search."""
        return self.facts().get("clean", "yes") == "yes"

    @property
    def ocr(self) -> Ocr:
        """Return whether text in pictures is read, and in which languages."""
        facts = self.facts()
        return parse_ocr(facts.get("ocr", DEFAULT_OCR.mode), facts.get("ocr_languages", DEFAULT_OCR.languages))

    @property
    def label(self) -> tuple[str, ...]:
        """Return the metadata fields in the labels of passages, in addition to title and headings."""
        return tuple(filter(None, self.facts().get("label", "").split(",")))

    def record_facts(self, facts: dict[str, str]) -> None:
        """Record options of the index; later builds with other options are rejected."""
        if not facts.items() <= self.facts().items():
            with self.writing() as database:
                database.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    def record_skipped(self, skipped: Sequence[tuple[str, str]]) -> None:
        """Record the files and records (`file#record`) skipped by this run, with reasons."""
        recorded = json.dumps(sorted(skipped)[:_MAX_RECORDED_SKIPPED], ensure_ascii=False)
        if recorded != self.facts().get(SKIPPED_FACT, "[]"):
            self.record_facts({SKIPPED_FACT: recorded})
            self.changed = True

    def stored_document(self, identity: str) -> StoredDocument | None:
        """Return the stored document of an id, None if there is none."""
        row = self.database.execute("SELECT root, file, kind, digest FROM documents WHERE id = ?", [identity]).fetchone()
        return StoredDocument(*row) if row else None

    def write(self, entries: Iterable[DocumentEntry]) -> None:
        """Write documents, replacing those of the same ids."""
        listed = list(entries)
        if not listed:
            return
        with self.writing() as database:
            self._mark_changed()
            for entry in listed:
                database.execute(f"{_UNCOMPARED} WHERE document = ?", [entry.id])
                database.execute("DELETE FROM passages WHERE document = ?", [entry.id])
                row = [entry.id, entry.root, entry.file, entry.digest, entry.kind]
                database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", row)
                self._insert_passages(entry)
                if entry.kind:
                    database.execute(f"{_UNCOMPARED} WHERE document = ?", [entry.id])

    def _insert_passages(self, entry: DocumentEntry) -> None:
        sql = "INSERT INTO passages (id, document, label, text, metadata, digest, slot_key, hidden) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        leaves_out = bool(entry.kind) and self.clean
        for passage in entry.passages:
            digest = text_digest(embedded_text(passage.page_content, entry.label))
            hidden = passage.metadata.get("role") if leaves_out else None
            key = slot_key(entry.label, passage.page_content)
            row = [passage.id, entry.id, entry.label, passage.page_content, metadata_json(passage.metadata), digest, key, hidden]
            try:
                self.database.execute(sql, row)
            except sqlite3.IntegrityError as error:
                raise InputError(f"two passages have the id {passage.id!r}", "give records ids that do not end in ~NUMBER") from error

    def reassign(self, identity: str, root: str, file: str) -> None:
        """Move an unchanged document to another root and file; the previous file counts as unread."""
        with self.writing() as database:
            database.execute(f"{_UNCOMPARED} WHERE document = ?", [identity])
            database.execute("DELETE FROM files WHERE (root, source) IN (SELECT root, file FROM documents WHERE id = ?)", [identity])
            database.execute("UPDATE documents SET root = ?, file = ? WHERE id = ?", [root, file, identity])
            self.changed = True

    def missing_ids(self, roots: Iterable[str], seen: Iterable[str]) -> list[str]:
        """Return the ids of documents under the roots that are not in `seen`."""
        seen_ids = set(seen)
        sql = "SELECT id FROM documents WHERE root IN (SELECT value FROM json_each(?)) ORDER BY id"
        return [identity for (identity,) in self.database.execute(sql, [json.dumps(list(roots))]) if identity not in seen_ids]

    def remove(self, ids: Sequence[str]) -> None:
        """Remove documents with their passages, or single passages; a document without passages is removed."""
        without = "SELECT id FROM documents WHERE id NOT IN (SELECT document FROM passages)"
        if not ids and self.database.execute(f"{without} LIMIT 1").fetchone() is None:
            return
        with self.writing() as database:
            for identity in ids:
                database.execute(f"{_UNCOMPARED} WHERE document = ?1 OR id = ?1", [identity])
                removed = database.execute("DELETE FROM passages WHERE document = ?1 OR id = ?1", [identity]).rowcount
                if removed:
                    self._mark_changed()
            database.execute(f"DELETE FROM documents WHERE id IN ({without})")

    def unencoded_rows(self) -> list[int]:
        """Return one row of each text without a vector, the longest first, so that batches need little padding."""
        sql = """SELECT row FROM passages WHERE row IN (
            SELECT min(row) FROM passages WHERE hidden IS NULL AND digest NOT IN (SELECT digest FROM vectors) GROUP BY digest
        ) ORDER BY length(text) + length(label) DESC, 1"""
        return [row for (row,) in self.database.execute(sql)]

    def embedded_texts(self, rows: Sequence[int]) -> list[str]:
        """Return the texts to embed of some rows, in their order."""
        return embedded_texts(self.database, rows)

    def store_vectors(self, texts: Sequence[str], vectors: Matrix) -> None:
        """Store the vectors of embedded texts, shape (texts, dimension)."""
        pairs = [(text_digest(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with self.writing() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", pairs)
        self.changed = True

    def delete_unused(self) -> None:
        """Delete the vectors and sketches that no passage needs."""
        with self.writing() as database:
            for table, needed in (("vectors", "AND hidden IS NULL"), ("sketches", "")):
                unused = f"SELECT digest FROM {table} AS held WHERE NOT EXISTS (SELECT 1 FROM passages WHERE digest = held.digest {needed})"
                database.execute(f"DELETE FROM {table} WHERE digest IN ({unused})")

    def searchable_rows(self) -> tuple[Positions, Keys]:
        """Return the rows of the searchable passages, sorted by id, and their unique keys."""
        records = self.database.execute("SELECT row, slot_key FROM passages WHERE hidden IS NULL ORDER BY id").fetchall()
        rows, keys = np.array(records, dtype=np.int64).reshape(-1, 2).T
        return rows, unique_keys(keys)

    def hidden_counts(self) -> dict[str, int]:
        """Return the number of hidden passages by reason."""
        sql = "SELECT hidden, count(*) FROM passages WHERE hidden IS NOT NULL GROUP BY hidden ORDER BY hidden"
        return dict(self.database.execute(sql))

    def count(self, table: str) -> int:
        """Count the rows of a table."""
        return int(self.database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def count_files(self) -> int:
        """Return the number of files that documents are from; a file may have several, as a table has records."""
        sql = "SELECT count(*) FROM (SELECT DISTINCT root, file FROM documents WHERE file != '')"
        return int(self.database.execute(sql).fetchone()[0])

    def dimension(self) -> int | None:
        """Return the dimension of the vectors, None if there are none."""
        row = self.database.execute("SELECT length(vector) FROM vectors LIMIT 1").fetchone()
        return row[0] // np.dtype(np.float32).itemsize if row else None

    def sample_vectors(self, dimension: int) -> Matrix:
        """Return a reproducible sample of vectors, shape (n, dimension): the first by digest of their texts."""
        sampled = [vector for (vector,) in self.database.execute("SELECT vector FROM vectors ORDER BY digest LIMIT ?", [_BLOCK])]
        return np.frombuffer(b"".join(sampled), dtype="<f4").reshape(len(sampled), dimension)

    def vectors(self, rows: Positions, dimension: int) -> Iterator[Matrix]:
        """Yield the vectors of some rows in blocks of shape (rows, dimension)."""
        sql = "SELECT vector FROM passages JOIN vectors USING (digest) WHERE row = ?"
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK].tolist()
            content = b"".join(self.database.execute(sql, [row]).fetchone()[0] for row in block)
            yield np.frombuffer(content, dtype="<f4").reshape(len(block), dimension)


_ENCODING_FACTS = ("embedding", "query_prefix", "document_prefix")
"""Facts that vectors depend on in addition to the text."""


def open_writer(folder: Path, options: BuildOptions, resume: bool) -> IndexWriter:
    """Open the working copy: that of an interrupted run (`resume`), else a copy of the finished index, else a new one.

    IndexingError if the index was made with other options. A folder without a manifest cannot be opened as an index, so its passages are
    written in place.
    """
    manifest = _readable_manifest(folder)
    copy = working_copy(folder, manifest)
    if manifest is not None and copy.is_file() and not resume:
        _remove(copy)
    if manifest is not None and not copy.is_file() and is_whole(manifest, folder, PASSAGES):
        writer = IndexWriter(copy, folder / manifest.file(PASSAGES))
    else:
        writer = _open_undamaged(copy)
        writer.changed = manifest is not None
    try:
        check_settings(writer, options, str(folder))
    except RamifyError:
        writer.close()
        raise
    return writer


def _readable_manifest(folder: Path) -> Manifest | None:
    """Return the manifest, and delete a damaged one; LayoutError if the index has another layout."""
    try:
        return read_index_manifest(folder / MANIFEST)
    except LayoutError:
        raise
    except IndexingError:
        (folder / MANIFEST).unlink()
        return None


def _open_undamaged(path: Path) -> IndexWriter:
    """Open an index writer; a damaged file is replaced by a new one."""
    try:
        writer = IndexWriter(path)
        if writer.database.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
            return writer
        writer.close()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
    _remove(path)
    return IndexWriter(path)


def _remove(path: Path) -> None:
    path.unlink()
    path.with_name(path.name + "-journal").unlink(missing_ok=True)


def copy_vectors(writer: IndexWriter, path: Path) -> None:
    """Copy the vectors of another index if it has the same embedding and prefixes."""
    database = writer.writing()
    database.execute("ATTACH DATABASE ? AS other", [str(path.absolute())])
    with database:
        made, facts = dict(database.execute("SELECT name, value FROM other.facts")), writer.facts()
        if all(made.get(name) == facts.get(name) for name in _ENCODING_FACTS):
            database.execute("INSERT OR IGNORE INTO vectors SELECT digest, vector FROM other.vectors")
    database.execute("DETACH DATABASE other")


def check_settings(writer: IndexWriter, options: BuildOptions, where: str, other: str = "--out folder") -> None:
    """Raise IndexingError if the options differ from those of the index; record them in a new one."""
    made, encoder = writer.facts(), options.encoder
    made = made and {
        "label": "",
        "ocr": DEFAULT_OCR.mode,
        "ocr_languages": DEFAULT_OCR.languages,
        **made,
    }  # older indexes do not record these
    prefixes = (encoder.prefixes if made else default_prefixes(encoder)).as_facts()
    facts = options.facts() | prefixes
    different = [f"{name} {made[name]!r}, not {value!r}" for name, value in facts.items() if name in made and made[name] != value]
    if different:
        what = f"the index in {where!r} is made with {', '.join(different)}"
        raise IndexingError(what, f"use the same options, or another {other}")
    if not facts.keys() <= made.keys():
        writer.changed = writer.changed or bool(made)
        writer.record_facts(facts)
