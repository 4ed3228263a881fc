"""Settings of a kind of index are swept and compared where a run is on that kind; what cannot be is told."""

from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.films import BOTH, NAIVE, film_options, retrieved_by_id, search_options
from ramify.lab.commands.eval import eval_command
from ramify.lab.plan import RunOptions, list_variants
from ramify.lab.run import execute, load_inputs
from ramify.tools.errors import UsageError


def test_settings_of_a_graph_are_swept_where_the_run_is_on_a_graph(films: Path, tmp_path: Path) -> None:
    sweeps = {"search.seeds": [1, 2], "view": ["flat"], "search.titles": [0]}
    rows = execute(film_options(films, tmp_path / "run", ("graph",), sweeps=sweeps, options={"search.relations": 0}))
    names = {row["variant"] for row in rows if row["strategy"] == NAIVE}
    assert names == {"", "search.seeds=1", "search.seeds=2", "view=flat", "search.titles=0"}
    assert not any(row["error"] for row in rows)
    assert retrieved_by_id(rows, "search.seeds=2") == retrieved_by_id(rows, "")
    assert retrieved_by_id(rows, "view=flat") != retrieved_by_id(rows, "") != retrieved_by_id(rows, "search.titles=0")
    same = {
        variant.name
        for variant in list_variants(film_options(films, tmp_path, ("graph",), sweeps={"search.seeds": [1, 2]}))
        if variant.same_as_default
    }
    assert same == {"search.seeds=2"}, "what a graph does anyway is not asked twice"


def test_settings_of_a_graph_leave_plain_passages_alone(films: Path, tmp_path: Path) -> None:
    plain = execute(film_options(films, tmp_path / "plain", None))
    rows = execute(film_options(films, tmp_path / "run", options={"search": {"titles": 0, "relations": 0, "mentions": 0}}))
    assert not any(row["error"] for row in rows)
    assert retrieved_by_id(rows, "") == retrieved_by_id(plain, "")
    assert retrieved_by_id(rows, "index-kind=graph") == retrieved_by_id(plain, "")


def test_searching_alone_is_compared_by_kind_and_along_a_graph_s_settings(films: Path, tmp_path: Path) -> None:
    both = execute(search_options(films, tmp_path / "both"))
    assert list(dict.fromkeys(row["variant"] for row in both))[-1] == "index-kind=graph"
    rows = execute(
        search_options(films, tmp_path / "run", ("graph", "passages"), sweeps={"search.titles": [0, 1.0]}, options={"search.relations": 0})
    )
    assert retrieved_by_id(rows, "index-kind=passages", "search") == retrieved_by_id(both, "", "search")
    assert retrieved_by_id(rows, "dense", "search") == retrieved_by_id(both, "dense", "search"), "ways beside are of plain passages"
    assert (
        retrieved_by_id(rows, "search.titles=1", "search")
        == retrieved_by_id(rows, "", "search")
        != retrieved_by_id(rows, "search.titles=0", "search")
    )


def test_a_sample_is_for_sweeps_and_not_for_kinds(films: Path, tmp_path: Path) -> None:
    rows = execute(film_options(films, tmp_path / "run", ("graph", "passages"), sample=2, sweeps={"search.seeds": [1]}))
    counts = {name: len(retrieved_by_id(rows, name)) for name in ("", "index-kind=passages", "search.seeds=1")}
    assert counts == {"": 4, "index-kind=passages": 4, "search.seeds=1": 2}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"index_kinds": ("passages", "tree")}, ("'tree'", "passages, graph")),
        ({"index_kinds": ()}, ("no kind of index", "passages, graph")),
        ({"sweeps": {"search.seeds": [1]}}, ("search.seeds=1", "--index-kind graph,passages")),
        ({"options": {"search.seeds": 1}}, ("search.seeds", "--index-kind graph,passages")),
        ({"index_kinds": BOTH, "sweeps": {"search.seeds": [1]}}, ("search.seeds=1", "--index-kind graph,passages")),
        ({"index_kinds": ("graph",), "sweeps": {"search.leaves": [1]}}, ("search.leaves=1", "search.seeds")),
        ({"index_kinds": ("graph",), "sweeps": {"search.seeds": [99]}}, ("search.seeds=99",)),
        ({"index_kinds": BOTH, "options": {"search": {"hops": 0}}}, ("search.hops=0",)),
        ({"index_kinds": BOTH, "options": {"view": "round"}}, ("view", "round")),
    ],
)
@pytest.mark.parametrize("alone", [False, True], ids=["strategies", "searching"])
def test_invalid_kinds_are_rejected_before_anything_is_read(asked: dict[str, Any], words: tuple[str, ...], alone: bool) -> None:
    own: dict[str, Any] = {"strategies": (), "retrieval_only": True} if alone else {"strategies": (NAIVE,)}
    with pytest.raises(UsageError) as caught:
        load_inputs(RunOptions(**{"datasets": ("nowhere",), "out": Path("nowhere"), **own, **asked}))
    assert all(word in str(caught.value) for word in words), caught.value


def test_the_command_line_names_kinds_with_commas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    orders: list[RunOptions] = []
    monkeypatch.setattr("ramify.lab.commands._evaluating.run_evaluation", orders.append)
    for text in (None, "passages, graph", ""):
        eval_command(tmp_path, ["demo"], index_kind=text)
    assert [order.index_kinds for order in orders] == [None, BOTH, ()]
