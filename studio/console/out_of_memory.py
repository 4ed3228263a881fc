"""Recognize the errors of a process that gets no memory; imports nothing that needs any."""

import errno
import re

_OUT_OF_MEMORY = re.compile(
    "failed to map segment|cannot allocate memory|can't allocate memory|not enough memory|bad_alloc|unable to allocate|start new thread|"
    "error return without exception set|without setting an exception",
    re.IGNORECASE,
)
"""Messages of the loader, of torch, of NumPy, and of extensions that do not say more."""


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that it comes from, is that there is no memory left."""
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or _OUT_OF_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
