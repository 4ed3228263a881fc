"""How long a call may take: its own time counts, not that of the calls which the server serves before it."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

ABREAST = 1.0
"""Seconds within which calls may reach the server in another order than they were sent."""


@dataclass(eq=False)
class Turn:
    """A call under way."""

    sent: float
    since: float
    """When the server can have begun with it at the earliest."""

    @property
    def queued(self) -> bool:
        """Tell whether a call that reached the server before it has been served meanwhile."""
        return self.since > self.sent


@dataclass(eq=False)
class Turns:
    """The calls that a server has at one time, from whatever event loops and threads."""

    _under_way: list[Turn] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @asynccontextmanager
    async def take(self, patience: float) -> AsyncIterator[Turn]:
        """Make a call in here; TimeoutError when it has had its seconds of `patience`."""
        now = time.monotonic()
        turn = Turn(now, now)
        with self._lock:
            self._under_way.append(turn)
        try:
            async with asyncio.timeout(None) as clock:
                watch = _Watch(turn, patience, clock)
                try:
                    yield turn
                finally:
                    watch.stop()
        finally:
            with self._lock:
                self._under_way.remove(turn)

    def served(self, turn: Turn) -> None:
        """Let the time of those that may have come later begin anew: until now it may have been this one's."""
        with self._lock:
            for other in self._under_way:
                if other is not turn and other.sent > turn.sent - ABREAST:
                    other.since = time.monotonic()


class _Watch:
    """Look at a call when its time may be over, and again if that has begun anew."""

    def __init__(self, turn: Turn, patience: float, clock: asyncio.Timeout) -> None:
        self._turn, self._patience, self._clock = turn, patience, clock
        self._loop = asyncio.get_running_loop()
        self._next = self._loop.call_later(patience, self._look)

    def stop(self) -> None:
        self._next.cancel()

    def _look(self) -> None:
        left = self._turn.since + self._patience - time.monotonic()
        if left > 0:
            self._next = self._loop.call_later(left, self._look)
        else:
            self._clock.reschedule(self._loop.time())
