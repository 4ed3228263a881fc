"""ramify compare: two runs, and a judge."""

from pathlib import Path

from plugins.lab.tests.commands.eval_lines import LLAMA
from plugins.lab.tests.conftest import cache, data
from ramify.lab.prompts.prefer import CRITERIA
from tests.studio.conftest import Ramify
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama

__all__ = ["cache", "data"]


def test_two_runs_are_compared_by_a_judge_whose_verdicts_are_stored(ramify: Ramify, ollama: Ollama, data: Path, tmp_path: Path) -> None:
    ollama.when("Compare two answers", Say({**dict.fromkeys(CRITERIA, "1"), "reasons": "It came first."}))
    ollama.when("", Say({"answer": "Seine", "confidence": 0.9, "citations": []}))
    runs = tmp_path / "a", tmp_path / "b"
    for run in runs:
        assert ramify("eval", data, "--out", run, "--limit", 2, *LLAMA).code == 0
    done = ramify("compare", *runs, "--judge", LLAMA[1], "--repeats", 2)
    assert done.code == 0, done.err
    assert done.err.startswith(f"2 pairs of answers are judged 2 times; verdicts are stored in {runs[0] / 'judged.jsonl'}")
    assert "100 % were for what stood first" in done.out
    assert len((runs[0] / "judged.jsonl").read_text().splitlines()) == 4
    assert "judged by" not in ramify("compare", *runs).out


def test_settings_of_a_judge_without_one_are_refused(ramify: Ramify, tmp_path: Path) -> None:
    done = ramify("compare", tmp_path, tmp_path, "--set", "temperature=0")
    assert (done.code, done.err) == (2, "error: --base-url and --set are for the judge — add --judge MODEL, or omit them\n")
