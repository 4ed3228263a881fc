"""`work.sqlite`: every validated reply of a build, so that nothing is asked twice; an interrupted build goes on where it stopped."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

WORK = "work.sqlite"


class Work:
    """Keep replies by what was asked of whom."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._used: set[str] = set()
        with self._database:
            self._database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the reply kept under a key, None where there is none."""
        self._used.add(key)
        found = self._database.execute("SELECT reply FROM replies WHERE key = ?", [key]).fetchone()
        return json.loads(found[0]) if found else None

    def put(self, key: str, reply: dict[str, Any]) -> None:
        """Keep a reply."""
        with self._database:
            self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", [key, json.dumps(reply, ensure_ascii=False)])

    def forget_unused(self) -> None:
        """Forget the replies that this build had no use for: what they were about is gone."""
        with self._database:
            gone = [key for (key,) in self._database.execute("SELECT key FROM replies") if key not in self._used]
            self._database.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in gone])


def key_of(asked: Sequence[str]) -> str:
    """Give the key of what was asked: the words of the prompt, the model and its options."""
    return hashlib.sha256("\0".join(asked).encode()).hexdigest()
