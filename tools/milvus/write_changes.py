"""Bring a corpus in Milvus in line with its working copy: write what is new or changed, then take away what is gone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple, TypeVar

import numpy as np

from ramify.tools.index.build import Wanted
from ramify.tools.index.chunking import embedded_text
from ramify.tools.index.passage_store import shown_passages
from ramify.tools.index.working_copy import Draft
from ramify.tools.milvus.collections import Store
from ramify.tools.milvus.ledger import Entry
from ramify.tools.milvus.rows import Row
from ramify.tools.milvus.working_copy import KINDS, entries_of

T = TypeVar("T")


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
