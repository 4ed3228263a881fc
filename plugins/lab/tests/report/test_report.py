"""A run's report: what stands in it is what the lines say, and nothing else."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plugins.lab.tests.few_lines import read_rows, read_table
from plugins.lab.tests.made_run import make_run
from ramify.lab.report import write_report


def test_means_are_those_of_the_lines_failures_included(run: Path) -> None:
    of_tor = [row for row in read_rows(run) if (row["dataset"], row["strategy"], row["variant"]) == ("hotpotqa", "tor", "")]
    mean = 100 * sum(row["em"] for row in of_tor) / len(of_tor)
    rows = {cells[0]: cells for cells in read_table((run / "report.md").read_text(), "Answers")}
    assert rows["tor"][2].strip("*").startswith(f"{mean:.1f}")
    assert rows["tor"][1].startswith("40")


def test_failures_are_counted_and_listed_each_with_its_line(run: Path) -> None:
    failed = [number for number, row in enumerate(read_rows(run), 1) if row["error"]]
    assert failed
    markdown = (run / "report.md").read_text()
    assert [cells[0] for cells in read_table(markdown, "Listed")[1:]] == [f"line {number}" for number in failed]
    assert f"of which {len(failed)} failed" in markdown


def test_the_head_has_the_configuration_and_the_command(run: Path) -> None:
    markdown = (run / "report.md").read_text()
    manifest = json.loads((run / "manifest.json").read_text())
    for wanted in (
        manifest["command"],
        manifest["datasets"][0]["sha256"],
        "Made Processor 9000",
        "langgraph 1.2.22",
        "The text of hotpotqa is made up.",
    ):
        assert wanted in markdown


def test_priors_are_in_the_table_of_strategies(run: Path) -> None:
    names = [cells[0] for cells in read_table((run / "report.md").read_text(), "Answers")]
    assert names[-2:] == ["majority answer", "majority by type"]


def test_sweeps_and_ablations_have_their_tables(run: Path) -> None:
    markdown = (run / "report.md").read_text()
    assert [cells[0] for cells in read_table(markdown, r"tor: max\_depth on hotpotqa")[1:]] == ["1", "2", "4"]
    assert read_table(markdown, "Ablations")[1][:4] == ["hotpotqa", "tor", "without judge", "20"]


def test_papers_figures_are_only_in_reports_on_their_data_set(run: Path, tmp_path: Path) -> None:
    published = {cells[0]: cells[1:3] for cells in read_table((run / "report.md").read_text(), r"multihop\_rag: answers")[1:]}
    assert published["ToR-RAG, depth 3"] == ["60.25", "61.18"]
    other = make_run(tmp_path / "own", 5, datasets=["our-own"])
    write_report(other)
    assert "60.25" not in (other / "report.md").read_text()
    assert "papers" not in (other / "report.html").read_text()


def test_the_command_of_a_table_prints_its_lines(run: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    command = (run / "report.md").read_text().partition("### Retrieval")[2].partition("    jq")[2].splitlines()[0]
    printed = subprocess.run(["sh", "-c", f"jq{command}"], cwd=run, capture_output=True, text=True, check=True).stdout
    wanted = [row["key"] for row in read_rows(run) if row["dataset"] == "hotpotqa" and not row["variant"]]
    assert [json.loads(line)["key"] for line in printed.splitlines()] == wanted


def test_the_same_run_gives_the_same_bytes_in_another_process(run: Path) -> None:
    before = {name: (run / name).read_bytes() for name in ("report.md", "report.html")}
    code = "import sys, pathlib; from ramify.lab.report import write_report; write_report(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(run)], check=True, env={"PYTHONHASHSEED": "7", "PATH": "/usr/bin:/bin"})
    assert {name: (run / name).read_bytes() for name in before} == before


def test_strategies_without_search_have_no_retrieval_figures(run: Path) -> None:
    assert any(row["error"] for row in read_rows(run) if row["strategy"] == "closed-book")
    markdown = (run / "report.md").read_text()
    for title in ("Retrieval", r"multihop\_rag: retrieval"):
        names = [cells[0] for cells in read_table(markdown, title)]
        assert "naive" in names
        assert "closed-book" not in names
