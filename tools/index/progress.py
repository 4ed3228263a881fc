"""Progress callbacks."""

from collections.abc import Callable

Progress = Callable[[int, int | None, str], None]
"""Called as `(done, total, unit)`; total is None while unknown. Units: "documents" read, "passages" encoded, "vectors" linked."""


def ignore_progress(done: int, total: int | None, unit: str) -> None:
    """Ignore all progress; the default callback."""
