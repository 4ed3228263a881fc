"""SECURITY.md and docs/faults.md: the tests that they name exist, and what is said never to be done is in no module."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROOMS = ("tools", "prompts", "nodes", "graphs", "studio", "plugins")
NOT_INSTALLED = {"tests", "benchmarks", "training"}
"""Folders beside the installed code of a plug-in."""
PROMISES = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:plugins/\w+/)?tests/[\w/]+\.py)(?:::(\w+))?`", PAGE + PROMISES)))
FORBIDDEN = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "torch.load",
    "yaml.load",
    "yaml.unsafe_load",
    "marshal.loads",
}
FORBIDDEN |= {"pickle.load", "pickle.loads", "subprocess.getoutput"}
UNPICKLING = ROOT / "tools" / "index" / "index_store.py"


@pytest.mark.parametrize(("file", "name"), NAMED, ids=["::".join(filter(None, one)) for one in NAMED])
def test_a_named_test_exists(file: str, name: str) -> None:
    if file.startswith("plugins/") and not (ROOT / "plugins").exists():
        pytest.skip("the plug-ins are not in this tree")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert not name or name in tests
    suites = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") and node.bases}
    assert suites or any(one.startswith("test_") for one in tests)


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PAGE.partition("## What is never done")[2].partition("## What the servers")[0].splitlines() if "|" in line]
    threats = PAGE.partition("## Threat model")[2].splitlines()
    listed = [*rows[2:], *[line for line in threats if line.startswith("|")][2:]]
    assert len(listed) > 20
    assert [row for row in listed if "tests/" not in row and not row.endswith("| the same |")] == []
    kinds = ["Spoofing", "Tampering", "Repudiation", "Information disclosure", "Denial of service", "Elevation of privilege"]
    assert re.findall(r"^\| \*\*(.+?)\*\*", PAGE, re.MULTILINE) == kinds


def test_nothing_is_evaluated_unpickled_or_given_to_a_shell() -> None:
    breaches = []
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        if NOT_INSTALLED & set(path.relative_to(ROOT).parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in FORBIDDEN:
                breaches.append(f"{path.relative_to(ROOT)}:{node.lineno} calls {ast.unparse(node.func)}")
            if isinstance(node, ast.keyword) and node.arg in ("shell", "allow_dangerous_deserialization") and path != UNPICKLING:
                breaches.append(f"{path.relative_to(ROOT)}:{node.value.lineno} gives {node.arg}")
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if {"pickle", "dill", "marshal", "shelve"} & set(names) and path != UNPICKLING:
                breaches.append(f"{path.relative_to(ROOT)} imports {', '.join(names)}")
    assert breaches == []
