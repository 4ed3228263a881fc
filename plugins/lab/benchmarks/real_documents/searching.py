"""What the index's search finds of what is needed: the ranks of the passages that hold the quotes."""

from collections.abc import Iterator, Sequence
from typing import Any

from plugins.lab.benchmarks.real_documents.questions import Question
from plugins.lab.benchmarks.real_documents.quotes import contains_quote
from ramify.tools.index import Index

SEARCH = "search"
"""What stands for a strategy in the lines of a run."""
DEPTHS = (5, 10, 30)
"""Passages asked for, each in a search of its own, as a strategy with that `k` would."""


def search_all(index: Index, questions: Sequence[Question], how: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Search for every question that has quotes, as the strategies do; return a line of each: by depth, the rank of each quote."""
    asked = [question for question in questions if question.quotes]
    hits = {depth: index.search([quoted.question for quoted in asked], depth, **{"mmr": None, **how}) for depth in DEPTHS}
    for number, question in enumerate(asked):
        texts = {depth: [hit.text for hit in hits[depth][number]] for depth in DEPTHS}
        deepest = hits[DEPTHS[-1]][number]
        yield {
            "strategy": SEARCH,
            "ranks": {str(depth): [rank(texts[depth], quote.quote) for quote in question.quotes] for depth in DEPTHS},
            "sources": [hit.source for hit in deepest],
            "id": question.id,
            "type": question.type,
        }


def rank(texts: Sequence[str], quote: str) -> int | None:
    """Return the place, from 1, of the first passage that holds a quote."""
    return next((place for place, text in enumerate(texts, 1) if contains_quote(text, quote)), None)


def measures(lines: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the measures of a run's search, with each question's value."""
    ranks = [line["ranks"] for line in lines]
    return {
        "hits@1": [float(1 in each["5"]) for each in ranks],
        **{f"recall@{depth}": [_mean([float(place is not None) for place in each[str(depth)]]) for each in ranks] for depth in DEPTHS},
        **{f"all quotes@{depth}": [float(None not in each[str(depth)]) for each in ranks] for depth in DEPTHS},
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
