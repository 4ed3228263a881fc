"""Keep in a draft which passages are twins of others, up to date with what it holds."""

import sqlite3
from pathlib import PurePath

import numpy as np

from ramify.tools.index.near_duplicates import Candidate, find_twins
from ramify.tools.index.shingles import Hashes, sampled, shingles, words_of
from ramify.tools.index.working_copy import Draft

_CANDIDATES = """
SELECT passages.id, root, json_extract(metadata, '$.source'), kind, label, passages.digest, sketch, iif(sketch IS NULL, text, NULL)
FROM passages JOIN documents ON documents.id = document LEFT JOIN sketches ON sketches.digest = passages.digest
WHERE kind != '' AND (hidden IS NULL OR hidden = 'twin')
"""


def hide_twins(draft: Draft) -> None:
    """Hide the passages that say again what another file says, and bring back those whose other file is gone or says it no more."""
    if draft.compared:
        return
    database = draft.database
    candidates = _candidates(database)
    twins = find_twins(candidates, lambda identity: _text(database, identity))
    held = dict(database.execute("SELECT id, twin_of FROM passages WHERE hidden = 'twin'"))
    gone = [(identity,) for identity in held if identity not in twins]
    new = [(visible, identity) for identity, visible in twins.items() if held.get(identity) != visible]
    with database:
        database.executemany("UPDATE passages SET hidden = NULL, twin_of = NULL WHERE id = ?", gone)
        database.executemany("UPDATE passages SET hidden = 'twin', twin_of = ? WHERE id = ?", new)
    draft.changed = draft.changed or bool(gone or new)
    draft.remember({"compared": "yes"})


def _candidates(database: sqlite3.Connection) -> list[Candidate]:
    """Return what may be or have a twin; samples are computed once for a text and kept."""
    found, new = [], {}
    for identity, root, source, kind, label, digest, sketch, text in database.execute(_CANDIDATES):
        sample = _sample(text) if sketch is None else np.frombuffer(sketch, dtype="<u8").astype(np.uint64)
        if sketch is None:
            new[digest] = sample.astype("<u8").tobytes()
        found.append(Candidate(identity, f"{PurePath(source).as_posix()}\0{root}", kind, label, sample))
    with database:
        database.executemany("INSERT OR REPLACE INTO sketches VALUES (?, ?)", new.items())
    return found


def _sample(text: str) -> Hashes:
    return sampled(shingles(words_of(text)))


def _text(database: sqlite3.Connection, identity: str) -> str:
    return str(database.execute("SELECT text FROM passages WHERE id = ?", [identity]).fetchone()[0])
