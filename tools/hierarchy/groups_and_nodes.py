"""The values of a hierarchy: how it is made, its groups, the edges of leaves to them, and the nodes of their trees."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ramify.tools.embeddings.encoder import Matrix

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
