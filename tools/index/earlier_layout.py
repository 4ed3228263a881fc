"""An index of another layout: known by what it says of itself, and good for its vectors."""

import sqlite3
from contextlib import closing
from pathlib import Path

from ramify.tools.index.working_copy import Draft

_MADE_BY = ("embedding", "query_prefix", "document_prefix")


def layout_of(path: Path) -> str | None:
    """Return the layout that a file of passages says it has, None where it is empty or cannot be read."""
    try:
        with closing(sqlite3.connect(path)) as database:
            found = database.execute("SELECT value FROM facts WHERE name = 'layout'").fetchone()
    except sqlite3.DatabaseError:
        return None
    return str(found[0]) if found else None


def take_vectors(draft: Draft, path: Path) -> None:
    """Take over the vectors of another index, or of one of another layout, where they are made the same way."""
    database = draft.database
    database.execute("ATTACH DATABASE ? AS earlier", [str(path)])
    with database:
        made, facts = dict(database.execute("SELECT name, value FROM earlier.facts")), draft.facts()
        if all(made.get(name) == facts.get(name) for name in _MADE_BY):
            database.execute("INSERT OR IGNORE INTO vectors SELECT digest, vector FROM earlier.vectors")
    database.execute("DETACH DATABASE earlier")
