"""The hierarchy of an index of kind `hierarchy`: groups by metadata with soft membership, a tree of summaries in each, and routing."""
