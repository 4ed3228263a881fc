"""The corpus index: documents read, split, encoded and searched; one folder, a LangChain `VectorStore`.

* requested: `index` (the class), `index_store` (a folder or a store), `folder_state`, `progress`
* read and split: `build`, `chunking`, `near_duplicates`
* written: `index_writer`, its tables in `schema`
* linked: `hnsw` by vectors, `full_text` by words
* published: `publication`, `manifest`
* opened: `snapshot`, `passage_store`; `local_index` for what a graph or a hierarchy has beside the passages
* searched: `searcher`, `hybrid_search`, `reports`
"""

from ramify.tools.index.build import Built
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import Index

__all__ = ["Built", "Hit", "Index"]
