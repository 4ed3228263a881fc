"""The contents of an index for display: `contents` as values, their `description` and `graph_layout`, the `terminal` and a `page`."""

__all__: list[str] = []
