"""The passages of an index in SQLite: the schema, and reading."""

import hashlib
import json
import re
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from math import isfinite
from pathlib import Path
from queue import SimpleQueue
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.chunking import embedded_text
from ramify.tools.index.folder import index_file, working_copy
from ramify.tools.index.full_text import search_words
from ramify.tools.index.manifest import PASSAGES, read_unfinished
from ramify.tools.user_input import check_text

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
    root TEXT NOT NULL, source TEXT NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, edition TEXT NOT NULL,
    skipped TEXT NOT NULL, path TEXT NOT NULL, remarks TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (root, source)
);
CREATE TABLE IF NOT EXISTS documents (
    id TEXT PRIMARY KEY, root TEXT NOT NULL, file TEXT NOT NULL, digest BLOB NOT NULL, kind TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS documents_of_file ON documents (root, file);
CREATE TABLE IF NOT EXISTS passages (
    row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL,
    label TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL, digest BLOB NOT NULL, slot_key INTEGER NOT NULL DEFAULT 0,
    hidden TEXT, twin_of TEXT
);
CREATE INDEX IF NOT EXISTS passages_shown ON passages (id, slot_key) WHERE hidden IS NULL;
CREATE INDEX IF NOT EXISTS passages_hidden ON passages (hidden) WHERE hidden IS NOT NULL;
CREATE INDEX IF NOT EXISTS passages_of_document ON passages (document);
CREATE INDEX IF NOT EXISTS passages_of_digest ON passages (digest, hidden);
CREATE INDEX IF NOT EXISTS passages_of_twin ON passages (twin_of) WHERE twin_of IS NOT NULL;
CREATE TABLE IF NOT EXISTS uncompared (digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sketches (digest BLOB PRIMARY KEY, sketch BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (label, text, content='passages', content_rowid='row', tokenize='porter unicode61');
CREATE TRIGGER IF NOT EXISTS words_added AFTER INSERT ON passages WHEN new.hidden IS NULL BEGIN
    INSERT INTO words (rowid, label, text) VALUES (new.row, searchable(new.label), searchable(new.text));
END;
CREATE TRIGGER IF NOT EXISTS words_removed AFTER DELETE ON passages WHEN old.hidden IS NULL BEGIN
    INSERT INTO words (words, rowid, label, text) VALUES ('delete', old.row, searchable(old.label), searchable(old.text));
END;
CREATE TRIGGER IF NOT EXISTS words_hidden AFTER UPDATE OF hidden ON passages WHEN old.hidden IS NULL AND new.hidden IS NOT NULL BEGIN
    INSERT INTO words (words, rowid, label, text) VALUES ('delete', old.row, searchable(old.label), searchable(old.text));
END;
CREATE TRIGGER IF NOT EXISTS words_shown AFTER UPDATE OF hidden ON passages WHEN old.hidden IS NOT NULL AND new.hidden IS NULL BEGIN
    INSERT INTO words (rowid, label, text) VALUES (new.row, searchable(new.label), searchable(new.text));
END;
INSERT INTO words (words, rank) SELECT 'rank', 'bm25(2.0, 1.0)' WHERE NOT EXISTS (SELECT 1 FROM words_config WHERE k = 'rank');
"""
"""Vectors are stored by the digest of the embedded text, so equal texts are encoded once; a title counts twice in BM25.

`uncompared`: digests of the passages of files added or deleted since the last search for duplicates.
`slot_key`: identifies the passage's slot in vectors and postings (`hnsw.SlotMap`); it changes with text and label.
`searchable`: an SQL function that a writer of passages has to register (`full_text.segment_words`).
`hidden`: the reason why a passage is stored but not searched; it has no vector and no words. The value `twin` marks a duplicate, and
`twin_of` the passage searched in its place.
`kind`: the suffix of the document's file; "" for a record and for a document added by a program.
"""

SKIPPED_FACT = "left_out"
"""The fact with the files skipped by the last run."""


class StoredDocument(NamedTuple):
    """A stored document: its root path, its file's source and kind, and the digest of its content."""

    root: str
    file: str
    kind: str
    digest: bytes


class DocumentEntry(NamedTuple):
    """A document to be written, with its passages and their common label.

    kind: the suffix of its file; "" for a record and for a document added by a program, which are never hidden.
    """

    id: str
    root: str
    file: str
    digest: bytes
    label: str
    passages: Sequence[Document]
    kind: str = ""


def metadata_json(metadata: dict[str, Any]) -> str:
    """Return metadata as JSON; unsupported types become text, NaN and infinity become null."""
    try:
        return json.dumps(metadata, default=str, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(metadata, default=str), parse_constant=lambda _: None)
        return json.dumps(finite)


def document_id(passage: str) -> str:
    """Return the id of the document that a passage's id belongs to: "guide~3" is a passage of "guide"."""
    return re.sub(r"~\d+$", "", passage)


def with_id(document: Document) -> Document:
    """Return the document with its id, or with one derived from its source and text."""
    if document.id:
        return document
    content = f"{document.metadata.get('source', '')}\0{document.page_content}"
    return document.model_copy(update={"id": hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]})


def to_documents(texts: Sequence[str], metadatas: Sequence[dict[str, Any]] | None, ids: Sequence[str | None] | None) -> list[Document]:
    """Return texts as documents with ids."""
    parts = zip(texts, metadatas or [{} for _ in texts], ids or [None for _ in texts], strict=True)
    return [with_id(Document(text, id=identity, metadata=metadata)) for text, metadata, identity in parts]


def text_digest(text: str) -> bytes:
    """Return the sha256 of a text, the key of its vector."""
    return hashlib.sha256(text.encode()).digest()


def slot_key(label: str, text: str) -> int:
    """Return the 64-bit key of a passage's slot."""
    return int.from_bytes(text_digest(f"{label}\0{text}")[:8], "little", signed=True)


def document_digest(document: Document) -> bytes:
    """Return a digest that changes with a document's text or metadata."""
    content = [document.page_content, document.metadata]
    return text_digest(json.dumps(content, sort_keys=True, default=str))


Filter = Mapping[str, Any]
"""Metadata fields with the required value or list of values; a list field matches by any of its members."""

Rows = NDArray[np.int64]


_PATHS = """
LEFT JOIN documents ON documents.id = passages.document
LEFT JOIN files ON files.root = documents.root AND files.source = documents.file
"""
_PASSAGES = f"SELECT row, passages.id, text, metadata, path FROM passages {_PATHS} WHERE row IN (SELECT value FROM json_each(?))"
_DUPLICATES = f"""
SELECT twin_of, metadata, path FROM passages {_PATHS}
WHERE twin_of IN (SELECT id FROM passages WHERE row IN (SELECT value FROM json_each(?))) ORDER BY passages.id
"""
_ALL_DUPLICATES = f"SELECT twin_of, metadata, path FROM passages {_PATHS} WHERE twin_of IS NOT NULL ORDER BY passages.id"
_SEARCHABLE = f"SELECT passages.id, document, label, text, metadata, passages.digest, path FROM passages {_PATHS} WHERE hidden IS NULL"
_LOCATION_FIELDS = ("source", "page", "heading", "fragment")
"""Metadata that locates a duplicate, in addition to the path of its file."""

_MAX_INTEGER = 2**63 - 1
"""Larger integers are not exact in SQLite."""
_MATCHING = """SELECT row FROM passages WHERE hidden IS NULL AND (:among IS NULL OR row IN (SELECT value FROM json_each(:among)))
AND EXISTS (SELECT 1 FROM json_each(metadata) AS field WHERE field.key = :name AND (
    field.type NOT IN ('array', 'object') AND (field.value IN (SELECT value FROM json_each(:choices)) OR :none AND field.type = 'null')
    OR field.type = 'array' AND EXISTS (SELECT 1 FROM json_each(field.value) AS member WHERE
        member.value IN (SELECT value FROM json_each(:choices)) OR :none AND member.type = 'null')))
ORDER BY row"""
"""The passages whose field has one of the values, which are bound as parameters."""

_CONNECTIONS = 4
"""Number of threads that may read a store at the same time."""


def open_readonly(path: Path, growing: bool = False) -> sqlite3.Connection:
    """Open a file of an index read-only, for any thread; a published one is replaced, never changed in place, but not a `growing` one."""
    fixed = "" if growing else "&immutable=1"
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{fixed}", uri=True, check_same_thread=False)


@contextmanager
def opened_passages(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the passages of an index for reading, and close them; IndexingError if there are none, or they are damaged."""
    growing = read_unfinished(folder) is not None
    path = working_copy(folder, None) if growing else index_file(folder, PASSAGES)
    try:
        with closing(open_readonly(path, growing)) as database:
            yield database
    except sqlite3.Error as error:
        if growing and isinstance(error, sqlite3.OperationalError):  # locked by a commit, or left by a killed build
            raise IndexingError(f"the index in {str(folder)!r} is being written", "try again, or run `ramify index` again") from error
        raise IndexingError(f"{str(path)!r} is damaged ({error})", "index again the documents that it was made of") from error


def embedded_texts(database: sqlite3.Connection, rows: Sequence[int]) -> list[str]:
    """Return the texts to embed of some rows, in their order."""
    sql = "SELECT row, text, label FROM passages WHERE row IN (SELECT value FROM json_each(?))"
    texts = {row: embedded_text(text, label) for row, text, label in database.execute(sql, [json.dumps(list(rows))])}
    return [texts[row] for row in rows]


class PassageStore:
    """Reads the passages of a finished index, or of one whose vectors are still being computed (`growing`); thread-safe.

    All connections are opened at once, so they keep reading the same file when it is replaced.
    """

    def __init__(self, path: Path, growing: bool = False) -> None:
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        for _ in range(_CONNECTIONS):
            connection = open_readonly(path, growing)
            weakref.finalize(self, connection.close)
            self._idle.put(connection)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Yield an idle connection."""
        connection = self._idle.get()
        try:
            yield connection
        finally:
            self._idle.put(connection)

    def rows(self) -> Rows:
        """Return the rows of the searchable passages by position, that is, sorted by id."""
        sql = "SELECT row FROM passages WHERE hidden IS NULL ORDER BY id"
        with self.connection() as connection:
            return np.fromiter((row for (row,) in connection.execute(sql)), dtype=np.int64)

    def ids(self) -> list[str]:
        """Return the ids of the searchable passages by position, that is, sorted."""
        with self.connection() as connection:
            return [id for (id,) in connection.execute("SELECT id FROM passages WHERE hidden IS NULL ORDER BY id")]

    def passages(self, rows: Sequence[int]) -> list[Document]:
        """Return the passages of some rows, with the `path` of their file and, in `also`, the locations of their duplicates."""
        wanted = [json.dumps(list(rows))]
        with self.connection() as connection:
            stored = {row: rest for row, *rest in connection.execute(_PASSAGES, wanted)}
            duplicates = connection.execute(_DUPLICATES, wanted).fetchall()
        also = _duplicate_locations(duplicates) if duplicates else {}
        return [
            Document(text, id=identity, metadata=json.loads(metadata) | _without_empty(path=path, also=also.get(identity)))
            for identity, text, metadata, path in map(stored.__getitem__, rows)
        ]

    def sections(self, rows: Sequence[int]) -> list[tuple[str, str]]:
        """Return the document id and the headings of each row, "" if there are none."""
        sql = "SELECT row, document, coalesce(metadata ->> '$.heading', '') FROM passages WHERE row IN (SELECT value FROM json_each(?))"
        with self.connection() as connection:
            places = {row: (document, heading) for row, document, heading in connection.execute(sql, [json.dumps(list(rows))])}
        return [places[row] for row in rows]

    def vectors(self, rows: Sequence[int], dimension: int) -> NDArray[np.float32]:
        """Return the full-precision vectors of some rows, shape (rows, dimension)."""
        sql = "SELECT row, vector FROM passages JOIN vectors USING (digest) WHERE row IN (SELECT value FROM json_each(?))"
        with self.connection() as connection:
            vector_of = dict(connection.execute(sql, [json.dumps(list(rows))]))
        return np.frombuffer(b"".join(vector_of[row] for row in rows), dtype="<f4").reshape(len(rows), dimension)

    def rows_by_id(self, ids: Sequence[str]) -> list[int]:
        """Return the rows of the ids that exist, in the order of `ids`."""
        sql = "SELECT id, row FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        with self.connection() as connection:
            known: dict[str, int] = dict(connection.execute(sql, [json.dumps(list(ids))]))
        return [known[identity] for identity in ids if identity in known]

    def rows_matching(self, where: Filter) -> Rows:
        """Return the rows whose metadata match a filter; each field narrows the rows of the previous ones."""
        matching: list[int] | None = None
        with self.connection() as connection:
            for name, wanted in where.items():
                choices = filter_choices(name, wanted)
                parameters = {
                    "name": name,
                    "choices": json.dumps(choices),
                    "none": None in choices,
                    "among": matching and json.dumps(matching),
                }
                matching = [row for (row,) in connection.execute(_MATCHING, parameters)] if matching != [] else []
        return self.rows() if matching is None else np.array(matching, dtype=np.int64)

    def fields(self) -> list[str]:
        """Return the sorted metadata fields of all searchable passages; reads every passage."""
        sql = "SELECT DISTINCT field.key FROM passages, json_each(metadata) AS field WHERE hidden IS NULL ORDER BY 1"
        with self.connection() as connection:
            return [name for (name,) in connection.execute(sql)]

    def by_words(self, query: str, limit: int, among: Rows | None = None) -> list[tuple[int, float]]:
        """Return the best rows with their BM25 as in FTS5 (lower is better), of all or of `among`."""
        words = " OR ".join(f'"{word}"' for word in search_words(query))  # matches any of them; quoted, so that none is an operator of FTS5
        if not words:
            return []
        parameters = [words] if among is None else [words, json.dumps(among.tolist())]
        condition = "" if among is None else "AND rowid IN (SELECT value FROM json_each(?))"
        with self.connection() as connection:
            return connection.execute(
                f"SELECT rowid, rank FROM words WHERE words MATCH ? {condition} ORDER BY rank LIMIT ?", [*parameters, limit]
            ).fetchall()


class SearchedPassage(NamedTuple):
    """A searchable passage in the form for other stores. metadata, known: JSON.

    known: the path of its file, and the locations of its duplicates.
    """

    id: str
    document: str
    label: str
    text: str
    metadata: str
    digest: str
    known: str


def searched_passages(database: sqlite3.Connection) -> Iterator[SearchedPassage]:
    """Yield all searchable passages."""
    also = _duplicate_locations(database.execute(_ALL_DUPLICATES))
    for id, document, label, text, metadata, digest, path in database.execute(_SEARCHABLE):
        known = json.dumps(_without_empty(path=path, also=also.get(id)), sort_keys=True)
        yield SearchedPassage(id, document, label, text, metadata, digest.hex(), known)


def _without_empty(**metadata: Any) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if value}


def _duplicate_locations(duplicates: Iterable[tuple[str, str, str | None]]) -> dict[str, list[dict[str, Any]]]:
    places: dict[str, list[dict[str, Any]]] = {}
    for visible, metadata, path in duplicates:
        stored = json.loads(metadata)
        place = {name: stored[name] for name in _LOCATION_FIELDS if name in stored} | _without_empty(path=path)
        if place not in places.setdefault(visible, []):
            places[visible].append(place)
    return places


def filter_choices(name: str, wanted: Any) -> list[Any]:
    """Return the values a filter allows for a field; UsageError for values that metadata cannot have."""
    choices = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
    for choice in (name, *choices):
        if not isinstance(choice, (str, int, float, NoneType)):
            raise UsageError(f"cannot filter {name!r} by {choice!r}", "give a text, a number, True, False, None, or a list of these")
        if isinstance(choice, int) and not -_MAX_INTEGER <= choice <= _MAX_INTEGER:
            what = f"cannot filter {name!r} by the integer {choice!r}, beyond {_MAX_INTEGER:,}"
            raise UsageError(what, "give a smaller one, or a string if the metadata has it as text")
        if isinstance(choice, str) and "\0" in check_text(choice):
            raise UsageError(f"cannot filter {name!r} by {choice!r}", "give a text without the character NUL")
    return [choice for choice in choices if not isinstance(choice, float) or isfinite(choice)]  # others are null in metadata


def has_remarks(database: sqlite3.Connection) -> bool:
    """Return whether remarks on files are stored; earlier versions did not."""
    return any(name == "remarks" for _, name, *_ in database.execute("PRAGMA table_info(files)"))
