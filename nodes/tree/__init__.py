"""The tree of questions: its values, its paths and the rules by which branches are merged into it.

A branch's path is its position and its identity: "0" is the root, "0.1" its second child. Branches are never removed: what is pruned stays,
with the reason, because the tree is the explanation of the answer.

Here are branches, and how a tree grows. In reading order then: `answers`, `notes`, `citation`.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import networkx as nx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ramify.tools.errors import UsageError
from ramify.tools.no_answer import UNKNOWN, is_unknown
from ramify.tools.passage import Passage

__all__ = [
    "DROPPED",
    "ROOT",
    "UNKNOWN",
    "WORKING",
    "Branch",
    "ConfidenceSource",
    "FrozenModel",
    "Kind",
    "Passage",
    "Point",
    "Proposal",
    "Status",
    "Tree",
    "Trial",
    "ancestors",
    "branches_below",
    "children",
    "descendants",
    "is_unknown",
    "latest_parts",
    "merge_branches",
    "new_children",
    "normalized_key",
    "position",
    "to_networkx",
    "to_row",
]

Kind = Literal["question", "entity", "batch"]
"""What a branch asks: a question, what there is about a name, or what a batch of reports says of the whole question."""
Status = Literal["open", "waiting", "answered", "split", "inner", "leaf", "pruned", "failed"]
"""State of a branch: open, waiting for its sibling, answered, split; or settled (the last four)."""
ConfidenceSource = Literal["logprobs", "stated", "reader", "person"]

ROOT = "0"
WORKING: frozenset[str] = frozenset({"open", "waiting", "answered"})
DROPPED: frozenset[str] = frozenset({"pruned", "failed"})
INTERNAL = {"next", "sent", "proposal", "objection", "reconsidered", "sufficiency", "parts", "trials"}
"""The fields of a branch that only the steps of a graph read."""


class FrozenModel(BaseModel):
    """A frozen value."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Proposal(FrozenModel):
    """A proposed split of a question: sub-questions, or names to look up."""

    questions: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    together: str = ""


class Point(FrozenModel):
    """One point that a batch of reports contributes to the answer."""

    text: str
    score: float = Field(ge=0, le=1)
    """How much it helps to answer the question."""
    cited: tuple[str, ...] = ()
    """The ids of the reports that it rests on."""


class Trial(FrozenModel):
    """A split that a search over trees tried: its parts, its score, and how many simulations went through it."""

    parts: tuple[str, ...] = ()
    """The paths of the children; empty where no further split was found."""
    score: float = Field(default=0.0, ge=0, le=1)
    visits: int = Field(default=1, ge=0)


class Branch(FrozenModel):
    """A node of the tree: a question or an entity, with its passages, answer and status."""

    path: str = Field(pattern=r"^0(\.\d+)*$")
    question: str
    template: str = ""
    """The question as it was asked, with `{1}` where an earlier answer was inserted; empty if none was."""
    kind: Kind = "question"
    status: Status = "open"
    evidence: tuple[str, ...] = ()
    """Passage ids, as retrieved."""
    cited: tuple[str, ...] = ()
    """The passage ids that the answer rests on."""
    answer: str | None = None
    text: str = ""
    """The answer in sentences, if the reply that gave it may conclude; marks are the places of its passages in `cited`, from 1."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    confidence_source: ConfidenceSource | None = None
    points: tuple[Point, ...] = ()
    """Points of a batch, the most helpful first; the branch's score is that of the first."""
    score: float | None = Field(default=None, ge=0, le=1)
    """The judge's score of the fork below."""
    sufficiency: float | None = Field(default=None, ge=0, le=1)
    """How far the answers below suffice, as the judge found: one of the criteria of the score."""
    weaker: str | None = None
    """The path of the child that helps less, as the judge found."""
    parts: tuple[str, ...] = ()
    """The paths of the children that it was last split into."""
    trials: tuple[Trial, ...] = ()
    """The splits that a search over trees has tried so far."""
    attempts: int = Field(default=0, ge=0)
    """How often it has been split."""
    awaits: str | None = Field(default=None, pattern=r"^0(\.\d+)+$")
    """The sibling whose answer its question needs or contains, as second hop of a bridge."""
    together: str = ""
    """How the answers below it are combined: bridge, earlier, same, …; empty if the model decides."""
    note: str = ""
    """Why it was pruned, what was filled in, what went wrong."""
    next: str = ""
    """The step that processes it next; empty if it is settled or waits for others."""
    sent: int = -1
    """The superstep of LangGraph in which it was sent there."""
    proposal: Proposal | None = None
    """The proposed split, if there is one."""
    objection: str = ""
    """Why its answer or fork was not accepted; empty if accepted or not examined yet."""
    reconsidered: bool = False
    """Whether the model has reconsidered it after an objection."""
    aggregated: bool = False
    """Whether its answer is combined from its children's."""

    @property
    def depth(self) -> int:
        """Count the edges between it and the root."""
        return self.path.count(".")

    @property
    def parent(self) -> str | None:
        """Return the parent's path; None for the root."""
        return self.path.rpartition(".")[0] or None

    @property
    def known(self) -> bool:
        """Return whether it has an answer other than Unknown."""
        return self.answer is not None and not is_unknown(self.answer)

    def with_note(self, more: str) -> str:
        """Return its note with another one appended."""
        return "; ".join(filter(None, (self.note, more)))

    def with_status(self, status: Status, **changes: Any) -> "Branch":
        """Return a validated copy with another status and other changes; another answer is without the text of the one before."""
        if "answer" in changes:
            changes = {"text": "", **changes}
        return Branch.model_validate({**self.model_dump(), **changes, "status": status})

    def __str__(self) -> str:
        parts = [self.path, self.status, self.question]
        if self.answer is not None:
            parts.append(f"-> {self.answer}")
        return " ".join(parts) + (f" ({self.note})" if self.note else "")


def normalized_key(branch: Branch) -> tuple[str, str]:
    """Return the key by which questions are identical: kind and words, without case, spacing and final punctuation."""
    text = unicodedata.normalize("NFKC", branch.question).casefold()
    return branch.kind, " ".join(text.split()).rstrip(" ?.!")


Tree = dict[str, Branch]


def position(path: str) -> tuple[int, ...]:
    """Return the sort key of a path: numeric, so that 0.10 comes after 0.9."""
    return tuple(int(step) for step in path.split("."))


def merge_branches(tree: Mapping[str, Any] | None, grown: Mapping[str, Any] | None) -> Tree:
    """Reducer: return a new tree in path order, with changed and new branches merged by path.

    Plain dicts are validated, because Studio edits and resumed checkpoints arrive so. UsageError for an invalid branch.
    """
    merged: Tree = {}
    for path, value in (*(tree or {}).items(), *(grown or {}).items()):
        branch = value if isinstance(value, Branch) else _branch(path, value)
        merged[branch.path] = branch
    return {path: merged[path] for path in sorted(merged, key=position)}


def _branch(path: str, value: Any) -> Branch:
    try:
        branch = Branch.model_validate({"path": path, **value})
    except (ValidationError, TypeError) as error:
        raise UsageError(f"{value!r} at {path!r} is not a valid branch ({error})", "give at least its question and status") from error
    if not branch.question.strip():
        raise UsageError(f"branch {path!r} has no question: {branch.question!r}", "give it one")
    return branch


def to_row(branch: Branch) -> dict[str, Any]:
    """Return a branch as JSON values, with its parent's path and without the fields that only steps use."""
    return {**branch.model_dump(mode="json", exclude=INTERNAL), "parent": branch.parent}


def children(tree: Tree, path: str) -> list[Branch]:
    """List the branches directly below a path, in order."""
    return [branch for branch in tree.values() if branch.parent == path]


def latest_parts(tree: Tree, fork: Branch) -> list[Branch]:
    """List the children that a branch was last split into: one or two."""
    return [tree[path] for path in fork.parts if path in tree] or children(tree, fork.path)[-2:]


def branches_below(tree: Tree) -> dict[str, list[Branch]]:
    """List the branches directly below each path, in order: for one that walks the whole tree."""
    below: dict[str, list[Branch]] = {path: [] for path in tree}
    for branch in tree.values():
        if (parent := branch.parent) is not None and parent in below:
            below[parent].append(branch)
    return below


def descendants(tree: Tree, path: str) -> list[Branch]:
    """List all branches below a path, in order."""
    return [branch for branch in tree.values() if branch.path.startswith(path + ".")]


def ancestors(tree: Tree, path: str) -> list[Branch]:
    """List the branches above a path, the root first."""
    return [branch for branch in tree.values() if path.startswith(branch.path + ".")]


def new_children(tree: Tree, path: str, questions: Iterable[str]) -> list[Branch]:
    """Return new children at the next free positions below a path."""
    start = max((position(child.path)[-1] + 1 for child in children(tree, path)), default=0)
    return [Branch(path=f"{path}.{number}", question=question) for number, question in enumerate(questions, start)]


def to_networkx(tree: Tree) -> "nx.DiGraph[str]":
    """Return the tree as a directed graph: a vertex a branch with its fields, an edge from parent to child."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for path, branch in tree.items():
        graph.add_node(path, **branch.model_dump())
        if branch.parent is not None:
            graph.add_edge(branch.parent, path)
    return graph
