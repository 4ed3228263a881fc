"""Build or update the hierarchy of an index: partition, assign, form groups, build trees, diagnose, repair, link."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy.hierarchy_file import EDITION, GroupTrees, HierarchyContent, Link, TreeCache, write_hierarchy_file
from ramify.tools.hierarchy.leaves import EdgeKind, Routing, Tree, fold_value, read_leaves
from ramify.tools.hierarchy.partition import assign_groups, form_groups, partition
from ramify.tools.hierarchy.repair import repair_groups
from ramify.tools.hierarchy.summaries import Summarizer
from ramify.tools.hierarchy.tree import TreeBuilder
from ramify.tools.index.manifest import PASSAGES, require_manifest, write_lock
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.publication import publish_structure
from ramify.tools.knowledge.build import REPLIES_FILE, ReplyStore

_BLOCK = 256
_MIN_LINK_COSINE, _MAX_LINKS = 0.8, 3
"""Minimum cosine of summaries linked across groups, and maximum number of links for each."""


class HierarchyBuild(NamedTuple):
    """The result of a hierarchy build."""

    fields: tuple[str, ...]
    groups: int
    new_groups: int
    leaves: int
    assigned: int
    """Leaves without metadata, assigned to a group by similarity."""
    linked: int
    """Leaves that do not fit the group of their metadata, and are linked to others."""
    ungrouped: int
    """Leaves in no group."""
    nodes: int
    rebuilt_trees: int
    """Groups whose trees were built; the others were reused."""
    flagged: int
    repairs: int
    replaced: int
    """Summaries quoted from the documents because the model failed to write them."""
    links: int
    drifted: tuple[str, ...]
    """Groups changed by more than `MAX_DRIFT` since they were clustered."""
    notes: tuple[str, ...]


async def build_hierarchy(
    folder: Path,
    encoder: Encoder,
    summarizer: Summarizer,
    fields: Sequence[str] | None = None,
    routing: Routing | None = None,
    rebuild: bool = False,
    progress: Progress = ignore_progress,
    replies: ReplyStore | None = None,
) -> HierarchyBuild:
    """Build or update the hierarchy of the finished index in a folder; UsageError for fields unsuitable for grouping.

    replies: the store of model replies, which also caches the trees.
    """
    routing = routing or Routing()
    manifest = require_manifest(folder)
    with write_lock(folder), nullcontext(replies) if replies else ReplyStore(folder / REPLIES_FILE) as store:
        leaves = read_leaves(folder / PASSAGES)
        if not len(leaves):
            raise IndexingError(f"the index in {str(folder)!r} has no passages", "add documents with `ramify index` first")
        parts = partition(leaves, fields)
        state = form_groups(leaves, parts, assign_groups(leaves, parts, routing), routing)
        build_options = [EDITION, routing.model_dump_json(exclude={"repairs"}), manifest.embedding, summarizer.made_by]
        known = leaves.folded_values(state.fields)
        builder = TreeBuilder(leaves, encoder, summarizer, routing, known)
        group_trees = GroupTrees(leaves, builder, TreeCache(store, leaves, known, build_options), rebuild, progress)
        state, trees, diagnoses, repairs = await repair_groups(state, group_trees, known, routing)
        links = _link_summaries(trees)
        replaced = sum(node.summary.made_by != summarizer.made_by for tree in trees.values() for node in tree)
        facts = {
            "made_by": summarizer.made_by,
            "replaced": str(replaced),
            "how": routing.model_dump_json(),
            **{f"drifted {name}": f"{share:.2f}" for name, share in group_trees.drifted.items()},
            **{f"note {number}": note for number, note in enumerate(group_trees.notes)},
        }
        titles = [fold_value(title) for title in leaves.titles]
        content = HierarchyContent(state.fields, leaves.ids, titles, state.groups, state.edges, trees, links, diagnoses, repairs, facts)
        publish_structure(folder, "hierarchy", lambda path: write_hierarchy_file(path, content), state.fields)
        group_trees.save()
        if replies is None:  # with a model, replies of reused trees are unused but still needed
            store.delete_unused()
        return _build_result(content, group_trees, replaced)


def _build_result(content: HierarchyContent, group_trees: GroupTrees, replaced: int) -> HierarchyBuild:
    of_kind = {kind: len({edge.leaf for edge in content.edges if edge.kind == kind}) for kind in get_args(EdgeKind)}
    return HierarchyBuild(
        fields=content.fields,
        groups=len(content.groups),
        new_groups=sum(group.kind == "founded" for group in content.groups),
        leaves=len(content.ids),
        assigned=of_kind["soft"],
        linked=of_kind["escape"],
        ungrouped=of_kind["pool"],
        nodes=sum(map(len, content.trees.values())),
        rebuilt_trees=len(group_trees.rebuilt),
        flagged=sum(bool(one.flags) for one in content.diagnoses),
        repairs=len(content.repairs),
        replaced=replaced,
        links=len(content.links),
        drifted=tuple(group_trees.drifted),
        notes=group_trees.notes,
    )


def _link_summaries(trees: Mapping[int, Tree]) -> list[Link]:
    """Return links from each lowest summary to the most similar ones of other groups."""
    nodes = [(group, place, node) for group, tree in sorted(trees.items()) for place, node in enumerate(tree) if not node.children]
    if len(nodes) < 2:
        return []
    vectors = np.array([node.vector for _, _, node in nodes])
    group_of = np.array([group for group, _, _ in nodes])
    found: list[Link] = []
    for start in range(0, len(nodes), _BLOCK):
        block = slice(start, start + _BLOCK)
        similarities = np.where(group_of[block, None] == group_of, -1.0, vectors[block] @ vectors.T)
        for (group, place, _), row in zip(nodes[block], similarities, strict=True):
            likely = np.flatnonzero(row >= _MIN_LINK_COSINE)
            for other in likely[np.argsort(-row[likely], kind="stable")][:_MAX_LINKS].tolist():
                found.append((group, place, nodes[other][0], nodes[other][1], round(float(row[other]), 4)))
    return found
