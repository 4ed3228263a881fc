"""The file beside the passages that an index of a further kind has: SQLite, written anew each time, read by many."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

Rows = Iterable[tuple[str, Iterable[tuple[object, ...]]]]
"""Each table with its rows."""


def write_tables(path: Path, schema: str, rows: Rows) -> None:
    """Write to an empty file."""
    with closing(sqlite3.connect(path.absolute())) as database, database:
        database.executescript(f"BEGIN; {schema} COMMIT;")
        for table, own in rows:
            listed = list(own)
            if listed:
                marks = ", ".join("?" * len(listed[0]))
                database.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)


def connected(path: Path) -> sqlite3.Connection:
    """Open a file that nobody writes to be read, by any thread."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def read_facts(path: Path) -> dict[str, str]:
    """Read what a file says of itself; nothing where there is none, or it cannot be read."""
    if not path.is_file():
        return {}
    try:
        with closing(connected(path)) as database:
            return dict(database.execute("SELECT name, value FROM facts ORDER BY name"))
    except sqlite3.DatabaseError:
        return {}
