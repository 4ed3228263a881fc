"""Whose answer serves a branch beside its own: that of another which asks the same, or of one below that answers its question."""

from ramify.nodes.tree import DROPPED, Branch, Tree, children, normalized_key, position


def find_duplicate(tree: Tree, branch: Branch) -> Branch | None:
    """Find another branch that asks the same: one that has its answer, or one before it that will or that is divided.

    An ancestor never counts. A branch that another waits for is asked itself where nothing else would come of it.
    """
    for other in tree.values():
        related = f"{other.path}.".startswith(f"{branch.path}.") or branch.path.startswith(f"{other.path}.")
        if related or normalized_key(other) != normalized_key(branch):
            continue
        before = other.status not in DROPPED and position(other.path) < position(branch.path)
        if other.answer is not None or (before and (other.next or not awaited(tree, branch))):
            return other
    return None


def copy_answer(branch: Branch, original: Branch) -> Branch:
    """Copy what came of the original."""
    note = f"same question as {original.path}"
    if original.answer is None:
        return branch.to("failed" if original.status == "failed" else "leaf", note=f"{note}: see there")
    copied = original.model_dump(include={"answer", "confidence", "confidence_source", "evidence", "cited"})
    return branch.to("leaf" if branch.kind == "entity" else "answered", note=note, **copied)


def accepted_answer(tree: Tree, branch: Branch) -> Branch | None:
    """Find the branch whose answer counts for this one's question: the last that nothing was objected to; else the last that is known."""
    answers = _answers(tree, branch)
    accepted = [answer for answer in answers if not answer.objection] or answers
    return accepted[-1] if accepted else None


def answers_parent(child: Branch, parent: Branch) -> bool:
    """Tell whether a child's answer is its parent's: it asks the same once more, or is the last hop of a bridge.

    The half of a comparison asks for something else, and what is said of an entity answers no question.
    """
    return child.kind == parent.kind == "question" and (child.awaits is not None or normalized_key(child) == normalized_key(parent))


def awaited(tree: Tree, branch: Branch) -> bool:
    """Tell whether another branch waits for this one's answer, or for one that is brought together from it."""
    lines = [branch, *(other for other in tree.values() if branch.path.startswith(f"{other.path}."))]
    wanted = {sibling_of(tree, other).path for other in tree.values() if other.status == "waiting"}
    return any(line.path in wanted for line in lines)


def sibling_of(tree: Tree, branch: Branch) -> Branch:
    """Find the sibling that a waiting branch refers to; where it does not say, the one just before it."""
    head, _, last = branch.path.rpartition(".")
    return tree[branch.awaits or f"{head}.{int(last) - 1}"]


def confidence_note(settled: Branch) -> str:
    """Say how sure an answer is, and that it was taken for want of a surer one."""
    if settled.confidence is None:
        return ""
    return f"{'nothing surer, ' if settled.objection else ''}confidence {settled.confidence:.3f}"


def _answers(tree: Tree, branch: Branch) -> list[Branch]:
    """List the answers to a branch's question, its own first; the answer of an inner branch is already that of all below it."""
    own = [branch] if branch.known and branch.kind == "question" else []
    if branch.aggregated:
        return own
    below = [child for child in children(tree, branch.path) if child.status != "pruned" and answers_parent(child, branch)]
    return own + (_answers(tree, below[-1]) if below else [])
