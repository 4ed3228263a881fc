"""The steps of a procedure are read in their order, whatever the order in which a search finds them."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel

QUESTION = "How is the pump seal replaced?"
CLOSE, LESS, LEAST = "The pump seal is replaced.", "The pump seal is new.", "Open the pump."
"""Texts by their similarity to the question: the first is found first."""


def shown(documents: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return the texts that a model is shown for the question, in their order."""
    index = InMemoryVectorStore(WordEmbeddings())
    index.add_documents([Document(text, id=f"d{number}", metadata=metadata) for number, (text, metadata) in enumerate(documents)])
    model = FakeModel(replies=lambda prompt, slots: {"answer": "Unknown", "confidence": 0.9, "citations": []})
    graphs.ask(QUESTION, "naive", model=model, index=index, mmr=None)
    return [passage["text"] for passage in model.asked("answer")[0]["passages"]]


def headed(number: int, source: str = "pump.md", above: str = "Seal") -> dict[str, Any]:
    return {"source": source, "heading": f"{above} > Step {number}"}


def test_of_a_document_by_the_numbers_in_its_headings() -> None:
    assert shown([(CLOSE, headed(10)), (LESS, headed(9)), (LEAST, headed(2))]) == [LEAST, LESS, CLOSE]


def test_of_a_file_of_records_by_their_titles() -> None:
    titled = [{"source": f"pump.jsonl#{number}", "title": f"Step {number}"} for number in (3, 1)]
    assert shown([(CLOSE, titled[0]), (LEAST, titled[1])]) == [LEAST, CLOSE]


def test_parts_of_a_step_in_the_order_of_the_document() -> None:
    assert shown([(LEAST, headed(1)), (CLOSE, headed(1))]) == [LEAST, CLOSE]


def test_other_passages_keep_their_places() -> None:
    between = {"source": "letter.md", "heading": "Dear all"}
    assert shown([(CLOSE, headed(2)), (LESS, between), (LEAST, headed(1))]) == [LEAST, LESS, CLOSE]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (headed(2), headed(1, source="valve.md")),
        (headed(2), headed(1, above="Valve")),
        ({"source": "films.jsonl#a", "title": "1917 (film)"}, {"source": "films.jsonl#b", "title": "300 (film)"}),
        ({"source": "pump.md", "heading": "Seal"}, {"source": "pump.md", "heading": "Parts"}),
        ({"source": "pump.md", "heading": "4-38. Seals"}, {"source": "pump.md", "heading": "4-37. Pumps"}),
    ],
)
def test_what_is_no_step_of_the_same_procedure_keeps_the_order_of_the_search(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert shown([(CLOSE, first), (LEAST, second)]) == [CLOSE, LEAST]
