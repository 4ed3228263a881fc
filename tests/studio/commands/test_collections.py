"""Several indexes at the command line."""

import json
from pathlib import Path

import pytest

from tests.studio.conftest import Ramify

ENGINES = "The oil of the diesel engine is changed every 250 hours."
BREAD = "The sourdough of rye bread rests for sixteen hours."


@pytest.fixture
def places(ramify: Ramify, tmp_path: Path) -> tuple[Path, Path]:
    """The indexes `engines` and `bread`, made by the command."""
    for name, text, about in (("engines", ENGINES, "Maintenance of engines"), ("bread", BREAD, "Baking bread at home")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        made = ramify("index", tmp_path / f"{name}.txt", "--out", tmp_path / name, "--description", about)
        assert made.code == 0
        assert about in made.out
    return tmp_path / "engines", tmp_path / "bread"


def test_search_and_ask_take_several_and_name_the_collection(ramify: Ramify, places: tuple[Path, Path]) -> None:
    engines, bread = places
    both = ("--index", engines, "--index", bread)
    [hit] = json.loads(ramify("search", "How long does sourdough rest?", *both, "-k", 1, "--json").out)
    assert (hit["collection"], hit["id"].partition(":")[0]) == ("bread", "bread")
    told = json.loads(ramify("ask", "How long does the sourdough of rye bread rest?", *both, "--model", "extractive", "--json").out)
    assert {citation["collection"] for citation in told["citations"]} == {"bread"}
    shown = ramify("ask", "How long does the sourdough of rye bread rest?", *both, "--model", "extractive")
    assert "bread: " in shown.out
    assert "2 collections: " in " ".join(shown.out.split())


def test_one_index_names_no_collection(ramify: Ramify, places: tuple[Path, Path]) -> None:
    [hit] = json.loads(ramify("search", "sourdough", "--index", places[1], "--json").out)
    assert "collection" not in hit
    assert not hit["id"].startswith("bread:")


def test_a_description_is_changed_without_documents_and_inspected(ramify: Ramify, places: tuple[Path, Path]) -> None:
    assert ramify("index", "--out", places[0], "--description", "Trucks").code == 0
    assert json.loads(ramify("inspect", places[0], "--json").out)["description"] == "Trucks"


def test_one_of_several_that_is_missing_is_one_line(ramify: Ramify, places: tuple[Path, Path], tmp_path: Path) -> None:
    failed = ramify("search", "oil", "--index", places[0], "--index", tmp_path / "nothing")
    assert failed.code == 1
    assert str(tmp_path / "nothing") in failed.err
    assert ramify("search", "oil", "--index", places[0], "--index", places[0]).code == 2
