"""Identical questions of different branches are asked once; an ancestor's question never counts as the same."""

from ramify.nodes.tree import DROPPED, Branch, Tree, position, wording


def twin(tree: Tree, branch: Branch) -> Branch | None:
    """Find another branch that asks the same: one that has its answer, or one before it that will."""
    for other in tree.values():
        if other.path == branch.path or wording(other) != wording(branch) or _related(other.path, branch.path):
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


def _related(path: str, other: str) -> bool:
    return path.startswith(other + ".") or other.startswith(path + ".")
