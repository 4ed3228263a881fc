"""The working copy of a corpus in Milvus, without vectors and words: read back for each build, and what differs then written.

What is new or changed is written before what is gone is taken away.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ramify.tools.index.build import Wanted
from ramify.tools.index.chunking import embedded_text
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.passage_store import shown_passages
from ramify.tools.index.working_copy import Draft
from ramify.tools.milvus.collections import Store
from ramify.tools.milvus.ledger import Entry
from ramify.tools.milvus.schema import Row

T = TypeVar("T")
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


class Differences(NamedTuple):
    """What a corpus lacks: rows to be encoded, rows whose vector is there under the id named, and ids that are gone."""

    fresh: list[Row]
    kept: list[tuple[Row, str]]
    gone: list[str]


def differences(store: Store, draft: Draft, documents: Sequence[str] | None = None) -> Differences:
    """Compare a draft with the corpus, or with some documents of it; a text that is there already is not encoded again."""
    held = store.states(documents) if store.exists() else {}
    rows = {passage.id: Row.of(passage) for passage in shown_passages(draft.database)}
    lasting = {digest: id for id, (digest, _) in held.items() if id not in rows or rows[id].digest == digest}
    fresh, kept = [], []
    for id, row in rows.items():
        digest, state = held.get(id, ("", ""))
        source = id if digest == row.digest else lasting.get(row.digest)
        if source is None:
            fresh.append(row)
        elif source != id or state != row.state:
            kept.append((row, source))
    # The longest first, and the same text side by side: texts of like length are encoded together, and none twice.
    fresh.sort(key=lambda row: (-len(row.text) - len(row.label), row.digest, row.id))
    return Differences(fresh, kept, sorted(held.keys() - rows.keys()))


def push_passages(store: Store, lacking: Differences, wanted: Wanted, alive: Callable[[], None]) -> int:
    """Write and remove what differs, batch by batch; return how many texts were encoded. `alive` is called with each batch."""
    for batch in _batches(lacking.kept, wanted.batch_size):
        vectors = store.vectors([source for _, source in batch])
        store.write([row for row, _ in batch], np.stack([vectors[source] for _, source in batch]))
        alive()
    encoded = done = 0
    batches = list(_batches(lacking.fresh, wanted.batch_size))
    with closing(wanted.encoding(wanted.encoder, (list(_texts(rows).values()) for rows in batches))) as made:
        for rows, (texts, encoded_now) in zip(batches, made, strict=True):
            of_digest = dict(zip(_texts(rows), encoded_now, strict=True))
            store.write(rows, np.stack([of_digest[row.digest] for row in rows]))
            encoded, done = encoded + len(texts), done + len(rows)
            wanted.progress(done, len(lacking.fresh), "passages")
            alive()
    store.remove(lacking.gone)
    return encoded


def _texts(rows: Sequence[Row]) -> dict[str, str]:
    """Give what is to be embedded, each text once, by its digest."""
    return {row.digest: embedded_text(row.text, row.label) for row in rows}


def push_ledger(store: Store, draft: Draft, documents: Sequence[str] | None = None) -> list[Entry]:
    """Write what the ledger lacks of a draft, and strike what is gone; with documents, of nothing but these. Give what it holds now."""
    held = {one.name: one for one in store.entries()}
    wanted = {one.name: one for one in entries_of(draft)}
    store.note(one for name, one in wanted.items() if held.get(name) != one)
    mine = {name for name, one in held.items() if one.kind in KINDS and (documents is None or one.document in documents)}
    gone = mine - wanted.keys()
    store.strike(sorted(gone))
    return [one for name, one in (held | wanted).items() if name not in gone]


def _batches(of: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (of[start : start + size] for start in range(0, len(of), size))
