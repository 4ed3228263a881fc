"""Degraded metadata: what is taken from which documents, what is measured where, and what the report makes of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ramify.evaluation.degraded import MISSING, NOISE, Cell, cells_of
from ramify.evaluation.load import load
from ramify.evaluation.manifest import read_manifest
from ramify.evaluation.order import Order
from ramify.evaluation.report import write_report
from ramify.evaluation.rows import RESULTS, Row, each_row
from ramify.evaluation.run import execute, look
from ramify.evaluation.true_groups import Truth
from ramify.studio.commands.eval import evaluate
from ramify.tools.errors import UsageError
from tests.evaluation.test_report import table
from tests.tools.hierarchy.manual import COMMON, Record, records

BOTH = "passages,hierarchy"
EVERYWHERE = {"hard filter", "meta + flat", "meta + RAPTOR, hard", "soft, no novelty", "full"}
ONCE = {"flat", "flat + headings", "global RAPTOR", "full, headings=0"}
LABELLED = {"label", "full + label"}


def write_manual(folder: Path) -> Path:
    """Write a manual of three chapters, with a question on each paragraph, and one paragraph of no chapter."""
    folder.mkdir(parents=True)
    stray = {"id": "stray", "title": "Preface", "text": "Whoever keeps tools dry keeps them long.", "metadata": {}}
    corpus = [*records(8, ("Bellows", "Loom", "Kiln")), stray]
    for name, written in (("corpus.jsonl", corpus), ("questions.jsonl", [_question(record) for record in corpus])):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in written), encoding="utf-8")
    return folder


def _question(record: Record) -> dict[str, Any]:
    heading, chapter = record["metadata"].get("heading", "the preface"), record["metadata"].get("chapter", "manual")
    asked = f"What is said of {heading} in the chapter on the {chapter}?"
    told = {"id": f"q-{record['id']}", "question": asked, "answer": "", "type": "common" if heading == COMMON else "own"}
    return {**told, "supporting": [{"doc_id": record["id"], "title": record["title"]}]}


def measured(data: Path, out: Path, degrade: list[str], label: str | None = None, draws: int = 1) -> list[Row]:
    """Run on the command line, and give the lines of degraded metadata."""
    evaluate(
        [str(data)], out, retrieval_only=True, index_kind=BOTH, label=label, group_by="chapter", degrade=degrade, draws=draws
    )  # fmt: skip
    return [row for row in each_row(out / RESULTS) if "system" in row]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("degraded")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAMIFY_CACHE", str(folder / "cache"))
        yield write_manual(folder / "manual")


@pytest.fixture(scope="module")
def run(manual: Path) -> Path:
    out = manual.parent / "run"
    measured(manual, out, ["missing=0,.5", "noise=0,.5"], "chapter", 2)
    return out


@pytest.fixture
def rows(run: Path) -> list[Row]:
    return [row for row in each_row(run / RESULTS) if "system" in row]


def mean(rows: list[Row], score: str, system: str, degraded: str = "none") -> float:
    lines = [row["retrieval"] for row in rows if (row["system"], row["degraded"]) == (system, degraded) and row["retrieval"]]
    found = [line[score] for line in lines if line[score] is not None]
    return float(sum(found) / len(found))


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


def test_what_knows_only_metadata_falls_with_them_and_the_whole_does_not(rows: list[Row]) -> None:
    assert mean(rows, "recall@10", "hard filter") == 1
    assert mean(rows, "wrong_group@5", "hard filter") == 0
    for hard in ("hard filter", "meta + RAPTOR, hard"):
        assert mean(rows, "recall@10", hard, "missing") <= 0.6
        assert mean(rows, "recall@10", "full", "missing") >= mean(rows, "recall@10", hard, "missing") + 0.2
    assert mean(rows, "wrong_group@5", "full") < mean(rows, "wrong_group@5", "flat")


def test_a_filter_that_nobody_can_know_is_left_out(rows: list[Row]) -> None:
    stray = [row for row in rows if row["id"] == "q-stray"]
    assert all(row["retrieval"] is None for row in stray if row["system"] == "hard filter")
    assert all(row["retrieval"]["wrong_group@5"] is None for row in stray if row["system"] != "hard filter")
    assert not [row for row in rows if row["retrieval"] is None and row not in stray]


def test_a_run_is_gone_on_with_and_nothing_is_measured_twice(
    run: Path, manual: Path, rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    degrade, lines = ["missing=0,.5", "noise=0,.5"], (run / RESULTS).read_text(encoding="utf-8").splitlines(keepends=True)
    out = tmp_path / "run"
    out.mkdir()
    (out / "manifest.json").write_bytes((run / "manifest.json").read_bytes())
    (out / RESULTS).write_text("".join(lines[:-30]) + lines[-30][:40], encoding="utf-8")
    assert measured(manual, out, degrade, "chapter", 2) == rows
    assert not (out / "degraded").exists(), "copies go"

    def never(*args: Any, **more: Any) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr("ramify.evaluation.degrading.hierarchy", never)
    assert measured(manual, out, degrade, "chapter", 2) == rows


def test_no_share_missing_is_no_noise_and_another_run_measures_the_same(manual: Path, rows: list[Row], tmp_path: Path) -> None:
    unlabelled = [row for row in rows if row["system"] not in LABELLED]
    whole = [row for row in unlabelled if row["degraded"] == "none"]
    assert measured(manual, tmp_path / "missing", ["missing=0"]) == measured(manual, tmp_path / "noise", ["noise=0"]) == whole
    again = measured(manual, tmp_path / "again", ["noise=.5"])
    assert again == [*whole, *(row for row in unlabelled if (row["degraded"], row["draw"]) == ("noise", 1))]


def test_a_hierarchy_looked_at_flat_finds_what_plain_passages_find(manual: Path, tmp_path: Path) -> None:
    asked = {"strategies": (), "retrieval_only": True, "index_kinds": ("passages", "hierarchy"), "group_by": ("chapter",)}
    found: dict[str, dict[str, list[str]]] = {}
    for view in ("flat", "auto"):
        for row in execute(Order(datasets=(str(manual),), out=tmp_path / view, options={"view": view}, **asked)):
            found.setdefault(f"{view} {row['variant']}", {})[row["id"]] = row["retrieved"]
            assert "wrong_group@5" in row["retrieval"], "a run that groups tells groups"
    assert found["flat index-kind=hierarchy"] == found["flat "] == found["auto "] != found["auto index-kind=hierarchy"]
    assert (read_manifest(tmp_path / "flat") or {})["group_by"] == ["chapter"]
    with pytest.raises(UsageError, match="group by 'chapter', not 'tool'"):
        execute(Order(datasets=(str(manual),), out=tmp_path / "auto", options={"view": "auto"}, **{**asked, "group_by": ("tool",)}))


def test_documents_lose_their_group_or_get_another_that_there_is(manual: Path, tmp_path: Path) -> None:
    truth = Truth(load(manual, tmp_path, retrieval_only=True), ["chapter"])
    half, more = (truth.degraded(Cell(MISSING, share, 1), 0) for share in (0.5, 0.8))
    assert 11 <= len(half) <= 12, "half of 25, of which one had no group"
    assert all("chapter" not in document.metadata and "tool" in document.metadata for document in half)
    assert {document.id for document in half} < {document.id for document in more}
    assert {document.id for document in half} != {document.id for document in truth.degraded(Cell(MISSING, 0.5, 2), 0)}
    noisy = truth.degraded(Cell(NOISE, 0.5, 1), 0)
    assert noisy == truth.degraded(Cell(NOISE, 0.5, 1), 0) != truth.degraded(Cell(NOISE, 0.5, 1), 1)
    assert all(
        document.metadata["chapter"] in {"Bellows", "Loom", "Kiln"} - {truth.documents[str(document.id)].metadata.get("chapter")}
        for document in noisy
    )


def test_wrong_groups_are_counted_among_five_places(manual: Path, tmp_path: Path) -> None:
    truth = Truth(load(manual, tmp_path, retrieval_only=True), ["chapter"])
    assert truth.wrong_group(["p1-1", "p1-1", "p2-1", "stray", "p1-2", "p3-1"], ["p1-3"]) == 2 / 5
    assert truth.wrong_group(["p2-1", "p1-1"], ["p1-3", "p2-2"]) == 0, "golds of several groups"
    assert truth.wrong_group([], ["p1-3"]) == 0
    assert truth.wrong_group(["p1-1"], ["stray"]) is None
    assert truth.filter(["p1-3", "p2-2"]) == {"chapter": ["Bellows", "Loom"]}
    assert truth.filter(["stray"]) is None


def test_groups_of_steps_are_told_as_the_hierarchy_makes_them(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    pages = [{"id": f"d{page}", "title": f"Page {page}", "text": "Text.", "metadata": {"folio": page}} for page in (3, 8, 11, 12)]
    asked = [{"id": "q", "question": "What is on folio 12?", "answer": "", "supporting": [{"doc_id": "d12"}]}]
    for name, written in (("corpus.jsonl", pages), ("questions.jsonl", asked)):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in written), encoding="utf-8")
    truth = Truth(load(folder, tmp_path, retrieval_only=True), ["folio:10"])
    assert truth.wrong_group(["d3", "d11", "d12"], ["d12"]) == 1 / 5
    assert truth.filter(["d12"]) == {"folio": [11, 12]}
    assert all("folio" not in document.metadata for document in truth.degraded(Cell(MISSING, 1, 1), 0))


def test_a_share_of_nothing_is_one_cell() -> None:
    assert cells_of({MISSING: (0, 0.1), NOISE: (0,)}, 2) == [Cell(), Cell(MISSING, 0.1, 1), Cell(MISSING, 0.1, 2)]


def test_the_report_gives_means_over_drawings_and_differences_by_question(run: Path, rows: list[Row]) -> None:
    write_report(run)
    markdown = (run / "report.md").read_text(encoding="utf-8")
    head, *found = table(markdown, "manual: recall@10")
    assert head == ["system", "clean", "missing 50 %", "noise 50 %"]
    told = {cells[0]: cells[1:] for cells in found}
    assert told["full"][1].strip("*").startswith(f"{100 * mean(rows, 'recall@10', 'full', 'missing'):.1f}")
    assert told["flat"][0].strip("*") == told["flat"][2].strip("*"), "what reads no metadata is everywhere alike"
    assert told["full, headings=0"][1:] == ["–", "–"]
    gained = 100 * (mean(rows, "recall@10", "full", "missing") - mean(rows, "recall@10", "meta + RAPTOR, hard", "missing"))
    differences = {(cells[0], cells[1]): cells[3] for cells in table(markdown, "manual: differences of recall@10")[1:]}
    assert differences["full", "meta + RAPTOR, hard"].startswith(f"{gained:+.1f} ▲")
    assert table(markdown, "manual: hits@1, common (3)")[1][0] == "flat"
    ablations = {cells[0].replace("\\", ""): cells[2] for cells in table(markdown, "manual: ablations")[1:]}
    assert ablations["missing_50pct"].startswith(told["full"][1].replace("*", "").partition(" ")[0])
    assert ablations["noise_30pct"] == "not run"
    assert len(ablations) == 10
    assert "draw 2" not in markdown, "drawings are no variants"
    html = (run / "report.html").read_text(encoding="utf-8")
    assert html.count("<svg") >= 3
    assert "full, missing=0.5, draw" not in html


GROUPED: dict[str, Any] = {"index_kinds": ("passages", "hierarchy"), "group_by": ("chapter",)}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"group_by": ("chapter",)}, ("--group-by chapter", "--index-kind passages,hierarchy")),
        ({"degrade": {"missing": (0.1,)}}, ("--degrade missing", "--index-kind passages,hierarchy", "--group-by")),
        ({**GROUPED, "group_by": ("none",), "degrade": {"missing": (0.1,)}}, ("--group-by",)),
        ({**GROUPED, "degrade": {"missing": (0.1,)}, "retrieval_only": False, "strategies": ("naive",)}, ("--retrieval-only",)),
        ({**GROUPED, "degrade": {"missing": (1.5,)}}, ("missing=1.5", "0 to 1")),
        ({**GROUPED, "degrade": {"noise": (float("nan"),)}}, ("noise=nan", "0 to 1")),
        ({**GROUPED, "degrade": {"blur": (0.1,)}}, ("'blur'", "missing=0,.1,.3")),
        ({**GROUPED, "degrade": {"noise": (0.1,)}, "draws": 0}, ("0 times", "--draws")),
    ],
)
def test_what_cannot_be_degraded_is_told_before_anything_is_read(asked: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as told:
        look(Order(**{"datasets": ("nowhere",), "strategies": (), "retrieval_only": True, "out": Path("nowhere"), **asked}))
    assert all(word in str(told.value) for word in words), told.value


def test_a_field_that_no_document_has_cannot_be_degraded(manual: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'part'.*chapter"):
        Truth(load(manual, tmp_path, retrieval_only=True), ["part"]).check()


def test_the_command_line_reads_shares(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    orders: list[Order] = []
    monkeypatch.setattr("ramify.studio.console.evaluating.evaluating", orders.append)
    evaluate(["demo"], tmp_path, group_by="chapter, section", degrade=["missing=0,.1", "noise=1"], draws=3)
    assert (orders[0].group_by, orders[0].degrade, orders[0].draws) == (
        ("chapter", "section"), {"missing": (0.0, 0.1), "noise": (1.0,)}, 3
    )  # fmt: skip
    for wrong, words in (("missing", "KEY=V1,V2"), ("missing=much", "missing=much")):
        with pytest.raises(UsageError, match=words):
            evaluate(["demo"], tmp_path, degrade=[wrong])
