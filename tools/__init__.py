"""Libraries that steps use; they know nothing of trees and prompts.

* a corpus: `documents` are read, `embeddings` encode them, `index` (or `milvus`) keeps and searches them, with `knowledge` (a graph) or
  `hierarchy` (groups) beside them; `ray_cluster` shares the work; `demo` ships with the toolkit
* models: `models` by name; the embedded one is `extractive`, with `reader`, `splitting` and `arithmetic`; `relevance` reranks passages
* for all interfaces: `pages`, `checkup`, `errors`, `typed` (what people type), `new_files`, `shared`, `scrub`, `server_address`, `pip`,
  `released_weights`; the `profile` by which answers are withheld
* texts: `english`, `languages`, `quoting`, `supporting_sentence`, `text_location`
"""

__all__ = ["documents", "embeddings", "errors", "index", "models"]
