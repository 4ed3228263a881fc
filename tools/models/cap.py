"""How many calls one model gets at the same time, whatever event loops and threads they come from."""

import asyncio
import threading
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from ramify.tools.models.record import Record


@dataclass(eq=False)
class _Waiter:
    limit: int
    loop: asyncio.AbstractEventLoop
    turn: asyncio.Future[None]

    def wake(self) -> None:
        """Runs in the waiter's own loop, which may have cancelled it meanwhile."""
        if not self.turn.done():
            self.turn.set_result(None)


@dataclass(eq=False)
class Gate:
    """Let calls in one after another; shared by all who call the same model."""

    busy: int = 0
    record: Record = field(default_factory=Record)
    _waiting: deque[_Waiter] = field(default_factory=deque)
    # Reentrant: while it is held, an exception's clean-up may run a coroutine's `finally`, which leaves the gate.
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def waiting(self) -> int:
        """Tell how many calls wait for their turn."""
        return len(self._waiting)

    async def enter(self, limit: int) -> None:
        """Wait until fewer than `limit` calls are in, in the order of coming."""
        with self._lock:
            if not self._waiting and self.busy < limit:
                self.busy += 1
                return
            loop = asyncio.get_running_loop()
            waiter = _Waiter(limit, loop, loop.create_future())
            self._waiting.append(waiter)
        try:
            await waiter.turn
        except BaseException:
            self._give_up(waiter)
            raise

    def leave(self) -> None:
        """Make room for the next."""
        with self._lock:
            self.busy -= 1
            self._let_in()

    def _give_up(self, waiter: _Waiter) -> None:
        """Step out of the queue; a turn that came at the moment of the cancellation is passed on."""
        with self._lock:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
                self._let_in()
            else:
                self.leave()

    def _let_in(self) -> None:
        while self._waiting and self.busy < self._waiting[0].limit:
            waiter = self._waiting.popleft()
            try:
                waiter.loop.call_soon_threadsafe(waiter.wake)
            except RuntimeError:  # its loop was closed under it: nobody is left to take the turn
                continue
            self.busy += 1


@dataclass(frozen=True, eq=False)
class Cap:
    """One caller's view of a gate: `async with cap:` holds one of `limit` places.

    Callers with different limits share the gate: each is let in when fewer than its own limit are in.
    """

    gate: Gate
    limit: int

    async def __aenter__(self) -> None:
        """Wait for a place."""
        await self.gate.enter(self.limit)

    async def __aexit__(self, *exc: object) -> None:
        """Give the place up."""
        self.gate.leave()


_GATES: WeakValueDictionary[Hashable, Gate] = WeakValueDictionary()
_GATES_LOCK = threading.Lock()


def cap_for(key: Hashable, limit: int) -> Cap:
    """Give the cap of what `key` names; the same key means the same gate for as long as anybody holds a cap of it."""
    with _GATES_LOCK:
        gate = _GATES.get(key)
        if gate is None:
            gate = _GATES[key] = Gate()
        return Cap(gate, limit)
