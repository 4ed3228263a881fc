"""Build or update the hierarchy of an index: partition, assign, form groups, build trees, diagnose, and repair if asked to.

With `repairs`, suspicious groups and their trees are repaired, the cheapest repair first (meta-guided RAG §5): outliers move to better
groups; clusters are split and merged; clusters that separate steps or mix metadata are rebuilt with constraints.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from ramify.kinds.hierarchy._clustering import Clusters, KnownValues, merge_by_bic, separate_conflicts, split_by_bic
from ramify.kinds.hierarchy.hierarchy_file import (
    EDITION,
    GroupRepair,
    GroupTrees,
    HierarchyContent,
    TreeCache,
    update_clusters,
    write_hierarchy_file,
)
from ramify.kinds.hierarchy.leaves import (
    Edge,
    EdgeKind,
    GroupDiagnosis,
    GroupMeasures,
    Leaves,
    Node,
    Repair,
    Routing,
    Tree,
    fold_value,
    read_leaves,
    unique_group_names,
)
from ramify.kinds.hierarchy.partition import (
    Partition,
    assign_groups,
    form_groups,
    group_members,
    group_profiles,
    likeliest_groups,
    partition,
)
from ramify.kinds.hierarchy.summaries import Summarizer
from ramify.kinds.hierarchy.tree import CHARS_PER_TOKEN, MAX_CLUSTER_TOKENS, TreeBuilder
from ramify.kinds.knowledge.build import REPLIES_FILE, ReplyStore
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import IndexingError
from ramify.tools.index.folder import require_manifest, write_lock
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.publication import publish_structure

_OUTLIER_DEVIATIONS = 2.0
"""Deviations below its group's mean from which a leaf is an outlier."""
MIN_SELF_RETRIEVAL = 0.5
_MAX_OUTLIER_RATE, _MIN_SUPPORT, _MAX_TORN_SHARE, _MAX_CONFLICT = 0.2, 0.7, 0.2, 0.2
_SEARCHED_SUMMARIES = 50
"""Approximate number of lowest summaries sampled for self-retrieval."""
_LOOSE_DEVIATIONS = 2.0
"""Deviations below the mean cohesion of all groups from which a group is loose."""
FLAG_LIMITS: Mapping[str, str] = {
    "cluster_cohesion": f"{_LOOSE_DEVIATIONS:g} deviations below the groups' mean",
    "outlier_rate": f"over {_MAX_OUTLIER_RATE:.2f}",
    "meta_conflict": f"over {_MAX_CONFLICT:.2f}",
    "step_discontinuity": f"over {_MAX_TORN_SHARE:.2f}",
    "summary_support": f"under {_MIN_SUPPORT:.2f}",
    "self_retrieval": f"under {MIN_SELF_RETRIEVAL:.2f}",
}
"""The limit from which each measure is suspicious, as text."""
MOVED, SPLIT, MERGED = "outliers moved", "clusters split", "clusters merged"
MUST_LINK, CANNOT_LINK = "steps kept together", "different metadata kept apart"
_REPAIR_ORDER = (MOVED, SPLIT, MERGED, MUST_LINK, CANNOT_LINK)
"""Repairs by cost, the cheapest first."""
NewClusters = dict[int, Clusters]
"""The clusters that replace each lowest node of a tree, by its position."""


def diagnose(
    leaves: Leaves, edges: Sequence[Edge], members: Sequence[Sequence[int]], trees: Mapping[int, Tree], share: float
) -> list[GroupDiagnosis]:
    """Return the diagnosis of every group; share: the novelty quantile of its profile."""
    profiles = group_profiles(leaves.vectors, members, share)
    own: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        if edge.kind == "primary":
            own[edge.leaf].add(edge.group)
    cohesion = [float(np.mean(leaves.vectors[list(places)] @ profiles.centres[group])) for group, places in enumerate(members)]
    loose = float(np.mean(cohesion) - _LOOSE_DEVIATIONS * np.std(cohesion))
    diagnoses = []
    for group, places in enumerate(members):
        tree = trees[group]
        outside = profiles.outliers(leaves.vectors, places, group, _OUTLIER_DEVIATIONS)
        conflict = sum(bool(own[leaf]) and group not in own[leaf] for leaf in places) / len(places)
        sentences = [sentence for node in tree for sentence in node.summary.sentences]
        support = float(np.mean([node.summary.support for node in tree])) if sentences else 1.0
        lowest = [node for node in tree if not node.children]
        retrieval = float(np.mean(self_retrieval(leaves, lowest[:: max(1, len(lowest) // _SEARCHED_SUMMARIES)])))
        values = (cohesion[group], len(outside) / len(places), conflict, torn_step_share(leaves, places, tree), support, retrieval)
        measured = GroupMeasures(*(round(value, 4) for value in values))
        diagnoses.append(GroupDiagnosis(len(places), measured, _flags(measured, loose if len(members) > 1 else -1.0)))
    return diagnoses


def _flags(of: GroupMeasures, loose: float) -> tuple[str, ...]:
    suspicious = {
        "cluster_cohesion": of.cluster_cohesion < loose,
        "outlier_rate": of.outlier_rate > _MAX_OUTLIER_RATE,
        "meta_conflict": of.meta_conflict > _MAX_CONFLICT,
        "step_discontinuity": of.step_discontinuity > _MAX_TORN_SHARE,
        "summary_support": of.summary_support < _MIN_SUPPORT,
        "self_retrieval": of.self_retrieval < MIN_SELF_RETRIEVAL,
    }
    return tuple(name for name, is_suspicious in suspicious.items() if is_suspicious)


def torn_step_share(leaves: Leaves, places: Sequence[int], tree: Tree) -> float:
    """Return the share of a group's pairs of consecutive steps that no lowest cluster contains, from 0 to 1."""
    steps = sorted((leaves.files[place], *step, place) for place in places if (step := leaves.steps[place]))
    pairs = [(one[3], other[3]) for one, other in pairwise(steps) if one[:2] == other[:2] and other[2] == one[2] + 1]
    lowest = [frozenset(node.leaves) for node in tree if not node.children]
    return sum(not any(own.issuperset(pair) for own in lowest) for pair in pairs) / len(pairs) if pairs else 0.0


def self_retrieval(leaves: Leaves, nodes: Sequence[Node]) -> list[float]:
    """Return for each node the share of its n leaves among the n leaves nearest to its summary, from 0 to 1."""
    shares = []
    for node in nodes:
        similarities = leaves.vectors @ node.vector
        count = min(len(node.leaves), len(similarities))
        best = np.argpartition(-similarities, count - 1)[:count] if count < len(similarities) else np.arange(len(similarities))
        shares.append(len(set(best.tolist()) & set(node.leaves)) / len(node.leaves))
    return shares


class RepairResult(NamedTuple):
    """The groups after repair, with their trees, diagnoses, and the repairs made."""

    state: Partition
    trees: dict[int, Tree]
    diagnoses: list[GroupDiagnosis]
    repairs: list[Repair]


async def repair_groups(state: Partition, trees: GroupTrees, known: Sequence[KnownValues], routing: Routing) -> RepairResult:
    """Build the trees, and repair suspicious groups for up to `routing.repairs` rounds."""
    names = unique_group_names(state.groups)
    await trees.build(dict(zip(names, _tree_members(state), strict=True)))
    repairs: list[Repair] = []
    reshaped: set[int] = set()
    constrained: set[int] = set()
    for round in range(1, routing.repairs + 2):
        tree_of, members = trees.by_group(names), _tree_members(state)
        diagnoses = diagnose(trees.leaves, state.edges, members, tree_of, routing.novelty)
        if round > routing.repairs:
            break
        done, edges = _move_outliers(trees.leaves, state, diagnoses, routing)
        state = state._replace(edges=edges)
        planned: dict[str, GroupRepair] = {}
        for group, own in enumerate(_tree_members(state)):
            if group in constrained:
                what, repair = dict[str, int](), GroupRepair(own) if own != members[group] else None
            else:
                what, repair = _plan_repair(trees.leaves, tree_of[group], own, diagnoses[group], group not in reshaped, known, routing)
            done |= {(kind, group): count for kind, count in what.items()}
            planned |= {names[group]: repair} if repair else {}
            reshaped |= {group} if what.keys() & {SPLIT, MERGED} else set()
            constrained |= {group} if what.keys() & {MUST_LINK, CANNOT_LINK} else set()
        if not done:
            break
        repairs += [
            Repair(round, group, what, count)
            for (what, group), count in sorted(done.items(), key=lambda item: (_REPAIR_ORDER.index(item[0][0]), item[0][1]))
        ]
        await trees.repair(planned)
    return RepairResult(state, tree_of, diagnoses, repairs)


def _plan_repair(
    leaves: Leaves, tree: Tree, own: Sequence[int], diagnosis: GroupDiagnosis, reshape: bool, known: Sequence[KnownValues], routing: Routing
) -> tuple[dict[str, int], GroupRepair | None]:
    """Return the cheapest repair of a group's clusters and the leaves affected by kind; also an update where only its leaves changed."""
    lowest = {place: list(node.leaves) for place, node in enumerate(tree) if not node.children}
    updated = update_clusters(leaves, own, [*lowest.values()])
    parts = {place: [cluster] if cluster else [] for place, cluster in zip(lowest, updated, strict=True)}
    done: dict[str, int] = {}
    if len(own) >= routing.tree:
        done = _split_and_merge(leaves, tree, parts, diagnosis, known, routing) if reshape else {}
        if not done and (done := _needed_constraints(diagnosis, parts, known)):
            return done, GroupRepair(own)
    return done, GroupRepair(own, parts) if parts != {place: [cluster] for place, cluster in lowest.items()} else None


def _tree_members(state: Partition) -> list[list[int]]:
    """Return the leaves of each group that its tree is built from."""
    return group_members([edge for edge in state.edges if edge.kind != "novel"], len(state.groups))


def _move_outliers(
    leaves: Leaves, state: Partition, diagnoses: Sequence[GroupDiagnosis], routing: Routing
) -> tuple[dict[tuple[str, int], int], list[Edge]]:
    """Link outliers of suspicious groups to their likeliest groups; outliers with soft membership leave their group."""
    suspicious = [group for group, diagnosis in enumerate(diagnoses) if "outlier_rate" in diagnosis.flags]
    if not suspicious or len(state.groups) < 2:
        return {}, state.edges
    members = _tree_members(state)
    profiles = group_profiles(leaves.vectors, members, routing.novelty)
    moved: dict[tuple[str, int], int] = {}
    edges = list(state.edges)
    existing = {(edge.leaf, edge.group) for edge in edges}
    for group in suspicious:
        outliers = profiles.outliers(leaves.vectors, members[group], group, _OUTLIER_DEVIATIONS)
        for leaf, others in zip(outliers, likeliest_groups(leaves, state, outliers, routing), strict=True):
            new = [Edge(leaf, other, weight, "moved") for other, weight in others if (leaf, other) not in existing]
            if new:
                moved[MOVED, group] = moved.get((MOVED, group), 0) + 1
                edges += new
                existing |= {(edge.leaf, edge.group) for edge in new}
                edges = [edge for edge in edges if not (edge.leaf == leaf and edge.group == group and edge.kind == "soft")]
    return moved, edges


def _split_and_merge(
    leaves: Leaves, tree: Tree, parts: NewClusters, diagnosis: GroupDiagnosis, known: Sequence[KnownValues], routing: Routing
) -> dict[str, int]:
    """Split and merge clusters in `parts` of loose groups or with low self-retrieval; return the leaves affected by kind."""
    suspects = set(parts) if "cluster_cohesion" in diagnosis.flags else set()
    if "self_retrieval" in diagnosis.flags:
        suspects |= {
            place
            for place, share in zip(parts, self_retrieval(leaves, [tree[place] for place in parts]), strict=True)
            if share < MIN_SELF_RETRIEVAL
        }
    if not suspects:
        return {}
    done: dict[str, int] = {}
    for place in sorted(suspects):
        for own in parts[place][:1]:
            cut = split_by_bic(leaves.vectors[own], routing.seed)
            if len(cut) > 1:
                parts[place] = [[own[index] for index in half] for half in cut]
                done[SPLIT] = done.get(SPLIT, 0) + len(own)
    units = [(place, own) for place, clusters in parts.items() for own in clusters]
    every = sorted({leaf for _, own in units for leaf in own})
    length = dict(zip(every, (len(text) / CHARS_PER_TOKEN for text in leaves.texts(every)), strict=True))

    def may_merge(pair: Sequence[int], union: Sequence[int]) -> bool:
        fits = sum(length[leaf] for leaf in union) <= MAX_CLUSTER_TOKENS and len(separate_conflicts([[leaf] for leaf in union], known)) == 1
        return fits and any(units[unit][0] in suspects for unit in pair)

    for together in merge_by_bic(leaves.vectors, [own for _, own in units], routing.seed, may_merge):
        if len(together) > 1:
            union = sorted({leaf for unit in together for leaf in units[unit][1]})
            done[MERGED] = done.get(MERGED, 0) + len(union)
            for place, own in (units[unit] for unit in together):
                parts[place] = [union if cluster is own else cluster for cluster in parts[place]]
    return done


def _needed_constraints(diagnosis: GroupDiagnosis, parts: NewClusters, known: Sequence[KnownValues]) -> dict[str, int]:
    """Return the constraints a group needs, with the leaves affected: must-links for separated steps, cannot-links for mixed metadata."""
    mixed = [own for clusters in parts.values() for own in clusters if len(separate_conflicts([[leaf] for leaf in own], known)) > 1]
    needed = {MUST_LINK: diagnosis.leaves} if "step_discontinuity" in diagnosis.flags else {}
    return needed | ({CANNOT_LINK: len({leaf for own in mixed for leaf in own})} if mixed and "meta_conflict" in diagnosis.flags else {})


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
    drifted: tuple[str, ...]
    """Groups changed by more than `MAX_DRIFT` since they were clustered."""
    notes: tuple[str, ...]


async def write_hierarchy(
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
    require_manifest(folder)
    with write_lock(folder), nullcontext(replies) if replies else ReplyStore(folder / REPLIES_FILE) as store:
        manifest = require_manifest(folder)
        leaves = read_leaves(folder / manifest.file(PASSAGES))
        if not len(leaves):
            raise IndexingError(f"the index in {str(folder)!r} has no passages", "add documents with `ramify index` first")
        parts = partition(leaves, fields)
        state = form_groups(leaves, parts, assign_groups(leaves, parts, routing), routing)
        build_options = [EDITION, routing.model_dump_json(exclude={"repairs"}), manifest.embedding, summarizer.made_by]
        known = leaves.folded_values(state.fields)
        builder = TreeBuilder(leaves, encoder, summarizer, routing, known)
        group_trees = GroupTrees(leaves, builder, TreeCache(store, leaves, known, build_options), rebuild, progress)
        state, trees, diagnoses, repairs = await repair_groups(state, group_trees, known, routing)
        replaced = sum(node.summary.made_by != summarizer.made_by for tree in trees.values() for node in tree)
        facts = {
            "made_by": summarizer.made_by,
            "replaced": str(replaced),
            "how": routing.model_dump_json(),
            **{f"drifted {name}": f"{share:.2f}" for name, share in group_trees.drifted.items()},
            **{f"note {number}": note for number, note in enumerate(group_trees.notes)},
        }
        titles = [fold_value(title) for title in leaves.titles]
        content = HierarchyContent(state.fields, leaves.ids, titles, state.groups, state.edges, trees, diagnoses, repairs, facts)
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
        flagged=sum(bool(diagnosis.flags) for diagnosis in content.diagnoses),
        repairs=len(content.repairs),
        replaced=replaced,
        drifted=tuple(group_trees.drifted),
        notes=group_trees.notes,
    )
