"""A question in another language than the index: the search is in that of the index, the answer in that of the question."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel

TEXTS = (
    "The lighthouse of Skerry was built by Anna Holt in 1871 and stands on the head of Vane.",
    "The bridge of Hollin was opened in 1852, and it spans the river Oskel at its widest place.",
    "In the valley there is a market that was founded by the millers of the town in 1860.",
)
ENGLISH = "Who built the lighthouse of Skerry?"
GERMAN = "Wer hat den Leuchtturm von Skerry gebaut?"
KOREAN = "스케리 등대를 지은 사람은 누구인가?"
TEXT = {GERMAN: "Anna Holt hat ihn gebaut [1].", KOREAN: "안나 홀트가 지었다 [1]."}


def speaking(question: str, queries: list[str] | None = None) -> FakeModel:
    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if prompt == "translate":
            return {"queries": [ENGLISH] if queries is None else queries}
        return {"answer": "Anna Holt", "confidence": 0.97, "citations": [1]} | {"text": TEXT.get(question, "Anna Holt built it [1].")}

    return FakeModel(replies=reply, writes=True)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("lighthouses") / "index"
    return Index.from_texts(list(TEXTS), WordEmbeddings(), [{"source": f"{n}.txt"} for n in range(len(TEXTS))], path=folder)


@pytest.mark.parametrize("question", [GERMAN, KOREAN])
def test_it_is_searched_in_the_language_of_the_documents_and_answered_in_its_own(index: Index, question: str) -> None:
    asked = speaking(question)
    result = graphs.ask(question, "naive", model=asked, index=index, k=1)
    [slots] = asked.asked("translate")
    assert (slots["language"], slots["questions"]) == ("English", [question])
    assert [passage.text for passage in result.passages.values()] == [TEXTS[0]], "the English words find it"
    assert (result.question, result.tree["0"].question) == (question, question)
    assert result.text == TEXT[question].replace(" [1].", ". [1]")
    assert result.sentences[0].supported
    assert asked.asked("answer")[0]["question"] == question


def test_nothing_of_ours_is_put_into_a_korean_answer(index: Index) -> None:
    result = graphs.ask(KOREAN, "naive", model=speaking(KOREAN), index=index)
    assert not any(letter.isascii() and letter.isalpha() for letter in result.text)


def test_a_question_in_the_language_of_the_index_is_searched_as_it_is(index: Index) -> None:
    asked = speaking(ENGLISH)
    graphs.ask(ENGLISH, "naive", model=asked, index=index)
    assert not asked.asked("translate")
    korean = Index.build(Path(__file__).parent / "korean", Path(index.where).parent / "korean")
    assert korean is not None
    again = speaking(KOREAN)
    graphs.ask(KOREAN, "naive", model=again, index=Index.open(Path(index.where).parent / "korean"))
    assert not again.asked("translate")


def test_where_nothing_was_translated_the_question_is_searched_and_the_result_says_so(index: Index) -> None:
    result = graphs.ask(GERMAN, "naive", model=speaking(GERMAN, queries=[]), index=index)
    assert result.answer == "Anna Holt"
    assert any("searched in the language of the question" in notice for notice in result.notices)
    broken = FakeModel(replies=lambda prompt, slots: "?" if prompt == "translate" else speaking(GERMAN).replies(prompt, slots), writes=True)
    result = graphs.ask(GERMAN, "naive", model=broken, index=index)
    assert any("searched in the language of the question" in notice for notice in result.notices)


def test_the_embedded_model_is_asked_for_no_translation(index: Index) -> None:
    assert graphs.ask(ENGLISH, "naive", model="extractive", index=index).usage.llm_calls == 1
