"""Each kind of repair on planted groups: diagnosed, repaired by the cheapest means and recorded, without other changes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.kinds.hierarchy._clustering import Clusters
from ramify.kinds.hierarchy.build import RepairResult, repair_groups
from ramify.kinds.hierarchy.hierarchy_file import GroupState, GroupTrees, TreeCache
from ramify.kinds.hierarchy.leaves import Edge, EdgeKind, Group, Leaves, Node, Repair, Routing, Summary
from ramify.kinds.hierarchy.partition import Partition
from ramify.kinds.hierarchy.summaries import SummaryMaterial
from ramify.kinds.hierarchy.tree import TreeBuilder
from ramify.kinds.knowledge.build import ReplyStore
from ramify.tools.embeddings.encoder import unit_rows
from ramify.tools.index.progress import ignore_progress
from tests.tools.fakes import WordEncoder

DIMENSION = 16
AXES: NDArray[np.float32] = np.eye(DIMENSION, dtype=np.float32)


class Planted(Leaves):
    """Leaves that are in no file."""

    def texts(self, places: Sequence[int]) -> list[str]:
        """Return a short text for each."""
        return ["a passage"] * len(places)


class Silent:
    """Says nothing: the vector of a summary is the centre of its cluster then."""

    made_by = "silent"

    def __init__(self) -> None:
        self.asked: list[frozenset[int]] = []

    async def summarize(self, material: SummaryMaterial) -> Summary:
        """Note for which leaves it was asked."""
        self.asked.append(frozenset(source.leaf for source in material.texts))
        return Summary((), self.made_by)


def near(axis: NDArray[np.float32], count: int, seed: int = 1) -> NDArray[np.float32]:
    noise = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return unit_rows(axis + 0.04 * noise, DIMENSION)


class Case:
    """Groups of planted leaves, with the clusters that an earlier build left."""

    def __init__(self, folder: Path, vectors: Sequence[NDArray[np.float32]], titles: Sequence[str] = ()) -> None:
        everything = np.vstack(vectors)
        count = len(everything)
        chapters = [{"chapter": "ABCDEFGH"[number]} for number, own in enumerate(vectors) for _ in own]
        names = [f"p{place:03}" for place in range(count)]
        self.leaves = Planted(folder, names, names, ["manual"] * count, [*titles, *[""] * (count - len(titles))], chapters, everything)
        groups = [Group("ABCDEFGH"[number], ("abcdefgh"[number],), "metadata") for number in range(len(vectors))]
        owners = [number for number, own in enumerate(vectors) for _ in own]
        self.state = Partition(("chapter",), groups, [Edge(leaf, group, 1.0, "primary") for leaf, group in enumerate(owners)], [])
        self.folder, self.summarizer, self.clusters = folder, Silent(), dict[str, Clusters]()

    def join(self, leaves: Sequence[int], group: int, kind: EdgeKind) -> None:
        """Add leaves to another group; softly: only to that one, as if they had no metadata."""
        if kind == "soft":
            self.state.edges[:] = [edge for edge in self.state.edges if edge.leaf not in leaves]
            for leaf in leaves:
                self.leaves.metadata[leaf].clear()
        self.state.edges.extend(Edge(leaf, group, 1.0, kind) for leaf in leaves)

    def repaired(self, **how: Any) -> RepairResult:
        """Repair the groups, in up to two rounds."""
        routing, known = Routing(**{"repairs": 2, **how}), self.leaves.folded_values(["chapter"])
        with ReplyStore(self.folder / "work.sqlite") as work:
            kept = TreeCache(work, self.leaves, known, [])
            for name, clusters in self.clusters.items():
                nodes = [Node((), tuple(own), "", Summary((), "silent"), AXES[0]) for own in clusters]
                kept.save(name, GroupState("", "", nodes))
            grower = TreeBuilder(self.leaves, WordEncoder(), self.summarizer, routing, known)
            return asyncio.run(repair_groups(self.state, GroupTrees(self.leaves, grower, kept, False, ignore_progress), known, routing))


def lowest(result: RepairResult, group: int = 0) -> list[tuple[int, ...]]:
    return sorted(node.leaves for node in result.trees[group] if not node.children)


def done(result: RepairResult) -> list[tuple[int, int, str]]:
    return [(repair.round, repair.group, repair.what) for repair in result.repairs]


def between(tmp_path: Path) -> Case:
    """Plant two clusters that an earlier build has mixed, with another chapter where their centre is, and one that is as it should be."""
    middle = (AXES[0] + AXES[1]) / 2**0.5
    case = Case(tmp_path, [np.vstack([near(AXES[0], 20), near(AXES[1], 20, 2), near(AXES[2], 20, 3)]), near(middle, 50, 4)])
    case.clusters["A"] = [[*range(0, 40, 2)], [*range(1, 40, 2)], [*range(40, 60)]]
    return case


def test_clusters_that_mix_are_split_and_what_is_one_is_merged(tmp_path: Path) -> None:
    result = between(tmp_path).repaired()
    assert done(result) == [(1, 0, "clusters split"), (1, 0, "clusters merged")]
    assert lowest(result) == [tuple(range(20)), tuple(range(20, 40)), tuple(range(40, 60))]
    assert result.diagnoses[0].measures.self_retrieval == 1.0
    assert set(result.trees[0][-1].leaves) == set(range(60))


def test_a_cluster_that_is_a_whole_tree_is_split_below_a_root(tmp_path: Path) -> None:
    case = between(tmp_path)
    case.clusters["A"] = [[*range(40)]]
    case.state.edges[:] = [edge for edge in case.state.edges if not 40 <= edge.leaf < 60]
    result = case.repaired()
    assert done(result) == [(1, 0, "clusters split")]
    assert [node.leaves for node in result.trees[0]] == [tuple(range(20)), tuple(range(20, 40)), tuple(range(40))]


def test_only_what_has_changed_is_summed_up_again(tmp_path: Path) -> None:
    case = between(tmp_path)
    case.repaired(repairs=0)
    case.summarizer.asked.clear()
    case.repaired()
    again = {leaves for leaves in case.summarizer.asked if len(leaves) < 60}
    assert again == {frozenset(range(20)), frozenset(range(20, 40))}


def test_clusters_that_are_one_are_merged(tmp_path: Path) -> None:
    case = Case(tmp_path, [near(AXES[0], 45), near(AXES[1], 30, 2)])
    case.clusters["A"] = [[*range(start, 45, 3)] for start in range(3)]
    result = case.repaired()
    assert done(result) == [(1, 0, "clusters merged")]
    assert lowest(result) == [tuple(range(45))]
    assert len(result.trees[0]) == 1, "and the root that there was has nothing to sum up any more"


def test_outliers_for_want_of_metadata_move_and_their_cluster_is_made_again(tmp_path: Path) -> None:
    case = Case(tmp_path, [near(AXES[0], 14), near(AXES[1], 40, 2), near(AXES[2], 40, 3)])
    strays = list(range(14, 18))
    case.join(strays, 0, "soft")
    result = case.repaired()
    assert result.repairs[0] == Repair(1, 0, "outliers moved", 4)
    assert {(edge.leaf, edge.group) for edge in result.state.edges if edge.leaf in strays} == {(leaf, 1) for leaf in strays}
    assert set(result.trees[0][-1].leaves) == set(range(14))
    assert set(strays) <= set(result.trees[1][-1].leaves)


def test_steps_that_clusters_tear_apart_are_linked(tmp_path: Path) -> None:
    steps = np.vstack([near(AXES[place % 2], 1, place) for place in range(30)])
    case = Case(tmp_path, [steps, near(AXES[3], 30, 50)], [f"Step {number}" for number in range(1, 31)])
    result = case.repaired()
    assert [entry for entry in done(result) if entry[1] == 0] == [(1, 0, "steps kept together")]
    assert result.diagnoses[0].measures.step_discontinuity <= 0.2


def test_leaves_with_conflicting_metadata_share_no_cluster_after_reclustering(tmp_path: Path) -> None:
    case = Case(tmp_path, [near(AXES[0], 14), near(AXES[0], 12, 2), near(AXES[4], 30, 3)])
    case.join(range(14, 26), 0, "escape")
    result = case.repaired()
    assert (1, 0, "different metadata kept apart") in done(result)
    assert all(max(own) < 14 or min(own) >= 14 for own in lowest(result))


def test_what_is_not_suspicious_is_left_alone(tmp_path: Path) -> None:
    assert Case(tmp_path, [near(AXES[0], 20), near(AXES[1], 20, 2)]).repaired().repairs == []


def test_a_second_build_repairs_the_same_and_sums_up_nothing(tmp_path: Path) -> None:
    case = between(tmp_path)
    first, asked = case.repaired(), len(case.summarizer.asked)
    case.clusters.clear()
    second = case.repaired()
    assert first.repairs
    assert (first.repairs, lowest(first), asked) == (second.repairs, lowest(second), len(case.summarizer.asked))
