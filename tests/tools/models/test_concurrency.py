"""Who waits at several limiters takes the first place that is free, and no place is lost."""

import asyncio
import heapq
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.tools.models import concurrency
from ramify.tools.models.concurrency import MAX_LEARNED_CONCURRENCY, CallTiming, Cap, Limiter, enter_least_busy, get_cap


class Meter:
    """How many are in at once, from any thread."""

    def __init__(self) -> None:
        self.now = self.most = self.finished = 0
        self.lock = threading.Lock()

    def enter(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def leave(self) -> None:
        with self.lock:
            self.now -= 1
            self.finished += 1


async def hold(cap: Cap, meter: Meter) -> None:
    async with cap:
        meter.enter()
        await asyncio.sleep(0.002)
        meter.leave()


def test_the_same_key_shares_a_limiter_and_another_does_not() -> None:
    first, second, other = get_cap(("a", "m"), 3), get_cap(("a", "m"), 5), get_cap(("b", "m"), 3)
    assert first.limiter is second.limiter
    assert first.limiter is not other.limiter


def test_an_unreferenced_limiter_is_removed() -> None:
    cap = get_cap("short-lived", 1)
    cap.limiter.busy = 7
    del cap
    assert get_cap("short-lived", 1).limiter.busy == 0


def test_models_are_looked_up_in_many_threads_at_once() -> None:
    failed: list[BaseException] = []

    def look(name: int) -> None:
        try:
            for number in range(3000):
                get_cap((name, number), 1, lasting=True)
        except RuntimeError as error:
            failed.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=look, args=(name,)) for name in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
    finally:
        sys.setswitchinterval(before)
    assert failed == []


async def test_64_runs_keep_a_cap_of_8_busy() -> None:
    cap, meter = get_cap("busy", 8), Meter()
    await asyncio.gather(*(hold(cap, meter) for _ in range(64)))
    assert (meter.most, meter.finished, cap.limiter.busy) == (8, 64, 0)


def test_event_loops_in_threads_share_it() -> None:
    cap, meter = get_cap("threads", 8), Meter()

    def run() -> None:
        async def all_of_them() -> None:
            await asyncio.gather(*(hold(cap, meter) for _ in range(8)))

        asyncio.run(all_of_them())

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert (meter.most, meter.finished, cap.limiter.busy, len(cap.limiter.queue)) == (8, 64, 0, 0)


async def test_who_comes_first_is_let_in_first() -> None:
    cap = get_cap("order", 1)
    order: list[int] = []

    async def enter(number: int) -> None:
        async with cap:
            order.append(number)

    async with cap:
        tasks = [asyncio.create_task(enter(number)) for number in range(20)]
        await asyncio.sleep(0)
        assert len(cap.limiter.queue) == 20
    await asyncio.gather(*tasks)
    assert order == list(range(20))


async def test_a_newcomer_does_not_overtake() -> None:
    cap = get_cap("overtaking", 1)
    order: list[str] = []

    async def enter(name: str) -> None:
        async with cap:
            order.append(name)

    async with cap:
        waiting = asyncio.create_task(enter("waiting"))
        await asyncio.sleep(0)
    await enter("newcomer")  # the place is free, but promised
    await waiting
    assert order == ["waiting", "newcomer"]


async def test_a_cancelled_waiter_steps_out() -> None:
    cap = get_cap("cancelled", 1)
    async with cap:
        waiter = asyncio.create_task(hold(cap, Meter()))
        await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        assert len(cap.limiter.queue) == 0
    assert cap.limiter.busy == 0


async def test_the_slot_of_a_cancelled_waiter_is_passed_on() -> None:
    cap, meter = get_cap("passed on", 1), Meter()
    await enter_least_busy({cap.limiter: 1})
    cancelled, next_one = asyncio.create_task(hold(cap, Meter())), asyncio.create_task(hold(cap, meter))
    await asyncio.sleep(0)
    cap.limiter.leave()  # gives the turn to the first
    cancelled.cancel()
    await asyncio.wait_for(next_one, timeout=5)
    assert (meter.finished, cap.limiter.busy) == (1, 0)


async def test_a_closed_loop_does_not_keep_its_turn() -> None:
    cap, meter = get_cap("closed loop", 1), Meter()
    await enter_least_busy({cap.limiter: 1})
    gone = asyncio.new_event_loop()
    lost = gone.create_task(hold(cap, Meter()))
    await asyncio.to_thread(gone.run_until_complete, asyncio.sleep(0))
    assert len(cap.limiter.queue) == 1
    gone.close()
    after = asyncio.create_task(hold(cap, meter))
    await asyncio.sleep(0)
    cap.limiter.leave()
    await asyncio.wait_for(after, timeout=5)
    assert meter.finished == 1
    lost._log_destroy_pending = False  # type: ignore[attr-defined]  # it is left pending on purpose


async def test_each_is_let_in_by_its_own_limit() -> None:
    small, large = get_cap("limits", 1), get_cap("limits", 3)
    smalls, everybody = Meter(), Meter()

    async def enter(cap: Cap) -> None:
        async with cap:
            meters = [smalls, everybody] if cap is small else [everybody]
            for meter in meters:
                meter.enter()
            await asyncio.sleep(0.001)
            for meter in meters:
                meter.leave()

    await asyncio.gather(*(enter(cap) for cap in (large, small, large, small, large, large)))
    assert (smalls.most, smalls.finished) == (1, 2)
    assert (everybody.most, everybody.finished) == (3, 6)


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=25))
def test_no_slot_is_lost_on_cancellation(limit: int, runs: list[tuple[int, bool]]) -> None:
    async def play() -> tuple[int, int, int]:
        cap, meter = Cap(get_cap(object(), limit).limiter, limit), Meter()

        async def run(steps: int) -> None:
            async with cap:
                meter.enter()
                try:
                    for _ in range(steps):
                        await asyncio.sleep(0)
                finally:
                    meter.leave()

        tasks = [asyncio.create_task(run(steps)) for steps, _ in runs]
        for (_, cancel), task in zip(runs, tasks, strict=True):
            await asyncio.sleep(0)
            if cancel:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return meter.most, cap.limiter.busy, len(cap.limiter.queue)

    most, busy, waiting = asyncio.run(play())
    assert most <= limit
    assert (busy, waiting) == (0, 0)


async def test_the_least_busy_of_several_is_entered_and_the_first_of_equals() -> None:
    small, large = Limiter(), Limiter()
    limits = {small: 1, large: 3}
    entered = [await enter_least_busy(limits) for _ in range(4)]
    assert entered == [small, large, large, large]


async def test_who_waits_at_several_takes_the_first_place_that_is_free_in_the_order_of_coming() -> None:
    first, second = Limiter(), Limiter()
    limits = {first: 1, second: 1}
    assert {await enter_least_busy(limits), await enter_least_busy(limits)} == {first, second}
    waiting = [asyncio.create_task(enter_least_busy(limits)) for _ in range(3)]
    await asyncio.sleep(0)
    second.leave()
    assert await waiting[0] is second
    first.leave()
    assert await waiting[1] is first
    first.leave()
    assert await waiting[2] is first
    assert (len(first.queue), len(second.queue)) == (0, 0)


async def test_those_who_wait_at_several_can_be_sent_to_choose_anew() -> None:
    limiter = Limiter()
    await enter_least_busy({limiter: 1})
    roaming, staying = (
        asyncio.create_task(enter_least_busy({limiter: 1})),
        asyncio.create_task(enter_least_busy({limiter: 1}, reroutable=False)),
    )
    await asyncio.sleep(0)
    limiter.reroute()
    assert await roaming is None
    assert len(limiter.queue) == 1
    limiter.leave()
    await asyncio.wait_for(staying, timeout=5)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=25))
def test_no_slot_is_lost_on_cancellation_or_rerouting(caps: list[int], runs: list[tuple[int, int]]) -> None:
    """A run takes some steps, and meanwhile is let be, cancelled, or its limiters recalled; some wait at all limiters, some at one."""

    async def play() -> None:
        limits = {Limiter(): cap for cap in caps}
        inside, most = dict.fromkeys(limits, 0), dict.fromkeys(limits, 0)

        async def run(number: int, steps: int) -> None:
            wanted = limits if number % 3 else dict([list(limits.items())[number % len(limits)]])
            while (limiter := await enter_least_busy(wanted)) is None:
                pass
            inside[limiter] += 1
            most[limiter] = max(most[limiter], inside[limiter])
            try:
                for _ in range(steps):
                    await asyncio.sleep(0)
            finally:
                inside[limiter] -= 1
                limiter.leave()

        tasks = [asyncio.create_task(run(number, steps)) for number, (steps, _) in enumerate(runs)]
        for (_, event), task in zip(runs, tasks, strict=True):
            await asyncio.sleep(0)
            if event == 1:
                task.cancel()
            elif event == 2:
                for limiter in limits:
                    limiter.reroute()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), timeout=10)
        assert all(most[limiter] <= cap for limiter, cap in limits.items())
        assert [(limiter.busy, len(limiter.queue)) for limiter in limits] == [(0, 0)] * len(limits)

    asyncio.run(play())


def play(slots: int, calls: list[float], late: float = 0.0, overhead: float = 0.0, load: float = 0.0) -> tuple[Limiter, int]:
    """Serve calls of so many seconds, all wanted at once, to a client that keeps to the pace; give it, and the most it sent at once."""
    pace, wanted, under_way, most, now = Limiter(), list(calls), list[tuple[float, int, CallTiming]](), 0, 0.0
    free = [load] * slots
    while wanted or under_way:
        while wanted and len(under_way) < pace.learned:
            own = wanted.pop(0)
            begun = max(now, heapq.heappop(free)) + overhead
            heapq.heappush(free, begun + own)
            done = begun + own + (late if len(wanted) % 2 else 0.0)
            heapq.heappush(under_way, (done, len(wanted), CallTiming(now, done, own, load if begun == load else 0.0)))
            most = max(most, len(under_way))
        now, _, call = heapq.heappop(under_way)
        pace.learn(call)
    return pace, most


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 6, MAX_LEARNED_CONCURRENCY, 20])
@pytest.mark.parametrize("seconds", [0.2, 70.0])
def test_the_limit_is_what_the_server_serves(slots: int, seconds: float) -> None:
    pace, most = play(slots, [seconds] * 60)
    assert (pace.learned, pace.settled) == (min(slots, MAX_LEARNED_CONCURRENCY), True)
    assert most <= min(2 * slots, MAX_LEARNED_CONCURRENCY), "hardly more are sent on trial than are served"


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_delays_and_a_model_that_is_loaded_first_do_not_mislead(slots: int) -> None:
    assert play(slots, [1.0] * 60, late=0.2)[0].learned == slots
    assert play(slots, [1.0] * 60, overhead=0.3)[0].learned == slots
    assert play(slots, [1.0] * 60, load=30.0)[0].learned == slots


def test_unequal_calls_of_a_server_that_takes_one() -> None:
    assert play(1, [1.0, 5.0, 2.0, 0.5] * 10)[0].learned == 1


def test_calls_one_after_another_teach_nothing() -> None:
    pace = Limiter()
    for second in range(20):
        pace.learn(CallTiming(second, second + 0.9, 0.9))
    assert (pace.learned, pace.settled) == (2, False)


async def after_another_was_served(calls: Limiter) -> None:
    """Be sent first, and served after one that was sent at the same time."""
    async with calls.track(0.6):
        async with calls.track(0.6) as other:
            await asyncio.sleep(0.4)
            calls.mark_served(other)
        await asyncio.sleep(0.4)


async def test_a_call_that_was_sent_first_may_be_served_last() -> None:
    await after_another_was_served(Limiter())


async def test_but_not_after_one_that_was_sent_much_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "MAX_REORDERING_S", 0.0)
    with pytest.raises(TimeoutError):
        await after_another_was_served(Limiter())
