"""The corpus index: documents are read, split, encoded and searched; a folder or a store, as a LangChain `VectorStore`.

* interface: `index` (the class), `index_store` (a folder or a store), `progress`
* read and split: `build`, `chunking`, `near_duplicates`
* written: `index_writer`, its tables in `passage_store`
* search structures: `hnsw` for vectors, `full_text` for words
* published: `publication`, `manifest`, the `folder` with its lock
* opened: `publication`, `passage_store`; `unfinished` while vectors are computed; its `file_list`; `index` has the base class of
  graphs and hierarchies, which a plug-in offers as a `kind`
* searched: `hybrid_search`; its `reports`
"""

from ramify.tools.index.build import Built
from ramify.tools.index.index import Index

__all__ = ["Built", "Index"]
