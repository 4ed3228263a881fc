"""Readers of rich formats, `ocr`, shared `office` and `sheets` code, and `fidelity`, which checks what was read."""

__all__: list[str] = []
