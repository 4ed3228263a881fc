"""Degraded metadata: what is taken from which documents, what is measured where, and what the report makes of it."""

from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.few_lines import read_table
from ramify.lab._manifest import read_run_manifest
from ramify.lab.commands.eval import eval_command
from ramify.lab.plan import RunOptions
from ramify.lab.report import write_report
from ramify.lab.run import execute
from ramify.lab.task import RESULTS, Row, iter_rows
from ramify.tools.errors import UsageError
from ramify.tools.passage import Passage

BOTH = "passages,hierarchy"
EVERYWHERE = {"hard filter", "meta + flat", "meta + RAPTOR, hard", "soft, no novelty", "full"}
ONCE = {"flat", "flat + headings", "global RAPTOR", "full, headings=0"}
LABELLED = {"label", "full + label"}


def measure(
    data: Path, out: Path, degrade: list[str], label: str | None = None, draws: int = 1, settings: list[str] | None = None
) -> list[Row]:
    """Run on the command line without a report, whose plots take seconds, and return the lines of degraded metadata."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ramify.lab.commands._evaluating.write_report", lambda folder: None)
        eval_command(
            out, [str(data)], retrieval_only=True, index_kind=BOTH, label=label, group_by="chapter", degrade=degrade, draws=draws,
            settings=settings,
        )  # fmt: skip
    return [row for row in iter_rows(out / RESULTS) if "system" in row]


@pytest.fixture(scope="module")
def run(manual: Path) -> Path:
    out = manual.parent / "run"
    measure(manual, out, ["missing=0,.5", "noise=0,.5"], "chapter", 2)
    return out


@pytest.fixture
def rows(run: Path) -> list[Row]:
    return [row for row in iter_rows(run / RESULTS) if "system" in row]


def mean(rows: list[Row], score: str, system: str, degraded: str = "none") -> float:
    lines = [row["retrieval"] for row in rows if (row["system"], row["degraded"]) == (system, degraded) and row["retrieval"]]
    values = [line[score] for line in lines if line[score] is not None]
    return float(sum(values) / len(values))


def test_every_system_is_measured_in_every_cell_and_what_reads_no_metadata_once(rows: list[Row]) -> None:
    cells: dict[tuple[str, float, int], set[str]] = {}
    for row in rows:
        cells.setdefault((row["degraded"], row["share"], row["draw"]), set()).add(row["system"])
    assert cells.pop(("none", 0, 1)) == EVERYWHERE | ONCE | LABELLED
    assert cells == {(degraded, 0.5, draw): EVERYWHERE | LABELLED for degraded in ("missing", "noise") for draw in (1, 2)}
    assert len(rows) == 25 * (11 + 4 * 7) == len({row["key"] for row in rows})
    assert {row["variant"] for row in rows if row["system"] == "full"} == {
        "full, clean", *(f"full, {degraded}=0.5, draw {draw}" for degraded in ("missing", "noise") for draw in (1, 2))
    }  # fmt: skip


def test_systems_by_metadata_degrade_and_the_full_system_does_not(rows: list[Row]) -> None:
    assert mean(rows, "recall@10", "hard filter") == 1
    assert mean(rows, "wrong_group@5", "hard filter") == 0
    for hard in ("hard filter", "meta + RAPTOR, hard"):
        assert mean(rows, "recall@10", hard, "missing") <= 0.6
        assert mean(rows, "recall@10", "full", "missing") >= mean(rows, "recall@10", hard, "missing") + 0.2
    assert mean(rows, "wrong_group@5", "full") < mean(rows, "wrong_group@5", "flat")


def test_an_unknown_oracle_filter_is_left_out(rows: list[Row]) -> None:
    stray = [row for row in rows if row["id"] == "q-stray"]
    assert all(row["retrieval"] is None for row in stray if row["system"] == "hard filter")
    assert all(row["retrieval"]["wrong_group@5"] is None for row in stray if row["system"] != "hard filter")
    assert not [row for row in rows if row["retrieval"] is None and row not in stray]


def test_a_run_is_resumed_and_nothing_is_measured_twice(
    run: Path, manual: Path, rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    degrade, lines = ["missing=0,.5", "noise=0,.5"], (run / RESULTS).read_text(encoding="utf-8").splitlines(keepends=True)
    out = tmp_path / "run"
    out.mkdir()
    (out / "manifest.json").write_bytes((run / "manifest.json").read_bytes())
    (out / RESULTS).write_text("".join(lines[:-30]) + lines[-30][:40], encoding="utf-8")
    assert measure(manual, out, degrade, "chapter", 2) == rows
    assert not (out / "degraded").exists(), "copies go"

    def never(*args: Any, **more: Any) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr("ramify.lab.search.build_hierarchy", never)
    assert measure(manual, out, degrade, "chapter", 2) == rows


def test_no_share_missing_is_no_noise_and_another_run_measures_the_same(manual: Path, rows: list[Row], tmp_path: Path) -> None:
    unlabelled = [row for row in rows if row["system"] not in LABELLED]
    whole = [row for row in unlabelled if row["degraded"] == "none"]
    assert measure(manual, tmp_path / "missing", ["missing=0"]) == measure(manual, tmp_path / "noise", ["noise=0"]) == whole
    again = measure(manual, tmp_path / "again", ["noise=.5"])
    assert again == [*whole, *(row for row in unlabelled if (row["degraded"], row["draw"]) == ("noise", 1))]


def test_a_hierarchy_looked_at_flat_finds_what_plain_passages_find(manual: Path, tmp_path: Path) -> None:
    asked = {"strategies": (), "retrieval_only": True, "index_kinds": ("passages", "hierarchy"), "group_by": ("chapter",)}
    retrieved: dict[str, dict[str, list[str]]] = {}
    for view in ("flat", "auto"):
        for row in execute(RunOptions(datasets=(str(manual),), out=tmp_path / view, options={"view": view}, **asked)):
            retrieved.setdefault(f"{view} {row['variant']}", {})[row["id"]] = row["retrieved"]
            assert "wrong_group@5" in row["retrieval"], "a run that groups tells groups"
    assert retrieved["flat index-kind=hierarchy"] == retrieved["flat "] == retrieved["auto "] != retrieved["auto index-kind=hierarchy"]
    assert (read_run_manifest(tmp_path / "flat") or {})["group_by"] == ["chapter"]
    with pytest.raises(UsageError, match="group by 'chapter', not 'tool'"):
        execute(RunOptions(datasets=(str(manual),), out=tmp_path / "auto", options={"view": "auto"}, **{**asked, "group_by": ("tool",)}))


def test_the_report_gives_means_over_drawings_and_differences_by_question(run: Path, rows: list[Row]) -> None:
    write_report(run)
    markdown = (run / "report.md").read_text(encoding="utf-8")
    head, *rows_below = read_table(markdown, "manual: recall@10")
    assert head == ["system", "clean", "missing 50 %", "noise 50 %"]
    figures = {cells[0]: cells[1:] for cells in rows_below}
    assert figures["full"][1].strip("*").startswith(f"{100 * mean(rows, 'recall@10', 'full', 'missing'):.1f}")
    assert figures["flat"][0].strip("*") == figures["flat"][2].strip("*"), "what reads no metadata is everywhere alike"
    assert figures["full, headings=0"][1:] == ["–", "–"]
    gained = 100 * (mean(rows, "recall@10", "full", "missing") - mean(rows, "recall@10", "meta + RAPTOR, hard", "missing"))
    differences = {(cells[0], cells[1]): cells[3] for cells in read_table(markdown, "manual: differences of recall@10")[1:]}
    assert differences["full", "meta + RAPTOR, hard"].startswith(f"{gained:+.1f} ▲")
    assert read_table(markdown, "manual: hits@1, common (3)")[1][0] == "flat"
    ablations = {cells[0].replace("\\", ""): cells[2] for cells in read_table(markdown, "manual: ablations")[1:]}
    assert ablations["missing_50pct"].startswith(figures["full"][1].replace("*", "").partition(" ")[0])
    assert ablations["noise_30pct"] == "not run"
    assert len(ablations) == 10
    assert "draw 2" not in markdown, "drawings are no variants"
    html = (run / "report.html").read_text(encoding="utf-8")
    assert html.count("<svg") >= 3
    assert "full, missing=0.5, draw" not in html


def test_a_reranker_reorders_what_every_system_finds(
    manual: Path, rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, int]] = []

    def turned(query: str, passages: list[Passage], name: str, k: int) -> list[Passage]:
        given.append((name, len(passages)))
        return passages[::-1][:k]

    monkeypatch.setattr("ramify.lab.search.load_reranker", lambda name: 0.0)
    monkeypatch.setattr("ramify.lab.search.rerank_passages", turned)
    turned_rows = measure(manual, tmp_path / "run", ["missing=0"], settings=["rerank=reader", "rerank_k=12"])
    assert ("reader", 12) in given
    assert all(name == "reader" for name, _ in given[-25:])
    systems = {row["system"] for row in turned_rows}
    assert len(systems) == 9
    assert all(mean(turned_rows, "hits@1", system) < mean(rows, "hits@1", system) for system in systems)
