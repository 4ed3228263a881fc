"""What a step sees beside the branch that it is handed: the tree around it, its passages, the settings, and where its edges lead."""

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ramify.nodes.settings import Settings
from ramify.nodes.step.shared_answers import awaited
from ramify.nodes.tree import Branch, Passage, Tree, ancestors, children

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Context(Generic[S]):
    """The state and the settings, as a step sees them; the wiring says where the step's edges lead."""

    state: Any
    """The state; that of Iterative RAG has more than others."""
    settings: S
    targets: frozenset[str] = field(default=frozenset())
    """The names of the steps that its edges lead to: what a decision may choose."""
    steps: frozenset[str] = field(default=frozenset())
    """The names of all steps of the graph."""
    final_call: bool = True
    """Whether the last step may ask the model; else the root's answer is the question's."""

    @property
    def tree(self) -> Tree:
        """The tree."""
        tree: Tree = self.state["tree"]
        return tree

    def parent(self, branch: Branch) -> Branch | None:
        """Return the branch that it hangs from; None for the root."""
        return self.tree.get(branch.parent or "")

    def children(self, branch: Branch) -> list[Branch]:
        """List the branches that hang from it, in order."""
        return children(self.tree, branch.path)

    def pair(self, branch: Branch) -> list[Branch]:
        """List the children that count: the last two."""
        return self.children(branch)[-2:]

    def above(self, branch: Branch) -> list[str]:
        """List the questions above it, the root's first."""
        return [ancestor.question for ancestor in ancestors(self.tree, branch.path)]

    def passages(self, *branches: Branch) -> tuple[Passage, ...]:
        """List the passages that were found for branches, each once."""
        known = self.state["passages"]
        return tuple(known[key] for key in dict.fromkeys(key for branch in branches for key in branch.evidence) if key in known)

    def part_of(self, branch: Branch) -> str:
        """Say which question it is a part of; empty for the root, and where it asks the same: it tells apart what bears one name."""
        parent = self.parent(branch)
        return "" if parent is None or branch.kind != "question" or parent.question == branch.question else parent.question

    def awaited(self, branch: Branch) -> bool:
        """Tell whether another branch waits for its answer."""
        return awaited(self.tree, branch)
