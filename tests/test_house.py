"""The architecture: a core and its plug-ins; packages import only lower ones, without cycles; small files; tests that mirror packages."""

import ast
import re
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import networkx as nx

from ramify.graphs import STRATEGIES
from ramify.studio.cli import CORE_COMMANDS
from ramify.tools.plugins import Group

ROOT = Path(__file__).parent.parent
LAYERS = {"studio": 3, "graphs": 2, "nodes": 1, "prompts": 0, "tools": 0}
"""The packages of the core; each can import those with a lower number."""
PLUGIN_IMPORTS = {
    "agents": set(),
    "embedded": set(),
    "formats": set(),
    "kinds": set(),
    "lab": {"embedded", "formats", "kinds", "stores"},  # for a run's manifest and questions, a graph's pages, and a run on a Ray cluster
    "serve": {"agents", "testing"},  # exact strings; what is checked of an answer, and the state of a collection's tests
    "stores": set(),
    "testing": {"embedded"},  # arithmetic, by which comparisons are computed again
}
"""The other plug-ins that a plug-in can import, besides the core, which imports none."""
FOLDERS = {name: ROOT / name for name in LAYERS} | {path.name: path for path in (ROOT / "plugins").glob("*") if path.is_dir()}
NOT_INSTALLED = {"tests", "benchmarks", "training"}
"""Folders of a plug-in that are not installed."""
MODULES = sorted(
    path for folder in FOLDERS.values() for path in folder.rglob("*.py") if path.relative_to(folder).parts[0] not in NOT_INSTALLED
)
PACKAGES = [path for path in MODULES if path.name == "__init__.py"]
SUBPACKAGE_ORDER = {
    "nodes": ({"tree", "settings"}, {"state"}, {"asking"}, {"building", "step"}, {""}),
    "studio": ({"drawing"}, {"console"}, {"notebook", "server"}, {"commands"}, {""}),
    "lab": ({"inspection", "metrics", "prompts"}, {"", "load"}, {"results"}, {"papers"}, {"report"}, {"commands"}),
    "agents": ({""}, {"commands"}),
    "serve": ({""}, {"commands"}),
    "testing": ({"verifying"}, {""}, {"commands"}),
}
"""The subpackages of a package; each set can import those before it. "" are the modules of the package itself."""
MANY_LINES, MAX_LINES = 400, 500
"""Length of a file above which there is a warning, and above which this test fails."""
LIST_PACKAGES = {
    "prompts",
    "studio/commands",
    "plugins/agents/commands",
    "plugins/kinds/prompts",
    "plugins/lab/commands",
    "plugins/lab/papers",
    "plugins/lab/prompts",
    "plugins/serve/commands",
    "plugins/testing/commands",
}
"""Packages with one prompt, command or paper in each file, whose docstrings need not name them."""


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """Return the modules that a file imports: at its top, in functions, or for type checking."""
    found = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {f"{node.module}.{alias.name}" for node in found if isinstance(node, ast.ImportFrom) and node.module for alias in node.names}
    return frozenset(names | {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names})


def owner(name: str) -> tuple[str, str]:
    """Return the package of a module or of a name in it, and its subpackage or module in SUBPACKAGE_ORDER, or ""."""
    _, package, *rest = name.split(".")
    is_folder = rest and (FOLDERS[package] / rest[0]).is_dir() if package in FOLDERS else False
    is_listed = is_folder or (rest and any(rest[0] in names for names in SUBPACKAGE_ORDER.get(package, ())))
    return package, rest[0] if is_listed else ""


def module_name(path: Path) -> str:
    home = ROOT / "plugins" if path.is_relative_to(ROOT / "plugins") else ROOT
    return ".".join(("ramify", *path.relative_to(home).with_suffix("").parts))


def forbidden_imports(path: Path) -> set[str]:
    """Return the packages that a file must not import: those not below its own, and subpackages above its own."""
    package, subpackage = owner(module_name(path))
    if package in LAYERS:
        forbidden = {other for other, layer in LAYERS.items() if other != package and layer >= LAYERS[package]} | PLUGIN_IMPORTS.keys()
    else:
        forbidden = PLUGIN_IMPORTS.keys() - PLUGIN_IMPORTS[package] - {package}
    order = SUBPACKAGE_ORDER.get(package, ())
    position = next((position for position, names in enumerate(order) if subpackage in names), len(order))
    if path.name != "__init__.py":
        forbidden |= {f"{package}/{other}" for names in order[position + 1 :] for other in names}
    return forbidden


def test_packages_import_only_lower_packages() -> None:
    breaches = []
    for path in MODULES:
        forbidden, own_package = forbidden_imports(path), owner(module_name(path))[0]
        owners = [owner(name) for name in imported_modules(path) if name.startswith("ramify.")]
        imported = {f"{package}/{subpackage}" if package == own_package else package for package, subpackage in owners}
        breaches += [f"{path.relative_to(ROOT)} imports {name}" for name in sorted(imported & forbidden)]
    assert breaches == []


def test_the_core_names_no_module_of_a_plugin() -> None:
    plugin = re.compile(rf"(ramify|plugins)\.({'|'.join(PLUGIN_IMPORTS)})([.:]\w+)*")
    core = [path for path in MODULES if owner(module_name(path))[0] in LAYERS]
    texts = [(path, node.value) for path in core for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)]
    assert [
        f"{path.relative_to(ROOT)}: {text}"
        for path, text in texts
        if isinstance(text, str) and plugin.fullmatch(text) and text not in get_args(Group)
    ] == []


def test_the_imports_between_plugins_that_are_declared_are_needed() -> None:
    imported = {(owner(module_name(path))[0], owner(name)[0]) for path in MODULES for name in imported_modules(path) if "ramify." in name}
    declared = {(plugin, other) for plugin, others in PLUGIN_IMPORTS.items() for other in others if plugin in FOLDERS}
    assert declared <= imported


def test_there_are_no_import_cycles() -> None:
    names = {module_name(path).removesuffix(".__init__") for path in MODULES}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for path in MODULES:
        for name in imported_modules(path):
            target = name if name in names else name.rpartition(".")[0]
            if target in names - {module_name(path).removesuffix(".__init__")}:
                graph.add_edge(module_name(path).removesuffix(".__init__"), target)
    assert graph.number_of_edges() > len(MODULES)
    assert [sorted(cycle) for cycle in nx.strongly_connected_components(graph) if len(cycle) > 1] == []


def test_document_readers_do_not_import_the_index() -> None:
    readers = [path for path in MODULES if path.is_relative_to(ROOT / "tools" / "documents")]
    known = {name for path in readers for name in imported_modules(path) if name.startswith("ramify.")}
    allowed = tuple(f"ramify.tools.{name}" for name in ("documents", "errors", "plugins", "quoting", "user_input"))
    assert {name for name in known if not name.startswith(allowed)} == set()


def test_pages_import_nothing_of_what_they_display() -> None:
    known = {name for name in imported_modules(ROOT / "tools" / "pages" / "__init__.py") if name.startswith("ramify.")}
    assert {name for name in known if not name.startswith("ramify.tools.quoting")} == set()


def test_installed_code_imports_no_folder_that_is_not_installed() -> None:
    outside = re.compile(r"(docs|tests|plugins|benchmarks|training)\b.*|ramify\.\w+\.(tests|benchmarks|training)\b.*")
    assert {path: names for path in MODULES if (names := list(filter(outside.fullmatch, imported_modules(path))))} == {}


def test_no_file_is_longer_than_the_limit() -> None:
    folders = (*LAYERS, "plugins", "tests", "docs")
    files = [path for folder in folders for kind in ("py", "html", "js", "css") for path in (ROOT / folder).rglob(f"*.{kind}")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in [*files, ROOT / "README.md"]}
    if long := {name: length for name, length in lengths.items() if length > MANY_LINES}:
        warnings.warn(f"more than {MANY_LINES} lines: {long}", stacklevel=1)
    assert {name: length for name, length in long.items() if length > MAX_LINES} == {}


def test_the_docstring_of_a_package_names_its_modules() -> None:
    unnamed = []
    for package in PACKAGES:
        modules = {path.stem for path in package.parent.glob("*.py")} - {"__init__"}
        packages = {path.parent.name for path in package.parent.glob("*/__init__.py")} - NOT_INSTALLED
        tree = ast.parse(package.read_text(encoding="utf-8"))
        words = set(re.findall(r"\w+", ast.get_docstring(tree) or ""))
        words |= {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}  # strategies, in a list
        if len(modules | packages) > 1 and str(package.parent.relative_to(ROOT)) not in LIST_PACKAGES:
            public_names = {name.removeprefix("_") for name in modules | packages}
            missing = sorted(name for name in public_names if not {name, f"_{name}", f"{name}s", f"{name}es"} & words)
            unnamed += [f"{package.relative_to(ROOT)}: {name}" for name in missing]
    assert unnamed == []


def test_every_name_in_all_exists_and_is_public() -> None:
    breaches = []
    for package in PACKAGES:
        module = import_module(module_name(package).removesuffix(".__init__"))
        offers = list(module.__all__)
        missing = [name for name in offers if not hasattr(module, name) and not find_spec(f"{module.__name__}.{name}")]
        breaches += [f"{module.__name__} lists {name} twice" for name in set(offers) if offers.count(name) > 1]
        breaches += [f"{module.__name__} lists {name}, which is private" for name in offers if name.startswith("_")]
        breaches += [f"{module.__name__} lists {name}, which does not exist" for name in missing]
    assert breaches == []


def test_private_modules_are_imported_by_their_own_package_alone() -> None:
    private = {module_name(path): path.parent for path in MODULES if path.name.startswith("_") and path.name != "__init__.py"}
    assert private
    breaches = []
    for path in MODULES:
        owners = {name: private.get(name) or private.get(name.rpartition(".")[0]) for name in imported_modules(path)}
        breaches += [
            f"{path.relative_to(ROOT)} imports {name}" for name, folder in owners.items() if folder and not path.is_relative_to(folder)
        ]
    assert breaches == []


def test_tests_mirror_the_packages() -> None:
    misplaced = []
    for name, folder in FOLDERS.items():
        tests = ROOT / "tests" / name if name in LAYERS else folder / "tests"
        assert list(tests.rglob("test_*.py")), name
        packages = {path.relative_to(tests).parts[0] for path in tests.rglob("*/test_*.py")}
        misplaced += [f"{tests.relative_to(ROOT)}/{package}" for package in sorted(packages) if not (folder / package).is_dir()]
    assert misplaced == []


def test_each_strategy_and_command_that_is_written_is_registered() -> None:
    strategies = {path.stem for path in (ROOT / "graphs").glob("*.py") if "\nSTRATEGY = " in path.read_text("utf-8")}
    registered = {strategy.build.__module__.rpartition(".")[2] for strategy in STRATEGIES.values()}
    assert strategies <= registered, "list it in graphs/__init__.py"
    commands = {path.stem for path in (ROOT / "studio" / "commands").glob("*.py")} - {"__init__"}
    assert commands == set(CORE_COMMANDS), "list it in studio/cli.py"


def test_there_are_modules_to_check() -> None:
    assert {owner(module_name(path))[0] for path in MODULES} == FOLDERS.keys() >= LAYERS.keys()
    assert {path.name for path in (ROOT / "plugins").glob("*")} <= PLUGIN_IMPORTS.keys() | {"__init__.py", "__pycache__"}
