"""An index in Milvus: a collection of a server, or of a file opened by milvus-lite.

`store` is the index store; `collections` reads and writes rows; `schema` connects and defines the collections.
"""

__all__: list[str] = []
