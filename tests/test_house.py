"""The house: imports run one way, nothing goes in circles, files are small, and tests lie where what they test lies."""

import ast
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parent.parent
FLOORS = {"studio": 4, "evaluation": 3, "graphs": 2, "nodes": 1, "prompts": 0, "tools": 0}
MODULES = sorted(path for folder in FLOORS for path in (ROOT / folder).rglob("*.py"))
FACES = [path for path in MODULES if path.name == "__init__.py"]
STAIRS = {
    "nodes": ({"tree", "settings"}, {"state"}, {"asking"}, {"building", "step"}, {""}),
    "studio": ({"drawing"}, {"inspection"}, {"console"}, {"mcp", "notebook", "server"}, {"serve"}, {"commands"}, {""}),
    "evaluation": ({"metrics"}, {"", "load"}, {"results"}, {"papers"}, {"report"}),
}
"""The packages of a room, each step above those before it; "" are the other files at its top: steps, the command line, runs."""
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
    """Name the room of a module or of something in it, and its package there, or its module that has a step of its own; else ""."""
    _, room, *rest = name.split(".")
    named = rest and ((ROOT / room / rest[0]).is_dir() or any(rest[0] in packages for packages in STAIRS.get(room, ())))
    return room, rest[0] if named else ""


def own(path: Path) -> str:
    return ".".join(("ramify", *path.relative_to(ROOT).with_suffix("").parts))


def above(path: Path) -> set[str]:
    """List the packages that a file may not import: rooms that are not below its own, and packages above it in its own room."""
    room, package = place(own(path))
    forbidden = {other for other, floor in FLOORS.items() if other != room and floor >= FLOORS[room]}
    stairs = STAIRS.get(room, ())
    step = next((step for step, packages in enumerate(stairs) if package in packages), len(stairs))
    if path.name != "__init__.py":
        forbidden |= {f"{room}/{other}" for packages in stairs[step + 1 :] for other in packages}
    return forbidden


def test_imports_run_one_way() -> None:
    breaches = []
    for path in MODULES:
        forbidden, home = above(path), place(own(path))[0]
        known = [place(name) for name in modules(path) if name.startswith("ramify.")]
        against = {f"{room}/{package}" if room == home else room for room, package in known} & forbidden
        breaches += [f"{path.relative_to(ROOT)} imports {name}" for name in sorted(against)]
    assert breaches == []


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
    assert {
        name
        for name in known
        if not name.startswith(("ramify.tools.documents", "ramify.tools.errors", "ramify.tools.quoting", "ramify.tools.user_input"))
    } == set()


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


def test_a_package_names_what_is_in_it() -> None:
    unnamed = []
    for face in FACES:
        modules = {path.stem for path in face.parent.glob("*.py")} - {"__init__"}
        packages = {path.parent.name for path in face.parent.glob("*/__init__.py")}
        words = set(re.findall(r"\w+", ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or ""))
        if len(modules | packages) > 1 and str(face.parent.relative_to(ROOT)) not in ONE_A_FILE:
            plain = {name.removeprefix("_") for name in modules | packages}
            missing = sorted(name for name in plain if not {name, f"_{name}", f"{name}s", f"{name}es"} & words)
            unnamed += [f"{face.relative_to(ROOT)}: {name}" for name in missing]
    assert unnamed == []


def test_a_package_lists_what_it_offers() -> None:
    breaches = []
    for face in FACES:
        package = import_module(own(face).removesuffix(".__init__"))
        offers = list(package.__all__)
        lost = [name for name in offers if not hasattr(package, name) and not find_spec(f"{package.__name__}.{name}")]
        breaches += [f"{package.__name__} lists {name} twice" for name in set(offers) if offers.count(name) > 1]
        breaches += [f"{package.__name__} lists {name}, which is private" for name in offers if name.startswith("_")]
        breaches += [f"{package.__name__} lists {name}, which is not there" for name in lost]
    assert breaches == []


def test_private_modules_are_imported_by_their_own_package_alone() -> None:
    private = {own(path): path.parent for path in MODULES if path.name.startswith("_") and path.name != "__init__.py"}
    assert private
    breaches = []
    for path in MODULES:
        homes = {name: private.get(name) or private.get(name.rpartition(".")[0]) for name in modules(path)}
        breaches += [f"{path.relative_to(ROOT)} imports {name}" for name, home in homes.items() if home and not path.is_relative_to(home)]
    assert breaches == []


def test_tests_lie_where_what_they_test_lies() -> None:
    astray = []
    for room in ("studio", "evaluation", "graphs", "nodes", "tools"):
        packages = {path.relative_to(ROOT / "tests" / room).parts[0] for path in (ROOT / "tests" / room).rglob("*/test_*.py")}
        assert packages, room
        astray += [f"tests/{room}/{name}" for name in sorted(packages) if not (ROOT / room / name).is_dir()]
    assert astray == []


def test_there_are_modules_to_check() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} >= {"studio", "graphs", "nodes", "prompts", "tools"}
