"""How the command line starts, ends and tells of mistakes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ramify.graphs.strategies import STRATEGIES
from ramify.graphs.strategies import Strategy as OfGraphs
from ramify.tools.search import relevance
from tests.studio.conftest import Ramify
from tests.tools.ollama_server import Hang, Ollama

HEAVY = ("torch", "transformers", "faiss", "langgraph", "langchain_core")
HELPED = f"""
import sys
from ramify.studio.cli import run
code = run(["--help"]) + run(["ask", "--help"])
found = [name for name in {HEAVY!r} if name in sys.modules]
assert not found, found
sys.exit(code)
"""


def test_help_is_light() -> None:
    done = subprocess.run([sys.executable, "-c", HELPED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(command in done.stdout for command in ("index", "search", "ask", "graph", "settings", "doctor"))


def test_version(ramify: Ramify) -> None:
    assert ramify("--version").out.startswith("ramify 0.")


@pytest.mark.parametrize(
    "arguments", [("ask",), ("nonsense",), ("ask", "Who?", "--nonsense"), ("search", "Who?", "-k", "many"), ("index",)]
)
def test_wrong_usage_is_one_line_and_two(ramify: Ramify, arguments: tuple[str, ...]) -> None:
    done = ramify(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert "--help`" in done.err


def test_no_command_greets_with_three_of_them(ramify: Ramify) -> None:
    done = ramify()
    assert (done.code, done.err) == (0, "")
    assert re.findall(r"^  ramify (\w+)", done.out, re.MULTILINE) == ["ask", "index", "serve"]
    assert "--help" in done.out


def test_the_help_cuts_no_description(ramify: Ramify) -> None:
    told = " ".join(ramify("--help").out.partition("Ask:")[2].split())
    assert "..." not in told
    assert "citations and the tree of sub-questions that led to it" in told


def test_an_interruption_is_one_line(ollama: Ollama) -> None:
    ollama.when("", Hang())
    command = [Path(sys.executable).with_name("ramify"), "ask", "Who?", "--strategy", "closed-book", "--model", "ollama:llama3.1:8b"]
    # A shell that runs the tests in the background has interrupts ignored; this child is to get its own.
    attended = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ, **attended)
    deadline = time.monotonic() + 120
    while not ollama.requests and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "error: interrupted\n"


def test_graph_prints_the_drawing(ramify: Ramify) -> None:
    drawn = ramify("graph", "tor").out
    assert "flowchart TD" in drawn
    assert "judge" in drawn
    joint, staged = ramify("graph", "prune").out, ramify("graph", "prune", "--set", "joint=false").out
    assert "decide" in joint
    assert "decide" not in staged


def test_settings_are_listed_with_defaults_and_maximum_calls(ramify: Ramify) -> None:
    done = ramify("settings", "tor", "--set", "redecompositions=0", "--set", "dependent=false")
    assert "theta" in done.out
    assert "A fork judged below this is pruned." in done.out
    assert "rubric" in done.out
    assert "at most 29 model calls and 1" in done.err


def test_a_strategy_of_one_s_own_need_not_say_what_its_arguments_do(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "my-own", OfGraphs("my-own", STRATEGIES["tor"].build))
    done = ramify("settings", "my-own")
    assert (done.code, "(true or false)" in done.out) == (0, True)
    assert "custom strategy" in done.err


def test_search_as_json(ramify: Ramify, built: Path) -> None:
    done = ramify("search", "Where does the Vistula flow?", "--index", built, "-k", "1", "--json")
    (hit,) = json.loads(done.out)
    assert set(hit) == {"id", "source", "text", "score", "metadata"}
    assert hit["source"] == "warsaw.md"
    assert done.err == ""


def test_an_unknown_field_of_a_filter_is_reported(ramify: Ramify, built: Path) -> None:
    told = "no passage has the filter fields 'autor': there are "
    assert told in ramify("search", "Who?", "--index", built, "--filter", "autor=x").err
    assert told not in ramify("search", "Who?", "--index", built, "--filter", "title=x").err
    asked = ("ask", "Who was Marie Curie?", "--index", built, "--strategy", "naive", "--model", "extractive", "--filter", "autor=x")
    assert told in ramify(*asked).err
    assert [notice for notice in json.loads(ramify(*asked, "--json").out)["notices"] if told in notice]


def test_search_filters(ramify: Ramify, built: Path) -> None:
    done = ramify("search", "Where does the Vistula flow?", "--index", built, "--filter", "title=curie", "--json")
    assert {hit["source"] for hit in json.loads(done.out)} <= {"curie.txt"}


def test_search_reranks_where_it_is_asked_to(ramify: Ramify, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rank_values(question: str, texts: list[str]) -> list[float]:
        return [0.5 if "physicist" in text else -0.15 * place for place, text in enumerate(texts)]

    monkeypatch.setattr(relevance, "find_reader", lambda: SimpleNamespace(load=lambda: 0.0, rank_values=rank_values))
    asked = ("search", "Where does the Vistula flow?", "--index", built, "--json")
    plain, turned, best = (
        json.loads(ramify(*asked, *more).out) for more in ((), ("--rerank", "reader"), ("--rerank", "reader", "-k", "1"))
    )
    assert [hit["source"] for hit in plain] == ["warsaw.md", "curie.txt"]
    assert turned == plain[::-1]
    assert best == turned[:1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line() -> None:
    command = [Path(sys.executable).with_name("ramify"), "graph", "tor"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("error: [Errno 28]")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    process = subprocess.Popen([Path(sys.executable).with_name("ramify"), "graph", "tor"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.wait(timeout=60) == 1
    assert process.stderr.read() == b""
    process.stderr.close()
