"""Limit the concurrent calls of one model at one server, for callers in all event loops and threads."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from ramify.tools.models.servers import ServerRecord

DEFAULT_CONCURRENCY = 8
"""Default number of concurrent calls."""
MAX_REORDERING_S = 1.0
"""Calls sent within this time may reach the server in another order."""
# One lock for all limiters. Reentrant, since cleaning up after an exception while it is held may run a coroutine's `finally`,
# which leaves a limiter.
_LOCK = threading.RLock()


@dataclass(eq=False)
class PendingCall:
    """A call that was sent and not answered yet."""

    sent: float
    since: float
    """The earliest time at which the server can have started on it."""
    progressed: float = 0.0
    """When a part of its reply, or a report of progress, arrived last."""

    @property
    def queued(self) -> bool:
        """Return whether an earlier call was served since this one was sent."""
        return self.since > self.sent

    def progress(self) -> None:
        """Restart the timeout: the server is working on the call."""
        self.progressed = time.monotonic()


@dataclass(eq=False)
class _Waiter:
    """A call that waits for a slot."""

    limit: int
    loop: asyncio.AbstractEventLoop
    admitted: "asyncio.Future[None]"
    has_slot: bool = False

    def wake(self) -> None:
        if not self.admitted.done():  # it may have been cancelled meanwhile
            self.admitted.set_result(None)


@dataclass(eq=False)
class Limiter:
    """Admits the calls of one model at one server in order of arrival; it also has the record of that server."""

    busy: int = 0
    record: ServerRecord = field(default_factory=ServerRecord)
    queue: deque[_Waiter] = field(default_factory=deque)
    _pending: list[PendingCall] = field(default_factory=list)

    async def enter(self, limit: int) -> None:
        """Wait until fewer calls than `limit` are running, behind those that came earlier, and take a slot."""
        with _LOCK:
            if not self.queue and self.busy < limit:
                self.busy += 1
                return
            loop = asyncio.get_running_loop()
            waiter = _Waiter(limit, loop, loop.create_future())
            self.queue.append(waiter)
        try:
            await waiter.admitted
        except BaseException:
            with _LOCK:
                if waiter.has_slot:  # admitted at the moment of the cancellation
                    self.leave()
                elif waiter in self.queue:
                    self.queue.remove(waiter)
                    self._admit()  # calls behind it may have a higher limit
            raise

    def leave(self) -> None:
        """Release a slot."""
        with _LOCK:
            self.busy -= 1
            self._admit()

    def _admit(self) -> None:
        """Admit waiting calls while there are free slots."""
        while self.queue and self.busy < self.queue[0].limit:
            waiter = self.queue.popleft()
            try:
                waiter.loop.call_soon_threadsafe(waiter.wake)
            except RuntimeError:  # its event loop was closed: the caller is gone
                continue
            waiter.has_slot = True
            self.busy += 1

    @asynccontextmanager
    async def track(self, seconds: float) -> AsyncIterator[PendingCall]:
        """Track a call that is made in this context; TimeoutError after the server has had this many seconds for it.

        Seconds before its last progress do not count.
        """
        now = time.monotonic()
        call = PendingCall(now, now)
        loop = asyncio.get_running_loop()
        with _LOCK:
            self._pending.append(call)
        try:
            async with asyncio.timeout(None) as clock:
                timer = loop.call_later(seconds, lambda: expire())

                def expire() -> None:
                    nonlocal timer
                    left = max(call.since, call.progressed) + seconds - time.monotonic()
                    if left > 0:  # the timeout was restarted meanwhile
                        timer = loop.call_later(left, expire)
                    else:
                        clock.reschedule(loop.time())

                try:
                    yield call
                finally:
                    timer.cancel()
        finally:
            with _LOCK:
                self._pending.remove(call)

    def mark_served(self, call: PendingCall) -> None:
        """Restart the timeouts of calls that may have been sent later, since the server may have worked on this one until now."""
        with _LOCK:
            for other in self._pending:
                if other is not call and other.sent > call.sent - MAX_REORDERING_S:
                    other.since = time.monotonic()


@dataclass(frozen=True, eq=False)
class Cap:
    """A limiter with one caller's limit: `async with cap:` takes and releases a slot.

    Callers with different limits share the limiter: each is admitted when fewer calls than its own limit are running.
    """

    limiter: Limiter
    limit: int

    async def __aenter__(self) -> None:
        """Wait for a slot."""
        await self.limiter.enter(self.limit)

    async def __aexit__(self, *exc: object) -> None:
        """Release the slot."""
        self.limiter.leave()


_LIMITERS: WeakValueDictionary[Hashable, Limiter] = WeakValueDictionary()
_LATEST: deque[Limiter] = deque(maxlen=64)


def get_cap(key: Hashable, limit: int, lasting: bool = False) -> Cap:
    """Return the cap of a key; equal keys share a limiter while any cap refers to it, or longer if it is `lasting`."""
    with _LOCK:
        limiter = _LIMITERS.get(key)
        if limiter is None:
            limiter = _LIMITERS[key] = Limiter()
        if lasting and all(other is not limiter for other in _LATEST):
            _LATEST.append(limiter)
        return Cap(limiter, limit)
