"""Variants besides the defaults (sweeps and ablations), and which are rejected before anything is asked."""

from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.small_data_set import make_model
from ramify.lab._variants import ABLATION_SETTINGS, Variant, make_variants
from ramify.lab.commands.eval import ABLATION_NAMES
from ramify.lab.plan import RunOptions, list_variants
from ramify.tools.errors import UsageError


def names(variants: list[Variant]) -> list[str]:
    return [f"{variant.strategy} {variant.name}".strip() + ("=" if variant.same_as_default else "") for variant in variants]


def test_a_sweep_reaches_the_strategies_that_have_the_setting() -> None:
    variants = make_variants(["naive", "prune", "tor"], {}, {"max_depth": [1, 2, 3], "tau": [0.5]}, [])
    assert names(variants) == [
        *("naive", "prune", "prune max_depth=1", "prune max_depth=2=", "prune max_depth=3", "prune tau=0.5"),
        *("tor", "tor max_depth=1", "tor max_depth=2", "tor max_depth=3=", "tor tau=0.5"),
    ]


def test_a_value_counts_as_the_default_where_the_run_itself_has_it() -> None:
    assert names(make_variants(["tor"], {"theta": 0.6}, {"theta": [0.4, 0.6]}, [])) == ["tor", "tor theta=0.4", "tor theta=0.6="]
    assert make_variants(["tor"], {"theta": 0.6}, {}, [])[0].settings["theta"] == 0.6


def test_values_are_named_as_on_the_command_line() -> None:
    variants = make_variants(["prune"], {}, {"tau": [1.0, 1, 0.99], "joint": [True, False], "mmr": [None]}, [])
    assert [variant.name for variant in variants] == ["", "tau=1", "tau=0.99", "joint=true", "joint=false", "mmr=none"]


def test_a_part_is_left_out_where_there_is_one() -> None:
    variants = make_variants(["prune", "tor", "naive"], {}, {}, ["judge", "mmr", "hybrid", "dependent"])
    assert names(variants) == [
        *("prune", "prune without hybrid", "prune without dependent"),
        *("tor", "tor without judge", "tor without mmr", "tor without hybrid", "tor without dependent"),
        *("naive", "naive without hybrid"),
    ]
    assert variants[3 + 1].arguments["judged"] is False


def test_every_part_can_be_left_out_of_some_strategy_and_the_help_names_it() -> None:
    variants = make_variants(["prune", "tor"], {}, {}, list(ABLATION_SETTINGS))
    assert {variant.name for variant in variants} == {"", *(f"without {name}" for name in ABLATION_SETTINGS)}
    assert ABLATION_NAMES.split(", ") == list(ABLATION_SETTINGS)
    assert not any(variant.same_as_default for variant in variants)


def test_strategies_without_search_have_no_search_settings() -> None:
    assert names(make_variants(["closed-book", "naive"], {"k": 3}, {"k": [3, 8]}, ["hybrid"])) == [
        *("closed-book", "naive", "naive k=3=", "naive k=8", "naive without hybrid")
    ]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"strategies": ("oak",)}, ("oak", "prune")),
        ({"strategies": ()}, ("--strategy",)),
        ({"strategies": ("naive",), "sweeps": {"tau": [0.5]}}, ("tau=0.5", "naive")),
        ({"sweeps": {"leaves": [1]}}, ("leaves=1",)),
        ({"sweeps": {"max_depth": ["deep"]}}, ("max_depth", "deep")),
        ({"sweeps": {"index": ["demo"]}}, ("index", "data set")),
        ({"ablations": ("bark",)}, ("bark", "judge")),
        ({"ablations": ("judge",)}, ("without judge", "prune")),
        ({"strategies": ("tor",), "options": {"judged": False}, "ablations": ("judge",)}, ("without judge", "tor")),
        ({"options": {"leaves": 3}}, ("leaves", "ramify settings prune")),
        ({"options": {"k": 0}}, ("k=0",)),
        ({"options": {"ask_first": "splits"}}, ("ask_first=splits", "no reviewer")),
        ({"options": {"index": "demo"}}, ("index", "data set")),
        ({"options": {"seed": 3}}, ("seed", "--seed")),
        ({"options": {"model": make_model()}, "workers": 2}, ("object", "name")),
    ],
)
def test_invalid_variants_are_rejected_before_anything_is_asked(asked: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        list_variants(RunOptions(**{"datasets": ("nowhere",), "out": Path("nowhere"), **asked}))
    assert all(word in str(caught.value) for word in words), caught.value


def test_the_seed_of_a_run_is_the_seed_of_its_calls_and_can_be_swept() -> None:
    variants = list_variants(RunOptions(datasets=("nowhere",), out=Path("nowhere"), strategies=("naive",), seed=7, sweeps={"seed": [0, 7]}))
    assert names(variants) == ["naive", "naive seed=0", "naive seed=7="]
    assert [variant.settings["seed"] for variant in variants] == [7, 0, 7]
