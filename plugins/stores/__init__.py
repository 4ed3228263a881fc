"""Indexes in other places than a folder: `milvus`, and a `ray_cluster` for long work."""

__all__: list[str] = []
