"""Which answers to the questions about real manuals count as right, and what is printed of them."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.real_documents.answering import is_right
from plugins.lab.benchmarks.real_documents.questions import Question, Type
from plugins.lab.benchmarks.real_documents.table import read_run, table


def make_question(kind: Type, answer: str, *aliases: str, items: tuple[str, ...] = ()) -> Question:
    return Question(
        id=kind, question="?", answer=answer, aliases=aliases, items=items, type=kind, manual="git", quotes=(), split="development"
    )


LIST = make_question("list_all", "…", items=("B-tree", "Hash", "GiST", "GIN", "BRIN"))


@pytest.mark.parametrize(
    ("question", "answer", "closest", "expected"),
    [
        (make_question("fact", "1,600", "1600 columns"), "about 1600", (), True),
        (make_question("fact", "three"), "one of the three that were kept after the upgrade", (), False),
        (make_question("fact", "900"), "Unknown", (), False),
        (make_question("yes_no", "no"), "No.", (), True),
        (make_question("yes_no", "no"), "no, but it can be forced", (), False),
        (make_question("how_to", "git worktree lock"), "Unknown", ("Issue the 'git worktree  lock' command.",), True),
        (make_question("how_to", "CHECKPOINT"), "a checkpoint is begun every five minutes", (), False),
        (LIST, "B-tree, Hash, GiST and GIN", (), True),
        (LIST, "B-tree, Hash and GiST", (), False),
        (make_question("unanswerable", "Unknown"), "Not mentioned in the passages", (), True),
        (make_question("unanswerable", "Unknown"), "42", (), False),
    ],
)
def test_an_answer_is_right(question: Question, answer: str, closest: tuple[str, ...], expected: bool) -> None:
    assert is_right(question, answer, closest) is expected


@pytest.mark.parametrize(("split", "single"), [("development", True), ("reporting", False)])
def test_only_totals_of_the_reporting_half_are_printed(tmp_path: Path, split: str, single: bool) -> None:
    line = {
        "label": "a",
        "split": split,
        "strategy": "naive",
        "id": "fact-01",
        "type": "fact",
        "right": True,
        "unknown": False,
        "confidence": 0.9,
    }
    (tmp_path / "run.jsonl").write_text(json.dumps(line) + "\n")
    printed = table([read_run(tmp_path / "run.jsonl")])
    assert "naive: right" in printed
    assert ("naive: right, fact" in printed) is single
