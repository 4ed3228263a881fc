"""The tree of questions: its values, its paths and the law by which it grows.

A branch's path is its position and its identity: "0" is the root, "0.1" its second child. Branches are never removed: what is pruned stays,
with the reason, because the tree is the explanation of the answer.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import networkx as nx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ramify.tools.errors import UsageError
from ramify.tools.unknown import UNKNOWN as UNKNOWN
from ramify.tools.unknown import is_unknown as is_unknown

Kind = Literal["question", "entity", "batch"]
"""What a branch asks: a question, what there is about a name, or what a batch of reports says of the whole question."""
Status = Literal[
    "open", "found", "waiting", "answered", "growing", "atomic", "split", "judged", "inner", "leaf", "pruned", "failed"
]  # fmt: skip
ConfidenceSource = Literal["logprobs", "stated", "reader"]

ROOT = "0"
WORKING: frozenset[str] = frozenset({"open", "found", "waiting", "answered", "growing", "atomic", "judged"})
DROPPED: frozenset[str] = frozenset({"pruned", "failed"})


class Value(BaseModel):
    """A frozen value."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Passage(Value):
    """A retrieved piece of a document."""

    id: str
    text: str
    source: str
    score: float
    """Cosine similarity to the question that found it, always."""
    value: float = 0.0
    """What MMR gave it when it was picked; the cosine where MMR was off."""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name the document it is from."""
        return str(self.metadata.get("title", ""))

    @property
    def place(self) -> str:
        """Say where it stands: its source, with the page where it has one."""
        page = self.metadata.get("page")
        return self.source if page is None else f"{self.source}:{page}"

    def __str__(self) -> str:
        return f"{self.title or self.source}: {self.text}"


class Branch(Value):
    """A vertex of the tree: a question or an entity, what was found and what came of it."""

    path: str = Field(pattern=r"^0(\.\d+)*$")
    question: str
    kind: Kind = "question"
    status: Status = "open"
    evidence: tuple[str, ...] = ()
    """Passage ids, as retrieved."""
    cited: tuple[str, ...] = ()
    """The passage ids that the answer rests on."""
    answer: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    confidence_source: ConfidenceSource | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    """The judge's score of the fork below."""
    weaker: str | None = None
    """The path of the child that helps less, as the judge found."""
    attempts: int = Field(default=0, ge=0)
    """How often it has been split."""
    awaits: str | None = Field(default=None, pattern=r"^0(\.\d+)+$")
    """The sibling whose answer belongs, or was put, into its question: it is the second hop of a bridge."""
    together: str = ""
    """How the answers below it are brought together: bridge, earlier, same, …; empty where the model decides."""
    note: str = ""
    """Why it was pruned, what was filled in, what went wrong."""

    @property
    def depth(self) -> int:
        """Count the edges between it and the root."""
        return self.path.count(".")

    @property
    def parent(self) -> str | None:
        """Give the parent's path; None for the root."""
        return self.path.rpartition(".")[0] or None

    @property
    def known(self) -> bool:
        """Tell whether it has an answer that says something."""
        return self.answer is not None and not is_unknown(self.answer)

    def noted(self, more: str) -> str:
        """Give its note with more behind it."""
        return "; ".join(filter(None, (self.note, more)))

    def to(self, status: Status, **changes: Any) -> "Branch":
        """Copy with another status and other changes, validated."""
        return Branch.model_validate({**self.model_dump(), **changes, "status": status})

    def __str__(self) -> str:
        parts = [self.path, self.status, self.question]
        if self.answer is not None:
            parts.append(f"-> {self.answer}")
        return " ".join(parts) + (f" ({self.note})" if self.note else "")


Tree = dict[str, Branch]


def position(path: str) -> tuple[int, ...]:
    """Give the sort key of a path: numeric, so that 0.10 comes after 0.9."""
    return tuple(int(step) for step in path.split("."))


def graft(tree: Mapping[str, Any] | None, grown: Mapping[str, Any] | None) -> Tree:
    """Merge grown branches into a tree by path, as a new tree in path order.

    Plain dicts are validated, because Studio edits and resumed checkpoints arrive so. UsageError for one that is no branch.
    """
    merged = {**_validated(tree or {}), **_validated(grown or {})}
    return {path: merged[path] for path in sorted(merged, key=position)}


def _validated(branches: Mapping[str, Any]) -> Tree:
    return {branch.path: branch for path, value in branches.items() for branch in [_branch(path, value)]}


def _branch(path: str, value: Any) -> Branch:
    if isinstance(value, Branch):
        return value
    try:
        branch = Branch.model_validate({"path": path, **value})
    except (ValidationError, TypeError) as error:
        raise UsageError(f"{value!r} at {path!r} is no branch ({error})", "give at least its question and status") from error
    if not branch.question.strip():
        raise UsageError(f"branch {path!r} has no question: {branch.question!r}", "give it one")
    return branch


def row(branch: Branch) -> dict[str, Any]:
    """Give a branch as plain values, with its parent's path."""
    return {**branch.model_dump(mode="json"), "parent": branch.parent}


def children(tree: Tree, path: str) -> list[Branch]:
    """List the branches directly below a path, in order."""
    return [branch for branch in tree.values() if branch.parent == path]


def descendants(tree: Tree, path: str) -> list[Branch]:
    """List all branches below a path, in order."""
    return [branch for branch in tree.values() if branch.path.startswith(path + ".")]


def ancestors(tree: Tree, path: str) -> list[Branch]:
    """List the branches above a path, the root first."""
    return [branch for branch in tree.values() if path.startswith(branch.path + ".")]


def sprout(tree: Tree, path: str, questions: Iterable[tuple[str, Kind, Status]]) -> list[Branch]:
    """Make children for the next free positions below a path."""
    taken = [position(child.path)[-1] for child in children(tree, path)]
    start = max(taken, default=-1) + 1
    return [
        Branch(path=f"{path}.{start + offset}", question=question, kind=kind, status=status)
        for offset, (question, kind, status) in enumerate(questions)
    ]


def to_networkx(tree: Tree) -> "nx.DiGraph[str]":
    """Give the tree as a directed graph: a vertex a branch with its fields, an edge from parent to child."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for path, branch in tree.items():
        graph.add_node(path, **branch.model_dump())
        if branch.parent is not None:
            graph.add_edge(branch.parent, path)
    return graph
