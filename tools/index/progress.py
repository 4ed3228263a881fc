"""Progress callbacks."""

from collections.abc import Callable

Progress = Callable[[int, int | None, str], None]
"""Called as `(done, total, unit)`; total is None while unknown. Units: "documents" read, "passages" encoded, "vectors" linked."""


class PassagesStored(Exception):
    """Stops a build when its passages are stored and can be searched by words, before their vectors are computed."""


def ignore_progress(done: int, total: int | None, unit: str) -> None:
    """Ignore all progress; the default callback."""


def stop_when_stored(progress: Progress, done: int, total: int | None, unit: str) -> None:
    """Report progress, and raise PassagesStored before the first vector is computed."""
    progress(done, total, unit)
    if unit == "passages":
        raise PassagesStored
