"""An index as LangChain's `VectorStore`."""

import gc
import warnings
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder


class TestVectorStore:
    @pytest.fixture
    def store(self) -> Index:
        texts = ["The river Arda floods in spring.", "Spruce is light and strong.", "The treaty was signed in 1648."]
        return Index.from_texts(texts, WordEncoder(), [{"page": page} for page in (1, 2, 3)], ids=["a", "b", "c"])

    def test_similarity_search(self, store: Index) -> None:
        assert [document.id for document in store.similarity_search("treaty signed", k=1)] == ["c"]
        assert [document.id for document in store.similarity_search("treaty signed", k=3, filter={"page": [1, 2]})] != []
        ((document, score),) = store.similarity_search_with_score("Spruce is light and strong.", k=1)
        assert (document.id, round(score, 4)) == ("b", 1.0)

    async def test_async_and_retriever(self, store: Index) -> None:
        assert [document.id for document in await store.asimilarity_search("river", k=1)] == ["a"]
        assert [document.id for document in await store.as_retriever(search_kwargs={"k": 1}).ainvoke("treaty")] == ["c"]
        diverse = store.as_retriever(search_type="mmr", search_kwargs={"k": 2})
        assert len(await diverse.ainvoke("treaty")) == 2
        scored = store.as_retriever(search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.9})
        assert [document.id for document in scored.invoke("The treaty was signed in 1648.")] == ["c"]

    def test_by_vector(self, store: Index) -> None:
        vector = store.embeddings.embed_query("river Arda")
        assert store.similarity_search_by_vector(vector, k=1)[0].id == "a"
        assert len(store.max_marginal_relevance_search_by_vector(vector, k=2)) == 2
        assert len(store.max_marginal_relevance_search("river Arda", k=2)) == 2

    def test_add_get_and_delete(self, store: Index) -> None:
        (fresh,) = store.add_documents([Document("The harbour freezes.", metadata={"page": 4})])
        assert store.add_texts(["The river Arda is dry."], ids=["a"]) == ["a"]
        assert [document.page_content for document in store.get_by_ids([fresh, "nobody", "a"])] == [
            "The harbour freezes.",
            "The river Arda is dry.",
        ]
        assert store.delete(["b", "nobody"])
        assert len(store) == 3
        assert store.get_by_ids(["b"]) == []
        assert "b" not in [document.id for document in store.similarity_search("Spruce", k=10)]


def test_the_folder_of_an_index_without_a_path_goes_with_the_object() -> None:
    gc.collect()  # so that resources of other tests are not reported here
    index = Index.from_texts(["The Seine runs through Paris."], WordEncoder())
    folder = Path(index.where)
    assert folder.is_dir()
    del index
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning in a finalizer then fails the test as unraisable
        gc.collect()
    assert not folder.exists()
