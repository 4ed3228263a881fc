"""Whose answer serves a branch beside its own: that of a twin, which asks the same, or of a branch below that stands for it."""

from ramify.nodes.settings import PruneSettings, Settings
from ramify.nodes.step.conditions import sure
from ramify.nodes.tree import DROPPED, Branch, Tree, children, position, wording


def twin(tree: Tree, branch: Branch) -> Branch | None:
    """Find another branch that asks the same: one that has its answer, or one before it that will. An ancestor's question never counts."""
    for other in tree.values():
        related = f"{other.path}.".startswith(f"{branch.path}.") or branch.path.startswith(f"{other.path}.")
        if related or wording(other) != wording(branch):
            continue
        under_way = other.status not in DROPPED and position(other.path) < position(branch.path)
        if other.answer is not None or under_way:
            return other
    return None


def echo(branch: Branch, original: Branch) -> Branch:
    """Copy what came of the original."""
    note = f"same question as {original.path}"
    if original.answer is None:
        return branch.to("failed" if original.status == "failed" else "leaf", note=f"{note}: see there")
    copied = original.model_dump(include={"answer", "confidence", "confidence_source", "evidence", "cited"})
    return branch.to("leaf" if branch.kind == "entity" else "answered", note=note, **copied)


def standing(tree: Tree, branch: Branch, settings: Settings) -> Branch | None:
    """Find the branch whose answer stands: the last one that is sure; where none is, the last one that is known."""
    answers = _answers(tree, branch)
    if isinstance(settings, PruneSettings):
        answers = [answer for answer in answers if sure(answer, settings)] or answers
    return answers[-1] if answers else None


def stands_for(child: Branch, parent: Branch) -> bool:
    """Tell whether a child's answer is its parent's: it asks the same once more, or is the last hop of a bridge.

    The half of a comparison asks for something else, and what is said of an entity answers no question.
    """
    return child.kind == parent.kind == "question" and (child.awaits is not None or wording(child) == wording(parent))


def awaited(tree: Tree, branch: Branch) -> bool:
    """Tell whether another branch waits for this one's answer, or for its parent's where it stands for that."""
    if branch.parent is None:
        return False
    parent = tree[branch.parent]
    waiting = [child for child in children(tree, parent.path) if child.status == "waiting"]
    return branch in (sibling_of(tree, child) for child in waiting) or (stands_for(branch, parent) and awaited(tree, parent))


def sibling_of(tree: Tree, branch: Branch) -> Branch:
    """Find the sibling that a waiting branch refers to; where it does not say, the one just before it."""
    head, _, last = branch.path.rpartition(".")
    return tree[branch.awaits or f"{head}.{int(last) - 1}"]


def doubt(settled: Branch, settings: Settings) -> str:
    """Say how sure an answer is, and that it is not sure enough where it was taken for want of a better one."""
    if settled.confidence is None:
        return ""
    unsure = isinstance(settings, PruneSettings) and not sure(settled, settings)
    return f"{'nothing surer, ' if unsure else ''}confidence {settled.confidence:.3f}"


def _answers(tree: Tree, branch: Branch) -> list[Branch]:
    """List the answers to a branch's question, its own first; the answer of an inner branch is already that of all below it."""
    own = [branch] if branch.known and branch.kind == "question" else []
    if branch.status == "inner":
        return own
    below = [child for child in children(tree, branch.path) if child.status != "pruned" and stands_for(child, branch)]
    return own + (_answers(tree, below[-1]) if below else [])
