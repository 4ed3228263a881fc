"""What a step is given: which branches it takes, and what it sees beside each."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Generic, TypeVar

from ramify.nodes.settings import Settings
from ramify.nodes.state import State, evidence_of
from ramify.nodes.step.shared_answers import awaited, doubt, sibling_of, standing
from ramify.nodes.tree import WORKING, Branch, Passage, Status, Tree, Value, ancestors, children, descendants

G = TypeVar("G")


@dataclass(frozen=True)
class Selection(Generic[G]):
    """Which branches a step takes: by status, and by what can be seen from the branch (None passes it over)."""

    takes: frozenset[str]
    see: Callable[[State, Branch, Settings], G | None]

    def choose(self, state: State, settings: Settings) -> list[tuple[Branch, G]]:
        """List the chosen branches in path order, each with what the step is given."""
        chosen = []
        for branch in state["tree"].values():
            if branch.status in self.takes and (given := self.see(state, branch, settings)) is not None:
                chosen.append((branch, given))
        return chosen


CARRIED = frozenset({"answered", "failed"})
"""What a half that was carried over from a weak pair is while the other half is new."""


class Found(Value):
    """A branch with its passages, what it hangs from, the questions above it, and whether another waits for its answer."""

    branch: Branch
    passages: tuple[Passage, ...]
    parent: Branch | None = None
    above: tuple[str, ...] = ()
    awaited: bool = False


class Fork(Value):
    """A branch with its children, and the questions above it."""

    branch: Branch
    children: tuple[Branch, ...]
    above: tuple[str, ...] = ()

    @property
    def pair(self) -> tuple[Branch, ...]:
        """Give the children that count: the last pair."""
        return self.children[-2:]


class ReadFork(Fork):
    """A branch with its children and its passages."""

    passages: tuple[Passage, ...] = ()


class Waiting(Value):
    """A branch that waits, the sibling it waits for, and the branch whose answer stands for that one's."""

    branch: Branch
    sibling: Branch
    settled: Branch | None
    doubt: str = ""
    """Why the answer is to be taken with care."""


def alone(*statuses: Status) -> Selection[Branch]:
    """Give the branch and nothing else."""
    return Selection(frozenset(statuses), lambda state, branch, settings: branch)


def reading(*statuses: Status) -> Selection[Found]:
    """Give the branch with its passages."""

    def see(state: State, branch: Branch, settings: Settings) -> Found:
        tree = state["tree"]
        return Found(
            branch=branch,
            passages=evidence_of(state, branch),
            parent=tree.get(branch.parent or ""),
            above=_above(tree, branch),
            awaited=awaited(tree, branch),
        )

    return Selection(frozenset(statuses), see)


def fork(*statuses: Status) -> Selection[Fork]:
    """Give the branch with its children."""
    return Selection(frozenset(statuses), lambda state, branch, settings: _fork(state["tree"], branch))


def read_fork(*statuses: Status) -> Selection[ReadFork]:
    """Give the branch with its children and its passages."""

    def see(state: State, branch: Branch, settings: Settings) -> ReadFork:
        return ReadFork(**dict(_fork(state["tree"], branch)), passages=evidence_of(state, branch))

    return Selection(frozenset(statuses), see)


def answered_fork(*statuses: Status) -> Selection[Fork]:
    """Give the branch with its children once none of them still wants passages or an answer."""
    return _fork_without({"open", "found", "waiting"}, statuses)


def settled_fork(*statuses: Status) -> Selection[Fork]:
    """Give the branch with its children once all below it is settled."""
    return _fork_without(WORKING | {"split"}, statuses)


def fresh_fork(*statuses: Status) -> Selection[Fork]:
    """Give the branch with its children while nothing has been retrieved for the last of them."""

    def see(state: State, branch: Branch, settings: Settings) -> Fork | None:
        given = _fork(state["tree"], branch)
        fresh = {"open", "waiting"}
        return given if given.pair and given.pair[0].status in fresh | CARRIED and given.pair[-1].status in fresh else None

    return Selection(frozenset(statuses), see)


def waiting() -> Selection[Waiting]:
    """Give each branch that waits for a sibling which has settled."""

    def see(state: State, branch: Branch, settings: Settings) -> Waiting | None:
        tree = state["tree"]
        sibling = sibling_of(tree, branch)
        unsettled = WORKING - {"answered"}
        if sibling.status in unsettled or any(below.status in WORKING for below in descendants(tree, sibling.path)):
            return None
        settled = standing(tree, sibling, settings)
        return Waiting(branch=branch, sibling=sibling, settled=settled, doubt=doubt(settled, settings) if settled else "")

    return Selection(frozenset({"waiting"}), see)


def _fork_without(pending: Set[str], statuses: Sequence[Status]) -> Selection[Fork]:
    def see(state: State, branch: Branch, settings: Settings) -> Fork | None:
        given = _fork(state["tree"], branch)
        return None if any(child.status in pending for child in given.children) else given

    return Selection(frozenset(statuses), see)


def _fork(tree: Tree, branch: Branch) -> Fork:
    return Fork(branch=branch, children=tuple(children(tree, branch.path)), above=_above(tree, branch))


def _above(tree: Tree, branch: Branch) -> tuple[str, ...]:
    return tuple(ancestor.question for ancestor in ancestors(tree, branch.path))
