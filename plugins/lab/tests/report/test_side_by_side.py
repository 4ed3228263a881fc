"""Several runs on one page: whose figures they are, on which questions, and what is worst in them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plugins.lab.tests.few_lines import make_line, read_rows, read_table, write_run
from plugins.lab.tests.made_run import make_run
from ramify.lab.report import write_report, write_side_by_side
from ramify.tools.errors import UsageError


def told(*runs: Path) -> str:
    return write_side_by_side(runs, runs[0]).with_suffix(".md").read_text()


def branch(path: str, answer: str, status: str = "leaf", question: str = "Who?") -> dict[str, object]:
    return {"path": path, "question": question, "status": status, "answer": answer, "evidence": [], "cited": []}


def test_rows_of_all_runs_are_named_by_their_differences(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", make_line(1), make_line(1, variant="index-kind=graph"), make_line(1, variant="k=3"))
    b = write_run(tmp_path / "b", make_line(1), model="ollama:llama3.1:8b", base={"tau": 0.8})
    names = [cells[0] for cells in read_table(told(a, b), "Answers")[1:]]
    assert names[:3] == ["naive · extractive", "naive, graph · extractive", "naive · ollama:llama3.1:8b, tau=0.8"]


def test_a_run_with_a_profile_is_named_by_what_is_in_it_and_not_by_its_path(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / sign, make_line(1), profile=sign * 64, base={"profile": "/elsewhere/profile.json"}) for sign in "ab"]
    assert [cells[0] for cells in read_table(told(*runs), "Answers")[1:3]] == ["naive · profile aaaaaaaa", "naive · profile bbbbbbbb"]


def test_runs_that_differ_in_nothing_are_named_by_their_folders(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", make_line(1)), write_run(tmp_path / "b", make_line(1))
    assert [cells[0] for cells in read_table(told(a, b), "Answers")[1:3]] == [
        f"naive · {str(run).replace('_', chr(92) + '_')}" for run in (a, b)
    ]


def test_figures_are_of_the_common_questions(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", *(make_line(number, em=1.0, error=None) for number in (1, 2, 3)))
    b = write_run(tmp_path / "b", *(make_line(number, em=0.0, error=None) for number in (2, 3, 4)), seed=1, model="other")
    markdown = told(a, b)
    assert "of 4 questions, the 2 that all runs were asked are compared" in markdown
    assert [cells[1:3] for cells in read_table(markdown, "Answers")[1:3]] == [
        ["2", "**100.0** (100.0 to 100.0)"],
        ["2", "0.0 (0.0 to 0.0)"],
    ]


@pytest.mark.parametrize(("changed", "said"), [({"id": "other"}, "no question of 'hotpotqa' in common"), ({}, "different data")])
def test_runs_on_different_data_are_rejected(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    a, b = write_run(tmp_path / "a", make_line(1)), write_run(tmp_path / "b", make_line(1, **changed))
    if not changed:
        manifest = json.loads((b / "manifest.json").read_text())
        manifest["datasets"][0]["sha256"] = "f" * 64
        (b / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match=said):
        write_side_by_side([a, b], tmp_path)


def test_a_table_of_several_runs_names_the_lines_of_all(tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    a, b = write_run(tmp_path / "a", make_line(1), make_line(2)), write_run(tmp_path / "b", make_line(1), make_line(2), model="other")
    command = told(a, b).partition("### Answers")[2].partition("    jq")[2].splitlines()[0]
    printed = subprocess.run(["sh", "-c", f"jq{command}"], capture_output=True, text=True, check=True).stdout
    assert [json.loads(line) for line in printed.splitlines()] == [*read_rows(a), *read_rows(b)]


def test_lines_with_the_same_number_are_distinguished_in_the_browser(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", make_line(1)), write_run(tmp_path / "b", make_line(1), model="other")
    index = json.loads(write_side_by_side([a, b], tmp_path).read_text().partition('id="index">')[2].partition("</script>")[0])
    assert {line[3] for line in index["lines"]} == {f"{run / 'results.jsonl'}:1" for run in (a, b)}


def test_the_front_has_the_points_that_no_cheaper_one_equals(tmp_path: Path) -> None:
    def costing(strategy: str, calls: int, f1: float) -> dict[str, object]:
        usage = {"llm_calls": calls, "prompt_tokens": 10 * calls, "completion_tokens": calls, "wall_s": 1.0 * calls}
        return make_line(1, strategy, em=f1, f1=f1, usage=usage, error=None)

    folder = write_run(tmp_path / "run", costing("naive", 1, 0.5), costing("chain", 3, 0.4), costing("tor", 9, 1.0))
    write_report(folder)
    rows = read_table((folder / "report.md").read_text(), "hotpotqa: quality and cost")
    assert rows[0] == ["strategy", "n", "EM", "F1", "calls", "tokens", "s", "front"]
    assert {cells[0]: cells[-1] for cells in rows[1:]} == {"naive": "calls, tokens, s", "chain": "–", "tor": "calls, tokens, s"}


def test_scores_by_hops_follow_the_type_or_the_gold_documents(tmp_path: Path) -> None:
    known = {"error": None, "em": 1.0}
    rows = [
        make_line(1, type="3hop1", **known),
        make_line(2, type="", gold_documents=["a", "b"], **known),
        make_line(3, type="", gold_documents=[], **known),
    ]
    folder = write_run(tmp_path / "run", *rows)
    write_report(folder)
    assert read_table((folder / "report.md").read_text(), "EM by number of hops")[0] == ["strategy", "unknown (1)", "2 (1)", "3 (1)"]
    assert "hops=3" in (folder / "report.html").read_text()


def test_worst_are_confident_errors_then_lost_answers(tmp_path: Path) -> None:
    wrong = {"em": 0.0, "error": None, "answer": "Graz", "abstained": False, "gold": "Ada"}
    confident = [make_line(number, "tor", **wrong, confidence=0.5 + number / 100, tree=[branch("0", "Graz")]) for number in range(12)]
    lost = make_line(
        20,
        "tor",
        **wrong | {"answer": "Unknown", "abstained": True},
        confidence=None,
        tree=[branch("0", "Unknown"), branch("0.1", "Ada", "pruned")],
    )
    folder = write_run(tmp_path / "run", *confident, lost, make_line(30, "closed-book", **wrong, confidence=1.0))
    write_report(folder)
    rows = read_table((folder / "report.md").read_text(), "Wrong and lost answers")[1:]
    assert [cells[0] for cells in rows] == [f"line {number}" for number in (12, 11, 10, 9, 8, 7, 6, 5, 4, 13)]
    assert rows[-1][-1] == "lost at 0.1 (pruned)"
    page = (folder / "report.html").read_text()
    assert page.count('<details class="worst">') == 10
    assert 'id="worst-10-0.1"' in page or "worst-10-" in page


def test_nothing_in_a_worst_tree_becomes_markup(tmp_path: Path) -> None:
    bad = "<img src=x onerror=alert(1)>"
    hostile = make_line(
        1, "tor", em=0.0, error=None, answer=bad, question=bad, gold=bad + "!", confidence=0.9, tree=[branch("0", bad, question=bad)]
    )
    other = make_line(1, "tor", em=0.0, error=None, answer=bad, question=bad, gold=bad + "!", confidence=0.9)
    a, b = write_run(tmp_path / "a", hostile), write_run(tmp_path / "b", other, model=bad)
    page = write_side_by_side([a, b], tmp_path).read_text()
    assert "<img" not in page
    assert not re.findall(r"<link|<iframe|@import|url\(http| src=\"", page)


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name, 4, seed=seed) for name, seed in (("a", 1), ("b", 2))]
    first = write_side_by_side(runs, tmp_path / "one").read_bytes()
    assert write_side_by_side(runs, tmp_path / "two").read_bytes() == first
