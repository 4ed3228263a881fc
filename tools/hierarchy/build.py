"""Make the hierarchy of an index, or bring it up to date: partition, route, found, grow trees, diagnose, repair, link; group by group."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy.hierarchy_file import EDITION, Content, Kept, Link, Trees, write_content
from ramify.tools.hierarchy.leaves import EdgeKind, Routing, Tree, folded, read_leaves
from ramify.tools.hierarchy.partition import founded, partition, route
from ramify.tools.hierarchy.repair import repaired
from ramify.tools.hierarchy.summaries import Summarizer
from ramify.tools.hierarchy.tree import Grower
from ramify.tools.index.manifest import PASSAGES, manifest_of, write_lock
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.publication import publish_structure
from ramify.tools.knowledge.build import REPLIES_FILE, ReplyStore

_BLOCK = 256
_LINKED, _LINKS = 0.8, 3
"""Least cosine of summaries that are linked across groups, and the links of each."""


class Made(NamedTuple):
    """What the build of a hierarchy came to."""

    fields: tuple[str, ...]
    groups: int
    founded: int
    leaves: int
    routed: int
    """Leaves in a group by what they say, for want of metadata."""
    escaped: int
    """Leaves linked to other groups because they do not fit that of their metadata."""
    pool: int
    """Leaves without a group."""
    nodes: int
    grown: int
    """Groups whose trees were grown; the others are as they were."""
    flagged: int
    repairs: int
    replaced: int
    """Summaries that the model did not write, for whatever reason, and that are quoted instead."""
    links: int
    drifted: tuple[str, ...]
    """Groups that have changed much since they were clustered."""
    notes: tuple[str, ...]


async def build_hierarchy(
    folder: Path,
    encoder: Encoder,
    summarizer: Summarizer,
    fields: Sequence[str] | None = None,
    how: Routing | None = None,
    rebuild: bool = False,
    progress: Progress = silent,
    replies: ReplyStore | None = None,
) -> Made:
    """Make the hierarchy of the finished index in a folder; UsageError for fields that do not group its passages.

    replies: where a model's replies are kept, if one is asked; trees are kept there too.
    """
    how = how or Routing()
    manifest = manifest_of(folder)
    with write_lock(folder), nullcontext(replies) if replies else ReplyStore(folder / REPLIES_FILE) as work:
        leaves = read_leaves(folder / PASSAGES)
        if not len(leaves):
            raise IndexingError(f"the index in {str(folder)!r} holds no passages", "index documents first")
        parts = partition(leaves, fields)
        state = founded(leaves, parts, route(leaves, parts, how), how)
        made = [EDITION, how.model_dump_json(exclude={"repairs"}), manifest.embedding, summarizer.made_by]
        known = leaves.known(state.fields)
        grower = Grower(leaves, encoder, summarizer, how, known)
        growing = Trees(leaves, grower, Kept(work, leaves, known, made), rebuild, progress)
        state, trees, findings, repairs = await repaired(state, growing, known, how)
        links = _links(trees)
        replaced = sum(node.summary.made_by != summarizer.made_by for tree in trees.values() for node in tree)
        facts = {
            "made_by": summarizer.made_by,
            "replaced": str(replaced),
            "how": how.model_dump_json(),
            **{f"drifted {name}": f"{share:.2f}" for name, share in growing.drifted.items()},
            **{f"note {number}": note for number, note in enumerate(growing.notes)},
        }
        titles = [folded(title) for title in leaves.titles]
        content = Content(state.fields, leaves.ids, titles, state.groups, state.edges, trees, links, findings, repairs, facts)
        publish_structure(folder, "hierarchy", lambda path: write_content(path, content), state.fields)
        growing.settle()
        if replies is None:  # the replies of trees that were kept were not asked for
            work.delete_unused()
        return _made(content, growing, replaced)


def _made(content: Content, growing: Trees, replaced: int) -> Made:
    of_kind = {kind: len({edge.leaf for edge in content.edges if edge.kind == kind}) for kind in get_args(EdgeKind)}
    return Made(
        fields=content.fields,
        groups=len(content.groups),
        founded=sum(group.kind == "founded" for group in content.groups),
        leaves=len(content.ids),
        routed=of_kind["soft"],
        escaped=of_kind["escape"],
        pool=of_kind["pool"],
        nodes=sum(map(len, content.trees.values())),
        grown=len(growing.grown),
        flagged=sum(bool(one.flags) for one in content.findings),
        repairs=len(content.repairs),
        replaced=replaced,
        links=len(content.links),
        drifted=tuple(growing.drifted),
        notes=growing.notes,
    )


def _links(trees: Mapping[int, Tree]) -> list[Link]:
    """Link each lowest summary to the most similar ones of other groups."""
    nodes = [(group, place, node) for group, tree in sorted(trees.items()) for place, node in enumerate(tree) if not node.children]
    if len(nodes) < 2:
        return []
    vectors = np.array([node.vector for _, _, node in nodes])
    group_of = np.array([group for group, _, _ in nodes])
    found: list[Link] = []
    for start in range(0, len(nodes), _BLOCK):
        block = slice(start, start + _BLOCK)
        near = np.where(group_of[block, None] == group_of, -1.0, vectors[block] @ vectors.T)
        for (group, place, _), row in zip(nodes[block], near, strict=True):
            likely = np.flatnonzero(row >= _LINKED)
            for other in likely[np.argsort(-row[likely], kind="stable")][:_LINKS].tolist():
                found.append((group, place, nodes[other][0], nodes[other][1], round(float(row[other]), 4)))
    return found
