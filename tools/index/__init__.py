"""The corpus index: documents read, split, encoded and searched; one folder, a LangChain `VectorStore`."""

from ramify.tools.index.build import Built
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import Index

__all__ = ["Built", "Hit", "Index"]
