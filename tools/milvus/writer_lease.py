"""One writer at a time: it says so in the ledger, and again with each batch; one that says nothing more is soon forgotten."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ramify.tools.errors import IndexingError
from ramify.tools.milvus.collections import Store
from ramify.tools.milvus.ledger import Entry

WRITER = "writer"
_LASTS_S = 120.0
"""Seconds after which a writer that says nothing counts as ended."""
_AGAIN_S = 15.0


@contextmanager
def writing(store: Store) -> Iterator[Callable[[], None]]:
    """Hold a corpus for one writer; gives what is to be called with each batch. IndexingError where another one writes."""
    me = f"{socket.gethostname()}:{os.getpid()}"
    held = store.entry(WRITER)
    if held and held["by"] != me and held["until"] > time.time() and not _ended(str(held["by"])):
        raise IndexingError(f"{held['by']} is writing the index in {store.address.where!r}", "wait until it has finished")
    said = 0.0

    def alive() -> None:
        nonlocal said
        if time.monotonic() - said > _AGAIN_S:
            said = time.monotonic()
            store.note([Entry(WRITER, WRITER, "", {"by": me, "until": time.time() + _LASTS_S})])

    said = -_AGAIN_S
    alive()
    try:
        yield alive
    finally:
        store.strike([WRITER])


def _ended(writer: str) -> bool:
    """Tell whether a process of this machine is no more."""
    host, _, process = writer.rpartition(":")
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, and is somebody else's
        return False
    return False
