"""Sentences quoted from several steps of a procedure stand in the order of its steps."""

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from tests.embeddings import WordEmbeddings

TEXTS = {
    1: "Close the valve in front of the pump before the seal is replaced, and let the water run off.",
    2: "Take off the cover of the pump with a key of 12 millimetres, so that the old seal can be replaced.",
    3: "Replace the seal of the pump with a new one, and grease the seal.",
}


def quoted(heading: str) -> list[str]:
    """Return the passages that are quoted for a question without an answer, in their order."""
    index = InMemoryVectorStore(WordEmbeddings())
    index.add_documents(
        [
            Document(text, id=f"pump~{number}", metadata={"source": "pump.md", "heading": heading.format(number)})
            for number, text in TEXTS.items()
        ]
    )
    result = graphs.ask("Who replaced the seal of the pump?", "naive", model="extractive", index=index)
    assert result.answer == "Unknown"
    ids = [citation.id for citation in result.citations]
    assert [sentence.text for sentence in result.sentences] == [TEXTS[int(id[-1])] for id in ids]
    return ids


def test_steps_are_quoted_in_their_order_and_other_passages_by_closeness() -> None:
    assert quoted("Step {}") == ["pump~1", "pump~2", "pump~3"]
    assert quoted("Part {}")[0] != "pump~1"
