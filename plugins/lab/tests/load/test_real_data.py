"""Real data, found through RAMIFY_DATA: every folder with questions loads, and the counts are those of its README."""

import os
import re
from pathlib import Path

import pytest

from ramify.lab.dataset import read_corpus
from ramify.lab.load import load_dataset

DATA = os.environ.get("RAMIFY_DATA")
FOLDERS = sorted(file.parent for file in Path(DATA).glob("*/questions.jsonl.gz")) if DATA else []
WITHOUT_ANSWERS = {"faa_ac43_13_1b"}

pytestmark = pytest.mark.skipif(not FOLDERS, reason="RAMIFY_DATA names no folder of data sets")


@pytest.mark.parametrize("folder", FOLDERS or [None], ids=lambda folder: folder.name if folder else "none")
def test_the_counts_are_those_of_the_readme(folder: Path, tmp_path: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    dataset = load_dataset(folder, tmp_path, retrieval_only=folder.name in WITHOUT_ANSWERS)
    questions = read_counts(readme, r"questions\.dev\.jsonl\.gz \| (\d+) ", r"([\d,]+) of the [\d,]+ questions")
    documents = read_counts(readme, r"\*\*Counts\.\*\* documents (\d+)", r"([\d,]+) paragraphs of")
    assert (len(dataset.questions), len(read_corpus(dataset.documents[0])[0])) == (questions, documents)
    assert dataset.hits_by == ("fact" if folder.name == "multihop_rag" else "document")


def read_counts(readme: str, *patterns: str) -> int:
    """Read a count off a README, by the first pattern that it has."""
    match = next(filter(None, (re.search(pattern, readme) for pattern in patterns)), None)
    assert match, f"the README does not tell {patterns}"
    return int(match[1].replace(",", ""))


@pytest.mark.skipif(not (Path(DATA or ".") / "multihop_rag").exists(), reason="RAMIFY_DATA names no folder with multihop_rag in it")
def test_a_partial_text_is_reported(tmp_path: Path) -> None:
    dataset = load_dataset(Path(DATA or ".") / "multihop_rag", tmp_path)
    assert dataset.caveats[0].startswith("609 of 609 documents hold only a part of their text")
    assert all(question.unanswerable == (question.type == "null_query") for question in dataset.questions)
