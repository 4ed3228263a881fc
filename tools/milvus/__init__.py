"""An index in Milvus: a collection of a server, or of a file that milvus-lite reads.

`store` is the index store; `connection` connects, `collections` reads and writes rows as `schema` lays them out.
"""
