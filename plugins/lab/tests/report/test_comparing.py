"""Two runs compared: paired, tested, and refused where there is nothing to compare."""

import json
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.few_lines import make_line, read_table, write_run
from plugins.lab.tests.made_run import make_run
from ramify.lab.report import compare_runs, compare_runs_page
from ramify.tools.errors import UsageError


def test_a_run_and_a_better_one(tmp_path: Path) -> None:
    worse = write_run(tmp_path / "a", *(make_line(number, em=0.0, f1=0.0, answer="Graz") for number in range(0, 40, 2)))
    better = write_run(tmp_path / "b", *(make_line(number, em=1.0, f1=1.0) for number in range(0, 40, 2)))
    report = compare_runs(better, worse)
    assert read_table(report, "A less B")[1] == [
        "hotpotqa",
        "naive",
        "20",
        *["+100.0 ▲ (+100.0 to +100.0)", "< 0.001".replace("<", r"\<")] * 2,
        *("0.0 (0.0 to 0.0)", "1.000"),
        "20",
        "0",
    ]
    assert "only A is right (20)" in report
    assert "only B is right" not in report


def test_only_common_questions_are_compared(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", *(make_line(number, error=None) for number in (1, 2, 3)))
    b = write_run(tmp_path / "b", *(make_line(number, error=None) for number in (2, 3, 4)))
    assert read_table(compare_runs(a, b), "A less B")[1][2] == "2"


def test_differences_of_the_runs_are_reported(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", make_line(1)), write_run(tmp_path / "b", make_line(1), model="ollama:llama3.1:8b")
    assert read_table(compare_runs(a, b), "What differs")[1:] == [["model", "extractive", "ollama:llama3.1:8b"]]


def test_one_strategy_against_another(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", make_line(1, "tor")), write_run(tmp_path / "b", make_line(1, "prune"))
    assert read_table(compare_runs(a, b), "A less B")[1][1] == "tor / prune"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sha256": "f" * 64}, "different data under the name 'hotpotqa'"),
        ({"name": "musique"}, "is on hotpotqa, and"),
    ],
)
def test_different_data_is_rejected(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    a = write_run(tmp_path / "a", make_line(1))
    b = write_run(tmp_path / "b", make_line(1, dataset=change.get("name", "hotpotqa")))
    manifest = json.loads((b / "manifest.json").read_text())
    manifest["datasets"][0] |= change
    (b / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match=said):
        compare_runs(a, b)


def test_runs_without_common_questions_are_rejected(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", make_line(1, id="one")), write_run(tmp_path / "b", make_line(1, id="two"))
    with pytest.raises(UsageError, match="no question in common"):
        compare_runs(a, b)


def test_the_page_contains_both_runs(tmp_path: Path) -> None:
    a, b = make_run(tmp_path / "a", 5, seed=1), make_run(tmp_path / "b", 5, seed=2)
    page = compare_runs_page(a, b)
    index = json.loads(page.partition('id="index">')[2].partition("</script>")[0])
    assert ["A: tor", ""] in index["variants"]
    assert ["B: tor", ""] in index["variants"]
    assert "Content-Security-Policy" in page
