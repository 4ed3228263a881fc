"""The files of an index, with what their readers remarked, and what the last build skipped."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ramify.tools.documents.load import EDITION
from ramify.tools.index.passage_store import SKIPPED_FACT, has_remarks, opened_passages

_FILE_COUNTS = """
SELECT documents.root, documents.file, hidden, count(*), CASE WHEN hidden IS NULL THEN passages.id END, min(passages.row)
FROM documents LEFT JOIN passages ON passages.document = documents.id GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
"""With one `min`, SQLite takes the other columns of a group from the row that has it."""
_SOURCES = """
SELECT DISTINCT documents.file, metadata ->> '$.source' FROM passages JOIN documents ON documents.id = passages.document
WHERE hidden IS NULL AND documents.file IN (SELECT value FROM json_each(?)) ORDER BY 1, 2
"""
_PASSAGES = """
SELECT passages.id FROM passages JOIN documents ON documents.id = passages.document
WHERE hidden IS NULL AND documents.file IN (SELECT value FROM json_each(?)) ORDER BY passages.row
"""
_OF_THE_SAME_FILE = """
SELECT passages.id FROM passages JOIN documents ON documents.id = passages.document JOIN (
  SELECT documents.root, documents.file FROM passages JOIN documents ON documents.id = passages.document WHERE passages.id = ?
) AS own ON documents.root IS own.root AND documents.file = own.file
WHERE hidden IS NULL AND documents.file != '' ORDER BY passages.row
"""


class ListedFile(NamedTuple):
    """A file, or the source of records: its root path, numbers of passages, and what its reader remarked."""

    root: str
    source: str
    searched: int
    left_out: Mapping[str, int]
    """Number of hidden passages by role (`contents`, `legal`, …), or `twin` for duplicates."""
    remarks: Sequence[str] = ()
    first: str = ""
    """The id of its first searchable passage, "" if there is none."""


class FileList(NamedTuple):
    """The files of an index, sorted by name, what its last build skipped: (name, reason), and the number of files read by other readers."""

    files: tuple[ListedFile, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    outdated: int = 0


def read_file_list(folder: Path) -> FileList:
    """Return the files of an index and what its last build skipped; IndexingError if it is damaged; blocking."""
    hidden_counts: dict[tuple[str, str], dict[str | None, int]] = {}
    first: dict[tuple[str, str], str] = {}
    with opened_passages(folder) as database:
        for root, source, hidden, count, identity, _ in database.execute(_FILE_COUNTS):
            hidden_counts.setdefault((root, source), {})[hidden] = count
            if identity is not None:
                first[root, source] = identity
        fact = database.execute("SELECT value FROM facts WHERE name = ?", [SKIPPED_FACT]).fetchone()
        remarks_column = "remarks" if has_remarks(database) else "'[]'"
        records = database.execute(f"SELECT root, source, {remarks_column} FROM files").fetchall()
    remarks = {(root, source): [_shown_remark(source, *remark) for remark in json.loads(listed)] for root, source, listed in records}
    files = tuple(
        ListedFile(
            root,
            source,
            counts.get(None, 0),
            {kind: n for kind, n in counts.items() if kind},
            remarks.get((root, source), ()),
            first.get((root, source), ""),
        )
        for (root, source), counts in hidden_counts.items()
    )
    unread = tuple((name, reason) for name, reason in json.loads(fact[0])) if fact else ()
    return FileList(files, unread, count_outdated(folder))


def sources_of(folder: Path, files: Sequence[str]) -> dict[str, list[str]]:
    """Return for each file that has searchable passages their sources, as in metadata; a table has one for each record. Blocking."""
    sources: dict[str, list[str]] = {}
    with opened_passages(folder) as database:
        for file, source in database.execute(_SOURCES, [json.dumps(list(files))]):
            sources.setdefault(file, []).append(source)
    return sources


def passages_of(folder: Path, files: Sequence[str]) -> list[str]:
    """Return the ids of the searchable passages of some files, in the order of the index. Blocking."""
    with opened_passages(folder) as database:
        return [passage for (passage,) in database.execute(_PASSAGES, [json.dumps(list(files))])]


def passages_beside(folder: Path, passage: str) -> tuple[str, str]:
    """Return the ids of the searchable passages before and after one in its file; "" where there is none. Blocking."""
    with opened_passages(folder) as database:
        ids = ["", *(own for (own,) in database.execute(_OF_THE_SAME_FILE, [passage])), ""]
    if passage not in ids:
        return "", ""
    place = ids.index(passage)
    return ids[place - 1], ids[place + 1]


def count_outdated(folder: Path) -> int:
    """Return how many files of an index were read by an earlier version."""
    with opened_passages(folder) as database:
        return sum(edition.partition("+")[0] != EDITION for (edition,) in database.execute("SELECT edition FROM files"))


def _shown_remark(source: str, name: str, remark: str) -> str:
    """Return a remark with the part of the file that it is about."""
    return remark if name == source else f"{name.removeprefix(source).lstrip(',/# ')}: {remark}"
