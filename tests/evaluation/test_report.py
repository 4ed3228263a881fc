"""A run's report: what stands in it is what the lines say, and nothing else."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ramify.evaluation.report import write_report
from ramify.tools.errors import InputError, UsageError
from tests.evaluation.made_run import make_run, manifest, row, write

VARIANTS = [("tor", f"max_depth={depth}") for depth in (1, 2, 4)] + [("tor", "without judge"), ("prune", "tau=0.9")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with sweeps, an ablation and failures, reported."""
    folder = make_run(tmp_path_factory.mktemp("runs") / "run", 40, variants=VARIANTS)
    write_report(folder)
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def small(folder: Path, *rows: dict[str, Any], **told: Any) -> Path:
    """Write a run of a few given lines."""
    folder.mkdir(exist_ok=True)
    chosen = list(dict.fromkeys((one["strategy"], one["variant"]) for one in rows))
    write(folder, {**manifest(["hotpotqa"], len(rows), chosen, 0), **told}, rows)
    return folder


def line(number: int, strategy: str = "naive", variant: str = "", **told: Any) -> dict[str, Any]:
    """Make one answered line."""
    made = {**row("hotpotqa", "naive", "", number, random.Random(number)), "strategy": strategy, "variant": variant, **told}
    return {**made, "key": f"{made['dataset']}|{strategy}|{variant}|{made['id']}"}


def table(markdown: str, title: str) -> list[list[str]]:
    """Read the first table below a title."""
    lines = markdown.partition(f"### {title}\n\n")[2].splitlines()
    cells = [[cell.strip() for cell in one.strip("|").split(" | ")] for one in lines[: lines.index("")]]
    return [cells[0], *cells[2:]]


def test_means_are_those_of_the_lines_failures_included(run: Path) -> None:
    of_tor = [one for one in rows_of(run) if (one["dataset"], one["strategy"], one["variant"]) == ("hotpotqa", "tor", "")]
    mean = 100 * sum(one["em"] for one in of_tor) / len(of_tor)
    found = {cells[0]: cells for cells in table((run / "report.md").read_text(), "Answers")}
    assert found["tor"][2].strip("*").startswith(f"{mean:.1f}")
    assert found["tor"][1].startswith("40")


def test_failures_are_counted_and_listed_each_with_its_line(run: Path) -> None:
    failed = [number for number, one in enumerate(rows_of(run), 1) if one["error"]]
    assert failed
    markdown = (run / "report.md").read_text()
    assert [cells[0] for cells in table(markdown, "Listed")[1:]] == [f"line {number}" for number in failed]
    assert f"of which {len(failed)} failed" in markdown


def test_head_says_what_was_run_and_how_to_run_it_again(run: Path) -> None:
    markdown = (run / "report.md").read_text()
    told = json.loads((run / "manifest.json").read_text())
    for wanted in (
        told["command"],
        told["datasets"][0]["sha256"],
        "Made Processor 9000",
        "langgraph 1.2.22",
        "The text of hotpotqa is made up.",
    ):
        assert wanted in markdown


def test_priors_stand_beside_the_strategies(run: Path) -> None:
    names = [cells[0] for cells in table((run / "report.md").read_text(), "Answers")]
    assert names[-2:] == ["majority answer", "majority by type"]


def test_sweeps_and_ablations_have_their_tables(run: Path) -> None:
    markdown = (run / "report.md").read_text()
    assert [cells[0] for cells in table(markdown, r"tor: max\_depth on hotpotqa")[1:]] == ["1", "2", "4"]
    assert table(markdown, "Ablations")[1][:4] == ["hotpotqa", "tor", "without judge", "20"]


def test_papers_figures_stand_only_beside_their_data_set(run: Path, tmp_path: Path) -> None:
    published = {cells[0]: cells[1:3] for cells in table((run / "report.md").read_text(), r"multihop\_rag: answers")[1:]}
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
    wanted = [one["key"] for one in rows_of(run) if one["dataset"] == "hotpotqa" and not one["variant"]]
    assert [json.loads(one)["key"] for one in printed.splitlines()] == wanted


def test_the_same_run_gives_the_same_bytes_in_another_process(run: Path) -> None:
    before = {name: (run / name).read_bytes() for name in ("report.md", "report.html")}
    code = "import sys, pathlib; from ramify.evaluation.report import write_report; write_report(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(run)], check=True, env={"PYTHONHASHSEED": "7", "PATH": "/usr/bin:/bin"})
    assert {name: (run / name).read_bytes() for name in before} == before


def test_a_half_written_last_line_is_left_out_and_named(tmp_path: Path) -> None:
    folder = small(tmp_path / "run", line(1), line(2))
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"key": "hotpotqa|naive||q3", "dat')
    write_report(folder)
    markdown = (folder / "report.md").read_text()
    assert "Line 3 of results.jsonl was being written" in markdown
    assert table(markdown, "Answers")[1][1] == "2"


def test_the_last_line_of_a_question_counts(tmp_path: Path) -> None:
    folder = small(tmp_path / "run", line(1, em=0.0), line(1, em=1.0))
    write_report(folder)
    answers = table((folder / "report.md").read_text(), "Answers")
    assert answers[1][1:3] == ["1", "100.0 (100.0 to 100.0)"]


def test_lines_of_searching_alone_have_no_answers(tmp_path: Path) -> None:
    unasked = dict.fromkeys(("answer", "confidence", "em", "f1", "containment", "official", "usage", "model"))
    ways = [line(1, "search", way, **unasked, tree=[], citations=[]) for way in ("", "BM25", "mmr=0.75", "dense, mmr=0.75")]
    folder = small(tmp_path / "run", *ways)
    write_report(folder)
    markdown = (folder / "report.md").read_text()
    assert [cells[0] for cells in table(markdown, "Retrieval")[1:]] == [
        "search",
        "search BM25",
        "search mmr=0.75",
        "search dense, mmr=0.75",
    ]
    assert "### Answers" not in markdown
    assert "Along a setting" not in markdown


def test_unknown_columns_are_ignored(tmp_path: Path) -> None:
    folder = small(tmp_path / "run", line(1, novelty={"a": 1}), novel=True)
    write_report(folder)
    assert (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "there is no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is no manifest of a run"),
        (lambda folder: (folder / "manifest.json").write_text('{"variants": 3}'), "has no list of variants"),
        (lambda folder: (folder / "results.jsonl").unlink(), "there is no results.jsonl"),
        (lambda folder: (folder / "results.jsonl").write_text(""), "there are no results"),
        (lambda folder: (folder / "results.jsonl").write_text("no json\n"), "line 1 of"),
        (lambda folder: (folder / "results.jsonl").write_text('{"id": "q1"}\n'), "it has no dataset, strategy, question"),
        (lambda folder: (folder / "results.jsonl").write_text('{"em": NaN}\n'), "NaN is no figure"),
        (lambda folder: (folder / "results.jsonl").write_bytes(b"\xff\xfe\n"), "cannot read"),
    ],
)
def test_a_bad_run_is_one_clear_line(tmp_path: Path, spoil: Any, said: str) -> None:
    folder = small(tmp_path / "run", line(1))
    spoil(folder)
    with pytest.raises(InputError, match=said) as caught:
        write_report(folder)
    assert "\n" not in str(caught.value)
    assert not (folder / "report.html").exists()


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small(tmp_path / "run", line(1))
    for name in [name for name in sys.modules if name.startswith(("matplotlib", "ramify.evaluation.report."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    from ramify.evaluation.report.build import write_report as fresh

    with pytest.raises(UsageError, match=r"pip install 'ramify-rag\[eval\]'"):
        fresh(folder)


def test_what_never_searched_has_no_retrieval_figures(run: Path) -> None:
    assert any(one["error"] for one in rows_of(run) if one["strategy"] == "closed-book")
    markdown = (run / "report.md").read_text()
    for title in ("Retrieval", r"multihop\_rag: retrieval"):
        names = [cells[0] for cells in table(markdown, title)]
        assert "naive" in names
        assert "closed-book" not in names


def test_the_form_of_a_language_model_s_replies_is_counted_by_prompt(tmp_path: Path) -> None:
    told = [{"answer": {"valid": 2, "repaired": 1, "malformed": 0}}, {"answer": {"valid": 0, "repaired": 0, "malformed": 1}}]
    lines = [
        line(
            number,
            model="gguf:smollm2",
            usage={"replies": replies, "llm_calls": 2, "prompt_tokens": 100, "completion_tokens": 9, "wall_s": 1.0},
        )
        for number, replies in enumerate(told)
    ]
    write_report(small(tmp_path / "named", *lines))
    assert ["answer", "2", "1", "1", "75.0"] in table((tmp_path / "named" / "report.md").read_text(), "Replies by prompt")
    write_report(small(tmp_path / "embedded", line(1, model="extractive", usage={"replies": told[0]})))
    assert "Replies by prompt" not in (tmp_path / "embedded" / "report.md").read_text()
