"""Groups, nodes and leaves of a hierarchy: passages with their vectors, and the values of their metadata.

Values are grouped on request: dates by their year, month or day, numbers by steps, as in `date:month` and `hours:100`.
"""

import base64
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
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator

from ramify.kinds.hierarchy._clustering import KnownValues
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.english import fold
from ramify.tools.errors import UsageError
from ramify.tools.steps import Step, natural_key, parse_step

NO_FIELDS = "none"
"""The value of `group_by` for one group of all leaves: a RAPTOR tree over the whole corpus."""
GroupKind = Literal["metadata", "founded", "pool", "all"]
EdgeKind = Literal["primary", "soft", "novel", "escape", "founded", "pool", "moved"]


class Routing(BaseModel):
    """Options for assigning leaves to groups and building trees; Greek letters as in meta-guided hierarchical RAG."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    beta: float = Field(default=1.0, ge=0, description="Weight of the similarity to a group, in standard deviations of the group.")
    alpha: float = Field(default=0.5, ge=0, description="Weight of each metadata field that agrees; a field that differs is subtracted.")
    gamma: float = Field(default=0.3, ge=0, description="Weight of the groups of the previous and next passage of the file.")
    delta: float = Field(default=0.3, ge=0, description="Weight of the groups of the document's other passages.")
    kappa: float = Field(default=0.2, ge=0, description="Weight of a step or paragraph number adjacent to one in the group.")
    soft_k: int = Field(default=2, ge=1, le=10, description="Maximum number of groups of a passage without metadata.")
    least: float = Field(default=0.1, ge=0, lt=1, description="Minimum weight of a membership, from 0 to 1; lighter ones are dropped.")
    candidates: int = Field(default=10, ge=1, description="Groups scored for each passage if there are more than 1,000 groups.")
    novelty: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Quantile, from 0 to 1: a passage less similar to each group than this share of its members is in none.",
    )
    found: int = Field(default=5, ge=2, description="Minimum size of a new group formed of passages that fit no group.")
    escape: float = Field(
        default=2.0,
        ge=0,
        description="Standard deviations below its group's mean similarity from which a passage is linked to other groups, too.",
    )
    tree: int = Field(default=12, ge=2, description="Minimum number of passages for a tree; a smaller group gets one summary.")
    max_levels: int = Field(default=3, ge=1, le=4, description="Maximum number of summary levels in a group's tree, below its root.")
    largest: int = Field(default=20_000, ge=100, description="Maximum number of passages clustered at once; a larger group is split first.")
    reduction: Literal["pca", "umap"] = Field(
        default="pca", description="Dimensionality reduction before clustering; umap needs the extra `umap`."
    )
    repairs: int = Field(default=0, ge=0, le=5, description="Maximum number of repair rounds; 0: suspicious groups are only shown.")
    seed: int = Field(default=0, ge=0, description="Random seed of the clustering.")


class Group(NamedTuple):
    """A group of leaves: its name, its folded value of each field ("" for none), and how it was formed."""

    name: str
    key: tuple[str, ...]
    kind: GroupKind


def unique_group_names(groups: Sequence[Group]) -> list[str]:
    """Return the names of the groups; repeated names get a number."""
    met: Counter[str] = Counter()
    names = []
    for group in groups:
        met[group.name] += 1
        names.append(group.name if met[group.name] == 1 else f"{group.name} ({met[group.name]})")
    return names


class Edge(NamedTuple):
    """The membership of a leaf in a group: both numbers, the weight from 0 to 1, and the reason."""

    leaf: int
    group: int
    weight: float
    kind: EdgeKind


class SummarySentence(NamedTuple):
    """A sentence of a summary, and the number of the leaf that supports it."""

    text: str
    leaf: int


class Summary(NamedTuple):
    """The summary of a cluster: its sentences, the model that wrote it, and the share of sentences supported by the leaves, from 0 to 1."""

    sentences: tuple[SummarySentence, ...]
    made_by: str
    support: float = 1.0

    @property
    def text(self) -> str:
        """Return the sentences as text."""
        return " ".join(sentence.text for sentence in self.sentences)


def encode_vector(vector: Matrix) -> str:
    """Return a vector as text."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def decode_vector(stored: str | bytes) -> Matrix:
    """Return a vector from its text, or its bytes."""
    content = base64.b64decode(stored, validate=True) if isinstance(stored, str) else stored
    return np.frombuffer(content, dtype="<f4").astype(np.float32)


class Node(NamedTuple):
    """A node of a group's tree: the positions of its children in the tree, all leaves below it, title, summary and vector."""

    children: tuple[int, ...]
    leaves: tuple[int, ...]
    title: str
    summary: Summary
    vector: Annotated[Matrix, PlainValidator(decode_vector), PlainSerializer(encode_vector)]


Tree = list[Node]
"""The nodes of a group: children come before their parents, the root is the last."""


class GroupMeasures(NamedTuple):
    """Quality measures of a group (meta-guided RAG §5), each from 0 to 1 but the cohesion, a cosine."""

    cluster_cohesion: float
    """Mean cosine of its leaves to its centre."""
    outlier_rate: float
    meta_conflict: float
    """Share of its leaves whose metadata belong to another group."""
    step_discontinuity: float
    """Share of its pairs of consecutive steps that are in no common cluster."""
    summary_support: float
    self_retrieval: float
    """Share of a cluster's leaves retrieved by its summary among all leaves, averaged over its clusters."""


class GroupDiagnosis(NamedTuple):
    """The diagnosis of a group: its size, its measures, and the names of the suspicious ones."""

    leaves: int
    measures: GroupMeasures
    flags: tuple[str, ...]


class Repair(NamedTuple):
    """A repair: its round, the group's number, what was done, and the number of leaves affected."""

    round: int
    group: int
    what: str
    leaves: int


Values = tuple[tuple[str, ...], ...]
"""The values of a leaf for each field; an empty tuple where the field is missing."""
_LEAVES_SQL = """SELECT passages.id, document, documents.file, label, metadata, vector FROM passages
JOIN vectors USING (digest) JOIN documents ON documents.id = document WHERE hidden IS NULL ORDER BY passages.id"""
BINNING_SEPARATOR = ":"
_DATE = re.compile(r"(\d{4})[-/.]?(0[1-9]|1[0-2])[-/.]?(0[1-9]|[12]\d|3[01])(?!\d)|(\d{4})[-/.](0[1-9]|1[0-2])(?![-/.]?\d)|(\d{4})(?!\d)")
_DATE_PARTS = {"year": 1, "month": 2, "day": 3}
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


class BinnedField(NamedTuple):
    """A metadata field, and how its values are binned: by year, month, day, a numeric step, or not at all."""

    field: str
    by: str = ""

    def values(self, value: Any) -> tuple[str, ...]:
        """Return the bins of a value or a list of values; empty values and values outside any bin are left out."""
        listed = value if isinstance(value, list) else [value]
        written = (" ".join(str(value).split()) for value in listed if value is not None and not isinstance(value, dict))
        return tuple(dict.fromkeys(filter(None, map(self._bin, written))))

    def _bin(self, value: str) -> str:
        """Return the year, month or day of an ISO date, or the interval of a number; "" where the value does not have it."""
        if not self.by:
            return value
        if self.is_numeric:
            step = float(self.by)
            low = floor(float(value) / step) * step if _NUMBER.fullmatch(value) else None
            return "" if low is None else f"{low:g} to {low + step:g}"
        match, count = _DATE.match(value), _DATE_PARTS[self.by]
        parts = [part for part in match.groups() if part] if match else []
        return "-".join(parts[:count]) if len(parts) >= count else ""

    @property
    def is_numeric(self) -> bool:
        """Return whether numbers are binned, not dates."""
        return bool(self.by) and self.by not in _DATE_PARTS


def parse_field(name: str, known: Iterable[str]) -> BinnedField:
    """Parse `FIELD` or `FIELD:BY`; UsageError for an invalid BY."""
    field, mark, by = name.rpartition(BINNING_SEPARATOR)
    if not mark or name in known:
        return BinnedField(name)
    if by not in _DATE_PARTS and not (_NUMBER.fullmatch(by) and float(by) > 0):
        remedy = f"write {field}:year, {field}:month, {field}:day, or {field}:100 for steps of 100"
        raise UsageError(f"values of {field!r} cannot be grouped by {by!r}", remedy)
    return BinnedField(field, by)


@dataclass(frozen=True)
class Leaves:
    """The leaves (searchable passages) of an index, in the order of their positions."""

    path: Path
    ids: Sequence[str]
    documents: Sequence[str]
    files: Sequence[str]
    titles: Sequence[str]
    """The innermost heading of each leaf, or its document's title."""
    metadata: Sequence[dict[str, Any]]
    """Metadata of each leaf, with `folder` and `part` added unless the document sets them."""
    vectors: Matrix

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self, places: Sequence[int]) -> list[str]:
        """Return the texts of some leaves."""
        wanted = json.dumps([self.ids[place] for place in places])
        with closing(sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            text_of = dict(database.execute("SELECT id, text FROM passages WHERE id IN (SELECT value FROM json_each(?))", [wanted]))
        return [text_of[self.ids[place]] for place in places]

    @cached_property
    def steps(self) -> list[Step | None]:
        """The step or paragraph number of each leaf, parsed from its heading or title; None if it has none."""
        return [
            parse_step(title) or parse_step(str(known.get("title") or "")) for title, known in zip(self.titles, self.metadata, strict=True)
        ]

    @cached_property
    def reading_order(self) -> list[int]:
        """The leaves in reading order of their files."""
        return sorted(range(len(self)), key=lambda place: (self.files[place], natural_key(self.ids[place])))

    @cached_property
    def fields(self) -> list[str]:
        """The metadata fields that any leaf has, sorted."""
        return sorted({field for known in self.metadata for field in known})

    def values(self, fields: Sequence[str]) -> list[Values]:
        """Return each leaf's values of some fields, binned for `date:month`; UsageError for a field that no leaf has."""
        wanted = [parse_field(name, self.fields) for name in fields]
        for binned in wanted:
            if binned.field not in self.fields:
                what = f"no document has the metadata {binned.field!r}"
                raise UsageError(what, f"group by one of: {', '.join(self.fields) or 'no fields; use --group-by none'}")
        values = [tuple(chosen.values(known.get(chosen.field)) for chosen in wanted) for known in self.metadata]
        for place, binned in enumerate(wanted):
            if binned.by and not any(values[place] for values in values):
                what = f"no value of {binned.field!r} is {'a number' if binned.is_numeric else 'a date such as 2026-11-23'}"
                raise UsageError(what, f"group by {binned.field} without binning, or by another field")
        return values

    def folded_values(self, fields: Sequence[str]) -> list[KnownValues]:
        """Return each leaf's folded values of the grouping fields; of no fields if all leaves are one group."""
        grouping = [] if tuple(fields) == (NO_FIELDS,) else fields
        return [tuple(frozenset(map(fold_value, own)) for own in values) for values in self.values(grouping)]


def read_leaves(path: Path, encoded: bool = True) -> Leaves:
    """Read the searchable passages of an index, sorted by id; without vectors if the index is not encoded yet."""
    sql = _LEAVES_SQL if encoded else _LEAVES_SQL.replace("JOIN vectors", "LEFT JOIN vectors", 1)
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(sql).fetchall()
    known = [_with_location(json.loads(row[4])) for row in rows]
    titles = [label.rpartition(" > ")[2] for _, _, _, label, _, _ in rows]
    vectors = np.array([np.frombuffer(row[5], dtype="<f4") for row in rows if encoded], dtype=np.float32)
    ids, documents, files = ([str(row[column]) for row in rows] for column in range(3))
    return Leaves(path, ids, documents, files, titles, known, vectors)


def _with_location(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata with the folder of the file and the outermost heading added."""
    folder = PurePosixPath(str(metadata.get("source") or "").replace("\\", "/")).parent.as_posix()
    part = str(metadata.get("heading") or "").partition(" > ")[0]
    return {**({"folder": folder} if folder not in (".", "/") else {}), **({"part": part} if part else {}), **metadata}


def fold_value(value: str) -> str:
    """Return a value in the form used for comparison: case-folded, without accents and punctuation."""
    return fold(value) or value.casefold()
