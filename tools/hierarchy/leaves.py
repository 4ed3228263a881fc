"""The leaves of a hierarchy: the passages of a finished index with their vectors, and what their metadata say.

Values are put together on request: dates by their year, month or day, numbers by steps, as in `date:month` and `hours:100`.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from math import floor
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.english import fold
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.clustering import Known
from ramify.tools.hierarchy.groups_and_nodes import NONE

Values = tuple[tuple[str, ...], ...]
"""What a leaf says of each field: a value, several, or none where it is missing."""
Step = tuple[str, int]
"""The number of a step or paragraph: what stands before its last part, and that."""
_STEP = re.compile(r"(?:(?:step|schritt|étape|paso|passo)\s+|단계\s*)?((?:[A-Z]?\d+[-.–])*)(\d+)(?:단계)?[.:)]?(?:\s|$)", re.IGNORECASE)
_LETTER = re.compile(r"\(?([a-z])[.)]\s")
_SQL = """SELECT passages.id, document, documents.file, label, metadata, vector FROM passages
JOIN vectors USING (digest) JOIN documents ON documents.id = document WHERE hidden IS NULL ORDER BY passages.id"""
MARK = ":"
_DATE = re.compile(r"(\d{4})[-/.]?(0[1-9]|1[0-2])[-/.]?(0[1-9]|[12]\d|3[01])(?!\d)|(\d{4})[-/.](0[1-9]|1[0-2])(?![-/.]?\d)|(\d{4})(?!\d)")
_PARTS = {"year": 1, "month": 2, "day": 3}
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


class Binned(NamedTuple):
    """A field, and how its values are put together."""

    field: str
    by: str = ""

    def values(self, written: Iterable[str]) -> tuple[str, ...]:
        """Write what each value belongs to; one that is no date, or no number, is left out."""
        if not self.by:
            return tuple(written)
        cut = _by_steps(float(self.by)) if self.steps else _by_date(_PARTS[self.by])
        return tuple(dict.fromkeys(filter(None, map(cut, written))))

    @property
    def steps(self) -> bool:
        """Tell whether numbers are put together, not dates."""
        return bool(self.by) and self.by not in _PARTS


def binned(name: str, known: Iterable[str]) -> Binned:
    """Read `FIELD`, or `FIELD:BY`; UsageError for another way to put values together."""
    field, mark, by = name.rpartition(MARK)
    if not mark or name in known:
        return Binned(name)
    if by not in _PARTS and not (_NUMBER.fullmatch(by) and float(by) > 0):
        remedy = f"write {field}:year, {field}:month, {field}:day, or {field}:100 for steps of 100"
        raise UsageError(f"values of {field!r} cannot be put together by {by!r}", remedy)
    return Binned(field, by)


def _by_date(parts: int) -> Callable[[str], str]:
    """Cut an ISO date, with or without hyphens, to its year, month or day; one that says less is none."""

    def cut(value: str) -> str:
        found = _DATE.match(value)
        said = [part for part in found.groups() if part] if found else []
        return "-".join(said[:parts]) if len(said) >= parts else ""

    return cut


def _by_steps(step: float) -> Callable[[str], str]:
    def cut(value: str) -> str:
        if not _NUMBER.fullmatch(value):
            return ""
        low = floor(float(value) / step) * step
        return f"{low:g} to {low + step:g}"

    return cut


@dataclass(frozen=True)
class Leaves:
    """What is known of each leaf, in the order of the positions in the index."""

    path: Path
    ids: Sequence[str]
    documents: Sequence[str]
    files: Sequence[str]
    titles: Sequence[str]
    """The last heading above each, or its document's title."""
    metadata: Sequence[dict[str, Any]]
    """With `folder` and `part`, where a document does not say these itself."""
    vectors: Matrix

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self, places: Sequence[int]) -> list[str]:
        """Read the texts of some leaves."""
        wanted = json.dumps([self.ids[place] for place in places])
        with closing(sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            found = dict(database.execute("SELECT id, text FROM passages WHERE id IN (SELECT value FROM json_each(?))", [wanted]))
        return [found[self.ids[place]] for place in places]

    @cached_property
    def steps(self) -> list[Step | None]:
        """Read the number of the step or paragraph that each leaf is, from its heading or its title."""
        return [step_of(title) or step_of(str(known.get("title") or "")) for title, known in zip(self.titles, self.metadata, strict=True)]

    @cached_property
    def reading_order(self) -> list[int]:
        """List the leaves as they stand in their files."""
        numbers = [[(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", id)] for id in self.ids]
        return sorted(range(len(self)), key=lambda place: (self.files[place], numbers[place]))

    @cached_property
    def fields(self) -> list[str]:
        """List the fields of metadata that any leaf has."""
        return sorted({field for known in self.metadata for field in known})

    def values(self, fields: Sequence[str]) -> list[Values]:
        """Give what each leaf says of some fields, of `date:month` the month; UsageError for a field that no leaf has."""
        wanted = [binned(name, self.fields) for name in fields]
        for one in wanted:
            if one.field not in self.fields:
                what = f"no document has the metadata {one.field!r}"
                raise UsageError(what, f"group by what there is: {', '.join(self.fields) or 'nothing; use --group-by none'}")
        said = [tuple(one.values(values_of(known.get(one.field))) for one in wanted) for known in self.metadata]
        for place, one in enumerate(wanted):
            if one.by and not any(values[place] for values in said):
                what = f"no value of {one.field!r} is {'a number' if one.steps else 'a date such as 2026-11-23'}"
                raise UsageError(what, f"group by {one.field} as it is, or by another field")
        return said

    def known(self, fields: Sequence[str]) -> list[Known]:
        """Return the folded values of the fields that leaves are grouped by; of no field where all are one group."""
        grouping = [] if tuple(fields) == (NONE,) else fields
        return [tuple(frozenset(map(folded, own)) for own in values) for values in self.values(grouping)]


def read_leaves(path: Path, encoded: bool = True) -> Leaves:
    """Read the passages of an index that are searched, in order of their ids; of a draft that is not encoded, without vectors."""
    sql = _SQL if encoded else _SQL.replace("JOIN vectors", "LEFT JOIN vectors", 1)
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(sql).fetchall()
    known = [_with_places(json.loads(row[4])) for row in rows]
    titles = [label.rpartition(" > ")[2] for _, _, _, label, _, _ in rows]
    vectors = np.array([np.frombuffer(row[5], dtype="<f4") for row in rows if encoded], dtype=np.float32)
    ids, documents, files = ([str(row[column]) for row in rows] for column in range(3))
    return Leaves(path, ids, documents, files, titles, known, vectors)


def _with_places(metadata: dict[str, Any]) -> dict[str, Any]:
    """Add where a passage stands: the folder of its file, and the outermost heading above it."""
    folder = PurePosixPath(str(metadata.get("source") or "").replace("\\", "/")).parent.as_posix()
    part = str(metadata.get("heading") or "").partition(" > ")[0]
    return {**({"folder": folder} if folder not in (".", "/") else {}), **({"part": part} if part else {}), **metadata}


def step_of(heading: str) -> Step | None:
    """Read the number that a heading begins with: "Step 3", "4-38.", "2.1 Scope", "a."."""
    if found := _STEP.match(heading):
        return found[1].casefold(), int(found[2])
    letter = _LETTER.match(heading)
    return ("", ord(letter[1])) if letter else None


def folded(value: str) -> str:
    """Write a value as it is compared: in one case, without accents and punctuation."""
    return fold(value) or value.casefold()


def values_of(given: Any) -> tuple[str, ...]:
    """Write a value of metadata, or the values of a list, as text; none for what says nothing."""
    listed = given if isinstance(given, list) else [given]
    written = [" ".join(str(value).split()) for value in listed if value is not None and not isinstance(value, dict)]
    return tuple(dict.fromkeys(filter(None, written)))
