"""No question that the toolkit is measured on is among those its reader and its writer are trained on. Found through RAMIFY_DATA."""

import gzip
import json
import os
from pathlib import Path

import pytest

from plugins.embedded.training.material import FOLDERS
from plugins.embedded.training.written.folder import QUESTIONS
from ramify.tools.english import fold

DATA = Path(os.environ.get("RAMIFY_DATA") or "nowhere")
MEASURED = ("2wikimultihopqa", "hotpotqa", "musique", "musique_ketrag", "multihop_rag")

pytestmark = pytest.mark.skipif(not (DATA / "train").is_dir(), reason="RAMIFY_DATA names no folder with train in it")


def asked(folder: Path) -> set[str]:
    """Read the questions of a folder, whatever their case and punctuation."""
    questions = set()
    for file in folder.glob("questions*.jsonl*"):
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            questions |= {fold(json.loads(line)["question"]) for line in lines}
    assert questions, f"{folder} has no questions"
    return questions


@pytest.fixture(scope="module")
def trained() -> set[str]:
    names = {*FOLDERS, *(folder.name for folder in (DATA / "train").iterdir() if folder.is_dir())} - {QUESTIONS.parent.name}
    return set().union(*(asked(DATA / "train" / name) for name in names), asked(QUESTIONS.parent))


@pytest.mark.parametrize("name", MEASURED)
def test_no_question_of_an_evaluation_is_trained_on(name: str, trained: set[str]) -> None:
    assert asked(DATA / name) & trained == set()


def test_no_question_of_the_demo_is_trained_on(trained: set[str]) -> None:
    assert asked(Path(__file__).parents[4] / "tools" / "demo") & trained == set()
