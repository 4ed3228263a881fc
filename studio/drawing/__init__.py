"""An answer and its tree for display: common `phrases`, the `terminal`, an HTML `page` with a map of the tree, and `mermaid`."""

__all__: list[str] = []
