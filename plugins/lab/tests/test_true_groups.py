"""How metadata are degraded, what counts as a wrong group, and what cannot be degraded."""

import json
from pathlib import Path
from typing import Any

import pytest

from ramify.lab._degraded import MISSING, NOISE, DegradedCell, TrueGroups, list_cells
from ramify.lab.commands.eval import eval_command
from ramify.lab.load import load_dataset
from ramify.lab.plan import RunOptions
from ramify.lab.run import load_inputs
from ramify.tools.errors import UsageError


def test_documents_lose_their_group_or_get_another_that_there_is(manual: Path, tmp_path: Path) -> None:
    truth = TrueGroups(load_dataset(manual, tmp_path, retrieval_only=True), ["chapter"])
    half, more = (truth.degrade_documents(DegradedCell(MISSING, share, 1), 0) for share in (0.5, 0.8))
    assert 11 <= len(half) <= 12, "half of 25, of which one had no group"
    assert all("chapter" not in document.metadata and "tool" in document.metadata for document in half)
    assert {document.id for document in half} < {document.id for document in more}
    assert {document.id for document in half} != {document.id for document in truth.degrade_documents(DegradedCell(MISSING, 0.5, 2), 0)}
    noisy = truth.degrade_documents(DegradedCell(NOISE, 0.5, 1), 0)
    assert noisy == truth.degrade_documents(DegradedCell(NOISE, 0.5, 1), 0) != truth.degrade_documents(DegradedCell(NOISE, 0.5, 1), 1)
    assert all(
        document.metadata["chapter"] in {"Bellows", "Loom", "Kiln"} - {truth.documents[str(document.id)].metadata.get("chapter")}
        for document in noisy
    )


def test_wrong_groups_are_counted_among_five_places(manual: Path, tmp_path: Path) -> None:
    truth = TrueGroups(load_dataset(manual, tmp_path, retrieval_only=True), ["chapter"])
    assert truth.wrong_group_share(["p1-1", "p1-1", "p2-1", "stray", "p1-2", "p3-1"], ["p1-3"]) == 2 / 5
    assert truth.wrong_group_share(["p2-1", "p1-1"], ["p1-3", "p2-2"]) == 0, "golds of several groups"
    assert truth.wrong_group_share([], ["p1-3"]) == 0
    assert truth.wrong_group_share(["p1-1"], ["stray"]) is None
    assert truth.group_filter(["p1-3", "p2-2"]) == {"chapter": ["Bellows", "Loom"]}
    assert truth.group_filter(["stray"]) is None


def test_true_groups_are_those_of_the_hierarchy(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    pages = [{"id": f"d{page}", "title": f"Page {page}", "text": "Text.", "metadata": {"folio": page}} for page in (3, 8, 11, 12)]
    asked = [{"id": "q", "question": "What is on folio 12?", "answer": "", "supporting": [{"doc_id": "d12"}]}]
    for name, written in (("corpus.jsonl", pages), ("questions.jsonl", asked)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in written), encoding="utf-8")
    truth = TrueGroups(load_dataset(folder, tmp_path, retrieval_only=True), ["folio:10"])
    assert truth.wrong_group_share(["d3", "d11", "d12"], ["d12"]) == 1 / 5
    assert truth.group_filter(["d12"]) == {"folio": [11, 12]}
    assert all("folio" not in document.metadata for document in truth.degrade_documents(DegradedCell(MISSING, 1, 1), 0))


def test_a_share_of_nothing_is_one_cell() -> None:
    assert list_cells({MISSING: (0, 0.1), NOISE: (0,)}, 2) == [DegradedCell(), DegradedCell(MISSING, 0.1, 1), DegradedCell(MISSING, 0.1, 2)]


GROUPED: dict[str, Any] = {"index_kinds": ("passages", "hierarchy"), "group_by": ("chapter",)}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"group_by": ("chapter",)}, ("--group-by chapter", "--index-kind passages,hierarchy")),
        ({"degrade": {"missing": (0.1,)}}, ("--degrade missing", "--index-kind passages,hierarchy", "--group-by")),
        ({**GROUPED, "group_by": ("none",), "degrade": {"missing": (0.1,)}}, ("--group-by",)),
        ({**GROUPED, "degrade": {"missing": (0.1,)}, "retrieval_only": False, "strategies": ("naive",)}, ("--retrieval-only",)),
        ({**GROUPED, "degrade": {"missing": (1.5,)}}, ("missing=1.5", "between 0 and 1")),
        ({**GROUPED, "degrade": {"noise": (float("nan"),)}}, ("noise=nan", "between 0 and 1")),
        ({**GROUPED, "degrade": {"blur": (0.1,)}}, ("'blur'", "missing=0,.1,.3")),
        ({**GROUPED, "degrade": {"noise": (0.1,)}, "draws": 0}, ("--draws 0", "--draws 1")),
    ],
)
def test_invalid_degradation_is_rejected_before_anything_is_read(asked: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        load_inputs(RunOptions(**{"datasets": ("nowhere",), "strategies": (), "retrieval_only": True, "out": Path("nowhere"), **asked}))
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_field_that_no_document_has_cannot_be_degraded(manual: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'part'.*chapter"):
        TrueGroups(load_dataset(manual, tmp_path, retrieval_only=True), ["part"]).check()


def test_the_command_line_reads_shares(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    orders: list[RunOptions] = []
    monkeypatch.setattr("ramify.lab.commands._evaluating.run_evaluation", orders.append)
    eval_command(tmp_path, ["demo"], group_by="chapter, section", degrade=["missing=0,.1", "noise=1"], draws=3)
    assert (orders[0].group_by, orders[0].degrade, orders[0].draws) == (
        ("chapter", "section"), {"missing": (0.0, 0.1), "noise": (1.0,)}, 3
    )  # fmt: skip
    for wrong, words in (("missing", "KEY=V1,V2"), ("missing=much", "missing=much")):
        with pytest.raises(UsageError, match=words):
            eval_command(tmp_path, ["demo"], degrade=[wrong])
