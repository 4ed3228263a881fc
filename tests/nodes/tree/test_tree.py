"""The laws of the tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.nodes.tree import Branch, Status, Tree, children, descendants, is_unknown, merge_branches, new_children, position, to_networkx
from ramify.tools.errors import UsageError

PATHS = st.lists(st.integers(0, 12), max_size=3).map(lambda steps: ".".join(["0", *map(str, steps)]))
STATUSES: st.SearchStrategy[Status] = st.sampled_from(["open", "leaf", "pruned", "answered"])
BRANCHES = st.builds(Branch, path=PATHS, question=st.text(min_size=1, max_size=5).filter(str.strip), status=STATUSES)
TREES = st.lists(BRANCHES, max_size=6).map(lambda branches: merge_branches({}, {b.path: b for b in branches}))


@given(TREES)
def test_merging_a_tree_onto_itself_changes_nothing(tree: Tree) -> None:
    assert merge_branches(tree, tree) == tree


@given(TREES, TREES, TREES)
def test_merging_is_associative(one: Tree, two: Tree, three: Tree) -> None:
    assert merge_branches(merge_branches(one, two), three) == merge_branches(one, merge_branches(two, three))


@given(TREES, TREES)
def test_merging_disjoint_trees_commutes_in_order_too(one: Tree, two: Tree) -> None:
    apart = {path: branch for path, branch in two.items() if path not in one}
    assert list(merge_branches(one, apart).items()) == list(merge_branches(apart, one).items())


@given(TREES, TREES)
def test_no_branch_is_lost_and_none_is_changed_in_place(one: Tree, two: Tree) -> None:
    before = dict(one)
    merged = merge_branches(one, two)
    assert one == before
    assert merged.keys() == one.keys() | two.keys()
    assert all(merged[path] == branch for path, branch in two.items())


@given(TREES)
def test_plain_dicts_merge_like_branches(tree: Tree) -> None:
    assert merge_branches({}, {path: branch.model_dump(mode="json") for path, branch in tree.items()}) == tree


@given(TREES)
def test_paths_sort_by_number(tree: Tree) -> None:
    assert list(tree) == sorted(tree, key=position)


def test_the_tenth_child_comes_after_the_ninth() -> None:
    tree = merge_branches({}, {path: Branch(path=path, question="?") for path in ("0.10", "0.9", "0", "0.9.0")})
    assert list(tree) == ["0", "0.9", "0.9.0", "0.10"]
    assert [child.path for child in children(tree, "0")] == ["0.9", "0.10"]
    assert [below.path for below in descendants(tree, "0")] == ["0.9", "0.9.0", "0.10"]


def test_new_children_take_the_next_free_positions() -> None:
    tree = merge_branches({}, {path: Branch(path=path, question="?", status="pruned") for path in ("0", "0.0", "0.1")})
    assert [branch.path for branch in new_children(tree, "0", ["a", "b"])] == ["0.2", "0.3"]


@pytest.mark.parametrize("wrong", [{"status": "open"}, {"question": "?", "status": "ripe"}, "text"])
def test_what_is_no_branch_is_refused_with_its_value(wrong: object) -> None:
    with pytest.raises(UsageError, match="is not a valid branch") as caught:
        merge_branches({}, {"0": wrong})
    assert repr(wrong) in str(caught.value)


@pytest.mark.parametrize("question", ["", "  \n"])
def test_a_branch_edited_to_no_question_is_refused(question: str) -> None:
    tree = {"0.1": Branch(path="0.1", question="Who?")}
    with pytest.raises(UsageError, match=r"branch '0\.1' has no question"):
        merge_branches(tree, {"0.1": {"question": question, "status": "open"}})


def test_a_tree_exports_to_networkx_with_its_fields() -> None:
    tree = merge_branches(
        {}, {"0": Branch(path="0", question="Who?"), "0.0": Branch(path="0.0", question="Where?", answer="Ulm", status="leaf")}
    )
    graph = to_networkx(tree)
    assert list(graph.edges) == [("0", "0.0")]
    assert graph.nodes["0.0"]["answer"] == "Ulm"


@pytest.mark.parametrize(
    "text",
    [
        "Unknown",
        " unknown. ",
        "Insufficient information",
        "",
        "Not mentioned in the passages",
        "not specified in the provided context.",
        "The passages do not say.",
        "The passages don’t mention who directed the film.",
        "The provided passages do not contain the answer",
        "There is no information about this in the passages.",
        "No answer",
        "N/A",
        "I don't know.",
        "I cannot determine the answer from the passages.",
        "It cannot be determined from the given passages",
        "Not enough information to answer the question",
        "Unknown (not mentioned in the passages)",
        "Unknown. The passages do not say.",
    ],
)
def test_unknown_has_several_words(text: str) -> None:
    assert is_unknown(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ulm",
        "No",
        "0",
        "Unknown Pleasures",
        "The Unknown Soldier",
        "I Don't Know How She Does It",
        "No Country for Old Men",
        "Not Without My Daughter",
        "I Cannot Tell a Lie",
        "Insufficient Funds",
        "not known before 1900",
        "Unknown, Arizona",
        "The passages do not say, but it is likely Paris",
    ],
)
def test_a_name_with_such_words_in_it_is_an_answer(text: str) -> None:
    assert not is_unknown(text)
