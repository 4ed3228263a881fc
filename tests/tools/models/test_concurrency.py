"""Who waits takes the first place that is free, and no place is lost."""

import asyncio
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.tools.models import concurrency
from ramify.tools.models.concurrency import Cap, Limiter, get_cap


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
    await cap.limiter.enter(1)
    cancelled, next_one = asyncio.create_task(hold(cap, Meter())), asyncio.create_task(hold(cap, meter))
    await asyncio.sleep(0)
    cap.limiter.leave()  # gives the turn to the first
    cancelled.cancel()
    await asyncio.wait_for(next_one, timeout=5)
    assert (meter.finished, cap.limiter.busy) == (1, 0)


async def test_a_closed_loop_does_not_keep_its_turn() -> None:
    cap, meter = get_cap("closed loop", 1), Meter()
    await cap.limiter.enter(1)
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
