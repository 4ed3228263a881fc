"""What reading one file may cost: time and memory."""

import os
from typing import NamedTuple


class Limits(NamedTuple):
    """What a worker may use for a file before it is ended and the file is named."""

    seconds: float = 120
    memory_mb: int = 2048


LIMITS = Limits()
"""The one place where they are set."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
