"""The files of an index in a folder: how many passages each gave, which of them are not searched and why, and what was left out."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.schema import LEFT_OUT

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


class Listed(NamedTuple):
    """The files of an index, in order of their names, and what its last build left out: (name, reason)."""

    files: tuple[ListedFile, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


def listed_files(folder: Path) -> Listed:
    """Read the list of an index; blocking."""
    uri = f"{(folder / PASSAGES).resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as database:
        found: dict[tuple[str, str], dict[str | None, int]] = {}
        for root, source, hidden, count in database.execute(_COUNTED):
            found.setdefault((root, source), {})[hidden] = count
        fact = database.execute("SELECT value FROM facts WHERE name = ?", [LEFT_OUT]).fetchone()
    files = tuple(
        ListedFile(root, source, counts.get(None, 0), {role: count for role, count in counts.items() if role is not None})
        for (root, source), counts in found.items()
    )
    return Listed(files, tuple((name, reason) for name, reason in json.loads(fact[0])) if fact else ())
