"""Slides: `reader`, and the texts of their `shapes`."""

__all__: list[str] = []
