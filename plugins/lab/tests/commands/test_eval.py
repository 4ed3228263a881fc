"""ramify eval on the command line: what it says and what it refuses."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.commands.eval_lines import LLAMA, lines, outcome
from plugins.lab.tests.conftest import cache, data
from plugins.lab.tests.small_data_set import make_questions, write_data
from tests.studio.conftest import Ramify
from tests.studio.test_bad_input import one_line
from tests.studio.test_interruption import interrupted
from tests.tools.ollama_replies import Fail, Say
from tests.tools.ollama_server import Ollama

__all__ = ["cache", "data"]


def test_it_prints_data_maximum_cost_and_report(ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path) -> None:
    ollama.when("", Say({"answer": "Seine", "confidence": 0.9, "citations": []}))
    out = tmp_path / "run"
    done = ramify("eval", data, "--out", out, *LLAMA)
    assert done.code == 0, done.err
    messages = done.err.splitlines()
    assert messages[0] == "rivers: 12 questions of 2 types"
    assert messages[1] == "12 answers to compute, with at most 12 model calls"
    assert re.fullmatch(r"\S+ s an answer, measured on the first 4: about \d+ s to go", messages[2])
    assert done.out == f"12 answers of 1 strategy: {out / 'report.html'}\n"
    assert {path.name for path in out.iterdir()} == {"manifest.json", "results.jsonl", "report.md", "report.html"}
    again = ramify("eval", data, "--out", out, *LLAMA)
    assert "0 answers to compute (12 exist already), with at most 0 model calls" in again.err
    assert len(ollama.requests) == 12


def test_a_log_shows_how_far_it_is_and_the_scores_so_far(
    ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ramify.lab.commands._evaluating.LOG_INTERVAL_S", 0)
    ollama.when("", Say({"answer": "Seine", "confidence": 0.9, "citations": []}))
    done = ramify("eval", data, "--out", tmp_path / "run", *LLAMA)
    progress = re.findall(r"(?m)^(\d+) of 12 answers · (?:\d+ s to go · )?EM \S+ \d\.\d\d$", done.err)
    assert progress == [str(number) for number in range(1, 13)]


def test_only_the_strategies_asked_for_are_run(ramify: Ramify, nowhere: str, data: Path, tmp_path: Path) -> None:
    done = ramify("eval", data, "--out", tmp_path / "run", "--model", "extractive", "--strategy", "naive", "--limit", 2)
    assert done.out.startswith("2 answers of 1 strategy")
    assert {row["strategy"] for row in lines(tmp_path / "run")} == {"naive"}


def test_searching_alone_needs_no_model(ramify: Ramify, nowhere: str, data: Path, tmp_path: Path) -> None:
    done = ramify("eval", data, "--out", tmp_path / "run", "--retrieval-only")
    assert done.code == 0, done.err
    assert done.out.startswith("60 searches: ")
    assert "extractive" not in done.err


def test_auto_stays_with_the_model_it_found(ramify: Ramify, nowhere: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = ramify("eval", data, "--out", out, "--strategy", "closed-book", "--limit", 2)
    assert done.code == 0, done.err
    assert done.err.count("using the extractive model") == 1
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["model"] == "extractive"
    assert {row["model"] for row in lines(out)} == {"extractive"}


def test_failures_are_named_and_tried_again(ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path) -> None:
    ollama.when("Warsaw", Fail(400, "no such river"))
    ollama.when("", Say({"answer": "Seine", "confidence": 0.9, "citations": []}))
    out = tmp_path / "run"
    done = ramify("eval", data, "--out", out, *LLAMA)
    assert done.code == 0
    assert "failed: rivers|closed-book||q5: " in done.err
    assert "no such river" in done.err
    assert "2 of 12 failed; they count as wrong and are retried by the same command" in done.err
    ollama._rules.pop(0)
    again = ramify("eval", data, "--out", out, *LLAMA)
    assert "2 answers to compute (10 exist already)" in again.err
    assert "failed" not in again.err
    assert not any(error for *_, error in outcome(out).values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--strategy", "oak"), ("oak", "prune")),
        (("--strategy", ","), ("--strategy",)),
        (("--set", "leaves=3"), ("leaves", "ramify settings")),
        (("--set", "k"), ("KEY=VALUE",)),
        (("--base-url", "http://a:1/v1", "--base-url", "http://b:1/v1"), ("put a proxy before them",)),
        (("--set", "seed=1"), ("--seed",)),
        (("--sweep", "tau"), ("KEY=V1,V2",)),
        (("--sweep", "tau=0.1", "--sweep", "tau=0.2"), ("twice",)),
        (("--sweep", "tau=high"), ("tau", "high")),
        (("--sweep", "theta=0.1"), ("theta=0.1", "prune")),
        (("--ablate", "bark"), ("bark", "judge")),
        (("--ablate", "judge"), ("judge", "prune")),
        (("--model", "parrot"), ("parrot",)),
        (("--limit", "0"), ("--limit",)),
    ],
)
def test_wrong_usage_is_reported_in_one_line(
    ramify: Ramify, data: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = ramify("eval", data, "--out", tmp_path / "run", *arguments)
    assert (done.code, done.out) == (2, "")
    last = done.err.splitlines()[-1] + "\n"
    assert one_line(last, *words), done.err
    assert lines(tmp_path / "run") == []


def _twice(asked: list[dict[str, Any]]) -> None:
    asked[1]["id"] = asked[0]["id"]


def _no_gold(asked: list[dict[str, Any]]) -> None:
    asked[1]["answer"] = ""


@pytest.mark.parametrize(("spoil", "words"), [(list.clear, ("empty",)), (_twice, ("q0", "line 2")), (_no_gold, ("gold", "line 2"))])
def test_a_bad_data_set_costs_nothing(
    ramify: Ramify, data: Path, tmp_path: Path, spoil: Callable[[list[dict[str, Any]]], None], words: tuple[str, ...]
) -> None:
    asked = make_questions(3)
    spoil(asked)
    write_data(data, asked)
    done = ramify("eval", data, "--out", tmp_path / "run", "--model", "extractive")
    assert done.code == 1
    assert one_line(done.err, *words), done.err
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written_costs_nothing(ramify: Ramify, data: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    done = ramify("eval", data, "--out", tmp_path / "file", "--model", "extractive", "--limit", 1)
    assert done.code == 1
    assert done.err.count("error: ") == 1
    assert "file" in done.err


def test_an_embedding_that_is_not_there_costs_nothing_and_the_folder_is_free_for_another(
    ramify: Ramify, data: Path, tmp_path: Path
) -> None:
    arguments = ("eval", data, "--out", tmp_path / "run", "--retrieval-only", "--limit", 1)
    done = ramify(*arguments, "--embedding", "parrot")
    assert done.code == 1
    assert one_line(done.err.splitlines()[-1] + "\n", "parrot")
    assert ramify(*arguments).code == 0


def test_without_ollama_nothing_is_spent(ramify: Ramify, nowhere: str, data: Path, tmp_path: Path) -> None:
    done = ramify("eval", data, "--out", tmp_path / "run", *LLAMA)
    assert done.code == 1
    assert one_line(done.err.splitlines()[-1] + "\n", "ollama serve")
    assert not (tmp_path / "run").exists()


def test_a_server_that_breaks_down_is_not_asked_to_the_end(ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path) -> None:
    write_data(data, make_questions(40))
    ollama.when("", Fail(400, "out of memory"))
    done = ramify("eval", data, "--out", tmp_path / "run", *LLAMA)
    assert done.code == 1
    assert one_line(done.err.splitlines()[-1] + "\n", "10 questions failed one after another", "out of memory", "ramify doctor")
    assert len(ollama.requests) < 25


def test_help_loads_no_library_that_is_heavy() -> None:
    """What takes seconds to load is loaded when it is needed."""
    heavy = {"torch", "matplotlib", "langgraph", "numpy"}
    code = f"import sys; from ramify.studio.cli import run; run(['eval', '--help']); print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
    assert all(option in done.stdout for option in ("--sweep", "--ablate", "--retrieval-only", "--sample", "--workers"))


def test_a_label_has_an_index_of_its_own_and_stays_for_the_run(ramify: Ramify, nowhere: str, data: Path, tmp_path: Path) -> None:
    corpus = data / "corpus.jsonl"
    towns = [json.loads(line) for line in corpus.read_text().splitlines()]
    corpus.write_text("".join(json.dumps({**town, "metadata": {"land": "Land of " + town["title"]}}) + "\n" for town in towns))
    plain, labelled = tmp_path / "plain", tmp_path / "labelled"
    assert ramify("eval", data, "--out", plain, "--retrieval-only").code == 0
    done = ramify("eval", data, "--out", labelled, "--retrieval-only", "--label", "land")
    assert done.code == 0, done.err
    assert "Searched under: land" in (labelled / "report.md").read_text()
    assert "Searched under" not in (plain / "report.md").read_text()
    other = ramify("eval", data, "--out", labelled, "--retrieval-only")
    assert other.code == 2
    assert "holds a run with label 'land', not 'none'" in other.err


def test_an_interrupted_evaluation_prints_that_it_resumes(ramify: Ramify, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ramify.lab.commands._evaluating.run_evaluation", interrupted)
    done = ramify("eval", "demo", "--out", "new")
    assert (done.code, done.out, "run the command again" in done.err) == (130, "", True)
