"""What works at other places than this process: indexes in `milvus`, a `ray_cluster` for long work, a `rerank_server`."""

__all__: list[str] = []
