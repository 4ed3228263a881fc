"""Compare what was read with a raw reading that shares no code with the readers: `comparing`.

The raw `readings`: `text` and pages, `office` (with `numbers`), `sheets`, `pdf`.
"""

__all__: list[str] = []
