"""What all callers of one model at one server share, from all event loops and threads.

The calls that are under way, and how many may be: a fixed number, or one learned from reply times; what calls have shown of the server,
and whether it is used.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from langchain_core.messages import AIMessage

from ramify.tools.models.structured_call import DEFAULT_MODE, Feature, ThinkingMode
from ramify.tools.models.tokens import LearnedCount

DEFAULT_CONCURRENCY = 8
"""Default number of concurrent calls; what Ollama serves is learned instead."""
MAX_LEARNED_CONCURRENCY = 8
NANOSECONDS_PER_SECOND = 10**9
IGNORED_SHARE = 0.25
"""Part of a call's own time that is ignored at either end when two are compared: replies are noticed late."""
MIN_QUEUED_SHARE = 0.5
"""A call that waited for more than this part of its own time was queued."""
MAX_REORDERING_S = 1.0
"""Seconds within which calls may reach the server in another order than they were sent."""

FEATURE_NOTICES: dict[Feature, str] = {
    "form": "{name} takes no form for its replies: they are read from its text",
    "logprobs": "{name} gives no log probabilities: a confidence is what it says itself",
}
"""What the result says of a feature that the server lacks."""
FIRST_CHECK_S, MAX_CHECK_S = 5.0, 60.0
"""Seconds until an excluded server is checked again: at first, and at most; doubled each time."""
MAX_CONSECUTIVE_FAILURES = 3
"""Consecutive failures before a server that does reply is excluded."""
# One lock for all, since a call may wait at several limiters. Reentrant: while it is held, an exception's clean-up may run a coroutine's
# `finally`, which leaves a limiter.
_LOCK = threading.RLock()


@dataclass(eq=False)
class ServerRecord:
    """What calls have shown of one model at one server."""

    answered: bool = False
    """Whether it ever answered as such a server does."""
    refused: set[Feature] = field(default_factory=set)
    mode: ThinkingMode = DEFAULT_MODE
    """How it is asked, where it may think."""
    count: LearnedCount | None = None
    excluded: str = ""
    """Why it is not used where there are others; empty where it is used."""
    _failures: int = 0
    _exclusions: int = 0
    _retry_at: float = 0.0

    def counting(self, name: str) -> LearnedCount:
        """Return the token count that learns from the server's reports; blocking at first."""
        if self.count is None:
            self.count = LearnedCount(name)
        return self.count

    def move(self, mode: ThinkingMode, on: ThinkingMode) -> None:
        """Replace a mode by another, unless a concurrent call has done so."""
        if self.mode is mode:
            self.mode = on

    def notices(self, name: str, thought: int) -> list[str]:
        """Return what the result says of features and modes; `thought` is how many tokens a thought may take."""
        notices = [self.mode.notice, *(FEATURE_NOTICES[feature] for feature in sorted(self.refused))]
        return [words.format(name=name, more=f"each reply may take {thought} tokens more") for words in notices if words]

    def succeed(self) -> None:
        """Record a call that was served."""
        with _LOCK:
            self._failures = self._exclusions = 0

    def fail(self, why: str, gone: bool) -> bool:
        """Record a failed call; return whether it excludes the server, at once where it is `gone`."""
        with _LOCK:
            self._failures += 1
            if self.excluded or not (gone or self._failures >= MAX_CONSECUTIVE_FAILURES):
                return False  # of many calls that fail with a server, the first counts
            self.exclude(why)
            return True

    def exclude(self, why: str) -> None:
        """Exclude the server until it is checked again."""
        with _LOCK:
            self.excluded = why
            self._retry_at = time.monotonic() + min(FIRST_CHECK_S * 2**self._exclusions, MAX_CHECK_S)
            self._exclusions += 1

    def include(self) -> None:
        """Record a check that found the server; the next calls show whether it serves."""
        with _LOCK:
            self.excluded, self._failures = "", 0

    def due(self) -> bool:
        """Return True to one caller, and no other, when the server is to be checked again."""
        with _LOCK:
            now = time.monotonic()
            if not self.excluded or now < self._retry_at:
                return False
            self._retry_at = now + MAX_CHECK_S  # the check is running
            return True


@dataclass(frozen=True)
class CallTiming:
    """When a call was sent and its reply arrived, and how many seconds the server reports to have worked on it."""

    sent: float
    done: float
    own: float
    load: float = 0.0

    @property
    def queued(self) -> bool:
        """Return whether the call waited behind others."""
        return self.done - self.sent - self.own - self.load > MIN_QUEUED_SHARE * self.own

    @property
    def core(self) -> tuple[float, float]:
        """Return the interval in which the server was certainly working on the call."""
        return self.done - (1 - IGNORED_SHARE) * self.own, self.done - IGNORED_SHARE * self.own


def read_timing(raw: AIMessage, sent: float) -> CallTiming | None:
    """Return the timing of a reply that has just arrived; None where the server does not report durations as Ollama does."""
    metadata = raw.response_metadata
    load, *own = (metadata.get(name) or 0 for name in ("load_duration", "prompt_eval_duration", "eval_duration"))
    if not all(isinstance(duration, int) and duration >= 0 for duration in (load, *own)) or not sum(own):
        return None
    return CallTiming(sent, time.monotonic(), sum(own) / NANOSECONDS_PER_SECOND, load / NANOSECONDS_PER_SECOND)


@dataclass(eq=False)
class PendingCall:
    """A call that was sent and has no reply yet."""

    sent: float
    since: float
    """The earliest time at which the server can have started on it."""

    @property
    def queued(self) -> bool:
        """Return whether a call that reached the server earlier has been served since this one was sent."""
        return self.since > self.sent


@dataclass(eq=False)
class _Waiter:
    """A call that waits at one or several limiters; the first one with room admits it."""

    limits: "Mapping[Limiter, int | None]"
    reroutable: bool
    loop: asyncio.AbstractEventLoop
    admitted: "asyncio.Future[Limiter | None]"
    by: "Limiter | None" = None

    def notify(self, limiter: "Limiter | None") -> bool:
        """Wake the call; return False where its event loop was closed."""

        def wake() -> None:
            if not self.admitted.done():  # it may have been cancelled meanwhile
                self.admitted.set_result(limiter)

        try:
            self.loop.call_soon_threadsafe(wake)
        except RuntimeError:
            return False
        return True

    def leave_queues(self, at: "Limiter | None" = None) -> None:
        """Remove the call from all its queues; calls behind it at limiters other than `at` may be admitted."""
        for limiter in self.limits:
            if self in limiter.queue:
                limiter.queue.remove(self)
        for limiter in self.limits:
            if limiter is not at:
                limiter.admit()


@dataclass(eq=False)
class Limiter:
    """The calls of one model at one server, admitted in order of arrival; with what is known of that server.

    The learned limit starts at one call, doubles as long as the server works on all of them in parallel, and then stays.
    """

    busy: int = 0
    record: ServerRecord = field(default_factory=ServerRecord)
    queue: deque[_Waiter] = field(default_factory=deque)
    learned: int = 1
    settled: bool = False
    """Whether the learned limit stays."""
    _round: list[CallTiming] = field(default_factory=list)
    _pending: list[PendingCall] = field(default_factory=list)

    async def enter(self, limit: int | None) -> None:
        """Wait until fewer than `limit` calls are in; None stands for the learned limit."""
        await enter_least_busy({self: limit}, reroutable=False)

    def leave(self) -> None:
        """Release a place."""
        with _LOCK:
            self.busy -= 1
            self.admit()

    def reroute(self) -> None:
        """Make the calls that wait at several limiters choose again."""
        with _LOCK:
            for waiter in [waiter for waiter in self.queue if waiter.reroutable]:
                waiter.leave_queues()
                waiter.notify(None)

    def load(self, limit: int | None) -> float:
        """Return the load; 1 or more means that a call with this limit has to wait."""
        return 1.0 if self.queue else self.busy / self._effective(limit)

    def admit(self) -> None:
        """Admit waiting calls while there is room."""
        while self.queue and self.busy < self._effective(self.queue[0].limits[self]):
            waiter = self.queue[0]
            self.busy += 1  # first, so that a call admitted elsewhere meanwhile cannot take the place
            waiter.leave_queues(at=self)
            if waiter.notify(self):
                waiter.by = self
            else:  # nobody is left to take the place
                self.busy -= 1

    def learn(self, call: CallTiming) -> None:
        """Record a call; the learned limit is updated when the calls it admitted, and those that replaced them, are all served."""
        if self.settled:
            return
        self._round.append(call)
        if len(self._round) < 2 * self.learned - 1:
            return
        cores = [call.core for call in self._round]
        together = max(sum(first <= begun < last for first, last in cores) for begun, _ in cores)  # the most served at one time
        if together >= self.learned:
            self.learned = min(2 * self.learned, MAX_LEARNED_CONCURRENCY)
            self.settled = together >= MAX_LEARNED_CONCURRENCY
        elif any(call.queued for call in self._round):
            self.learned, self.settled = together, True
        self._round.clear()

    @asynccontextmanager
    async def track(self, seconds: float) -> AsyncIterator[PendingCall]:
        """Make a call in this context; TimeoutError when the server has had so many seconds for it."""
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
                    left = call.since + seconds - time.monotonic()
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
        """Restart the timeouts of calls that may have been sent later: until now the server may have worked on this one."""
        with _LOCK:
            for other in self._pending:
                if other is not call and other.sent > call.sent - MAX_REORDERING_S:
                    other.since = time.monotonic()

    def _effective(self, limit: int | None) -> int:
        return self.learned if limit is None else limit


async def enter_least_busy(limits: Mapping[Limiter, int | None], reroutable: bool = True) -> Limiter | None:
    """Enter the least busy limiter, the first of equals, or wait until one has room; None where the choice has to be made again."""
    with _LOCK:
        least = min(limits, key=lambda limiter: limiter.load(limits[limiter]))
        if least.load(limits[least]) < 1:
            least.busy += 1
            return least
        loop = asyncio.get_running_loop()
        waiter = _Waiter(limits, reroutable, loop, loop.create_future())
        for limiter in limits:
            limiter.queue.append(waiter)
    try:
        return await waiter.admitted
    except BaseException:
        with _LOCK:
            if waiter.by is None:
                waiter.leave_queues()
            else:  # admitted at the moment of the cancellation: the place is passed on
                waiter.by.leave()
        raise


@dataclass(frozen=True, eq=False)
class Cap:
    """A limiter with one caller's limit: `async with cap:` holds a place.

    Callers with different limits share the limiter: each is admitted when fewer calls than its own limit are in.
    """

    limiter: Limiter
    limit: int | None
    """None for the learned limit."""

    async def __aenter__(self) -> None:
        """Wait for a place."""
        await self.limiter.enter(self.limit)

    async def __aexit__(self, *exc: object) -> None:
        """Release the place."""
        self.limiter.leave()


_LIMITERS: WeakValueDictionary[Hashable, Limiter] = WeakValueDictionary()
_LATEST: deque[Limiter] = deque(maxlen=64)


def get_cap(key: Hashable, limit: int | None, lasting: bool = False) -> Cap:
    """Return the cap of a key; equal keys share a limiter as long as a cap refers to it, or longer where it is `lasting`."""
    with _LOCK:
        limiter = _LIMITERS.get(key)
        if limiter is None:
            limiter = _LIMITERS[key] = Limiter()
        if lasting and all(kept is not limiter for kept in _LATEST):
            _LATEST.append(limiter)
        return Cap(limiter, limit)
