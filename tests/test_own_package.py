"""The package of docs/developing.md, installed: its strategy and its command are found by everything that offers them."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import ramify.graphs as graphs
from ramify.graphs.strategies import load_strategies
from ramify.studio.cli import run
from ramify.studio.server.langgraph_json import configuration
from ramify.tools.errors import PluginError, UsageError
from tests.installing import Installer

PAGE = Path(__file__).parent.parent / "docs" / "developing.md"
QUESTION = "In which city was the inventor of the ballpoint pen born?"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installer]:
    known = dict(graphs.STRATEGIES)
    yield Installer(tmp_path, monkeypatch)
    graphs.STRATEGIES.clear()
    graphs.STRATEGIES.update(known)


@pytest.fixture
def package(install: Installer) -> None:
    """Install the package of the page."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    project = tomllib.loads(next(text for language, text in blocks if language == "toml"))["project"]
    (first, *rest) = [text for language, text in blocks if language == "python"]
    (command,) = [text for text in rest if "def count" in text]
    definition = first.partition("register(")[0]
    points = project["entry-points"].items()
    entries = "".join(f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in offered.items()) for group, offered in points)
    install("split_once", entries, f'{definition}\n{command}\nSTRATEGY = Strategy("split-once", build, description="Splits once.")\n')


@pytest.mark.usefixtures("package")
def test_the_command_line_finds_its_strategy_and_its_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert run(["graph", "split-once"]) == 0
    assert "decompose" in capsys.readouterr().out
    assert run(["settings", "split-once"]) == 0
    assert "max_depth" in capsys.readouterr().out
    assert run(["count", QUESTION]) == 0
    assert capsys.readouterr().out == "11\n"
    assert run(["ask", QUESTION, "--strategy", "split-onze"]) == 2
    assert "did you mean 'split-once'?" in capsys.readouterr().err
    assert run(["--help"]) == 0
    assert "how many words" in capsys.readouterr().out


@pytest.mark.usefixtures("package")
def test_its_strategy_is_listed_where_all_are() -> None:
    assert "split-once" not in graphs.STRATEGIES
    assert graphs.build("split-once").name == "split-once"
    assert "split-once" in load_strategies()
    assert configuration()["graphs"]["split-once"]["path"].endswith(":split_once")


@pytest.mark.usefixtures("package")
def test_its_strategy_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", QUESTION, "--strategy", "split-once", "--model", "extractive", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "Budapest"


@pytest.mark.parametrize("offered", ["no_strategy", "NAIVE", "missing"])
def test_what_is_no_strategy_of_its_name_is_refused(install: Installer, offered: str) -> None:
    code = "from ramify.graphs import STRATEGIES\nNAIVE = STRATEGIES['naive']\nno_strategy = 1\n"
    install("other", f"[ramify.strategies]\nof-another = other:{offered}\nnaive = other:no_strategy\n", code)
    with pytest.raises(PluginError, match="of-another"):
        graphs.build("of-another")
    with pytest.raises(PluginError, match="of-another"):
        load_strategies()
    assert graphs.build("naive").name == "naive"
    with pytest.raises(UsageError):
        graphs.build("nothing")
