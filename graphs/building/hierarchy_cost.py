"""What a hierarchy will cost, before it is built: a few groups are summed up, the rest is worked out from them (meta-guided RAG §6)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import time
from typing import Any, NamedTuple

from ramify.graphs.building.build import hierarchy_settings
from ramify.graphs.building.graph_cost import Cost, Range, Stage, encoding, measured, sample
from ramify.graphs.run import blocking
from ramify.nodes.asking.ask import current_model
from ramify.nodes.asking.budget import Budget, working
from ramify.nodes.building.kept_replies import kept_ask
from ramify.nodes.building.summarize_clusters import Summarizing
from ramify.nodes.settings import is_embedded
from ramify.nodes.settings.building import HierarchySettings
from ramify.nodes.state import Usage
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.hierarchy.leaves import NONE, Leaves, Routing
from ramify.tools.hierarchy.partition import Partition, partition, serving
from ramify.tools.hierarchy.summaries import Material, Quoting, Source, Summarizer
from ramify.tools.hierarchy.tree import LETTERS, TOKENS
from ramify.tools.knowledge.build import Work
from ramify.tools.knowledge.elements import Piece

SUMMED = 5
"""Groups that are summed up for a start."""
SUMMARIES = (0.06, 0.25)
"""Summaries for each passage of a group with a tree, at least and at most."""
_TOGETHER = 8
"""Passages that are summed up at once for a start, about as many as in a cluster."""


class Plan(NamedTuple):
    """What passages could be grouped by, and the stages of a build."""

    fields: tuple[tuple[str, ...], ...]
    """One, where it is known; else those of which one will be chosen when the passages are encoded."""
    stages: list[Stage]


def estimate_hierarchy(
    leaves: Leaves, pieces: Sequence[Piece], encoder: Encoder, options: dict[str, Any], fields: Sequence[str] | None, work: Path
) -> Plan:
    """List the stages of a build; of passages that are not encoded yet, this is one of them. UsageError for wrong fields. Blocking."""
    routing, settings = hierarchy_settings(options)
    encoded = bool(len(leaves.vectors))
    chosen = [fields] if fields is not None or encoded else serving(leaves)
    found = [partition(leaves, one) for one in chosen]
    each = sum(len(piece.text) for piece in pieces) / LETTERS / max(1, len(pieces))
    ranges = [_summaries(_sizes(parts), routing, each) for parts in found]
    summaries = (min(low for low, _ in ranges), max(high for _, high in ranges))
    encoder.encode_documents([piece.text for piece in pieces[:2]])  # loading is no part of the speed
    materials = _materials(found[0], leaves, pieces, encoder)
    cost = _cost(materials, settings, encoder, work)
    who = "quoted" if is_embedded(settings.model) else "by the model"
    times = (summaries[0] / max(1, len(materials)), summaries[1] / max(1, len(materials)))
    counts = sorted({len(parts.groups) for parts in found})
    groups = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    stages = [
        *([] if encoded else [encoding(pieces, encoder)]),
        Stage("groups", f"{groups} of {len(leaves):,} passages"),
        cost.stage("summaries", f"{summaries[0]:,.0f} to {summaries[1]:,.0f}, {who}", times),
    ]
    return Plan(tuple(parts.fields for parts in found), stages)


def _cost(materials: Sequence[Material], settings: HierarchySettings, encoder: Encoder, work: Path) -> Cost:
    """Sum up, and tell what that cost."""
    with Work(work) as kept, working(settings, Budget.open(settings, Usage(), time(), kept=False)) as spent:
        summarizer: Summarizer = Quoting(encoder)
        if not is_embedded(settings.model):
            model = current_model(settings)
            summarizer = Summarizing(partial(kept_ask, kept, model.name, settings), settings, model, encoder)

        async def act() -> None:
            for material in materials:
                await summarizer.summarize(material)

        return blocking(measured(act, lambda: spent.spent))


def _sizes(parts: Partition) -> list[int]:
    """Count the passages of each group; those without metadata count as one more."""
    sizes = [0] * len(parts.groups)
    for edge in parts.edges:
        sizes[edge.group] += 1
    return [*sizes, *([len(parts.pool)] if parts.pool else [])]


def _summaries(sizes: Sequence[int], how: Routing, each: float) -> Range:
    """Say how many summaries groups get, at least and at most; short passages can all be in one, `each` being their tokens."""
    least = min(SUMMARIES[0], each / TOKENS)
    low = sum(max(1.0, least * size) if size >= how.tree else 1.0 for size in sizes)
    high = sum(1 + SUMMARIES[1] * size if size >= how.tree else 1.0 for size in sizes)  # one more: the root
    return round(low), round(high)


def _materials(parts: Partition, leaves: Leaves, pieces: Sequence[Piece], encoder: Encoder) -> list[Material]:
    """Take the first passages of some groups, or of the pool, to see what summing them up costs."""
    held = {piece.id: piece for piece in pieces}
    members: list[list[int]] = [[] for _ in parts.groups]
    for edge in parts.edges:
        members[edge.group].append(edge.leaf)
    named = [(group.name, own) for group, own in zip(parts.groups, members, strict=True)] or [(NONE, parts.pool)]
    materials = []
    for name, own in sample(named, SUMMED):
        shown = [held[leaves.ids[leaf]] for leaf in own[:_TOGETHER]]
        vectors = encoder.encode_documents([piece.text for piece in shown])
        sources = [
            Source(piece.text, leaf, vector, piece.titles) for piece, leaf, vector in zip(shown, own[:_TOGETHER], vectors, strict=True)
        ]
        materials.append(Material(tuple(sources), len(sources), name))
    return materials
