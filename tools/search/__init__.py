"""Search above the kinds of index: an index of any kind, several as one, or LangChain's vector stores and retrievers.

* `searcher` opens indexes and searches them; `collection_set` has several of them, selected for a question and fused
* `relevance` reranks what was found, and checks what is said of it
* `recording` keeps a record of the searches of a question
"""

__all__ = ["collection_set", "recording", "relevance", "searcher"]
