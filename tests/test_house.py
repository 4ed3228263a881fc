"""The house: imports run one way, every module is found, nothing of the outside is named by its bare folder."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {"studio": 4, "evaluation": 3, "graphs": 2, "nodes": 1, "prompts": 0, "tools": 0}
MODULES = sorted(path for folder in FLOORS for path in (ROOT / folder).rglob("*.py"))


def modules(path: Path) -> list[str]:
    """List the modules that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return names + [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]


def imported(path: Path) -> set[str]:
    """List the ramify folders that a file imports."""
    return {name.split(".")[1] for name in modules(path) if name.startswith("ramify.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]
    against = {name for name in imported(path) - {own} if FLOORS[name] >= FLOORS[own]}
    assert not against, f"{own} may not import {against}"


def test_documents_are_read_without_the_index_that_is_made_of_them() -> None:
    readers = [path for path in MODULES if path.is_relative_to(ROOT / "tools" / "documents")]
    known = {name for path in readers for name in modules(path) if name.startswith("ramify.")}
    assert {name for name in known if not name.startswith(("ramify.tools.documents", "ramify.tools.errors"))} == set()


def test_nothing_that_is_installed_needs_a_folder_that_is_not() -> None:
    outside = {"training", "benchmarks", "docs", "tests"}
    assert {path: found for path in MODULES if (found := outside & {name.partition(".")[0] for name in modules(path)})} == {}


def test_there_are_modules_to_check() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} >= {"studio", "graphs", "nodes", "prompts", "tools"}
