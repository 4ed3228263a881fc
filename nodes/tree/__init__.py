"""The tree of questions: its values, its paths and the rules by which branches are merged into it.

A branch's path is its position and its identity: "0" is the root, "0.1" its second child. Branches are never removed: what is pruned stays,
with the reason, because the tree is the explanation of the answer.

In reading order: `tree` (branches, passages, references to other answers), `notes`, `citation`; `phrases` and `cards` show them.
"""

from ramify.nodes.tree.tree import (
    DROPPED,
    ROOT,
    WORKING,
    Branch,
    ConfidenceSource,
    FrozenModel,
    Kind,
    Passage,
    Point,
    Proposal,
    Status,
    Tree,
    ancestors,
    branches_below,
    children,
    descendants,
    merge_branches,
    new_children,
    normalized_key,
    position,
    row,
    to_networkx,
)
from ramify.tools.english import UNKNOWN, is_unknown

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
    "ancestors",
    "branches_below",
    "children",
    "descendants",
    "is_unknown",
    "merge_branches",
    "new_children",
    "normalized_key",
    "position",
    "row",
    "to_networkx",
]
