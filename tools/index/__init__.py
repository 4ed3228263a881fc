"""The corpus index: documents read, split, encoded and searched; one folder, a LangChain `VectorStore`.

* requested: `index` (the class), `index_store` (a folder or a store), `progress`; again and again by `watching`
* read and split: `build`, `chunking`, `near_duplicates`
* written: `index_writer`, its tables in `passage_store`
* linked: `hnsw` by vectors, `full_text` by words
* published: `publication`, `manifest`
* opened: `publication`, `passage_store`; `index` for what a graph or a hierarchy has beside the passages
* searched: `searcher`, `hybrid_search`, `reports`; several as one by `collections`
"""

from ramify.tools.index.build import Built
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import Index

__all__ = ["Built", "Hit", "Index"]
