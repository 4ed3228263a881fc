"""An index in Milvus: a collection of a server, or of a file that milvus-lite reads."""
