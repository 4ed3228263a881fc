"""requirements.lock: it agrees with pyproject.toml and constraints.txt, names all that is needed, and has a hash for each."""

import tomllib
from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement

from release.licences import required_packages
from release.lock import CUDA_LOCK, LOCK, ROOT, normalize_name, read_lock

LOCKED = read_lock(LOCK)
ELSEWHERE = {"colorama", "httpx2-jsfetch", "pywin32"}
"""For Windows and the browser: what the tests run with lacks them."""


def test_every_package_has_hashes() -> None:
    locked = {**LOCKED, **read_lock(CUDA_LOCK)}
    assert len(LOCKED) > 50
    assert [name for name, (_, hashes) in locked.items() if not hashes] == []


def test_the_versions_are_those_of_the_constraints() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constrained = {normalize_name(name): version for name, _, version in (line.partition("==") for line in lines if "==" in line)}
    assert {name: version for name, (version, _) in LOCKED.items() if name not in ELSEWHERE and constrained.get(name) != version} == {}


def test_the_versions_are_those_that_the_project_asks_for() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [Requirement(text) for text in (*told["dependencies"], *told["optional-dependencies"]["serve"])]
    assert [str(one) for one in asked if not one.specifier.contains(LOCKED[normalize_name(one.name)][0])] == []


def test_all_that_is_needed_here_is_locked() -> None:
    pytest.importorskip("starlette")
    needed = set(required_packages(["serve"]))
    assert "torch" in needed
    assert needed - LOCKED.keys() - read_lock(CUDA_LOCK).keys() == set()
    assert distribution("torch").version.partition("+")[0] == LOCKED["torch"][0]


def test_no_address_of_an_index_is_in_it() -> None:
    assert not any("//" in file.read_text(encoding="utf-8") for file in (LOCK, CUDA_LOCK))
