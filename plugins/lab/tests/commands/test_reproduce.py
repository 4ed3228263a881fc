"""ramify reproduce: a paper by one command, resumed where it stopped, every figure from lines of its runs."""

import json
import re
from pathlib import Path

import pytest

from plugins.lab.tests.commands.eval_lines import LLAMA, lines
from plugins.lab.tests.conftest import cache, data, films
from plugins.lab.tests.few_lines import read_table
from ramify.lab.papers import PAPERS
from ramify.lab.prompts.prefer import CRITERIA
from tests.studio.conftest import Ramify
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama

__all__ = ["cache", "data", "films"]

EMBEDDED = ("--model", "extractive")


def test_without_a_paper_they_are_listed(ramify: Ramify) -> None:
    listed = ramify("reproduce").out.splitlines()
    assert [line.split()[0] for line in listed] == list(PAPERS)


def test_another_paper_is_refused(ramify: Ramify) -> None:
    done = ramify("reproduce", "raptor")
    assert (done.code, "choose one of tor" in done.err) == (2, True)


def test_the_figures_of_a_paper_are_compared_with_those_of_the_run(ramify: Ramify, nowhere: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "tor"
    call = ("reproduce", "tor", "--data", data, "--out", out, "--limit", 2, *EMBEDDED)
    done = ramify(*call)
    assert done.code == 0, done.err
    assert "run tor: 2 questions, tor in 11 variants, 18 answers, at most " in done.err
    assert done.out.endswith(f"{out / 'report.html'}\n")
    report = (out / "report.md").read_text(encoding="utf-8")
    rows = {cells[0]: cells for cells in read_table(report, "rivers: Table 4: depth")[1:]}
    exact_matches = [row["em"] for row in lines(out / "tor") if row["variant"] == "max_depth=2"]
    ours = re.fullmatch(r"\**([\d.]+)\** \([\d.]+ to [\d.]+; paper 56\.30\)", rows["ToR-RAG, depth 2"][2])
    assert ours
    assert float(ours[1]) == pytest.approx(100 * sum(exact_matches) / len(exact_matches), abs=0.05)
    assert [cells[2].endswith("paper 49.06)") for cells in read_table(report, "rivers: Table 3: methods")[1:]] == [
        True,
        False,
        False,
        False,
    ]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "#lines?dataset=rivers&amp;first=tor%7Cmax_depth%3D2" in page

    whole = (out / "tor" / "results.jsonl").read_text(encoding="utf-8")
    kept = whole.splitlines(keepends=True)[:9]
    (out / "tor" / "results.jsonl").write_text("".join(kept) + '{"half a', encoding="utf-8")
    again = ramify(*call)
    assert again.code == 0, again.err
    assert "0 answers to compute (6 exist already)" in again.err
    assert {row["key"] for row in lines(out / "tor")} == {json.loads(line)["key"] for line in whole.splitlines()} - {None} - {
        key for key in (json.loads(line)["key"] for line in whole.splitlines()) if "|search|" in key
    }


def test_win_rates_of_all_pairs_by_a_judge(ramify: Ramify, ollama: Ollama, films: Path, tmp_path: Path) -> None:
    ollama.when("Compare two answers", Say({**dict.fromkeys(CRITERIA, "1"), "reasons": "It came first."}))
    out = tmp_path / "graph"
    call = ("reproduce", "graph", "--data", films, "--out", out, "--limit", 2, "--repeats", 2, *EMBEDDED, "--judge", LLAMA[1])
    done = ramify(*call)
    assert done.code == 0, done.err
    report = (out / "report.md").read_text(encoding="utf-8")
    head, *rows = read_table(report, "films: comprehensiveness")
    there = head[1:]
    assert there[0] == "C0"
    assert there[-2:] == ["TS", "SS"]
    assert [row[0] for row in rows] == there
    figures = {cell for row in rows for cell in row[1:] if cell != "–"}
    assert figures == {"50 (50 to 50)"}, "who takes what stands first prefers neither"
    pairs = len(there) * (len(there) - 1) // 2
    verdicts = (out / "judged.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(verdicts) == len(ollama.requests) <= pairs * 2 * 2
    assert read_table(report, "films: win rates, percent")[1][:4] == ["the others over SS", "comprehensiveness", "72 to 83", "72 to 80"]
    units = {row[0]: row for row in read_table(report, "films: context units and tokens")[1:]}
    assert units["TS"][3:5] == ["100 %", "100 %"]
    assert units["C0"][4] == "under 3 %"
    asked = len(ollama.requests)
    assert ramify(*call).code == 0
    assert len(ollama.requests) == asked


def test_metadata_are_degraded_for_the_hierarchy(ramify: Ramify, data: Path, tmp_path: Path) -> None:
    done = ramify("reproduce", "hierarchy", "--data", data, "--out", tmp_path / "run")
    assert (done.code, "name them with --group-by" in done.err) == (2, True)
