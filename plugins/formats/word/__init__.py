"""Word: `reader`; its `parts` (XML and styles), `blocks`, `numbering`, `tables`, and `runs` (with `symbols`)."""

__all__: list[str] = []
