"""What is opened once for all who use it at the same time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class _Open(Generic[T]):
    """Something that is open, or about to be, and how many use it."""

    users: int = 0
    value: T | None = None
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Shared(Generic[T]):
    """Opens by name what nobody has open, and closes it after its last user; for one event loop."""

    def __init__(self, opening: Callable[[str], AbstractAsyncContextManager[T]]) -> None:
        self._opening = opening
        self._open: dict[str, _Open[T]] = {}

    @asynccontextmanager
    async def use(self, name: str) -> AsyncIterator[T]:
        """Give what is open under a name. An error of its opening is raised to each who waits for it; it may be tried again."""
        held = self._open.setdefault(name, _Open())
        held.users += 1
        try:
            async with held.lock:
                if held.value is None:
                    held.value = await held.stack.enter_async_context(self._opening(name))
            yield held.value
        finally:
            held.users -= 1
            if not held.users:
                del self._open[name]
                await held.stack.aclose()
