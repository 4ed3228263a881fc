"""How long work tells how far it is."""

from collections.abc import Callable

Progress = Callable[[int, int | None, str], None]
"""Called as `(done, total, unit)`; total is None while it is unknown. Units: "documents" read, "passages" encoded, "vectors" linked."""


def ignore_progress(done: int, total: int | None, unit: str) -> None:
    """Report nothing."""
