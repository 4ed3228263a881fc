"""The files whose documents a draft holds: by what each is known again, and what was left out of it."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from ramify.tools.documents.files import File, Skipped
from ramify.tools.documents.load import EDITION
from ramify.tools.index.working_copy import Draft


class Filed(NamedTuple):
    """A file that was read: its size and time then, how files were read, what was left out of it, and where it lay."""

    root: str
    source: str
    size: int
    changed_ns: int
    edition: str
    skipped: list[Skipped]
    path: str


def filed(file: File) -> Filed | None:
    """Say by what a file will be known again, None where it cannot be looked at; to be taken before it is read."""
    try:
        found = file.path.stat()
    except OSError:
        return None
    return Filed(str(file.root.resolve()), file.source, found.st_size, found.st_mtime_ns, EDITION, [], str(file.path.absolute()))


def remember(draft: Draft, files: Iterable[Filed]) -> None:
    """Remember files whose documents are all written."""
    rows = [file._asdict() | {"skipped": json.dumps(file.skipped)} for file in files]
    with draft.database as database:
        draft.changed = draft.changed or bool(rows)
        sql = "INSERT OR REPLACE INTO files VALUES (:root, :source, :size, :changed_ns, :edition, :skipped, :path)"
        database.executemany(sql, rows)


def remembered(draft: Draft, file: Filed) -> Filed | None:
    """Return what is remembered of a file that is as it was, None where it is to be read."""
    sql = "SELECT size, changed_ns, edition, skipped, path FROM files WHERE root = ? AND source = ?"
    for size, changed_ns, edition, skipped, path in draft.database.execute(sql, [file.root, file.source]):
        if Filed(file.root, file.source, size, changed_ns, edition, [], path) == file:
            return file._replace(skipped=[(name, reason) for name, reason in json.loads(skipped)])
    return None


def documents_of(draft: Draft, file: Filed) -> list[str]:
    """Return the ids of the documents of a file."""
    found = draft.database.execute("SELECT id FROM documents WHERE root = ? AND file = ?", [file.root, file.source])
    return [identity for (identity,) in found]


def forget(draft: Draft, roots: Iterable[str], kept: Iterable[tuple[str, str]]) -> None:
    """Forget the files under the roots but those to be kept, by root and source."""
    known = set(kept)
    sql = "SELECT root, source FROM files WHERE root IN (SELECT value FROM json_each(?))"
    gone = [key for key in draft.database.execute(sql, [json.dumps(list(roots))]).fetchall() if key not in known]
    with draft.database as database:
        draft.changed = draft.changed or bool(gone)
        database.executemany("DELETE FROM files WHERE root = ? AND source = ?", gone)
