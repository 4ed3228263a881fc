"""The rows of one tenant as Milvus reads and writes them, and its ledger: all that a later build has to know beside the passages.

A writer says in the ledger that it writes, and again with each batch; one that says nothing more is soon forgotten.
"""

import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ramify.tools.errors import IndexingError
from ramify.tools.milvus.connection import Address, connect, telling
from ramify.tools.milvus.schema import condition

if TYPE_CHECKING:
    from pymilvus import MilvusClient

LEDGER = "_ledger"
"""The end of the name of the collection that is not searched."""
STRONG = "Strong"
"""Reads see all that was written before them: a build decides by what it reads."""
_PAGE = 1000
_BLOCK = 500
"""Rows asked for by key at once."""
WRITER = "writer"
_LASTS_S = 120.0
"""Seconds after which a writer that says nothing counts as ended."""
_AGAIN_S = 15.0


class Entry(NamedTuple):
    """An entry of the ledger. document: the id of the one it is of, if any; text: what is too long for a value."""

    name: str
    kind: str
    document: str
    value: dict[str, Any]
    text: str = ""


@dataclass(frozen=True)
class Budget:
    """Read and write the ledger of one tenant; each call may wait for the server."""

    address: Address

    @property
    def _client(self) -> "MilvusClient":
        return connect(self.address)

    @property
    def _ledger(self) -> str:
        return self.address.collection + LEDGER

    @property
    def _own(self) -> str:
        return condition(self.address.tenant, None)

    def key(self, id: str) -> str:
        """Return the primary key of a passage: two tenants may have the same ids."""
        return f"{self.address.tenant}|{id}"

    def entries(self) -> Iterator[Entry]:
        """Read the ledger."""
        for row in self._each(self._ledger, self._own, [*Entry._fields]):
            yield Entry(**{name: row[name] for name in Entry._fields})

    def entry(self, name: str) -> dict[str, Any] | None:
        """Read the value of one entry of the ledger, None where there is none."""
        with telling(self.address):
            found = self._client.get(self._ledger, [self.key(name)], output_fields=["value"], consistency_level=STRONG)
        return dict(found[0]["value"]) if found else None

    def note(self, entries: Iterable[Entry]) -> None:
        """Write entries of the ledger."""
        own = {"tenant": self.address.tenant, "blank": [1.0, 0.0]}
        self._upsert(self._ledger, [{"key": self.key(one.name), **own, **one._asdict()} for one in entries])

    def strike(self, names: Iterable[str]) -> None:
        """Take entries out of the ledger."""
        self._delete(self._ledger, names)

    def _each(self, collection: str, wanted: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        with telling(self.address):
            pages = self._client.query_iterator(collection, batch_size=_PAGE, filter=wanted, output_fields=fields, consistency_level=STRONG)
            try:
                while page := pages.next():
                    yield from page
            finally:
                pages.close()

    def _upsert(self, collection: str, rows: Sequence[Mapping[str, Any]]) -> None:
        with telling(self.address):
            for block in blocks(rows):
                self._client.upsert(collection, block)

    def _delete(self, collection: str, ids: Iterable[str]) -> None:
        with telling(self.address):
            for block in blocks([self.key(id) for id in ids]):
                self._client.delete(collection, ids=block)


def blocks(of: Sequence[Any]) -> Iterator[list[Any]]:
    """Cut what is asked for at once."""
    return (list(of[start : start + _BLOCK]) for start in range(0, len(of), _BLOCK))


@contextmanager
def writing(ledger: Budget) -> Iterator[Callable[[], None]]:
    """Hold a corpus for one writer; gives what is to be called with each batch. IndexingError where another one writes."""
    me = f"{socket.gethostname()}:{os.getpid()}"
    held = ledger.entry(WRITER)
    if held and held["by"] != me and held["until"] > time.time() and not _ended(str(held["by"])):
        raise IndexingError(f"{held['by']} is writing the index in {ledger.address.where!r}", "wait until it has finished")
    said = -_AGAIN_S

    def alive() -> None:
        nonlocal said
        if time.monotonic() - said > _AGAIN_S:
            said = time.monotonic()
            ledger.note([Entry(WRITER, WRITER, "", {"by": me, "until": time.time() + _LASTS_S})])

    alive()
    try:
        yield alive
    finally:
        ledger.strike([WRITER])


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
