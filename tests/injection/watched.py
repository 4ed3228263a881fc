"""Record the external effects of code: connections, programs, written files, and files that must not be read."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OUTSIDE = ("socket.connect", "socket.sendto", "socket.getaddrinfo", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork")
OUTSIDE += ("os.remove", "os.rename", "os.mkdir", "shutil.", "webbrowser.", "urllib.", "ftplib.", "smtplib.", "ctypes.dlopen")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_watching: list[tuple[list[str], tuple[str, ...]]] = []


def _hook(event: str, given: tuple[Any, ...]) -> None:
    for seen, lures in _watching:
        opened = event == "open" and isinstance(given[0], (str, bytes))
        written = opened and isinstance(given[2], int) and bool(given[2] & WRITING)
        if event.startswith(OUTSIDE) or written or (opened and any(lure in os.fsdecode(given[0]) for lure in lures)):
            seen.append(f"{event} {given!r:.200}")


@contextmanager
def watch_effects(*lures: str) -> Iterator[list[str]]:
    """Yield a list of the effects within the block, including reading files whose paths contain a lure.

    What is imported there for the first time is not compiled into files, which would be seen.
    """
    if not getattr(sys, "ramify_watched", False):  # a hook stays for good
        sys.addaudithook(_hook)
        sys.ramify_watched = True  # type: ignore[attr-defined]
    entry: tuple[list[str], tuple[str, ...]] = ([], lures)
    compiled, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    _watching.append(entry)
    try:
        yield entry[0]
    finally:
        _watching.remove(entry)
        sys.dont_write_bytecode = compiled
