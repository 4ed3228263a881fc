"""Word: `reader`; its `parts` (XML and styles), `blocks`, `numbering`, `tables`, and `runs`."""

__all__: list[str] = []
