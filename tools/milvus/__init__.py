"""An index in Milvus: a collection of a server, or of a file that milvus-lite reads.

`location` is what an index there can do; `connection`, `collections` and their `schema`; the `ledger` beside the passages; the
`working_copy` that a build changes; and `search`.
"""
