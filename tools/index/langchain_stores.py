"""Search in LangChain's other vector stores and in its retrievers."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Matrix
from ramify.tools.errors import UsageError
from ramify.tools.index.fusion import Pick
from ramify.tools.index.fusion import mmr as pick_diverse
from ramify.tools.index.hybrid_search import Hit, How, View
from ramify.tools.index.ids import identified
from ramify.tools.index.passage_store import Filter

_REMEMBERED = 20_000
_SCORE_FIELDS = ("relevance_score", "score")


class Search(Protocol):
    """Search for all queries at once; what the arguments mean is said at `Index.search`."""

    async def __call__(
        self, queries: Sequence[str], *, k: int = 5, fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True,
        filter: Filter | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
    ) -> list[list[Hit]]:  # fmt: skip
        """Return the best passages for each query."""


def _plain(how: How) -> How:
    """Refuse what only an index of our own has a meaning for; a view means nothing here."""
    if how.options:
        raise UsageError(f"search.{next(iter(how.options))} means nothing to a store or retriever of another make", "leave it out")
    return how.checked()


class StoreSearch:
    """Search a vector store: it finds the candidates; cosines and MMR are computed here, with its own embeddings.

    A store without `embeddings` must give relevance scores; these then stand for the cosine, and there is no MMR.
    """

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._encoder: Encoder | None = load_encoder(store.embeddings) if store.embeddings else None
        self._vectors: dict[str, Matrix] = {}

    async def __call__(
        self, queries: Sequence[str], *, k: int = 5, fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True,
        filter: Filter | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
    ) -> list[list[Hit]]:  # fmt: skip
        """Return the best passages for each query; `hybrid` means nothing here, `filter` is passed on as it is."""
        how = _plain(How(k, fetch_k, mmr, hybrid, filter, view=view, options=options))
        if self._encoder is None:
            return list(await asyncio.gather(*(self._scored(query, how) for query in queries)))
        candidates = await asyncio.gather(*(self._candidates(query, how) for query in queries))
        return await asyncio.to_thread(self._rank, self._encoder, queries, candidates, how)

    async def _candidates(self, query: str, how: How) -> list[Document]:
        wanted = how.fetch_k if how.mmr is not None else how.k
        return [identified(document) for document in await self._store.asimilarity_search(query, k=wanted or how.k, **_passed_on(how))]

    async def _scored(self, query: str, how: How) -> list[Hit]:
        try:
            found = await self._store.asimilarity_search_with_relevance_scores(query, k=how.k, **_passed_on(how))
        except NotImplementedError as error:
            what = f"the store {type(self._store).__name__!r} has neither embeddings nor relevance scores"
            raise UsageError(what, "hand over its as_retriever()") from error
        return [Hit(identified(document), float(score), float(score)) for document, score in found]

    def _rank(self, encoder: Encoder, queries: Sequence[str], candidates: Sequence[Sequence[Document]], how: How) -> list[list[Hit]]:
        """Encode the candidates not met before, as the store does not hand its vectors out, and pick the best for each query."""
        if len(self._vectors) > _REMEMBERED:
            self._vectors = {}
        texts = [document.page_content for documents in candidates for document in documents]
        unknown = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        self._vectors |= dict(zip(unknown, encoder.encode_documents(unknown), strict=True))
        vectors = encoder.encode_queries(queries)
        return [self._hits(vector, documents, how) for vector, documents in zip(vectors, candidates, strict=True)]

    def _hits(self, vector: Matrix, documents: Sequence[Document], how: How) -> list[Hit]:
        if not documents:
            return []
        vectors = np.stack([self._vectors[document.page_content] for document in documents])
        cosines = vectors @ vector
        places = [Pick(place, float(cosine)) for place, cosine in enumerate(cosines)]
        picks = places[: how.k] if how.mmr is None else pick_diverse(cosines, vectors, how.k, how.mmr)
        return [Hit(documents[pick.place], float(cosines[pick.place]), pick.value) for pick in picks]


class RetrieverSearch:
    """Ask a retriever; a score it leaves in the metadata counts, otherwise 1 / rank stands for it."""

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever

    async def __call__(
        self, queries: Sequence[str], *, k: int = 5, fetch_k: int | None = None, mmr: float | None = None, hybrid: bool = True,
        filter: Filter | None = None, view: View = "auto", options: Mapping[str, Any] | None = None,
    ) -> list[list[Hit]]:  # fmt: skip
        """Return the first k passages of the retriever for each query, in its order."""
        how = _plain(How(k, fetch_k, mmr, hybrid, filter, view=view, options=options))
        if how.filter:
            what = f"the retriever {type(self._retriever).__name__!r} cannot filter"
            raise UsageError(what, "give an index, or a retriever that filters by itself")
        found = await asyncio.gather(*(self._retriever.ainvoke(query) for query in queries))
        return [[_ranked(document, rank) for rank, document in enumerate(documents[: how.k], start=1)] for documents in found]


def _ranked(document: Document, rank: int) -> Hit:
    scores = (document.metadata.get(field) for field in _SCORE_FIELDS)
    score = next((float(score) for score in scores if isinstance(score, (int, float))), 1 / rank)
    return Hit(identified(document), score, score)


def _passed_on(how: How) -> dict[str, Filter]:
    return {"filter": how.filter} if how.filter else {}
