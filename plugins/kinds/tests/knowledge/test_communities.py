"""Communities: exclusive and exhaustive on each level, independent of order, and kept when names change."""

import random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.kinds.knowledge.communities import (
    Partition,
    community_levels,
    community_sort_key,
    edge_weights,
    find_communities,
    modularity,
    update_communities,
)
from ramify.kinds.knowledge.elements import Pair, Relation

Edges = dict[Pair, float]
PAIRS = st.tuples(st.integers(0, 24), st.integers(0, 24)).filter(lambda ends: ends[0] < ends[1])
EDGES = st.dictionaries(PAIRS, st.integers(1, 9), min_size=1, max_size=80).map(
    lambda weights: {(f"n{one:02}", f"n{other:02}"): float(weight) for (one, other), weight in weights.items()}
)
TRIANGLES = {("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 1.0, ("x", "y"): 1.0, ("x", "z"): 1.0, ("y", "z"): 1.0, ("c", "x"): 0.1}


def check_levels(partition: Partition, edges: Edges) -> None:
    """Each level holds each connected name once, and each community lies within the one above it."""
    names = sorted({key for pair in edges for key in pair})
    levels = community_levels(partition)
    for ids in levels:
        assert sorted(key for id in ids for key in partition[id].members) == names
    assert {id for ids in levels for id in ids} == set(partition)
    for id, community in partition.items():
        assert community.id == id
        assert community.members == tuple(sorted(community.members))
        assert community.level == id.count(".")
        assert community.parent == (id.rpartition(".")[0] or None)
        if community.parent is not None:
            assert set(community.members) < set(partition[community.parent].members)


@settings(max_examples=150, deadline=None)
@given(EDGES, st.integers(2, 8))
def test_every_level_is_exclusive_and_exhaustive(edges: Edges, size: int) -> None:
    check_levels(find_communities(edges, size), edges)


@settings(max_examples=60, deadline=None)
@given(EDGES, st.integers(0, 99))
def test_the_order_of_the_edges_changes_nothing(edges: Edges, seed: int) -> None:
    listed = list(edges.items())
    random.Random(seed).shuffle(listed)
    assert list(find_communities(dict(listed), 3).items()) == list(find_communities(edges, 3).items())


@settings(max_examples=60, deadline=None)
@given(EDGES)
def test_ids_are_places_the_largest_first(edges: Edges) -> None:
    partition = find_communities(edges, 3)
    assert list(partition) == sorted(partition, key=community_sort_key)
    beside: dict[str | None, list[str]] = {}
    for id, community in partition.items():
        beside.setdefault(community.parent, []).append(id)
    for above, ids in beside.items():
        assert ids == [f"{above}.{number}" if above else str(number) for number in range(len(ids))]
        sizes = [len(partition[id].members) for id in ids]
        assert sizes == sorted(sizes, reverse=True)


def test_the_tenth_comes_after_the_ninth() -> None:
    assert sorted(["3.10", "3.9", "10", "3"], key=community_sort_key) == ["3", "3.9", "3.10", "10"]


def test_no_edges_are_no_communities() -> None:
    assert find_communities({}) == {}
    assert community_levels({}) == []


def test_connected_names_are_together() -> None:
    assert [community.members for community in find_communities(TRIANGLES).values()] == [("a", "b", "c"), ("x", "y", "z")]


def test_all_components_are_included() -> None:
    edges = {(f"a{number}", f"b{number}"): 1.0 for number in range(40)}
    partition = find_communities(edges)
    assert len(partition) == 40
    check_levels(partition, edges)


class TestModularity:
    @settings(max_examples=100, deadline=None)
    @given(EDGES)
    def test_is_that_of_networkx(self, edges: Edges) -> None:
        partition = find_communities(edges, 4)
        graph: nx.Graph[str] = nx.Graph()
        graph.add_weighted_edges_from([(one, other, weight) for (one, other), weight in edges.items()])
        for ids in community_levels(partition):
            groups = [partition[id].members for id in ids]
            theirs = nx.community.modularity(graph, [set(group) for group in groups], weight="weight")
            assert modularity(edges, groups) == pytest.approx(theirs, abs=1e-12)

    def test_of_two_triangles_is_as_worked_by_hand(self) -> None:
        # m = 6.1, each triangle has 3 within and degrees of 6.1: 2 (3/6.1 - (6.1/12.2)^2)
        assert modularity(TRIANGLES, [["a", "b", "c"], ["x", "y", "z"]]) == pytest.approx(2 * (3 / 6.1 - 0.25))

    def test_of_the_root_level_is_as_good_as_what_networkx_finds(self) -> None:
        graph = nx.les_miserables_graph()
        edges = {(min(one, other), max(one, other)): float(data["weight"]) for one, other, data in graph.edges(data=True)}
        partition = find_communities(edges)
        ours = modularity(edges, [partition[id].members for id in community_levels(partition)[0]])
        theirs = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=0), weight="weight")
        assert ours >= theirs - 0.005


class TestWeights:
    COUNTS = {("a", "b"): 4, ("a", "c"): 2, ("d", "e"): 2}  # noqa: RUF012  # never changed

    def relations(self) -> dict[Pair, Relation]:
        return {pair: Relation(count) for pair, count in self.COUNTS.items()}

    def test_by_count_are_shares_of_the_largest(self) -> None:
        assert edge_weights(self.relations()) == {("a", "b"): 1.0, ("a", "c"): 0.5, ("d", "e"): 0.5}

    def test_by_pmi_prefer_names_that_have_nothing_but_each_other(self) -> None:
        weights = edge_weights(self.relations(), "pmi")
        assert weights["d", "e"] > weights["a", "b"] > 0
        assert set(weights) == set(self.COUNTS)


class TestFrozen:
    BEFORE = find_communities(TRIANGLES)

    def members(self, edges: Edges) -> dict[str, tuple[str, ...]]:
        return {id: community.members for id, community in update_communities(self.BEFORE, edges).items()}

    def test_the_same_edges_change_nothing(self) -> None:
        assert update_communities(self.BEFORE, TRIANGLES) == self.BEFORE

    def test_a_new_name_joins_the_community_of_its_strongest_neighbour(self) -> None:
        edges = {**TRIANGLES, ("a", "new"): 0.2, ("new", "z"): 0.3}
        assert self.members(edges) == {"0": ("a", "b", "c"), "1": ("new", "x", "y", "z")}

    def test_one_that_is_connected_through_another_new_name_joins_as_well(self) -> None:
        edges = {**TRIANGLES, ("a", "new"): 0.2, ("new", "newer"): 0.9}
        assert self.members(edges)["0"] == ("a", "b", "c", "new", "newer")

    def test_deleted_names_are_removed(self) -> None:
        edges = {pair: weight for pair, weight in TRIANGLES.items() if "b" not in pair}
        assert self.members(edges) == {"0": ("a", "c"), "1": ("x", "y", "z")}

    def test_a_community_without_names_is_removed_and_the_others_keep_their_ids(self) -> None:
        edges = {pair: weight for pair, weight in TRIANGLES.items() if not set("abc") & set(pair)}
        assert self.members(edges) == {"1": ("x", "y", "z")}

    def test_new_names_that_no_old_one_knows_make_communities_of_their_own(self) -> None:
        edges = {**TRIANGLES, ("p", "q"): 1.0, ("r", "s"): 1.0}
        assert self.members(edges) == {"0": ("a", "b", "c"), "1": ("x", "y", "z"), "2": ("p", "q"), "3": ("r", "s")}

    @settings(max_examples=150, deadline=None)
    @given(EDGES, EDGES)
    def test_levels_stay_exclusive_and_exhaustive(self, before: Edges, after: Edges) -> None:
        partition = update_communities(find_communities(before, 3), after, 3)
        names = sorted({key for pair in after for key in pair})
        for ids in community_levels(partition):
            assert sorted(key for id in ids for key in partition[id].members) == names
        assert all(community.parent is None or community.parent in partition for community in partition.values())
        assert all(community.members for community in partition.values())
