"""Check an answer without a model: its citations, its tree, and how the answer follows from it."""

__all__: list[str] = []
