"""Compare what was read with a raw reading that shares no code with the readers: `comparing`, printed by `reading_check`.

The raw `readings`: `html`, `office` (with `numbers`), `sheets`, `pdf`; `text` is what they share.
"""

__all__: list[str] = []
