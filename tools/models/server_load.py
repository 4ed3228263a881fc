"""The calls that a server has at one time: how many it works on at once, learned from those served, and how long each may take."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage

NANOSECONDS = 10**9
MOST = 8
SHARE = 0.25
"""Part of a call's own time that is left out at either end when two are held side by side: replies are noticed late."""
QUEUED = 0.5
"""A call that waited for more than this part of its own time was queued."""
ABREAST = 1.0
"""Seconds within which calls may reach the server in another order than they were sent."""


@dataclass(frozen=True)
class Served:
    """One call in seconds: when it was sent, when its reply was there, and how long the server says that it worked on it."""

    sent: float
    done: float
    own: float
    load: float = 0.0

    @property
    def queued(self) -> bool:
        """Tell whether it waited behind others."""
        return self.done - self.sent - self.own - self.load > QUEUED * self.own

    @property
    def core(self) -> tuple[float, float]:
        """Give the time in which the server was at work on it for certain."""
        return self.done - (1 - SHARE) * self.own, self.done - SHARE * self.own


def times(raw: AIMessage, sent: float) -> Served | None:
    """Read how long a server worked on a reply that is here now; None where it does not tell, as Ollama does."""
    told = raw.response_metadata
    load, *own = (told.get(name) or 0 for name in ("load_duration", "prompt_eval_duration", "eval_duration"))
    if not all(isinstance(duration, int) and duration >= 0 for duration in (load, *own)) or not sum(own):
        return None
    return Served(sent, time.monotonic(), sum(own) / NANOSECONDS, load / NANOSECONDS)


@dataclass(eq=False)
class Pace:
    """A limit that grows from one call at a time for as long as the server serves all it is given, and then stays."""

    limit: int = 1
    settled: bool = False
    _round: list[Served] = field(default_factory=list)

    def learn(self, call: Served) -> None:
        """Take a call into account; the limit is judged when those that it let in, and those that took their places, are all served."""
        if self.settled:
            return
        self._round.append(call)
        if len(self._round) < 2 * self.limit - 1:
            return
        cores = [call.core for call in self._round]
        together = max(sum(first <= begun < last for first, last in cores) for begun, _ in cores)  # the most served at one time
        if together >= self.limit:
            self.limit = min(2 * self.limit, MOST)
            self.settled = together >= MOST
        elif any(call.queued for call in self._round):
            self.limit, self.settled = together, True
        self._round.clear()


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
