"""How many calls one model gets at the same time, whatever event loops and threads they come from."""

import asyncio
import threading
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from ramify.tools.models.server_load import Pace, Turns
from ramify.tools.models.server_record import Health, Record

AT_ONCE = 8
"""Calls at the same time where nobody said how many; what Ollama serves is learned instead."""

# One for all gates, since a call may wait at several. Reentrant: while it is held, an exception's clean-up may run a coroutine's `finally`,
# which leaves a gate.
_LOCK = threading.RLock()


@dataclass(eq=False)
class _Waiter:
    """A call that waits at one gate, or at several at once: the first that has room takes it."""

    limits: "Mapping[Gate, int | None]"
    roams: bool
    loop: asyncio.AbstractEventLoop
    turn: "asyncio.Future[Gate | None]"
    taken_by: "Gate | None" = None

    def tell(self, gate: "Gate | None") -> bool:
        """Wake the call; False where its loop was closed under it."""
        try:
            self.loop.call_soon_threadsafe(self._wake, gate)
        except RuntimeError:
            return False
        return True

    def _wake(self, gate: "Gate | None") -> None:
        """Runs in the call's own loop, which may have cancelled it meanwhile."""
        if not self.turn.done():
            self.turn.set_result(gate)


@dataclass(eq=False)
class Gate:
    """Let calls in one after another; shared by all who call the same model at the same server."""

    busy: int = 0
    record: Record = field(default_factory=Record)
    health: Health = field(default_factory=Health)
    pace: Pace = field(default_factory=Pace)
    turns: Turns = field(default_factory=Turns)
    queue: deque[_Waiter] = field(default_factory=deque)

    @property
    def waiting(self) -> int:
        """Tell how many calls wait for their turn."""
        return len(self.queue)

    async def enter(self, limit: int | None) -> None:
        """Wait until fewer than `limit` calls are in, in the order of coming; None is as many as the server has shown to serve."""
        await _enter({self: limit}, roams=False)

    def leave(self) -> None:
        """Make room for the next."""
        with _LOCK:
            self.busy -= 1
            self.let_in()

    def recall(self) -> None:
        """Send those who wait at any of several gates to choose anew."""
        with _LOCK:
            for waiter in [waiter for waiter in self.queue if waiter.roams]:
                step_out(waiter)
                waiter.tell(None)

    def load(self, limit: int | None) -> float:
        """Tell how busy it is: 1 and more where it has no room for a call of this limit, or for none but those that wait."""
        return 1.0 if self.queue else self.busy / self._most(limit)

    def let_in(self) -> None:
        """Take in those who wait, as far as there is room."""
        while self.queue and self.busy < self._most(self.queue[0].limits[self]):
            waiter = self.queue[0]
            self.busy += 1  # first, so that none of those let in elsewhere meanwhile takes the place
            step_out(waiter, at=self)
            if waiter.tell(self):
                waiter.taken_by = self
            else:  # nobody is left to take the turn
                self.busy -= 1

    def _most(self, limit: int | None) -> int:
        return self.pace.limit if limit is None else limit


async def enter_one(limits: Mapping[Gate, int | None]) -> Gate | None:
    """Enter the least busy of several gates, the first of equals, or wait until one has room; None when the choice is to be made anew."""
    return await _enter(limits, roams=True)


async def _enter(limits: Mapping[Gate, int | None], roams: bool) -> Gate | None:
    with _LOCK:
        least = min(limits, key=lambda gate: gate.load(limits[gate]))
        if least.load(limits[least]) < 1:
            least.busy += 1
            return least
        loop = asyncio.get_running_loop()
        waiter = _Waiter(limits, roams, loop, loop.create_future())
        for gate in limits:
            gate.queue.append(waiter)
    try:
        return await waiter.turn
    except BaseException:
        with _LOCK:
            if waiter.taken_by is None:
                step_out(waiter)
            else:  # the turn came at the moment of the cancellation: it is passed on
                waiter.taken_by.leave()
        raise


def step_out(waiter: _Waiter, at: Gate | None = None) -> None:
    """Take a call out of all its queues; whoever was behind it in one of another gate than `at` may have room there."""
    for gate in waiter.limits:
        if waiter in gate.queue:
            gate.queue.remove(waiter)
    for gate in waiter.limits:
        if gate is not at:
            gate.let_in()


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
_KEPT: deque[Gate] = deque(maxlen=64)


def cap_for(key: Hashable, limit: int | None) -> Cap:
    """Give the cap of what `key` names; the same key means the same gate for as long as anybody holds a cap of it."""
    with _LOCK:
        gate = _GATES.get(key)
        if gate is None:
            gate = _GATES[key] = Gate()
        return Cap(gate, limit)


def lasting_cap(key: Hashable, limit: int | None) -> Cap:
    """Give the cap of a server; what calls have shown of it stays known when nobody holds a cap for a while."""
    with _LOCK:
        cap = cap_for(key, limit)
        if all(kept is not cap.gate for kept in _KEPT):
            _KEPT.append(cap.gate)
        return cap
