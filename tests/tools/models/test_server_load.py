"""How many calls a server is given at one time, learned from what it says, and how long one may take."""

import asyncio
import heapq

import pytest

from ramify.tools.models import server_load
from ramify.tools.models.server_load import MOST, Pace, Served, Turns


def play(slots: int, calls: list[float], late: float = 0.0, overhead: float = 0.0, load: float = 0.0) -> tuple[Pace, int]:
    """Serve calls of so many seconds, all wanted at once, to a client that keeps to the pace; give it, and the most it sent at once."""
    pace, wanted, under_way, most, now = Pace(), list(calls), list[tuple[float, int, Served]](), 0, 0.0
    free = [load] * slots
    while wanted or under_way:
        while wanted and len(under_way) < pace.limit:
            own = wanted.pop(0)
            begun = max(now, heapq.heappop(free)) + overhead
            heapq.heappush(free, begun + own)
            done = begun + own + (late if len(wanted) % 2 else 0.0)
            heapq.heappush(under_way, (done, len(wanted), Served(now, done, own, load if begun == load else 0.0)))
            most = max(most, len(under_way))
        now, _, call = heapq.heappop(under_way)
        pace.learn(call)
    return pace, most


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 6, MOST, 20])
@pytest.mark.parametrize("seconds", [0.2, 70.0])
def test_the_limit_is_what_the_server_serves(slots: int, seconds: float) -> None:
    pace, most = play(slots, [seconds] * 60)
    assert (pace.limit, pace.settled) == (min(slots, MOST), True)
    assert most <= min(2 * slots, MOST), "hardly more are sent on trial than are served"


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_delays_and_a_model_that_is_loaded_first_do_not_mislead(slots: int) -> None:
    assert play(slots, [1.0] * 60, late=0.2)[0].limit == slots
    assert play(slots, [1.0] * 60, overhead=0.3)[0].limit == slots
    assert play(slots, [1.0] * 60, load=30.0)[0].limit == slots


def test_unequal_calls_of_a_server_that_takes_one() -> None:
    assert play(1, [1.0, 5.0, 2.0, 0.5] * 10)[0].limit == 1


def test_calls_one_after_another_teach_nothing() -> None:
    pace = Pace()
    for second in range(20):
        pace.learn(Served(second, second + 0.9, 0.9))
    assert (pace.limit, pace.settled) == (2, False)


async def after_another_was_served(calls: Turns) -> None:
    """Be sent first, and served after one that was sent at the same time."""
    async with calls.take(0.6):
        async with calls.take(0.6) as other:
            await asyncio.sleep(0.4)
            calls.served(other)
        await asyncio.sleep(0.4)


async def test_a_call_that_was_sent_first_may_be_served_last() -> None:
    await after_another_was_served(Turns())


async def test_but_not_after_one_that_was_sent_much_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_load, "ABREAST", 0.0)
    with pytest.raises(TimeoutError):
        await after_another_was_served(Turns())
