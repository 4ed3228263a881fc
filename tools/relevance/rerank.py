"""Reorder what a search found by how far each passage bears on the question; scores stay as they are."""

import time
from collections.abc import Sequence

from ramify.tools.index.hybrid_search import Hit
from ramify.tools.reader.inputs import in_context
from ramify.tools.reader.predictions import Reading, read_contexts
from ramify.tools.reader.weights import load_network
from ramify.tools.relevance.cross_encoder import cross_encoder, is_loaded, scores

READER, NONE = "reader", "none"
PLACE = 0.15
"""What a place further down in the search's order takes from the reader's word, from 0 to 1: on training sets, recall@5 was best there."""


def width(name: str, k: int, rerank_k: int) -> int:
    """Tell how many passages to search for where `name` reranks them and k are wanted."""
    return k if name == NONE else max(k, rerank_k)


def load(name: str) -> float:
    """Load what reranks; give the seconds that took, 0 where all was there; blocking. ModelError where there is no such model."""
    if name == NONE:
        return 0.0
    began = time.perf_counter()
    there = load_network.cache_info().currsize > 0 if name == READER else is_loaded(name)
    load_network() if name == READER else cross_encoder(name)
    return 0.0 if there else time.perf_counter() - began


def reranked(query: str, hits: Sequence[Hit], name: str, k: int) -> list[Hit]:
    """Give the k best hits of a query by the reader ("reader"), or by a cross-encoder of that name; "none" leaves the order; blocking.

    Ties keep the order of the search. ModelError where there is no such model.
    """
    if name == NONE or not hits:
        return list(hits[:k])
    contexts = tuple(in_context(hit.document.metadata.get("title"), hit.document.page_content) for hit in hits)
    values = _by_reader(query, contexts) if name == READER else scores(name, query, contexts)
    order = sorted(range(len(hits)), key=lambda place: -values[place])
    return [hits[place] for place in order[:k]]


def worth(reading: Reading, place: int) -> float:
    """Weigh what the reader says of a passage, that it bears on the question and that it holds an answer, with its place in the search."""
    return (reading.relevance + max(reading.span, reading.yes, reading.no)) / 2 - PLACE * place


def _by_reader(query: str, contexts: tuple[str, ...]) -> list[float]:
    return [worth(reading, place) for place, reading in enumerate(read_contexts(query, contexts))]
