"""The methods that LangChain asks of a `VectorStore`, over the search that an index has."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from ramify.tools.embeddings.encoder import Encoder, Matrix, unit_rows
from ramify.tools.index.hybrid_search import Hit, How
from ramify.tools.index.passage_store import Filter


class SearchedStore(VectorStore):
    """A `VectorStore` whose searches by LangChain's names are all made of `search`."""

    @property
    @abstractmethod
    def embeddings(self) -> Encoder:
        """Return the encoder of passages and questions."""

    @abstractmethod
    def _search(self, queries: Sequence[str], vectors: Matrix, how: How) -> list[list[Hit]]: ...

    def _find(self, query: str, how: How) -> list[Hit]:
        return self._search([query], self.embeddings.encode_queries([query]), how.checked())[0]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, hybrid: bool = False, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the passages nearest to a query with their cosines; with `hybrid`, in the order of the fusion."""
        hits = self._find(query, How(k, mmr=None, hybrid=hybrid, filter=filter, per_section=None, view="flat"))
        return [(hit.document, hit.score) for hit in hits]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the passages nearest to a query; takes `filter` and `hybrid`."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the passages nearest to a vector."""
        return self._by_vector(embedding, How(k, mmr=None, hybrid=False, filter=filter, per_section=None, view="flat"))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5,
        *, filter: Filter | None = None, hybrid: bool = False, **kwargs: Any,
    ) -> list[Document]:  # fmt: skip
        """Return passages near to a query and far from each other."""
        hits = self._find(query, How(k, fetch_k, lambda_mult, hybrid, filter, view="flat"))
        return [hit.document for hit in hits]

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5,
        *, filter: Filter | None = None, **kwargs: Any,
    ) -> list[Document]:  # fmt: skip
        """Return passages near to a vector and far from each other."""
        return self._by_vector(embedding, How(k, fetch_k, lambda_mult, hybrid=False, filter=filter, view="flat"))

    def _by_vector(self, embedding: list[float], how: How) -> list[Document]:
        return [hit.document for hit in self._search([""], unit_rows([embedding], len(embedding)), how)[0]]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: max(0.0, cosine)
