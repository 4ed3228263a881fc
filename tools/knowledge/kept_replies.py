"""`work.sqlite`: every validated reply of a build, so that nothing is asked twice; an interrupted build goes on where it stopped."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from ramify.tools.errors import IndexingError
from ramify.tools.new_files import make_file, remedy_for

WORK = "work.sqlite"


class Work:
    """Keep replies by what was asked of whom."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._used: set[str] = set()
        with self._telling():
            self._database = sqlite3.connect(make_file(path).absolute(), check_same_thread=False)
            self._database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raise IndexingError where the file cannot be read or written."""
        try:
            yield
        except (OSError, sqlite3.DatabaseError) as error:
            what = f"the replies of the model cannot be kept in {str(self._path)!r}: {error}"
            raise IndexingError(
                what, remedy_for(error, "delete it where it is damaged: what it holds is asked again", kept=True)
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the reply kept under a key, None where there is none."""
        self._used.add(key)
        with self._telling():
            found = self._database.execute("SELECT reply FROM replies WHERE key = ?", [key]).fetchone()
        return json.loads(found[0]) if found else None

    def put(self, key: str, reply: dict[str, Any]) -> None:
        """Keep a reply."""
        with self._telling(), self._database:
            self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", [key, json.dumps(reply, ensure_ascii=False)])

    def forget_unused(self) -> None:
        """Forget the replies that this build had no use for: what they were about is gone."""
        with self._telling(), self._database:
            gone = [key for (key,) in self._database.execute("SELECT key FROM replies") if key not in self._used]
            self._database.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in gone])


def key_of(asked: Sequence[str]) -> str:
    """Give the key of what was asked: the words of the prompt, the model and its options."""
    return hashlib.sha256("\0".join(asked).encode()).hexdigest()
