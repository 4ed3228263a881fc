"""Declarations of papers: every row of their tables is run, and given options override theirs."""

from pathlib import Path

import pytest

from ramify.graphs import STRATEGIES
from ramify.lab.papers import PAPERS, find_paper
from ramify.lab.papers.graph import drop_missing_levels, graph_build_settings
from ramify.lab.plan import list_variants
from ramify.lab.search import list_search_methods
from ramify.tools.errors import UsageError

OUT = Path("out")


@pytest.mark.parametrize("name", PAPERS)
def test_every_row_of_a_table_and_every_condition_is_run_once(name: str) -> None:
    paper = PAPERS[name]
    run = [(variant.strategy, variant.name) for order in paper.run_options(OUT) for variant in list_variants(order)]
    assert len(run) == len(set(run)), "runs of one paper are read as one"
    wanted = [(row.strategy, row.variant) for table in paper.tables for row in table.rows if row.strategy not in paper.missing]
    assert {*wanted, *paper.conditions.values()} <= set(run)
    assert all(len(row.figures) <= len(table.measures) for table in paper.tables for row in table.rows)


def test_a_strategy_that_is_not_registered_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {name: strategy for name, strategy in STRATEGIES.items() if name != "chain"}
    monkeypatch.setattr("ramify.lab.papers.paper.STRATEGIES", some)
    assert "chain" in PAPERS["prune"].missing
    assert all("chain" not in order.strategies for order in PAPERS["prune"].run_options(OUT))


def test_given_options_override_those_of_the_paper() -> None:
    methods, tor, _ = PAPERS["tor"].run_options(OUT, ["data"], {"k": 3, "model": "extractive"}, limit=7)
    assert (methods.datasets, methods.limit, methods.out, tor.out) == (("data",), 7, OUT / "methods", OUT / "tor")
    assert {variant.options["k"] for order in (methods, tor) for variant in list_variants(order) if "k" in variant.options} == {3}
    settings = {variant.name: variant.settings for variant in list_variants(tor)}
    assert (settings[""]["mmr"], settings[""]["hybrid"], settings[""]["dependent"]) == (0.75, False, False)
    assert settings["max_depth=4"]["max_depth"] == 4


def test_unknown_documents_need_a_field_to_group_by() -> None:
    paper = PAPERS["hierarchy"]
    with pytest.raises(UsageError, match="--group-by"):
        paper.run_options(OUT, ["data"])
    [order] = paper.run_options(OUT, ["data"], {"model": "extractive"}, group_by=("chapter",))
    assert (order.group_by, order.label) == (("chapter",), ("chapter",))
    assert list_search_methods(order), "a model does not count where none is asked"
    assert paper.run_options(OUT)[0].group_by == ("domain",)


def test_the_hierarchy_is_searched_with_a_cross_encoder_of_which_another_can_be_named() -> None:
    assert PAPERS["hierarchy"].run_options(OUT)[0].options["rerank"] == "reader"
    assert PAPERS["hierarchy"].run_options(OUT, options={"rerank": "none"})[0].options["rerank"] == "none"


def test_the_error_for_an_unknown_paper_lists_the_others() -> None:
    with pytest.raises(UsageError, match="tor, prune, iterative, graph, hierarchy"):
        find_paper("raptor", PAPERS)


def test_rules_build_one_graph_and_a_model_one_for_each_size_and_gleaning() -> None:
    builds = PAPERS["graph"].builds
    assert graph_build_settings(builds, "extractive", {}) == [{}]
    settings = graph_build_settings(builds, "ollama:m", {"base_url": "http://h"})
    assert len(settings) == 12
    assert settings[0] == {"unit_tokens": 600, "gleanings": 0, "base_url": "http://h", "model": "ollama:m"}


def test_all_conditions_that_a_judge_compares_answer_in_sentences() -> None:
    orders = PAPERS["graph"].run_options(OUT)
    assert {order.options["style"] for order in orders} == {"full"}


def test_levels_missing_in_a_graph_are_dropped() -> None:
    order = PAPERS["graph"].run_options(OUT)[0]
    assert drop_missing_levels(order, [{"levels": [0, 1, 2]}, {"levels": [0, 1]}]).sweeps["level"] == [0, 1]
