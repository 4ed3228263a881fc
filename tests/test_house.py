"""The house: imports run one way, nothing goes in circles, files are small, and tests lie where what they test lies."""

import ast
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {"studio": 4, "evaluation": 3, "graphs": 2, "nodes": 1, "prompts": 0, "tools": 0}
MODULES = sorted(path for folder in FLOORS for path in (ROOT / folder).rglob("*.py"))
STAIRS = {
    "nodes": ({"tree", "settings"}, {"state"}, {"asking"}, {"building", "step"}, {""}),
    "studio": ({"drawing"}, {"inspection"}, {"console"}, {"mcp", "notebook", "server"}, {"commands"}, {""}),
    "evaluation": ({"metrics"}, {"", "load"}, {"results"}, {"report"}),
}
"""The packages of a room, each step above those before it; "" are the files at its top: steps, the command line, runs."""
LONGEST = 400
ONE_A_FILE = {"prompts", "studio/commands"}
"""Packages whose files are a list by themselves: one prompt, one command a file."""


@cache
def modules(path: Path) -> frozenset[str]:
    """List the modules that a file imports, at its top, late or for its types alone."""
    found = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {f"{node.module}.{alias.name}" for node in found if isinstance(node, ast.ImportFrom) and node.module for alias in node.names}
    return frozenset(names | {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names})


def place(name: str) -> tuple[str, str]:
    """Name the room of a module or of something in it, and its package there, "" at the room's top."""
    _, room, *rest = name.split(".")
    return room, rest[0] if rest and (ROOT / room / rest[0]).is_dir() else ""


def own(path: Path) -> str:
    return ".".join(("ramify", *path.relative_to(ROOT).with_suffix("").parts))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    room, package = place(own(path))
    known = {place(name) for name in modules(path) if name.startswith("ramify.")}
    against = {other for other, _ in known - {(room, package)} if other != room and FLOORS[other] >= FLOORS[room]}
    assert not against, f"{room} may not import {against}"
    stairs = [step for step, packages in enumerate(STAIRS.get(room, ())) if package in packages]
    if stairs and path.name != "__init__.py":
        above = {other for floor in STAIRS[room][stairs[0] + 1 :] for other in floor}
        assert not {other for there, other in known if there == room} & above, f"{room}/{package} may not import what stands above it"


def test_nothing_goes_in_circles() -> None:
    names = {own(path).removesuffix(".__init__") for path in MODULES}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for path in MODULES:
        for name in modules(path):
            target = name if name in names else name.rpartition(".")[0]
            if target in names - {own(path).removesuffix(".__init__")}:
                graph.add_edge(own(path).removesuffix(".__init__"), target)
    assert graph.number_of_edges() > len(MODULES)
    assert [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1] == []


def test_documents_are_read_without_the_index_that_is_made_of_them() -> None:
    readers = [path for path in MODULES if path.is_relative_to(ROOT / "tools" / "documents")]
    known = {name for path in readers for name in modules(path) if name.startswith("ramify.")}
    assert {name for name in known if not name.startswith(("ramify.tools.documents", "ramify.tools.errors", "ramify.tools.typed"))} == set()


def test_pages_know_nothing_of_what_they_show() -> None:
    known = {name for name in modules(ROOT / "tools" / "pages" / "__init__.py") if name.startswith("ramify.")}
    assert {name for name in known if not name.startswith("ramify.tools.quoting")} == set()


def test_nothing_that_is_installed_needs_a_folder_that_is_not() -> None:
    outside = {"training", "benchmarks", "docs", "tests"}
    assert {path: found for path in MODULES if (found := outside & {name.partition(".")[0] for name in modules(path)})} == {}


def test_no_file_is_longer_than_a_reader_can_hold_in_mind() -> None:
    folders = (*FLOORS, "tests", "benchmarks", "training", "docs")
    files = [path for folder in folders for kind in ("py", "html", "js", "css") for path in (ROOT / folder).rglob(f"*.{kind}")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in [*files, ROOT / "README.md"]}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


@pytest.mark.parametrize(
    "face", [path for path in MODULES if path.name == "__init__.py"], ids=lambda path: str(path.parent.relative_to(ROOT))
)
def test_a_package_names_what_is_in_it(face: Path) -> None:
    modules = {path.stem for path in face.parent.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in face.parent.glob("*/__init__.py")}
    told = set(re.findall(r"\w+", ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or ""))
    if len(modules | packages) > 1 and str(face.parent.relative_to(ROOT)) not in ONE_A_FILE:
        plain = {name.removeprefix("_") for name in modules | packages}
        assert {name for name in plain if not {name, f"_{name}", f"{name}s", f"{name}es"} & told} == set()


@pytest.mark.parametrize(
    "face", [path for path in MODULES if path.name == "__init__.py"], ids=lambda path: str(path.parent.relative_to(ROOT))
)
def test_a_package_lists_what_it_offers(face: Path) -> None:
    package = import_module(own(face).removesuffix(".__init__"))
    offers = list(package.__all__)
    assert len(offers) == len(set(offers))
    assert [name for name in offers if name.startswith("_")] == []
    assert [name for name in offers if not hasattr(package, name) and not find_spec(f"{package.__name__}.{name}")] == []


def test_private_modules_are_imported_by_their_own_package_alone() -> None:
    private = {own(path): path.parent for path in MODULES if path.name.startswith("_") and path.name != "__init__.py"}
    assert private
    for path in MODULES:
        for name in modules(path):
            home = private.get(name) or private.get(name.rpartition(".")[0])
            assert home is None or path.is_relative_to(home), f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("room", ["studio", "evaluation", "graphs", "nodes", "tools"])
def test_tests_lie_where_what_they_test_lies(room: str) -> None:
    packages = {path.relative_to(ROOT / "tests" / room).parts[0] for path in (ROOT / "tests" / room).rglob("*/test_*.py")}
    assert packages
    assert {name for name in packages if not (ROOT / room / name).is_dir()} == set()


def test_there_are_modules_to_check() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} >= {"studio", "graphs", "nodes", "prompts", "tools"}
