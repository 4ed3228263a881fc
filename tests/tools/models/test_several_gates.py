"""Who waits at several gates takes the first place that is free, and no place is lost."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from ramify.tools.models.concurrency import Gate, enter_one


async def test_the_least_busy_of_several_is_entered_and_the_first_of_equals() -> None:
    small, large = Gate(), Gate()
    limits = {small: 1, large: 3}
    entered = [await enter_one(limits) for _ in range(4)]
    assert entered == [small, large, large, large]


async def test_who_waits_at_several_takes_the_first_place_that_is_free_in_the_order_of_coming() -> None:
    first, second = Gate(), Gate()
    limits = {first: 1, second: 1}
    assert {await enter_one(limits), await enter_one(limits)} == {first, second}
    waiting = [asyncio.create_task(enter_one(limits)) for _ in range(3)]
    await asyncio.sleep(0)
    second.leave()
    assert await waiting[0] is second
    first.leave()
    assert await waiting[1] is first
    first.leave()
    assert await waiting[2] is first
    assert (first.waiting, second.waiting) == (0, 0)


async def test_those_who_wait_at_several_can_be_sent_to_choose_anew() -> None:
    gate = Gate()
    await gate.enter(1)
    roaming, staying = asyncio.create_task(enter_one({gate: 1})), asyncio.create_task(gate.enter(1))
    await asyncio.sleep(0)
    gate.recall()
    assert await roaming is None
    assert gate.waiting == 1
    gate.leave()
    await asyncio.wait_for(staying, timeout=5)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=25))
def test_no_place_of_any_gate_is_lost_whatever_is_cancelled_or_recalled(caps: list[int], runs: list[tuple[int, int]]) -> None:
    """A run takes some steps, and meanwhile is let be, cancelled, or its gates recalled; some wait at all gates, some at one."""

    async def play() -> None:
        limits = {Gate(): cap for cap in caps}
        inside, most = dict.fromkeys(limits, 0), dict.fromkeys(limits, 0)

        async def run(number: int, steps: int) -> None:
            wanted = limits if number % 3 else dict([list(limits.items())[number % len(limits)]])
            while (gate := await enter_one(wanted)) is None:
                pass
            inside[gate] += 1
            most[gate] = max(most[gate], inside[gate])
            try:
                for _ in range(steps):
                    await asyncio.sleep(0)
            finally:
                inside[gate] -= 1
                gate.leave()

        tasks = [asyncio.create_task(run(number, steps)) for number, (steps, _) in enumerate(runs)]
        for (_, event), task in zip(runs, tasks, strict=True):
            await asyncio.sleep(0)
            if event == 1:
                task.cancel()
            elif event == 2:
                for gate in limits:
                    gate.recall()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), timeout=10)
        assert all(most[gate] <= cap for gate, cap in limits.items())
        assert [(gate.busy, gate.waiting) for gate in limits] == [(0, 0)] * len(limits)

    asyncio.run(play())
