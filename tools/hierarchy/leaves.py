"""Groups, nodes and leaves of a hierarchy: passages with their vectors, and the values of their metadata.

Values are grouped on request: dates by their year, month or day, numbers by steps, as in `date:month` and `hours:100`.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from math import floor
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.english import fold
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy._clustering import Known

NONE = "none"
"""What is grouped by where all leaves are to be one group: a RAPTOR tree over everything."""
GroupKind = Literal["metadata", "founded", "pool", "all"]
EdgeKind = Literal["primary", "soft", "novel", "escape", "founded", "pool", "moved"]


class Routing(BaseModel):
    """How leaves are given to groups and trees are grown; letters as in the design (meta-guided hierarchical RAG)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    beta: float = Field(default=1.0, ge=0, description="Weight of the similarity to a group, in its standard deviations.")
    alpha: float = Field(default=0.5, ge=0, description="Weight of each field of metadata that agrees; one that differs counts against.")
    gamma: float = Field(default=0.3, ge=0, description="Weight of the groups of the passages before and after.")
    delta: float = Field(default=0.3, ge=0, description="Weight of the groups of the other passages of the document.")
    kappa: float = Field(default=0.2, ge=0, description="Weight of a step or paragraph number that continues one of the group.")
    soft_k: int = Field(default=2, ge=1, le=10, description="Groups that a passage without metadata may belong to.")
    least: float = Field(default=0.1, ge=0, lt=1, description="A membership that weighs less is dropped.")
    candidates: int = Field(default=10, ge=1, description="Groups that are weighed for a passage where there are more than 1,000.")
    novelty: float = Field(
        default=0.05, ge=0, le=1, description="A passage less similar than this share of every group's own belongs to none of them."
    )
    found: int = Field(default=5, ge=2, description="Passages of no group that found one, if they cluster.")
    escape: float = Field(
        default=2.0,
        ge=0,
        description="From so many standard deviations below its group's mean on, a passage is linked to other groups too.",
    )
    tree: int = Field(default=12, ge=2, description="A group of fewer passages gets one summary and no tree.")
    max_levels: int = Field(default=3, ge=1, le=4, description="Levels of summaries in a group's tree, below its root.")
    largest: int = Field(default=20_000, ge=100, description="Passages clustered at once; a larger group is cut beforehand.")
    reduction: Literal["pca", "umap"] = Field(default="pca", description="How vectors are reduced before clustering; umap needs an extra.")
    repairs: int = Field(default=2, ge=0, le=5, description="Most rounds of repair.")
    seed: int = Field(default=0, ge=0, description="Seed of the clustering.")


class Group(NamedTuple):
    """A group of leaves: what it is called, its value of each field (folded, "" for none), and where it is from."""

    name: str
    key: tuple[str, ...]
    kind: GroupKind


def distinct(groups: Sequence[Group]) -> list[str]:
    """Name each group; two of one name are told apart."""
    met: Counter[str] = Counter()
    names = []
    for group in groups:
        met[group.name] += 1
        names.append(group.name if met[group.name] == 1 else f"{group.name} ({met[group.name]})")
    return names


class Edge(NamedTuple):
    """A leaf in a group, by their numbers, with what it weighs there and why it is there."""

    leaf: int
    group: int
    weight: float
    kind: EdgeKind


class Said(NamedTuple):
    """A sentence of a summary, and the number of the leaf it rests on."""

    text: str
    leaf: int


class Summary(NamedTuple):
    """What is said of a cluster, who says it, and the share of its sentences that the leaves support."""

    said: tuple[Said, ...]
    made_by: str
    support: float = 1.0

    @property
    def text(self) -> str:
        """Write it out."""
        return " ".join(one.text for one in self.said)


class Node(NamedTuple):
    """A node of a group's tree: its children by their places in the group's list of nodes, and all leaves below it."""

    children: tuple[int, ...]
    leaves: tuple[int, ...]
    title: str
    summary: Summary
    vector: Matrix


Tree = list[Node]
"""The nodes of a group: children come before their parents, the root is the last."""


class Measured(NamedTuple):
    """What was measured of a group, under the names of the seed."""

    cluster_cohesion: float
    """Mean cosine of its leaves to its centre."""
    outlier_rate: float
    meta_conflict: float
    """Share of its leaves whose metadata say another group."""
    step_discontinuity: float
    """Share of consecutive steps that its clusters tear apart."""
    summary_support: float
    self_retrieval: float
    """Share of a cluster's leaves that its summary finds among all leaves, averaged over its clusters."""


class Finding(NamedTuple):
    """A group's size, what was measured of it, and what of that is suspicious."""

    leaves: int
    measured: Measured
    flags: tuple[str, ...]


class Repair(NamedTuple):
    """What was done about a group, and to how many of its leaves."""

    round: int
    group: int
    what: str
    leaves: int


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

    def values(self, given: Any) -> tuple[str, ...]:
        """Write a value of metadata, or those of a list, as what each belongs to; what says nothing, or has no place, is left out."""
        listed = given if isinstance(given, list) else [given]
        written = (" ".join(str(value).split()) for value in listed if value is not None and not isinstance(value, dict))
        return tuple(dict.fromkeys(filter(None, map(self._put_together, written))))

    def _put_together(self, value: str) -> str:
        """Cut an ISO date, with or without hyphens, to its year, month or day, and a number to its step; nothing of what says less."""
        if not self.by:
            return value
        if self.steps:
            step = float(self.by)
            low = floor(float(value) / step) * step if _NUMBER.fullmatch(value) else None
            return "" if low is None else f"{low:g} to {low + step:g}"
        found, parts = _DATE.match(value), _PARTS[self.by]
        said = [part for part in found.groups() if part] if found else []
        return "-".join(said[:parts]) if len(said) >= parts else ""

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
        said = [tuple(one.values(known.get(one.field)) for one in wanted) for known in self.metadata]
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
