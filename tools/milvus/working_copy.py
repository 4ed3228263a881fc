"""The working copy of a corpus in Milvus: a draft as an index in a folder has one, without vectors and words, read back for each build."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.working_copy import Draft
from ramify.tools.milvus.collections import Store
from ramify.tools.milvus.ledger import Entry

FACTS, DOCUMENT, FILE, HIDDEN = "facts", "document", "file", "hidden"
"""The kinds of entries in the ledger: how the index is made, its documents, their files, and the passages that are not searched."""
KINDS = frozenset({FACTS, DOCUMENT, FILE, HIDDEN})
_LONGEST_LIST = 200
"""Of what was left out of one file so many are remembered."""


@contextmanager
def working_copy(store: Store, documents: Sequence[str] | None = None) -> Iterator[Draft]:
    """Read a corpus, or some of its documents, into a draft that goes with the block."""
    with TemporaryDirectory(prefix="ramify-milvus-") as folder, Draft(Path(folder) / PASSAGES) as draft:
        draft.database.executescript("PRAGMA synchronous = OFF; DROP TRIGGER words_added; DROP TRIGGER words_removed;")
        draft.database.executescript("DROP TRIGGER words_hidden; DROP TRIGGER words_shown;")
        if store.exists():
            _read(store, draft, documents)
        draft.changed = False
        yield draft


def _read(store: Store, draft: Draft, documents: Sequence[str] | None) -> None:
    entries = [one for one in store.entries() if documents is None or one.kind not in (DOCUMENT, HIDDEN) or one.document in documents]
    known = {one.document for one in entries if one.kind == DOCUMENT}
    draft.remember(next((one.value for one in entries if one.kind == FACTS), {}))
    _insert(draft, "documents", [_with_digest(one.value) for one in entries if one.kind == DOCUMENT])
    _insert(draft, "files", [one.value for one in entries if one.kind == FILE])
    _insert(draft, "passages", [_with_digest(one.value | {"text": one.text}) for one in entries if one.kind == HIDDEN])
    shown = (row._asdict() for row in store.rows(documents) if row.document in known)  # others an interrupted build has left
    columns = ("id", "document", "label", "text", "metadata", "digest")
    _insert(draft, "passages", (_with_digest({name: row[name] for name in columns}) for row in shown))


def _with_digest(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "digest": bytes.fromhex(value["digest"])}


def _insert(draft: Draft, table: str, rows: Iterable[dict[str, Any]]) -> None:
    found = iter(rows)
    first = next(found, None)
    if first is None:
        return
    names = ", ".join(first)
    marks = ", ".join(f":{name}" for name in first)
    with draft.database as database:
        database.executemany(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", chain([first], found))


def entries_of(draft: Draft) -> Iterator[Entry]:
    """List what the ledger is to hold of a draft."""
    yield Entry(FACTS, FACTS, "", dict(draft.facts()))
    for row in _rows(draft, "SELECT id, root, file, digest, kind FROM documents"):
        yield Entry(f"{DOCUMENT} {row['id']}", DOCUMENT, row["id"], {**row, "digest": row["digest"].hex()})
    for row in _rows(draft, "SELECT root, source, size, changed_ns, edition, skipped, path FROM files"):
        kept = json.dumps(json.loads(row["skipped"])[:_LONGEST_LIST])
        yield Entry(f"{FILE} {row['root']} {row['source']}", FILE, "", {**row, "skipped": kept})
    hidden = "SELECT id, document, label, text, metadata, digest, hidden, twin_of FROM passages WHERE hidden IS NOT NULL"
    for row in _rows(draft, hidden):
        value = {name: one for name, one in row.items() if name != "text"}
        yield Entry(f"{HIDDEN} {row['id']}", HIDDEN, row["document"], {**value, "digest": row["digest"].hex()}, row["text"])


def _rows(draft: Draft, sql: str) -> Iterator[dict[str, Any]]:
    found = draft.database.execute(sql)
    names = [column[0] for column in found.description]
    return (dict(zip(names, row, strict=True)) for row in found)
