"""The reader for the core (`ramify.tools.reader`): the relevance of texts to a question, and the checks of an answer's sentences."""

import time
from collections.abc import Sequence

from ramify.embedded.checks.contradiction import is_contradicted
from ramify.embedded.checks.support import check_support, find_source
from ramify.embedded.checks.versions import contradictions
from ramify.embedded.reader.reading import SMALL, PassageReading, read_contexts, selected_reader
from ramify.tools.reader import Material

__all__ = ["check_support", "contradictions", "describe", "find_source", "is_contradicted", "load", "rank_values", "read_answer"]

POSITION_PENALTY = 0.15
"""Penalty for each rank in the search's order, subtracted from the reader's score from 0 to 1; tuned for recall@5 on training sets."""


def load() -> float:
    """Load the reader; return the seconds taken, 0 if it was loaded; blocking. ModelError if its weights are missing or changed."""
    began, reader = time.perf_counter(), selected_reader()
    if reader.loaded:
        return 0.0
    reader.load()
    return time.perf_counter() - began


def describe() -> str:
    """Load and verify the small reader; return how large it is."""
    learned = sum(weights.numel() for weights in SMALL.load().parameters())
    return f"its weights have the released sha256; {learned / 1e6:.0f} million numbers, the encoder's among them"


def rank_values(query: str, texts: Sequence[str]) -> list[float]:
    """Return the reader's values of texts found for a query, in the order of the search; blocking."""
    return [relevance_value(reading, place) for place, reading in enumerate(read_contexts(query, tuple(texts)))]


def read_answer(question: str, materials: Sequence[Material]) -> str:
    """Return the short answer to a question in passages, Unknown if they have none, or if it cannot read the question; blocking."""
    from ramify.embedded.extractive.model import reply_to

    passages = [{"title": material.subject, "source": "", "text": material.text} for material in materials]
    return str(reply_to("answer", {"question": question, "passages": passages})["answer"])


def relevance_value(reading: PassageReading, place: int) -> float:
    """Return the reader's score of a passage: the mean of relevance and answer probability, minus the penalty of its rank."""
    return (reading.relevance + max(reading.span, reading.yes, reading.no)) / 2 - POSITION_PENALTY * place
