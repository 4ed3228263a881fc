"""An answer and its tree as they are shown: in `phrases`, on the `terminal`, on a `page` with its `tree_map`, as `mermaid`."""
