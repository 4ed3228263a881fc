"""The corpus index: documents read, split, encoded and searched; one folder, a LangChain `VectorStore`.

The files in the order of an index's life:

* asked for: `index` (the class), `langchain_methods`, `location` (a folder or a store), `folder`, `folder_state`, `build`, `progress`
* taken in and cut: `intake`, `ids`, `chunking`, `near_duplicates` by `shingles`; `planned_passages` for an estimate
* kept: `open_working_copy`, `working_copy`, its tables in `schema`
* linked: `hnsw` by vectors, `bm25` by words, which `search_words` finds
* published: `publication`, `manifest`; `kind_tables` for what a graph or a hierarchy has beside the passages
* opened: `snapshot`, `passage_store`, `local_index`; `listed_files` for whoever inspects it
* searched: `searcher`, `hybrid_search`, `fusion`, `langchain_stores`, `reports`
"""

from ramify.tools.index.build import Built
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import Index

__all__ = ["Built", "Hit", "Index"]
