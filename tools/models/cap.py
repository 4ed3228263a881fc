"""How many calls one model gets at the same time, whatever event loops and threads they come from."""

import asyncio
import threading
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from ramify.tools.models.pace import Pace
from ramify.tools.models.record import Record
from ramify.tools.models.turns import Turns

AT_ONCE = 8
"""Calls at the same time where nobody said how many; what Ollama serves is learned instead."""


@dataclass(eq=False)
class _Waiter:
    limit: int | None
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
    pace: Pace = field(default_factory=Pace)
    turns: Turns = field(default_factory=Turns)
    _waiting: deque[_Waiter] = field(default_factory=deque)
    # Reentrant: while it is held, an exception's clean-up may run a coroutine's `finally`, which leaves the gate.
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def waiting(self) -> int:
        """Tell how many calls wait for their turn."""
        return len(self._waiting)

    async def enter(self, limit: int | None) -> None:
        """Wait until fewer than `limit` calls are in, in the order of coming; None is as many as the server has shown to serve."""
        with self._lock:
            if not self._waiting and self._has_room(limit):
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

    def _has_room(self, limit: int | None) -> bool:
        return self.busy < (self.pace.limit if limit is None else limit)

    def _let_in(self) -> None:
        while self._waiting and self._has_room(self._waiting[0].limit):
            waiter = self._waiting.popleft()
            try:
                waiter.loop.call_soon_threadsafe(waiter.wake)
            except RuntimeError:  # its loop was closed under it: nobody is left to take the turn
                continue
            self.busy += 1


@dataclass(frozen=True, eq=False)
class Cap:
    """One caller's view of a gate: `async with cap:` holds one of `limit` places (None: of as many as the server is learned to have).

    Callers with different limits share the gate: each is let in when fewer than its own limit are in.
    """

    gate: Gate
    limit: int | None

    async def __aenter__(self) -> None:
        """Wait for a place."""
        await self.gate.enter(self.limit)

    async def __aexit__(self, *exc: object) -> None:
        """Give the place up."""
        self.gate.leave()


_GATES: WeakValueDictionary[Hashable, Gate] = WeakValueDictionary()
_GATES_LOCK = threading.Lock()
_KEPT: deque[Gate] = deque(maxlen=64)


def cap_for(key: Hashable, limit: int | None) -> Cap:
    """Give the cap of what `key` names; the same key means the same gate for as long as anybody holds a cap of it."""
    with _GATES_LOCK:
        gate = _GATES.get(key)
        if gate is None:
            gate = _GATES[key] = Gate()
        return Cap(gate, limit)


def lasting_cap(key: Hashable, limit: int | None) -> Cap:
    """Give the cap of a server; what calls have shown of it stays known when nobody holds a cap for a while."""
    cap = cap_for(key, limit)
    if all(kept is not cap.gate for kept in _KEPT):
        _KEPT.append(cap.gate)
    return cap
