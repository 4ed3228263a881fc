"""Korean: documents are found by their words whatever is joined to these, and a language model answers from them in several hops."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.tools.index import Index
from tests.fakes import FakeModel

KOREAN = Path(__file__).parent / "korean"
QUESTION = "한내 다리를 설계한 사람은 어디에서 태어났는가?"
FIRST = "한내 다리를 설계한 사람은 누구인가?"
SECOND = "{1}은 어디에서 태어났는가?"


def replies(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read as a model would: what it does not find among the passages it is shown, it does not know."""
    shown = str(slots.get("passages", ""))
    nothing = {"answer": "Unknown", "confidence": 0.9, "citations": []}
    if prompt == "decide" and slots["question"] == QUESTION:
        return {"action": "decompose", **nothing, "questions": [FIRST, SECOND], "entities": []}
    if prompt == "decide":
        known = {FIRST: "윤서진", SECOND.replace("{1}", "윤서진"): "강마을"}.get(str(slots["question"]), "")
        said = {"answer": known, "confidence": 0.97, "citations": [1]} if known and known in shown else nothing
        return {"action": "answer", **said, "questions": [], "entities": []}
    found = "강마을" if "강마을" in str(slots) else "Unknown"
    return {"answer": found, "confidence": 0.97, "citations": [1], "settled_by": "agreement"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("korean") / "index"
    Index.build(KOREAN, folder)
    return Index.open(folder)


@pytest.mark.parametrize(
    ("question", "source"),
    [("다리의 통행료가 없어진 때는?", "다리.md"), ("박도현이 그린 것은?", "사람.md"), ("강의 길이가 얼마인가?", "강.txt")],
)
def test_words_are_found_whatever_particle_is_joined_to_them(index: Index, question: str, source: str) -> None:
    (best, *_) = index.search([question], 3, dense=False)[0]
    assert best.source == source


def test_syllables_written_apart_are_the_same_words(index: Index) -> None:
    import unicodedata

    (best, *_) = index.search([unicodedata.normalize("NFD", "윤서진의 고향은?")], 3, dense=False)[0]
    assert best.metadata["heading"] == "사람들 > 윤서진"


def test_a_question_of_two_hops_is_answered_from_two_documents(index: Index) -> None:
    result = graphs.ask(QUESTION, "prune", model=FakeModel(replies=replies, logprobs=True), index=index, k=1)
    assert result.answer == "강마을"
    assert [branch.answer for path, branch in result.tree.items() if path != "0"] == ["윤서진", "강마을"]
    assert {passage.source for passage in result.passages.values()} == {"다리.md", "사람.md"}


def test_the_embedded_model_says_that_it_reads_english(index: Index) -> None:
    result = graphs.ask(QUESTION, model="extractive", index=index)
    assert result.answer == "Unknown"
    assert any("English" in notice for notice in result.notices)
