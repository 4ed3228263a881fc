"""Commands of other packages: in the help, with their own options, imported only if they are asked for; a broken one is explained."""

import re
from pathlib import Path

import pytest

from ramify.studio.cli import CORE_COMMANDS
from tests.installing import Installer
from tests.studio.conftest import Ramify

CODE = """
from typing import Annotated
import typer
from ramify.studio.commands import Command
from ramify.tools.errors import InputError

def count(text: str, times: Annotated[int, typer.Option(help="How often.")] = 1) -> None:
    "Count words."
    typer.echo(len(text.split()) * times)

def stop() -> None:
    "Stop."
    raise KeyboardInterrupt

def refuse() -> None:
    "Refuse."
    raise InputError("it cannot be read", "give another")

STOP = Command(stop, "Ask", after="search", resumes=True)
NEXT = Command(refuse, "Ask", after="a-stop")
"""
ENTRIES = "[ramify.commands]\ncount-words = hazel:count\nz-stop = hazel:NEXT\na-stop = hazel:STOP\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    return Installer(tmp_path, monkeypatch)


def names(help_text: str) -> list[str]:
    listed = help_text.partition("Ask:")[2].partition("Begin with")[0]
    return re.findall(r"^  ([\w-]+) ", listed, re.MULTILINE)


def test_a_command_of_another_package_runs_with_its_options(ramify: Ramify, install: Installer) -> None:
    install("hazel", ENTRIES, CODE)
    assert ramify("count-words", "one two", "--times", 3)[:2] == (0, "6\n")
    wrong = ramify("count-words", "one two", "--times", "x")
    assert (wrong.code, "ramify count-words --help" in wrong.err) == (2, True)
    assert "How often." in ramify("count-words", "--help").out
    assert "count-words" in ramify("count-word").err


def test_the_help_lists_it_where_it_belongs(ramify: Ramify, install: Installer) -> None:
    before = names(ramify("--help").out)
    install("hazel", ENTRIES, CODE)
    listed = names(ramify("--help").out)
    own = [name for name in listed if name not in before or name == "search"]
    assert own[:3] == ["search", "a-stop", "z-stop"]
    assert listed.index("z-stop") < listed.index("index")
    assert listed[-1] == "count-words"
    assert [name for name in listed if name in before] == before


def test_its_errors_and_interruptions_are_as_those_of_the_core(ramify: Ramify, install: Installer) -> None:
    install("hazel", ENTRIES, CODE)
    assert ramify("z-stop") == (1, "", "error: it cannot be read — give another\n")
    stopped = ramify("a-stop")
    assert (stopped.code, "run the command again" in stopped.err) == (130, True)


def test_a_broken_one_is_explained_in_the_help_and_where_it_is_run(ramify: Ramify, install: Installer) -> None:
    install("thorn", "[ramify.commands]\nprick = thorn:prick\n", "import no_such_library")
    shown = ramify("--help")
    assert shown.code == 0
    assert set(CORE_COMMANDS) < set(names(shown.out))
    assert "Not usable" in next(line for line in shown.out.splitlines() if line.split()[:1] == ["prick"])
    run = ramify("prick")
    assert (run.code, run.err.count("\n")) == (1, 1)
    assert "thorn" in run.err
    assert "no_such_library" in run.err


def test_a_command_of_the_core_is_not_replaced_and_imports_none_of_a_plugin(ramify: Ramify, install: Installer) -> None:
    install("thorn", "[ramify.commands]\nsearch = thorn:prick\nprick = thorn:prick\n", "raise SystemExit('imported')")
    assert "without a model" in ramify("search", "--help").out
