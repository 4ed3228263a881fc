"""Whose time counts while several calls are at one server."""

import asyncio

import pytest

from ramify.tools.models import server_load as turns
from ramify.tools.models.server_load import Turns


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
    monkeypatch.setattr(turns, "ABREAST", 0.0)
    with pytest.raises(TimeoutError):
        await after_another_was_served(Turns())
