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

from ramify.tools.errors import UsageError
from ramify.tools.index.full_text import query_words
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.user_input import check_text

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
    root TEXT NOT NULL, source TEXT NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, edition TEXT NOT NULL,
    skipped TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (root, source)
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
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.0)');
"""
"""Vectors are kept by the digest of the text embedded, so the same text is never encoded twice; a title counts twice in BM25.

`uncompared` has the digests of the passages of files that came or went since twins were looked for.

`slot_key` is what a passage's place among vectors and words is known by (`slots.Slots`): it changes with text and label.

What is searched by words is written by `full_text.searchable`, so whoever writes passages has to give SQLite that function.

A passage with a reason in `hidden` is kept and not searched: it has no vector and is not among the words. A twin names in `twin_of` the
passage searched in its place. A document's kind is the ending of its file's name, and "" for a record and for what a program handed over.
"""

LEFT_OUT = "left_out"
"""The fact that lists what the last run left out."""


class StoredDocument(NamedTuple):
    """A stored document: the path it was given under, its file's source and kind, and the digest of its content."""

    root: str
    file: str
    kind: str
    digest: bytes


class DocumentEntry(NamedTuple):
    """A document to be written: where it was found, its passages, and the label each is embedded under.

    kind: the ending of its file's name; "" for a record and for what a program handed over, which are always searched.
    """

    id: str
    root: str
    file: str
    digest: bytes
    label: str
    passages: Sequence[Document]
    kind: str = ""


def metadata_json(metadata: dict[str, Any]) -> str:
    """Write metadata as JSON; what JSON has no form for becomes text, what is no number becomes null."""
    try:
        return json.dumps(metadata, default=str, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(metadata, default=str), parse_constant=lambda _: None)
        return json.dumps(finite)


def document_of(passage: str) -> str:
    """Return the id of the document that a passage's id belongs to: "guide~3" is a passage of "guide"."""
    return re.sub(r"~\d+$", "", passage)


def identified(document: Document) -> Document:
    """Return the document with an id: its own, else one that the same text from the same source always gets."""
    if document.id:
        return document
    content = f"{document.metadata.get('source', '')}\0{document.page_content}"
    return document.model_copy(update={"id": hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]})


def documents_of(texts: Sequence[str], metadatas: Sequence[dict[str, Any]] | None, ids: Sequence[str | None] | None) -> list[Document]:
    """Return texts as documents, each with an id."""
    parts = zip(texts, metadatas or [{} for _ in texts], ids or [None for _ in texts], strict=True)
    return [identified(Document(text, id=identity, metadata=metadata)) for text, metadata, identity in parts]


def text_digest(text: str) -> bytes:
    """Return the digest that a text's vector is kept under."""
    return hashlib.sha256(text.encode()).digest()


def slot_key(label: str, text: str) -> int:
    """Return what a passage's slot is known by."""
    return int.from_bytes(text_digest(f"{label}\0{text}")[:8], "little", signed=True)


def document_digest(document: Document) -> bytes:
    """Return a digest that changes with a document's text or metadata."""
    content = [document.page_content, document.metadata]
    return text_digest(json.dumps(content, sort_keys=True, default=str))


Filter = Mapping[str, Any]
"""Metadata fields and the value, or list of values, each must have; a field that is a list has each of its members."""

Rows = NDArray[np.int64]


_PATHS = """
LEFT JOIN documents ON documents.id = passages.document
LEFT JOIN files ON files.root = documents.root AND files.source = documents.file
"""
_PASSAGES = f"SELECT row, passages.id, text, metadata, path FROM passages {_PATHS} WHERE row IN (SELECT value FROM json_each(?))"
_TWINS = f"""
SELECT twin_of, metadata, path FROM passages {_PATHS}
WHERE twin_of IN (SELECT id FROM passages WHERE row IN (SELECT value FROM json_each(?))) ORDER BY passages.id
"""
_ALL_TWINS = f"SELECT twin_of, metadata, path FROM passages {_PATHS} WHERE twin_of IS NOT NULL ORDER BY passages.id"
_SHOWN = f"SELECT passages.id, document, label, text, metadata, passages.digest, path FROM passages {_PATHS} WHERE hidden IS NULL"
_PLACE = ("source", "page", "heading", "fragment")
"""What says where a twin stands, beside the path of its file."""

_LARGEST = 2**63 - 1
"""Whole numbers beyond are no longer exact in SQLite."""
_MATCHING = """SELECT row FROM passages WHERE hidden IS NULL AND (:among IS NULL OR row IN (SELECT value FROM json_each(:among)))
AND EXISTS (SELECT 1 FROM json_each(metadata) AS field WHERE field.key = :name AND (
    field.type NOT IN ('array', 'object') AND (field.value IN (SELECT value FROM json_each(:choices)) OR :none AND field.type = 'null')
    OR field.type = 'array' AND EXISTS (SELECT 1 FROM json_each(field.value) AS member WHERE
        member.value IN (SELECT value FROM json_each(:choices)) OR :none AND member.type = 'null')))
ORDER BY row"""
"""The passages whose field has one of the values: all are bound, so there may be any number of them, and none is written into the SQL."""

_CONNECTIONS = 4
"""Threads that may read one store at the same time; others wait for them."""


def connected(path: Path) -> sqlite3.Connection:
    """Open a file of an index to be read, by any thread; it is replaced, never changed in place."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


class PassageStore:
    """Read the passages of a finished index from any thread.

    All connections are opened here, at once: they go on reading the file as it is now when a newer one takes its place.
    """

    def __init__(self, path: Path) -> None:
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        for _ in range(_CONNECTIONS):
            connection = connected(path)
            weakref.finalize(self, connection.close)
            self._idle.put(connection)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = self._idle.get()
        try:
            yield connection
        finally:
            self._idle.put(connection)

    def rows(self) -> Rows:
        """Return all rows that are searched, in order of passage id: those of the positions."""
        sql = "SELECT row FROM passages WHERE hidden IS NULL ORDER BY id"
        with self._connection() as connection:
            return np.fromiter((row for (row,) in connection.execute(sql)), dtype=np.int64)

    def ids(self) -> list[str]:
        """Return the ids of all passages that are searched, in their order: those of the positions."""
        with self._connection() as connection:
            return [id for (id,) in connection.execute("SELECT id FROM passages WHERE hidden IS NULL ORDER BY id")]

    def passages(self, rows: Sequence[int]) -> list[Document]:
        """Return the passages of some rows, with the path of their file; one that has twins names their places in `also`."""
        wanted = [json.dumps(list(rows))]
        with self._connection() as connection:
            found = {row: rest for row, *rest in connection.execute(_PASSAGES, wanted)}
            twins = connection.execute(_TWINS, wanted).fetchall()
        also = _twin_locations(twins) if twins else {}
        return [
            Document(text, id=identity, metadata=json.loads(metadata) | _present(path=path, also=also.get(identity)))
            for identity, text, metadata, path in map(found.__getitem__, rows)
        ]

    def sections(self, rows: Sequence[int]) -> list[tuple[str, str]]:
        """Return the document of each row and the headings above it, "" where there are none."""
        sql = "SELECT row, document, coalesce(metadata ->> '$.heading', '') FROM passages WHERE row IN (SELECT value FROM json_each(?))"
        with self._connection() as connection:
            found = {row: (document, heading) for row, document, heading in connection.execute(sql, [json.dumps(list(rows))])}
        return [found[row] for row in rows]

    def vectors(self, rows: Sequence[int], dimension: int) -> NDArray[np.float32]:
        """Return the vectors of some rows as they were encoded, shape (rows, dimension)."""
        sql = "SELECT row, vector FROM passages JOIN vectors USING (digest) WHERE row IN (SELECT value FROM json_each(?))"
        with self._connection() as connection:
            found = dict(connection.execute(sql, [json.dumps(list(rows))]))
        return np.frombuffer(b"".join(found[row] for row in rows), dtype="<f4").reshape(len(rows), dimension)

    def rows_of(self, ids: Sequence[str]) -> list[int]:
        """Return the rows of the ids that exist, in the order asked for."""
        sql = "SELECT id, row FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        with self._connection() as connection:
            found: dict[str, int] = dict(connection.execute(sql, [json.dumps(list(ids))]))
        return [found[identity] for identity in ids if identity in found]

    def matching(self, where: Filter) -> Rows:
        """Return the rows whose metadata pass a filter: each field is looked for among the rows that are left."""
        found: list[int] | None = None
        with self._connection() as connection:
            for name, wanted in where.items():
                choices = choices_of(name, wanted)
                given = {"name": name, "choices": json.dumps(choices), "none": None in choices, "among": found and json.dumps(found)}
                found = [row for (row,) in connection.execute(_MATCHING, given)] if found != [] else []
        return self.rows() if found is None else np.array(found, dtype=np.int64)

    def fields(self) -> list[str]:
        """List the fields of metadata that any passage has that is searched; each passage is looked at."""
        sql = "SELECT DISTINCT field.key FROM passages, json_each(metadata) AS field WHERE hidden IS NULL ORDER BY 1"
        with self._connection() as connection:
            return [name for (name,) in connection.execute(sql)]

    def by_words(self, query: str, limit: int, among: Rows | None = None) -> list[tuple[int, float]]:
        """Return the best rows by BM25 with their scores (lower is better), of all or of some."""
        words = " OR ".join(f'"{word}"' for word in query_words(query))  # any of them; quoted, so that none is an operator of FTS5
        if not words:
            return []
        given = [words] if among is None else [words, json.dumps(among.tolist())]
        within = "" if among is None else "AND rowid IN (SELECT value FROM json_each(?))"
        with self._connection() as connection:
            return connection.execute(
                f"SELECT rowid, rank FROM words WHERE words MATCH ? {within} ORDER BY rank LIMIT ?", [*given, limit]
            ).fetchall()


class SearchedPassage(NamedTuple):
    """A passage that is searched, as another store is to have it. metadata, known: JSON.

    known: the path of its file, and where its twins stand.
    """

    id: str
    document: str
    label: str
    text: str
    metadata: str
    digest: str
    known: str


def searched_passages(database: sqlite3.Connection) -> Iterator[SearchedPassage]:
    """Read all passages that are searched."""
    also = _twin_locations(database.execute(_ALL_TWINS))
    for id, document, label, text, metadata, digest, path in database.execute(_SHOWN):
        known = json.dumps(_present(path=path, also=also.get(id)), sort_keys=True)
        yield SearchedPassage(id, document, label, text, metadata, digest.hex(), known)


def _present(**metadata: Any) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if value}


def _twin_locations(twins: Iterable[tuple[str, str, str | None]]) -> dict[str, list[dict[str, Any]]]:
    places: dict[str, list[dict[str, Any]]] = {}
    for visible, metadata, path in twins:
        held = json.loads(metadata)
        place = {name: held[name] for name in _PLACE if name in held} | _present(path=path)
        if place not in places.setdefault(visible, []):
            places[visible].append(place)
    return places


def choices_of(name: str, wanted: Any) -> list[Any]:
    """List the values that a filter lets a field have; UsageError for what is none, or no metadata can have."""
    choices = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
    for choice in (name, *choices):
        if not isinstance(choice, (str, int, float, NoneType)):
            raise UsageError(f"cannot filter {name!r} by {choice!r}", "give a text, a number, True, False, None, or a list of these")
        if isinstance(choice, int) and not -_LARGEST <= choice <= _LARGEST:
            what = f"cannot filter {name!r} by a whole number beyond {_LARGEST:,}"
            raise UsageError(what, "give a smaller one, or a text where the metadata has it as text")
        if isinstance(choice, str) and "\0" in check_text(choice):
            raise UsageError(f"cannot filter {name!r} by {choice!r}", "give a text without the character NUL")
    return [choice for choice in choices if not isinstance(choice, float) or isfinite(choice)]  # others are null in metadata


_COUNTED = """
SELECT documents.root, documents.file, hidden, count(*) FROM documents LEFT JOIN passages ON passages.document = documents.id
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


class ListedFile(NamedTuple):
    """A file, or the source that records name: the path it was found under, and its passages."""

    root: str
    source: str
    searched: int
    left_out: Mapping[str, int]
    """How many of its passages are not searched, by their role (`contents`, `legal`, …) or `twin` where the text stands elsewhere."""


class FileList(NamedTuple):
    """The files of an index, in order of their names, and what its last build left out: (name, reason)."""

    files: tuple[ListedFile, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


def listed_files(folder: Path) -> FileList:
    """Read the list of an index; blocking."""
    with closing(connected(folder / PASSAGES)) as database:
        found: dict[tuple[str, str], dict[str | None, int]] = {}
        for root, source, hidden, count in database.execute(_COUNTED):
            found.setdefault((root, source), {})[hidden] = count
        fact = database.execute("SELECT value FROM facts WHERE name = ?", [LEFT_OUT]).fetchone()
    files = tuple(
        ListedFile(root, source, counts.get(None, 0), {role: count for role, count in counts.items() if role is not None})
        for (root, source), counts in found.items()
    )
    return FileList(files, tuple((name, reason) for name, reason in json.loads(fact[0])) if fact else ())
