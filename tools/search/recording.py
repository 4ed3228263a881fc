"""Record the searches of a question: what was searched for, how, and which passages were found."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from ramify.tools.passage import Passage


class RecordedSearch(NamedTuple):
    """One call of `find_passages`, which can be repeated with the same arguments."""

    queries: tuple[str, ...]
    how: dict[str, Any]
    """The other arguments of `find_passages`."""
    found: list[list[Passage]]
    """The passages found for each query."""


_RECORD: ContextVar[list[RecordedSearch] | None] = ContextVar("searches", default=None)


@contextmanager
def record_searches() -> Iterator[list[RecordedSearch]]:
    """Yield a list to which all searches within the block are appended, also those of the tasks that are started there."""
    record: list[RecordedSearch] = []
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)


def note_search(queries: Sequence[str], how: Mapping[str, Any], found: list[list[Passage]]) -> None:
    """Append a search to the record, if there is one."""
    record = _RECORD.get()
    if record is not None:
        record.append(RecordedSearch(tuple(queries), dict(how), found))
