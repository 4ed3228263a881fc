"""Limit the concurrent calls of one model at one server, for callers in all event loops and threads.

The limit is a fixed number, or learned from reply times. A record per server stores its features, and whether it is used or excluded.
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
"""Default number of concurrent calls; for Ollama the number is learned."""
MAX_LEARNED_CONCURRENCY = 8
NANOSECONDS_PER_SECOND = 10**9
IGNORED_SHARE = 0.25
"""Share of a call's duration that is ignored at either end when calls are compared, since replies are noticed late."""
MIN_QUEUED_SHARE = 0.5
"""A call was queued if it waited longer than this share of its own duration."""
MAX_REORDERING_S = 1.0
"""Calls sent within this time may reach the server in another order."""

FEATURE_NOTICES: dict[Feature, str] = {
    "form": "{name} does not support structured output: replies are parsed from its text",
    "system": "{name} does not accept the role system: the task is in the first message of the user",
    "turns": "{name} does not accept a conversation: the task and its examples are in one message",
    "temperature": "{name} does not accept a temperature: its replies may vary",
    "logprobs": "{name} provides no log probabilities: the confidence is the model's own statement",
}
"""The notice in the result for each feature that the server lacks."""
FIRST_CHECK_S, MAX_CHECK_S = 5.0, 60.0
"""Seconds until an excluded server is checked again: initial and maximum, doubled each time."""
MAX_CONSECUTIVE_FAILURES = 3
"""Consecutive failures before a server that does reply is excluded."""
# One lock for all, since a call may wait at several limiters. Reentrant, since cleaning up after an exception while it is held
# may run a coroutine's `finally`, which leaves a limiter.
_LOCK = threading.RLock()


@dataclass(eq=False)
class ServerRecord:
    """What is known of one model at one server from earlier calls."""

    answered: bool = False
    """Whether it has ever answered in the expected protocol."""
    refused: set[Feature] = field(default_factory=set)
    mode: ThinkingMode = DEFAULT_MODE
    """The thinking mode in which it is called."""
    count: LearnedCount | None = None
    excluded: str = ""
    """The reason why it is not used by pools; empty if it is used."""
    _failures: int = 0
    _exclusions: int = 0
    _retry_at: float = 0.0

    def counting(self, name: str) -> LearnedCount:
        """Return the token counter that learns from the server's reports; the first call is blocking."""
        if self.count is None:
            self.count = LearnedCount(name)
        return self.count

    def move(self, mode: ThinkingMode, on: ThinkingMode) -> None:
        """Replace a mode, unless a concurrent call has done so."""
        if self.mode is mode:
            self.mode = on

    def notices(self, name: str, thought: int) -> list[str]:
        """Return notices on missing features and the thinking mode; `thought` is the number of tokens for a thought."""
        notices = [self.mode.notice, *(FEATURE_NOTICES[feature] for feature in sorted(self.refused))]
        return [words.format(name=name, more=f"each reply may take {thought} additional tokens") for words in notices if words]

    def succeed(self) -> None:
        """Record a successful call."""
        with _LOCK:
            self._failures = self._exclusions = 0

    def fail(self, why: str, gone: bool) -> bool:
        """Record a failed call; return whether it excludes the server, which it does at once if the server is down (`gone`)."""
        with _LOCK:
            self._failures += 1
            if self.excluded or not (gone or self._failures >= MAX_CONSECUTIVE_FAILURES):
                return False  # of several concurrent failures, the first one counts
            self.exclude(why)
            return True

    def exclude(self, why: str) -> None:
        """Exclude the server until it is checked again."""
        with _LOCK:
            self.excluded = why
            self._retry_at = time.monotonic() + min(FIRST_CHECK_S * 2**self._exclusions, MAX_CHECK_S)
            self._exclusions += 1

    def include(self) -> None:
        """Record a successful check; the next calls show whether the server works."""
        with _LOCK:
            self.excluded, self._failures = "", 0

    def due(self) -> bool:
        """Return True to exactly one caller when the server is due to be checked again."""
        with _LOCK:
            now = time.monotonic()
            if not self.excluded or now < self._retry_at:
                return False
            self._retry_at = now + MAX_CHECK_S  # the check is running
            return True


@dataclass(frozen=True)
class CallTiming:
    """When a call was sent and its reply arrived, and the seconds of work and loading that the server reports."""

    sent: float
    done: float
    own: float
    load: float = 0.0

    @property
    def queued(self) -> bool:
        """Return whether the call was queued behind others."""
        return self.done - self.sent - self.own - self.load > MIN_QUEUED_SHARE * self.own

    @property
    def core(self) -> tuple[float, float]:
        """Return the interval in which the server was certainly working on the call."""
        return self.done - (1 - IGNORED_SHARE) * self.own, self.done - IGNORED_SHARE * self.own


def read_timing(raw: AIMessage, sent: float) -> CallTiming | None:
    """Return the timing of a reply that has just arrived; None if the server does not report durations like Ollama."""
    metadata = raw.response_metadata
    load, *own = (metadata.get(name) or 0 for name in ("load_duration", "prompt_eval_duration", "eval_duration"))
    if not all(isinstance(duration, int) and duration >= 0 for duration in (load, *own)) or not sum(own):
        return None
    return CallTiming(sent, time.monotonic(), sum(own) / NANOSECONDS_PER_SECOND, load / NANOSECONDS_PER_SECOND)


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
    """A call that waits at one or several limiters; the first one with a free slot admits it."""

    limits: "Mapping[Limiter, int | None]"
    reroutable: bool
    loop: asyncio.AbstractEventLoop
    admitted: "asyncio.Future[Limiter | None]"
    by: "Limiter | None" = None

    def notify(self, limiter: "Limiter | None") -> bool:
        """Wake the call; return False if its event loop was closed."""

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
    """Admits the calls of one model at one server in order of arrival; it also has the record of that server.

    The learned limit starts at one call, doubles as long as the server works on all of them in parallel, and then stays.
    """

    busy: int = 0
    record: ServerRecord = field(default_factory=ServerRecord)
    queue: deque[_Waiter] = field(default_factory=deque)
    learned: int = 1
    settled: bool = False
    """Whether the learned limit is final."""
    _round: list[CallTiming] = field(default_factory=list)
    _pending: list[PendingCall] = field(default_factory=list)

    def leave(self) -> None:
        """Release a slot."""
        with _LOCK:
            self.busy -= 1
            self.admit()

    def reroute(self) -> None:
        """Wake the calls that wait at several limiters, to choose again."""
        with _LOCK:
            for waiter in [waiter for waiter in self.queue if waiter.reroutable]:
                waiter.leave_queues()
                waiter.notify(None)

    def load(self, limit: int | None) -> float:
        """Return the load; at 1 or more a call with this limit has to wait."""
        return 1.0 if self.queue else self.busy / (self.learned if limit is None else limit)

    def admit(self) -> None:
        """Admit waiting calls while there are free slots."""
        while self.queue:
            waiter = self.queue[0]
            limit = waiter.limits[self]
            if self.busy >= (self.learned if limit is None else limit):
                return
            self.busy += 1  # first, so that a call admitted elsewhere meanwhile cannot take the slot
            waiter.leave_queues(at=self)
            if waiter.notify(self):
                waiter.by = self
            else:  # the caller is gone
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


async def enter_least_busy(limits: Mapping[Limiter, int | None], reroutable: bool = True) -> Limiter | None:
    """Enter the least busy limiter, the first on a tie, or wait for a free slot; None if the choice must be repeated.

    A limit that is None stands for the learned one.
    """
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
            else:  # admitted at the moment of the cancellation: release the slot
                waiter.by.leave()
        raise


@dataclass(frozen=True, eq=False)
class Cap:
    """A limiter with one caller's limit: `async with cap:` acquires and releases a slot.

    Callers with different limits share the limiter: each is admitted when fewer calls than its own limit are running.
    """

    limiter: Limiter
    limit: int | None
    """None for the learned limit."""

    async def __aenter__(self) -> None:
        """Wait for a slot."""
        await enter_least_busy({self.limiter: self.limit}, reroutable=False)

    async def __aexit__(self, *exc: object) -> None:
        """Release the slot."""
        self.limiter.leave()


_LIMITERS: WeakValueDictionary[Hashable, Limiter] = WeakValueDictionary()
_LATEST: deque[Limiter] = deque(maxlen=64)


def get_cap(key: Hashable, limit: int | None, lasting: bool = False) -> Cap:
    """Return the cap of a key; equal keys share a limiter while any cap refers to it, or longer if it is `lasting`."""
    with _LOCK:
        limiter = _LIMITERS.get(key)
        if limiter is None:
            limiter = _LIMITERS[key] = Limiter()
        if lasting and all(kept is not limiter for kept in _LATEST):
            _LATEST.append(limiter)
        return Cap(limiter, limit)
