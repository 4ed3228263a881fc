"""How far passages bear on a question, beyond what a search sees: what was found is put into a better order."""

from ramify.tools.relevance.rerank import NONE, READER, load, reranked, width

__all__ = ["NONE", "READER", "load", "reranked", "width"]
