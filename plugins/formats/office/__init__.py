"""Shared by office formats: `containers`, `charts` and diagrams, `equations`, and the `runs` of a paragraph."""

__all__: list[str] = []
