"""The tree: branches by path, how it grows, and who hangs from whom."""

from collections.abc import Iterable, Mapping
from typing import Any

import networkx as nx
from pydantic import ValidationError

from ramify.nodes.tree.branch_and_passage import INTERNAL, Branch, Kind, Status
from ramify.tools.errors import UsageError

Tree = dict[str, Branch]


def position(path: str) -> tuple[int, ...]:
    """Give the sort key of a path: numeric, so that 0.10 comes after 0.9."""
    return tuple(int(step) for step in path.split("."))


def merge_branches(tree: Mapping[str, Any] | None, grown: Mapping[str, Any] | None) -> Tree:
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
    """Give a branch as plain values, with its parent's path; what only the graph's steps tell each other is left out."""
    return {**branch.model_dump(mode="json", exclude=INTERNAL), "parent": branch.parent}


def children(tree: Tree, path: str) -> list[Branch]:
    """List the branches directly below a path, in order."""
    return [branch for branch in tree.values() if branch.parent == path]


def descendants(tree: Tree, path: str) -> list[Branch]:
    """List all branches below a path, in order."""
    return [branch for branch in tree.values() if branch.path.startswith(path + ".")]


def ancestors(tree: Tree, path: str) -> list[Branch]:
    """List the branches above a path, the root first."""
    return [branch for branch in tree.values() if path.startswith(branch.path + ".")]


def new_children(tree: Tree, path: str, questions: Iterable[tuple[str, Kind, Status]]) -> list[Branch]:
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
