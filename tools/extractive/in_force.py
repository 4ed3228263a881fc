"""Which reader reads: the neural one, or rules where they are asked for; and how sure each must be."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal

Reader = Literal["neural", "rules"]

_LEAST: Final[Mapping[Reader, float]] = {"neural": 0.25, "rules": 0.4}
_IN_FORCE: ContextVar[Reader] = ContextVar("reader", default="neural")


@contextmanager
def reading_with(reader: Reader) -> Iterator[None]:
    """Read with this reader inside the block."""
    token = _IN_FORCE.set(reader)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def reader() -> Reader:
    """Return the reader in force."""
    return _IN_FORCE.get()


def threshold() -> float:
    """Return the confidence below which an answer of the reader in force is not to be given to a user.

    The neural reader's is where token F1 is best on the questions kept back for choosing (`python -m training.calibrate`).
    """
    return _LEAST[reader()]
