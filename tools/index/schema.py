"""The tables of `passages.sqlite`, and the ids and digests of what they hold."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document

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
    label TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL, digest BLOB NOT NULL,
    hidden TEXT, twin_of TEXT
);
CREATE INDEX IF NOT EXISTS passages_shown ON passages (id) WHERE hidden IS NULL;
CREATE INDEX IF NOT EXISTS passages_of_document ON passages (document);
CREATE INDEX IF NOT EXISTS passages_of_digest ON passages (digest);
CREATE INDEX IF NOT EXISTS passages_of_twin ON passages (twin_of) WHERE twin_of IS NOT NULL;
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


def document_digest(document: Document) -> bytes:
    """Return a digest that changes with a document's text or metadata."""
    content = [document.page_content, document.metadata]
    return text_digest(json.dumps(content, sort_keys=True, default=str))
