"""An index in Milvus: a collection of a server, or of a file that milvus-lite reads.

`store` is the index store; `collections` reads and writes rows; `schema` connects and lays them out.
"""

__all__: list[str] = []
